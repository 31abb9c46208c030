//! What is answered to what.
//!
//! Pure: a question in, a line of the script out.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;

use super::conversation::Question;

/// No answer is longer.
const MOST_WORDS: usize = 1_000_000;

/// What is done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// Say this.
    Say(Cow<'a, str>),
    /// Call the terminal with this command.
    Call(&'a str),
    /// Nothing, ever.
    Hang,
    /// Fail with this status.
    Fail(u16),
}

/// What is answered to this question.
pub(super) fn line<'a>(question: &'a Question<'_>) -> Line<'a> {
    let line = last_line(&question.said);
    if let Some(command) = line.strip_prefix("tool:") {
        return match &question.result {
            Some(result) => Line::Say(Cow::Owned(format!("the tool said: {result}"))),
            None => Line::Call(command.trim()),
        };
    }
    if line == "hang" {
        return Line::Hang;
    }
    if let Some(status) = number_after(line, "fail ").filter(|status| (400..600).contains(status)) {
        return Line::Fail(u16::try_from(status).unwrap_or(500));
    }
    if let Some(count) = number_after(line, "words ") {
        return Line::Say(Cow::Owned(words(count.min(MOST_WORDS))));
    }
    Line::Say(Cow::Owned(format!("re: {}", question.said)))
}

/// The last line, without the sender's name that stands before it where several people talk.
fn last_line(said: &str) -> &str {
    let line = said.trim_end().lines().next_back().unwrap_or_default();
    let named = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    named.map_or(line, |(_, rest)| rest).trim()
}

fn number_after(line: &str, word: &str) -> Option<usize> {
    line.strip_prefix(word)?.trim().parse().ok()
}

fn words(count: usize) -> String {
    let mut text = String::with_capacity(count * 6);
    for number in 1..=count {
        let gap = if number == 1 { "" } else { " " };
        // Writing to a string cannot fail.
        write!(text, "{gap}w{number}").unwrap_or_default();
    }
    text
}
