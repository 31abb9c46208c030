//! No markup at all: words, line breaks, indentation and addresses.
//!
//! Pure: tree in, text out.

use super::layout::{self, Dress, Line};
use super::runs::{self, Run, Span, Style};
use super::tree::{Block, Inline};

/// The text.
pub(super) fn write(blocks: &[Block]) -> String {
    layout::document(&Plain, blocks)
}

/// What a line says, in one line, with the addresses of its links.
pub(super) fn line(inlines: &[Inline]) -> String {
    Plain.inlines(inlines).replace('\n', " ")
}

struct Plain;

impl Dress for Plain {
    fn bullet(&self) -> &'static str {
        "• "
    }

    fn inlines(&self, inlines: &[Inline]) -> String {
        let lines = runs::lines(inlines, Style::default());
        let lines = lines.iter().map(|line| line.iter().map(shown).collect());
        lines.collect::<Vec<String>>().join("\n")
    }

    fn heading(&self, _level: u8, inlines: &[Inline]) -> String {
        self.inlines(inlines)
    }

    fn quote(&self, lines: Vec<Line>, _around: usize) -> Vec<Line> {
        let quoted = layout::prefixed("> ", &lines);
        // A space at the end of a line means something in mail.
        let quoted: Vec<&str> = quoted.split('\n').map(str::trim_end).collect();
        layout::moving(&quoted.join("\n"))
    }

    fn code(&self, _language: &str, text: &str, _around: usize) -> Vec<Line> {
        layout::moving(text)
    }
}

fn shown(run: &Run) -> String {
    match &run.span {
        Span::Text(text) | Span::Code(text) | Span::Bare(text) => text.clone(),
        Span::Link { address, label, .. } => format!("{label} ({address})"),
        Span::Mention { name, .. } => name.clone(),
    }
}
