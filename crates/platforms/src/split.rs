//! Cuts an answer into pieces that a platform takes, along the Markdown tree: between blocks where that is possible,
//! else between list items and lines, then words, and only in the last resort inside one. What stands together in
//! the tree (a link, an emphasis) stays together while it fits. A code block that is cut is closed at the end of
//! its piece and opened again in the next.
//!
//! **Invariant:** nothing is lost and nothing is doubled: the pieces' sources, joined, are the answer; and every piece,
//! as it is shown, is within the limit, counted in the platform's own unit.
//!
//! Pure: text in, pieces out.

mod outline;

use std::ops::Range;

use talaria_domain::capabilities::TextLimit;
use unicode_segmentation::GraphemeCursor;

use self::outline::{Fence, Grade, Outline};

/// One piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Which part of the answer it is.
    pub source: Range<usize>,
    /// What opens a code block again.
    pub prefix: String,
    /// What closes one.
    pub suffix: String,
}

impl Piece {
    /// The piece as it is shown.
    pub fn render(&self, answer: &str) -> String {
        let source = answer.get(self.source.clone()).unwrap_or_default();
        format!("{}{source}{}", self.prefix, self.suffix)
    }
}

/// Cuts an answer into pieces within the limit.
///
/// ```
/// use talaria_domain::capabilities::{TextLimit, TextUnit};
/// use talaria_platforms::split::split;
///
/// let answer = "Look:\n\n```sh\nmake\nmake test\n```\n";
/// let limit = TextLimit { max: 22, unit: TextUnit::Chars };
/// let shown: Vec<String> = split(answer, limit).iter().map(|piece| piece.render(answer)).collect();
/// assert_eq!(shown, ["Look:\n\n```sh\nmake\n```", "```sh\nmake test\n```\n"]);
/// ```
pub fn split(answer: &str, limit: TextLimit) -> Vec<Piece> {
    let outline = Outline::of(answer);
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < answer.len() {
        let piece = Cutter {
            answer,
            outline: &outline,
            limit,
            start,
        }
        .next();
        start = piece.source.end;
        pieces.push(piece);
    }
    pieces
}

/// Where the next piece starts, and all that decides where it ends.
struct Cutter<'a> {
    answer: &'a str,
    outline: &'a Outline,
    limit: TextLimit,
    start: usize,
}

impl Cutter<'_> {
    fn next(&self) -> Piece {
        let prefix = self
            .fence_around(self.start)
            .map_or("", |fence| &fence.opening);
        let room = self.limit.max.saturating_sub(self.measure(prefix));
        let furthest = self.furthest(room);
        if furthest == self.answer.len() {
            return self.piece(prefix, furthest, "");
        }
        let end = self.cut_before(furthest);
        let Some(fence) = self.fence_around(end) else {
            return self.piece(prefix, end, "");
        };
        // Room for the closing line, and for the line break that has to stand before it.
        let closing = format!("\n{}", fence.closing);
        let end = self.cut_before(self.furthest(room.saturating_sub(self.measure(&closing))));
        match self.fence_around(end) {
            Some(_) if self.answer[..end].ends_with('\n') => self.piece(prefix, end, &closing[1..]),
            Some(_) => self.piece(prefix, end, &closing),
            None => self.piece(prefix, end, ""),
        }
    }

    /// The code block that a cut at `place` goes through, if it can be closed and opened again. With a limit so small
    /// that its two lines would fill half of it, the text matters more than its dress.
    fn fence_around(&self, place: usize) -> Option<&Fence> {
        let dress = |fence: &Fence| self.measure(&fence.opening) + self.measure(&fence.closing) + 1;
        let fence = self.outline.fence_around(place);
        fence.filter(|fence| dress(fence) * 2 <= self.limit.max)
    }

    fn piece(&self, prefix: &str, end: usize, suffix: &str) -> Piece {
        let (prefix, suffix) = (prefix.to_owned(), suffix.to_owned());
        Piece {
            source: self.start..end,
            prefix,
            suffix,
        }
    }

    fn measure(&self, text: &str) -> usize {
        self.limit.unit.measure(text)
    }

    /// How far the text fits into `room`.
    fn furthest(&self, room: usize) -> usize {
        let mut left = room;
        let mut buffer = [0; 4];
        for (offset, char) in self.answer[self.start..].char_indices() {
            let size = self.measure(char.encode_utf8(&mut buffer));
            if size > left {
                return self.start + offset;
            }
            left -= size;
        }
        self.answer.len()
    }

    /// The best place to cut at or before `furthest`, and after the start.
    fn cut_before(&self, furthest: usize) -> usize {
        let span = furthest.saturating_sub(self.start);
        for (grade, least) in [
            (Grade::Block, span / 2),
            (Grade::Item, span / 2),
            (Grade::Line, span / 3),
            (Grade::Word, 1),
        ] {
            let best = self
                .outline
                .last_break(grade, self.start + least.max(1)..=furthest);
            if let Some(best) = best {
                return best;
            }
        }
        self.between_graphemes(furthest)
    }

    /// Inside a word: not inside what a reader sees as one character, unless even that does not fit.
    fn between_graphemes(&self, furthest: usize) -> usize {
        let mut cursor = GraphemeCursor::new(furthest, self.answer.len(), true);
        if cursor.is_boundary(self.answer, 0) == Ok(true) && furthest > self.start {
            return furthest;
        }
        match cursor.prev_boundary(self.answer, 0) {
            Ok(Some(boundary)) if boundary > self.start => boundary,
            _ if furthest > self.start => furthest,
            _ => {
                self.start
                    + self.answer[self.start..]
                        .chars()
                        .next()
                        .map_or(1, char::len_utf8)
            }
        }
    }
}

/// The pieces as they are shown.
pub fn pieces(answer: &str, limit: TextLimit) -> Vec<String> {
    split(answer, limit)
        .iter()
        .map(|piece| piece.render(answer))
        .collect()
}

#[cfg(test)]
mod tests;
