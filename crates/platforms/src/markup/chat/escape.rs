//! Text that a chat would take for markup, made text: only where it would be taken for it, so that names with low lines
//! and sums with asterisks stay readable where they are copied from.
//!
//! Pure: text in, text out.

use super::EVERYBODY;
use crate::markup::pen::GAP;

/// What is around some text on its line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around {
    /// The character before it; nothing where the line begins.
    pub(super) before: Option<char>,
    /// The character after it; nothing where the line ends.
    pub(super) after: Option<char>,
    /// Whether brackets here could be a link.
    pub(super) has_links: bool,
}

/// The text, shown as it is.
pub(super) fn escape(text: &str, around: Around) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = around.before;
    let mut line = Start::of(around.before);
    for (at, char) in text.char_indices() {
        let rest = text.get(at..).unwrap_or_default();
        let after = rest.chars().nth(1).or(around.after);
        if opens_line(char, rest, after, line) || is_mark(char, before, after, around.has_links) {
            escaped.push('\\');
        }
        escaped.push(char);
        if calls(char, rest, after) {
            escaped.push(GAP);
        }
        before = Some(char);
        line = line.then(char);
    }
    escaped
}

/// Code, shown as it is, but for what would call somebody: not every reader looks for code first.
pub(super) fn uncalling(code: &str) -> String {
    let mut text = String::with_capacity(code.len());
    for (at, char) in code.char_indices() {
        let rest = code.get(at..).unwrap_or_default();
        let inside = rest
            .strip_prefix("<@")
            .map(|rest| rest.trim_start_matches(['!', '&']));
        let is_mention =
            inside.is_some_and(|id| id.starts_with(|char: char| char.is_ascii_digit()));
        text.push(char);
        if is_mention || is_everybody(rest) {
            text.push(GAP);
        }
    }
    text
}

fn is_everybody(rest: &str) -> bool {
    EVERYBODY.iter().any(|name| rest.starts_with(name))
}

/// How much of the line there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Nothing but spaces.
    Nothing,
    /// A number.
    Number,
    /// More than that.
    Over,
}

impl Start {
    const fn of(before: Option<char>) -> Self {
        match before {
            None => Self::Nothing,
            Some(_) => Self::Over,
        }
    }

    fn then(self, char: char) -> Self {
        match self {
            Self::Nothing if char.is_whitespace() => Self::Nothing,
            Self::Nothing | Self::Number if char.is_ascii_digit() => Self::Number,
            _ => Self::Over,
        }
    }
}

/// Whether it would make the line a quote, a heading, an item or a smaller line.
fn opens_line(char: char, rest: &str, after: Option<char>, line: Start) -> bool {
    let is_apart = after.is_none_or(char::is_whitespace);
    match (line, char) {
        (Start::Nothing, '>' | '*') => true,
        (Start::Nothing, '+') | (Start::Number, '.' | ')') => is_apart,
        (Start::Nothing, '-') => is_apart || matches!(after, Some('-' | '#')),
        (Start::Nothing, '#') => {
            let words = rest.trim_start_matches('#');
            words.is_empty() || words.starts_with(char::is_whitespace)
        }
        _ => false,
    }
}

/// Whether it could begin or end something in a line.
fn is_mark(char: char, before: Option<char>, after: Option<char>, has_links: bool) -> bool {
    let is_space = |char: Option<char>| char.is_none_or(char::is_whitespace);
    let is_word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
    let is_in_word = is_word(before) && is_word(after);
    let is_alone = is_space(before) && is_space(after);
    let is_double = before == Some(char) || after == Some(char);
    match char {
        '`' => true,
        '*' => !is_alone,
        '_' => !(is_alone || is_in_word),
        '~' | '|' => is_double,
        '[' => has_links,
        '\\' => !after.is_some_and(|char| char.is_ascii_alphanumeric() || char.is_whitespace()),
        '<' => after.is_some_and(|char| char.is_ascii_alphabetic() || "#:/".contains(char)),
        _ => false,
    }
}

/// Whether it would call somebody. An escaped bracket still does.
fn calls(char: char, rest: &str, after: Option<char>) -> bool {
    match char {
        '@' => is_everybody(rest),
        '<' => matches!(after, Some('@' | '!')),
        _ => false,
    }
}
