//! The small set of tags that chats read: `b i s code pre a blockquote`. Line breaks and spaces count as they stand.
//!
//! **Invariant:** tags are balanced and nested the way such chats allow it: no style around code, no code in a link, no
//! quote in a quote. Everything else is text, with `& < > "` escaped.
//!
//! A mention is the name it is shown with: what reaches a person here is not the same on any two platforms.
//!
//! Pure: tree in, text out.

use super::address;
use super::layout::{self, Dress, Line};
use super::runs::{self, Run, Span, Style};
use super::tree::{Block, Inline};

/// The text with its tags.
pub(super) fn write(blocks: &[Block]) -> String {
    layout::document(&Html, blocks)
}

/// Text that is shown as it is.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            char => escaped.push(char),
        }
    }
    escaped
}

/// What a reader sees of what was written here: no tags, each entity the character it stands for.
pub(super) fn visible(html: &str) -> String {
    let mut visible = String::with_capacity(html.len());
    for (at, part) in html.split('<').enumerate() {
        let text = match part.split_once('>') {
            Some((_, text)) if at > 0 => text,
            _ => part,
        };
        visible.push_str(text);
    }
    visible
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&")
}

struct Html;

impl Dress for Html {
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
        if around > 0 {
            return layout::flush(&layout::prefixed("&gt; ", &lines));
        }
        let inner = layout::prefixed("", &lines);
        layout::flush(&format!("<blockquote>{inner}</blockquote>"))
    }

    fn code(&self, language: &str, text: &str, _around: usize) -> Vec<Line> {
        let text = escape(text);
        layout::flush(&if language.is_empty() {
            format!("<pre>{text}</pre>")
        } else {
            let language = escape(language);
            format!("<pre><code class=\"language-{language}\">{text}</code></pre>")
        })
    }
}

fn write_lines(lines: &[Vec<Run>]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| write_line(line)).collect();
    lines.join("\n")
}

fn write_line(line: &[Run]) -> String {
    let mut text = String::new();
    let mut open: Vec<&str> = Vec::new();
    for run in line {
        let tags = match run.span {
            Span::Code(_) => Vec::new(),
            _ => run.style.marks(["i", "b", "s"]),
        };
        turn_to(&tags, &mut open, &mut text);
        text.push_str(&shown(&run.span));
    }
    turn_to(&[], &mut open, &mut text);
    text
}

/// Closes the tags that end here and opens those that begin.
fn turn_to<'a>(tags: &[&'a str], open: &mut Vec<&'a str>, text: &mut String) {
    let still_open = runs::still_open(open, tags);
    for tag in open.drain(still_open..).rev() {
        text.extend(["</", tag, ">"]);
    }
    for tag in tags {
        if !open.contains(tag) {
            text.extend(["<", tag, ">"]);
            open.push(tag);
        }
    }
}

fn shown(span: &Span) -> String {
    match span {
        Span::Text(text) | Span::Bare(text) => escape(text),
        Span::Code(code) => format!("<code>{}</code>", escape(code)),
        Span::Link { address, label, .. } => {
            let address = escape(&address::encoded(address, "<>\""));
            format!("<a href=\"{address}\">{}</a>", escape(label))
        }
        Span::Mention { name, .. } => escape(name),
    }
}

#[cfg(test)]
mod tests;
