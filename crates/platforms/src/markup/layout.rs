//! What all dialects have in common: which block stands on which line, how far to the right, and with how much room.
//! How anything looks there is the dialect's [`Dress`].
//!
//! Pure: tree in, text out.

use super::table;
use super::tree::{Block, Inline, Item, List};

/// A line that separates, in dialects that have none of their own.
const RULE: &str = "──────────";
const DONE: &str = "☑ ";
const OPEN: &str = "☐ ";

/// A line, and whether it has to begin where lines begin, also inside a list.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) is_flush: bool,
}

/// Lines that move to the right with what they stand in.
pub(super) fn moving(text: &str) -> Vec<Line> {
    lines(text, false)
}

/// Lines that stay where lines begin.
pub(super) fn flush(text: &str) -> Vec<Line> {
    lines(text, true)
}

fn lines(text: &str, is_flush: bool) -> Vec<Line> {
    let line = |text: &str| Line {
        text: text.to_owned(),
        is_flush,
    };
    text.split('\n').map(line).collect()
}

/// The lines, each after a prefix.
pub(super) fn prefixed(prefix: &str, lines: &[Line]) -> String {
    let prefixed = lines.iter().map(|line| format!("{prefix}{}", line.text));
    prefixed.collect::<Vec<_>>().join("\n")
}

/// How a dialect shows things. `around` is how many quotes it stands in.
pub(super) trait Dress {
    /// What begins an item without a number.
    fn bullet(&self) -> &'static str;
    /// Words, on one line or several.
    fn inlines(&self, inlines: &[Inline]) -> String;
    /// A line above others.
    fn heading(&self, level: u8, inlines: &[Inline]) -> String;
    /// Somebody else's words.
    fn quote(&self, lines: Vec<Line>, around: usize) -> Vec<Line>;
    /// Lines whose spaces count.
    fn code(&self, language: &str, text: &str, around: usize) -> Vec<Line>;
}

/// A whole text in a dialect.
pub(super) fn document(dress: &dyn Dress, blocks: &[Block]) -> String {
    let layout = Layout { dress, around: 0 };
    let lines = layout.blocks(blocks, Room::Loose);
    let lines: Vec<_> = lines.into_iter().map(|line| line.text).collect();
    lines.join("\n")
}

/// Whether there is an empty line between blocks.
#[derive(Clone, Copy)]
enum Room {
    Tight,
    Loose,
}

struct Layout<'a> {
    dress: &'a dyn Dress,
    around: usize,
}

impl Layout<'_> {
    fn blocks(&self, blocks: &[Block], room: Room) -> Vec<Line> {
        let parts = blocks.iter().map(|block| self.block(block));
        joined(parts, room)
    }

    fn block(&self, block: &Block) -> Vec<Line> {
        match block {
            Block::Paragraph(inlines) => moving(&self.dress.inlines(inlines)),
            Block::Heading(level, inlines) => moving(&self.dress.heading(*level, inlines)),
            Block::Quote(blocks) => {
                let inner = Layout {
                    dress: self.dress,
                    around: self.around + 1,
                };
                let lines = inner.blocks(blocks, Room::Loose);
                if lines.is_empty() {
                    return lines;
                }
                self.dress.quote(lines, self.around)
            }
            Block::List(list) => self.list(list),
            Block::Code { language, text } => self.code(language, text),
            Block::Table(table) => match table::columns(table) {
                Some(columns) => self.code("", &columns),
                None => self.blocks(&table::records(table), Room::Loose),
            },
            Block::Rule => moving(RULE),
            Block::Footnote { label, blocks } => {
                let mark = format!("[{label}] ");
                hung(&mark, self.blocks(blocks, Room::Loose))
            }
        }
    }

    fn code(&self, language: &str, text: &str) -> Vec<Line> {
        if text.trim().is_empty() {
            return Vec::new();
        }
        self.dress.code(language, text, self.around)
    }

    fn list(&self, list: &List) -> Vec<Line> {
        let room = if list.is_loose {
            Room::Loose
        } else {
            Room::Tight
        };
        let items = list.items.iter().zip(0_u64..).map(|(item, at)| {
            let number = list.first.map(|first| first.saturating_add(at));
            let marker = self.marker(number, item);
            hung(&marker, self.blocks(&item.blocks, room))
        });
        joined(items, room)
    }

    /// The box of a task stands for a bullet that is no more than decoration.
    fn marker(&self, number: Option<u64>, item: &Item) -> String {
        let task = match item.is_done {
            Some(true) => DONE,
            Some(false) => OPEN,
            None => "",
        };
        let bullet = self.dress.bullet();
        match number {
            Some(number) => format!("{number}. {task}"),
            None if bullet.is_ascii() || task.is_empty() => format!("{bullet}{task}"),
            None => task.to_owned(),
        }
    }
}

fn joined(parts: impl Iterator<Item = Vec<Line>>, room: Room) -> Vec<Line> {
    let mut lines = Vec::new();
    for mut part in parts.filter(|part| !part.is_empty()) {
        if matches!(room, Room::Loose) && !lines.is_empty() {
            lines.extend(moving(""));
        }
        lines.append(&mut part);
    }
    lines
}

/// The lines after a marker, the others below its end.
fn hung(marker: &str, lines: Vec<Line>) -> Vec<Line> {
    let indent = " ".repeat(marker.chars().count());
    let mut hung = Vec::with_capacity(lines.len() + 1);
    let mut rest = lines.into_iter().peekable();
    let first = rest.next_if(|line| !line.is_flush);
    let first = first.map(|line| line.text).unwrap_or_default();
    hung.extend(moving(format!("{marker}{first}").trim_end()));
    for mut line in rest {
        if !line.is_flush && !line.text.is_empty() {
            line.text.insert_str(0, &indent);
        }
        hung.push(line);
    }
    hung
}
