//! What a Markdown text says, as a small tree that every dialect is written from.
//!
//! **Invariant:** total and lossless for a reader: any text has a tree, of limited depth, and no word of it is missing.
//! What Markdown itself would swallow (a definition that nothing refers to, more cells than a table has columns, the
//! title of a link) is kept as text.
//!
//! Pure: text in, tree out.

mod build;
mod definitions;

use pulldown_cmark::{Alignment, Options, Parser};

use self::build::Builder;

/// What is understood beside `CommonMark`.
const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS)
    .union(Options::ENABLE_FOOTNOTES);

/// A part of the text that stands on lines of its own.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    Paragraph(Vec<Inline>),
    /// With its level, from 1 to 6.
    Heading(u8, Vec<Inline>),
    Quote(Vec<Block>),
    List(List),
    Code {
        /// A word, or nothing.
        language: String,
        text: String,
    },
    Table(Table),
    Rule,
    Footnote {
        label: String,
        blocks: Vec<Block>,
    },
}

/// A list of either kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct List {
    /// The number of its first item, if it has numbers.
    pub(super) first: Option<u64>,
    /// Whether its items have room between them.
    pub(super) is_loose: bool,
    pub(super) items: Vec<Item>,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// Whether the task is done, if it is one.
    pub(super) is_done: Option<bool>,
    pub(super) blocks: Vec<Block>,
}

/// What stands in one field of a table.
pub(super) type Cell = Vec<Inline>;

/// A table with its first row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Table {
    pub(super) alignments: Vec<Alignment>,
    pub(super) head: Vec<Cell>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Inline {
    Text(String),
    Code(String),
    /// The end of a line. In a chat, a line break in the source is one for the reader.
    Break,
    Strong(Vec<Inline>),
    Emphasis(Vec<Inline>),
    Strike(Vec<Inline>),
    /// What is shown, and where it leads.
    Link {
        address: String,
        content: Vec<Inline>,
    },
    /// Somebody who is meant to hear of it, and how they are called.
    Mention {
        user: String,
        name: String,
    },
}

/// The tree of a text.
pub(super) fn parse(markdown: &str) -> Vec<Block> {
    let source = definitions::kept(markdown);
    let mut builder = Builder::new(&source);
    for (event, range) in Parser::new_ext(&source, OPTIONS).into_offset_iter() {
        builder.take(event, &range);
    }
    builder.finish()
}

/// The words of a line, without what is around them.
pub(super) fn text_of(inlines: &[Inline]) -> String {
    let mut text = String::new();
    for inline in inlines {
        match inline {
            Inline::Text(more) | Inline::Code(more) | Inline::Mention { name: more, .. } => {
                text.push_str(more);
            }
            Inline::Break => text.push(' '),
            Inline::Strong(content)
            | Inline::Emphasis(content)
            | Inline::Strike(content)
            | Inline::Link { content, .. } => text.push_str(&text_of(content)),
        }
    }
    text
}

#[cfg(test)]
mod tests;
