//! The Markdown of chats: headings of three levels, lists, quotes, fences and links as everywhere, but no tables, no
//! pictures, no tags and no rules; and brackets that call people.
//!
//! **Invariant:** nobody is called but by a mention of the source: what only looks like one, and the names that mean
//! everybody, are text with a gap in it.
//!
//! Pure: tree in, text out.

mod escape;

use self::escape::{Around, escape, uncalling};
use super::address;
use super::layout::{self, Dress, Line};
use super::pen::{Edge, GAP, Pen};
use super::runs::{self, Run, Span, Style};
use super::tree::{Block, Inline};

/// How many levels of headings there are.
const LEVELS: u8 = 3;
/// Any mark.
const MARK: char = '*';
/// The names that reach everybody.
pub(super) const EVERYBODY: [&str; 2] = ["@everyone", "@here"];

/// The text with its marks.
pub(super) fn write(blocks: &[Block]) -> String {
    layout::document(&Chat, blocks)
}

struct Chat;

impl Dress for Chat {
    fn bullet(&self) -> &'static str {
        "- "
    }

    fn inlines(&self, inlines: &[Inline]) -> String {
        write_lines(&runs::lines(inlines, Style::default()))
    }

    fn heading(&self, level: u8, inlines: &[Inline]) -> String {
        if level > LEVELS || inlines.is_empty() {
            return write_lines(&runs::lines(inlines, Style::STRONG));
        }
        let marks = "#".repeat(level.into());
        format!("{marks} {}", self.inlines(inlines))
    }

    fn quote(&self, lines: Vec<Line>, _around: usize) -> Vec<Line> {
        layout::flush(&layout::prefixed("> ", &lines))
    }

    fn code(&self, language: &str, text: &str, _around: usize) -> Vec<Line> {
        let text = uncalling(text).replace("```", &format!("`{GAP}`{GAP}`"));
        layout::flush(&format!("```{language}\n{text}\n```"))
    }
}

fn write_lines(lines: &[Vec<Run>]) -> String {
    let has_links = has_links(lines);
    let lines: Vec<String> = lines
        .iter()
        .map(|line| write_line(line, has_links))
        .collect();
    lines.join("\n")
}

fn write_line(line: &[Run], has_links: bool) -> String {
    let mut pen = Pen::new(Edge::Anywhere);
    let mut emphasis = None;
    let mut style = Style::default();
    for (at, run) in line.iter().enumerate() {
        let rest = line.get(at..).unwrap_or_default();
        emphasis = run
            .style
            .emphasis
            .then(|| emphasis.unwrap_or_else(|| emphasis_mark(pen.last(), rest)));
        // Where the style changes, the neighbour is a mark.
        let beside = |char: Option<char>, is_same| if is_same { char } else { Some(MARK) };
        let next = rest.get(1);
        let around = Around {
            before: pen
                .last()
                .and_then(|_| beside(pen.last(), style == run.style)),
            after: next.and_then(|next| beside(next.span.first(), next.style == run.style)),
            has_links,
        };
        let marks = run.style.marks([emphasis.unwrap_or("_"), "**", "~~"]);
        pen.write(&marks, &shown(&run.span, around));
        style = run.style;
    }
    pen.finish()
}

/// The low line is not taken for `**`, but it is read only at the edge of a word.
fn emphasis_mark(before: Option<char>, rest: &[Run]) -> &'static str {
    let mut pairs = rest.iter().zip(rest.iter().skip(1));
    let end = pairs.find(|(_, next)| !next.style.emphasis);
    // Where another style begins, its mark stands between.
    let end = end.filter(|(last, next)| next.style.is_within(last.style));
    let after = end.and_then(|(_, next)| next.span.first());
    let is_in_word = [before, after]
        .into_iter()
        .flatten()
        .any(char::is_alphanumeric);
    if is_in_word { "*" } else { "_" }
}

/// Whether the text, read again, could have a link in it. A link can begin on one line and end on another.
fn has_links(lines: &[Vec<Run>]) -> bool {
    let texts = lines.iter().flatten().map(|run| match &run.span {
        Span::Text(text) => text.as_str(),
        _ => "",
    });
    texts.collect::<String>().contains("](")
}

fn shown(span: &Span, around: Around) -> String {
    match span {
        Span::Text(text) => escape(text, around),
        Span::Code(code) => code_of(code).unwrap_or_else(|| escape(code, around)),
        Span::Bare(address) => uncalled(address),
        Span::Link {
            address,
            label,
            is_code,
        } => link(address, label, *is_code, around),
        Span::Mention { user, .. } => format!("<@{user}>"),
    }
}

/// Code between as many backticks as it does not have in a row itself: one or two, three begin a block.
fn code_of(code: &str) -> Option<String> {
    if code.trim().is_empty() {
        return None;
    }
    let rows: Vec<usize> = code.split(|char| char != '`').map(str::len).collect();
    let fence = ["`", "``"]
        .into_iter()
        .find(|fence| !rows.contains(&fence.len()))?;
    let room = if code.starts_with('`') || code.ends_with('`') {
        " "
    } else {
        ""
    };
    let code = uncalling(code);
    Some(format!("{fence}{room}{code}{room}{fence}"))
}

/// A label with brackets would end early, and one that looks like an address is not believed.
fn link(address: &str, label: &str, is_code: bool, around: Around) -> String {
    let words = is_code.then(|| code_of(label)).flatten();
    let words = words.unwrap_or_else(|| escape(label, around));
    if label.contains(['[', ']']) || label.contains("://") {
        return format!("{words} ({})", uncalled(address));
    }
    let address = uncalled(&address::encoded(address, "()<>\"\\"));
    format!("[{words}]({address})")
}

/// An address in which nobody is called.
fn uncalled(address: &str) -> String {
    let mut address = address::encoded(address, "<>");
    for name in EVERYBODY {
        address = address.replace(name, &name.replace('@', "%40"));
    }
    address
}

#[cfg(test)]
mod tests;
