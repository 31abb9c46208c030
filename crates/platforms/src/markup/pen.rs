//! Writes runs with marks around them, for dialects whose styles are marks in the text.
//!
//! **Invariant:** what is opened on a line is closed on it, the innermost first, and no two marks touch that could be
//! read as one.
//!
//! Pure: marks in, text out.

use super::runs;

/// Takes no room, and is the end of a word.
pub(super) const GAP: char = '\u{200b}';

/// Where a mark is read as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// Only at the edge of a word.
    Words,
    /// Inside a word too.
    Anywhere,
}

/// What is written of a line.
#[derive(Debug)]
pub(super) struct Pen<'a> {
    text: String,
    open: Vec<&'a str>,
    edge: Edge,
    has_closed: bool,
}

impl<'a> Pen<'a> {
    pub(super) const fn new(edge: Edge) -> Self {
        Self {
            text: String::new(),
            open: Vec::new(),
            edge,
            has_closed: false,
        }
    }

    /// What was written last.
    pub(super) fn last(&self) -> Option<char> {
        self.text.chars().next_back()
    }

    /// Some text, in the style that these marks stand for.
    pub(super) fn write(&mut self, marks: &[&'a str], text: &str) {
        self.close(runs::still_open(&self.open, marks));
        let opens = marks.len() > self.open.len();
        let is_word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
        let is_word_before = self.edge == Edge::Words && is_word(self.last());
        let is_word_after = self.edge == Edge::Words && is_word(text.chars().next());
        let needs_gap = if opens {
            self.has_closed || is_word_before
        } else {
            self.has_closed && is_word_after
        };
        if needs_gap {
            self.text.push(GAP);
        }
        for mark in marks {
            if !self.open.contains(mark) {
                self.text.push_str(mark);
                self.open.push(mark);
            }
        }
        self.text.push_str(text);
        self.has_closed = false;
    }

    /// The line.
    pub(super) fn finish(mut self) -> String {
        self.close(0);
        self.text
    }

    fn close(&mut self, still_open: usize) {
        for mark in self.open.drain(still_open..).rev() {
            self.text.push_str(mark);
            self.has_closed = true;
        }
    }
}
