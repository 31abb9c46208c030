//! The dialect of single marks: `*strong*`, `_emphasis_`, `~struck~`, `<address|words>`, `<@user>`. It has `&lt;` for
//! `<`, and nothing to escape a mark with: one that could be taken for markup gets an invisible neighbour, because marks
//! are read only at the edge of a word. It has no languages, no lists and no quote in a quote.
//!
//! **Invariant:** `<` is written only around what was a link or a mention in the source.
//!
//! Pure: tree in, text out.

use super::address;
use super::layout::{self, Dress, Line};
use super::pen::{Edge, GAP, Pen};
use super::runs::{self, Run, Span, Style};
use super::tree::{Block, Inline};

/// Takes no room, and belongs to the word.
const JOINER: char = '\u{2060}';
const MARKS: [char; 4] = ['*', '_', '~', '`'];

/// The text with its marks.
pub(super) fn write(blocks: &[Block]) -> String {
    layout::document(&Mrkdwn, blocks)
}

/// The three characters that begin something.
pub(super) fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

struct Mrkdwn;

impl Dress for Mrkdwn {
    fn bullet(&self) -> &'static str {
        "• "
    }

    fn inlines(&self, inlines: &[Inline]) -> String {
        write_lines(&runs::lines(inlines, Style::default()))
    }

    fn heading(&self, _level: u8, inlines: &[Inline]) -> String {
        write_lines(&runs::lines(inlines, Style::STRONG))
    }

    fn quote(&self, lines: Vec<Line>, around: usize) -> Vec<Line> {
        let prefix = if around == 0 { "> " } else { "&gt; " };
        layout::flush(&layout::prefixed(prefix, &lines))
    }

    /// A block of code cannot stand in a quote: there, each line is code by itself.
    fn code(&self, _language: &str, text: &str, around: usize) -> Vec<Line> {
        if around > 0 {
            let code = |line: &str| write_lines(&[vec![code_run(line)]]);
            let lines: Vec<String> = text.split('\n').map(code).collect();
            return layout::flush(&lines.join("\n"));
        }
        let text = escape(&text.replace("```", &format!("`{GAP}`{GAP}`")));
        layout::flush(&format!("```\n{text}\n```"))
    }
}

fn code_run(line: &str) -> Run {
    let span = Span::Code(line.to_owned());
    let style = Style::default();
    Run { span, style }
}

fn write_lines(lines: &[Vec<Run>]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| write_line(line)).collect();
    lines.join("\n")
}

fn write_line(line: &[Run]) -> String {
    let crowded = crowded(line);
    let mut pen = Pen::new(Edge::Words);
    for (at, run) in line.iter().enumerate() {
        let place = Place {
            crowded: &crowded,
            is_first: at == 0,
            is_last: at + 1 == line.len(),
        };
        pen.write(&run.style.marks(["_", "*", "~"]), &place.shown(&run.span));
    }
    pen.finish()
}

/// The marks that occur on the line at least twice, as text or as themselves: one alone is never markup.
fn crowded(line: &[Run]) -> Vec<char> {
    let count = |mark: char| -> usize {
        let in_run = |run: &Run| {
            let text = match &run.span {
                Span::Text(text) | Span::Code(text) => text,
                Span::Link { label, .. } => label,
                Span::Bare(_) | Span::Mention { .. } => "",
            };
            let style = run.style.marks(["_", "*", "~"]);
            let is_styled = style.iter().any(|styled| styled.contains(mark));
            let is_code = mark == '`' && matches!(run.span, Span::Code(_)) && !text.contains('`');
            text.matches(mark).count() + 2 * usize::from(is_styled || is_code)
        };
        line.iter().map(in_run).sum()
    };
    MARKS.into_iter().filter(|mark| count(*mark) > 1).collect()
}

/// Where on a line something is written.
struct Place<'a> {
    crowded: &'a [char],
    is_first: bool,
    is_last: bool,
}

impl Place<'_> {
    fn shown(&self, span: &Span) -> String {
        match span {
            Span::Text(text) => self.text(text),
            // A mark cannot be escaped in code either.
            Span::Code(code) if code.contains('`') || code.trim().is_empty() => self.text(code),
            Span::Code(code) => format!("`{}`", escape(code)),
            Span::Bare(address) => format!("<{}>", target(address)),
            Span::Link { address, label, .. } => {
                format!("<{}|{}>", target(address), self.text(label))
            }
            Span::Mention { user, .. } => format!("<@{user}>"),
        }
    }

    fn text(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        // An escaped bracket at the start of a line is still a quote.
        if self.is_first && text.starts_with(['>', '\u{ff1e}']) {
            shown.push(JOINER);
        }
        let edge = |is_edge| if is_edge { ' ' } else { '.' };
        let mut before = edge(self.is_first);
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let after = chars.peek().copied().unwrap_or(edge(self.is_last));
            if self.crowded.contains(&char) && could_be_mark(char, before, after) {
                shown.extend([JOINER, char, JOINER]);
            } else {
                shown.push(char);
            }
            before = char;
        }
        escape(&shown)
    }
}

fn could_be_mark(mark: char, before: char, after: char) -> bool {
    let is_alone = before.is_whitespace() && after.is_whitespace();
    let is_in_word = before.is_alphanumeric() && after.is_alphanumeric();
    !(is_alone || mark == '_' && is_in_word)
}

/// An address between brackets.
fn target(address: &str) -> String {
    escape(&address::encoded(address, "<>|"))
}

#[cfg(test)]
mod tests;
