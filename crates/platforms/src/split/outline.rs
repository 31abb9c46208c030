//! What a Markdown text looks like to somebody with scissors: where it may be cut, how well, and which code blocks
//! would have to be closed and opened again.
//!
//! Pure: text in, places out.

use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// How good a place to cut is, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Grade {
    /// Before a block of the text.
    Block,
    /// Before an item of a list, or a block inside another.
    Item,
    /// Between lines.
    Line,
    /// Between words.
    Word,
}

/// A fenced code block.
#[derive(Debug)]
pub(super) struct Fence {
    /// From the first line of code to the end of the last.
    body: Range<usize>,
    /// The line that opens it, with its line break.
    pub(super) opening: String,
    /// The line that closes it, without.
    pub(super) closing: String,
}

/// Where a text may be cut.
#[derive(Debug, Default)]
pub(super) struct Outline {
    breaks: BTreeMap<usize, Grade>,
    fences: Vec<Fence>,
}

impl Outline {
    pub(super) fn of(text: &str) -> Self {
        let mut outline = Self::default();
        let mut together = Vec::new();
        let mut depth = 0_usize;
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                    outline.offer(line_start(text, range.start), grade_at(depth));
                    outline.fences.extend(fence(text, &range));
                    depth += 1;
                }
                Event::Start(tag) => {
                    if is_inline(&tag) {
                        together.push(range);
                    } else {
                        outline.offer(line_start(text, range.start), grade_at(depth));
                    }
                    depth += 1;
                }
                Event::End(_) => depth = depth.saturating_sub(1),
                Event::Code(_) | Event::InlineHtml(_) => together.push(range),
                _ => {}
            }
        }
        outline.offer_lines_and_words(text, &together);
        outline
    }

    /// Offers a place; the best grade that it was ever given counts.
    fn offer(&mut self, place: usize, grade: Grade) {
        let known = self.breaks.entry(place).or_insert(grade);
        *known = grade.min(*known);
    }

    fn offer_lines_and_words(&mut self, text: &str, together: &[Range<usize>]) {
        let mut apart = together.iter().peekable();
        for (offset, char) in text.char_indices().filter(|(_, char)| char.is_whitespace()) {
            let place = offset + char.len_utf8();
            while apart.next_if(|range| range.end < place).is_some() {}
            let is_inside = apart
                .peek()
                .is_some_and(|range| range.start < place && place < range.end);
            if is_inside {
                continue;
            }
            match char {
                '\n' => self.offer(place, Grade::Line),
                _ if self.fence_around(place).is_none() => self.offer(place, Grade::Word),
                _ => {}
            }
        }
        // The last line break of a code block stands before its closing line: a cut there would show an empty block.
        for fence in &self.fences {
            self.breaks.remove(&fence.body.end);
            self.breaks.remove(&fence.body.start);
        }
    }

    /// The last place of this grade or better in the range.
    pub(super) fn last_break(&self, grade: Grade, within: RangeInclusive<usize>) -> Option<usize> {
        if within.is_empty() {
            return None;
        }
        let mut places = self.breaks.range(within).rev();
        places
            .find(|(_, found)| **found <= grade)
            .map(|(place, _)| *place)
    }

    /// The code block that a cut at `place` would go through.
    pub(super) fn fence_around(&self, place: usize) -> Option<&Fence> {
        let index = self.fences.partition_point(|fence| fence.body.end <= place);
        self.fences
            .get(index)
            .filter(|fence| fence.body.start <= place)
    }
}

const fn grade_at(depth: usize) -> Grade {
    if depth == 0 {
        Grade::Block
    } else {
        Grade::Item
    }
}

const fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } | Tag::Image { .. }
    )
}

/// A block in a list starts after its marker: the cut goes before the line.
fn line_start(text: &str, place: usize) -> usize {
    text[..place]
        .rfind('\n')
        .map_or(0, |line_break| line_break + 1)
}

/// The fence of a code block that takes whole lines, so that it can be closed and opened by lines.
fn fence(text: &str, range: &Range<usize>) -> Option<Fence> {
    let block = text.get(range.clone())?;
    let mark: String = block
        .chars()
        .take_while(|char| matches!(char, '`' | '~'))
        .collect();
    let first_line = block.find('\n')? + 1;
    let last_line = block.trim_end().rfind('\n')? + 1;
    let has_closing = block[last_line..].trim().starts_with(&mark);
    let body_end = if has_closing {
        last_line.max(first_line)
    } else {
        block.len()
    };
    let body = range.start + first_line..range.start + body_end;
    (!mark.is_empty() && !body.is_empty()).then(|| Fence {
        body,
        opening: block[..first_line].to_owned(),
        closing: mark,
    })
}
