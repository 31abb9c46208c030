//! Puts the tree together from the parser's events: what is open at the moment, and what is around it.
//!
//! **Invariant:** the tree is never deeper than [`DEEPEST`] and a few. What is nested deeper loses its dress, not its
//! words: it belongs to what is around it.
//!
//! Pure: events in, tree out.

use std::mem;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag};

use super::{Block, Cell, Inline, Item, List, Table, text_of};
use crate::markup::address;

/// How many lists, quotes and emphases may stand inside each other. Nobody reads that deep; a stack overflows deeper.
const DEEPEST: usize = 32;

/// What is open, by what becomes of it.
#[derive(Debug)]
enum Kind {
    Document,
    Quote,
    Footnote(String),
    List(List),
    Item {
        is_done: Option<bool>,
        is_loose: bool,
    },
    Paragraph,
    Heading(u8),
    Code(String),
    Table(Table),
    /// A row, whether it is the first, and where its last cell ended.
    Row {
        cells: Vec<Cell>,
        is_head: bool,
        end: usize,
    },
    Cell,
    Strong,
    Emphasis,
    Strike,
    Link {
        address: String,
        title: String,
    },
    Image {
        address: String,
        title: String,
    },
    /// Blocks that are too deep.
    FlatBlock,
    /// Words that are too deep, and where they lead.
    FlatInline(String),
}

#[derive(Debug)]
struct Frame {
    kind: Kind,
    blocks: Vec<Block>,
    inlines: Vec<Inline>,
}

impl Frame {
    const fn new(kind: Kind) -> Self {
        Self {
            kind,
            blocks: Vec::new(),
            inlines: Vec::new(),
        }
    }

    /// Words that no paragraph was opened for are one.
    fn flush(&mut self) {
        while matches!(self.inlines.last(), Some(Inline::Break)) {
            self.inlines.pop();
        }
        if !self.inlines.is_empty() {
            let inlines = address::linked(mem::take(&mut self.inlines));
            self.blocks.push(Block::Paragraph(inlines));
        }
    }

    fn into_blocks(mut self) -> Vec<Block> {
        self.flush();
        self.blocks
    }
}

/// What is open, and what is around it.
pub(super) struct Builder<'a> {
    source: &'a str,
    current: Frame,
    outer: Vec<Frame>,
    depth: usize,
}

impl<'a> Builder<'a> {
    pub(super) const fn new(source: &'a str) -> Self {
        Self {
            source,
            current: Frame::new(Kind::Document),
            outer: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn take(&mut self, event: Event<'_>, range: &Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(_) => self.close(range),
            Event::Text(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.inline(Inline::Code(code.into_string()));
            }
            Event::Html(html) => self.lines(&html),
            Event::FootnoteReference(label) => self.text(&format!("[{label}]")),
            Event::SoftBreak | Event::HardBreak => self.inline(Inline::Break),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(done) => self.mark(done),
        }
    }

    pub(super) fn finish(mut self) -> Vec<Block> {
        while !self.outer.is_empty() {
            self.close(&(self.source.len()..self.source.len()));
        }
        self.current.into_blocks()
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        let row = |is_head| Kind::Row {
            cells: Vec::new(),
            is_head,
            end: range.end,
        };
        let kind = match tag {
            Tag::Paragraph => {
                if let Kind::Item { is_loose, .. } = &mut self.current.kind {
                    *is_loose = true;
                }
                Kind::Paragraph
            }
            Tag::HtmlBlock | Tag::MetadataBlock(_) | Tag::DefinitionListTitle => Kind::Paragraph,
            Tag::Heading { level, .. } => Kind::Heading(level as u8),
            Tag::BlockQuote(_) | Tag::DefinitionList | Tag::DefinitionListDefinition => Kind::Quote,
            Tag::CodeBlock(kind) => Kind::Code(language(&kind)),
            Tag::List(first) => Kind::List(List {
                first,
                is_loose: false,
                items: Vec::new(),
            }),
            Tag::Item => Kind::Item {
                is_done: None,
                is_loose: false,
            },
            Tag::FootnoteDefinition(label) => Kind::Footnote(label.into_string()),
            Tag::Table(alignments) => Kind::Table(Table {
                alignments,
                head: Vec::new(),
                rows: Vec::new(),
            }),
            Tag::TableHead => row(true),
            Tag::TableRow => row(false),
            Tag::TableCell => Kind::Cell,
            Tag::Strong => Kind::Strong,
            Tag::Emphasis | Tag::Superscript | Tag::Subscript => Kind::Emphasis,
            Tag::Strikethrough => Kind::Strike,
            Tag::Link {
                dest_url, title, ..
            } => Kind::Link {
                address: dest_url.into_string(),
                title: title.into_string(),
            },
            Tag::Image {
                dest_url, title, ..
            } => Kind::Image {
                address: dest_url.into_string(),
                title: title.into_string(),
            },
        };
        self.open(kind);
    }

    fn open(&mut self, kind: Kind) {
        let kind = self.flattened(kind);
        self.depth += usize::from(!is_flat(&kind));
        let around = mem::replace(&mut self.current, Frame::new(kind));
        self.outer.push(around);
    }

    /// What is too deep is opened without a dress. An item goes with its list; what is in a table is never deep.
    fn flattened(&self, kind: Kind) -> Kind {
        let is_too_deep = self.depth >= DEEPEST;
        match kind {
            Kind::Item { .. } if is_flat(&self.current.kind) => Kind::FlatBlock,
            Kind::Quote | Kind::Footnote(_) | Kind::List(_) if is_too_deep => Kind::FlatBlock,
            Kind::Strong | Kind::Emphasis | Kind::Strike if is_too_deep => {
                Kind::FlatInline(String::new())
            }
            Kind::Link { address, .. } | Kind::Image { address, .. } if is_too_deep => {
                Kind::FlatInline(address)
            }
            kind => kind,
        }
    }

    fn close(&mut self, range: &Range<usize>) {
        let Some(around) = self.outer.pop() else {
            return;
        };
        let mut done = mem::replace(&mut self.current, around);
        self.depth -= usize::from(!is_flat(&done.kind));
        match mem::replace(&mut done.kind, Kind::Document) {
            Kind::Document | Kind::FlatBlock | Kind::Paragraph => {
                self.hand_over(done.into_blocks());
            }
            Kind::Quote => self.block(Block::Quote(done.into_blocks())),
            Kind::Footnote(label) => {
                let blocks = done.into_blocks();
                self.block(Block::Footnote { label, blocks });
            }
            Kind::List(list) => self.block(Block::List(list)),
            Kind::Item { is_done, is_loose } => self.item(is_done, is_loose, done.into_blocks()),
            Kind::Heading(level) => {
                let line = one_line(address::linked(done.inlines));
                self.block(Block::Heading(level, line));
            }
            Kind::Code(language) => {
                let text = text_of(&done.inlines);
                let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
                self.block(Block::Code { language, text });
            }
            Kind::Table(table) => self.block(Block::Table(table)),
            Kind::Row {
                cells,
                is_head,
                end,
            } => self.row(self.whole(cells, end..range.end), is_head),
            Kind::Cell => self.cell(address::linked(done.inlines), range.end),
            inline => self.close_inline(inline, done.inlines),
        }
    }

    fn close_inline(&mut self, kind: Kind, inlines: Vec<Inline>) {
        let settled = if self.is_in_link() {
            inlines
        } else {
            match kind {
                Kind::Link { address, title } => return self.link(address, &title, inlines),
                Kind::Image { address, title } => {
                    let text = Inline::Text(text_of(&inlines));
                    return self.link(address, &title, vec![text]);
                }
                _ => address::linked(inlines),
            }
        };
        match kind {
            Kind::Strong => self.inline(Inline::Strong(settled)),
            Kind::Emphasis => self.inline(Inline::Emphasis(settled)),
            Kind::Strike => self.inline(Inline::Strike(settled)),
            // A link in a link, or one that is too deep: the address is shown.
            Kind::Link { address, .. }
            | Kind::Image { address, .. }
            | Kind::FlatInline(address) => {
                let is_shown = address.is_empty() || text_of(&settled) == address;
                self.current.inlines.extend(settled);
                if !is_shown {
                    self.text(&format!(" ({address})"));
                }
            }
            _ => {}
        }
    }

    fn link(&mut self, address: String, title: &str, content: Vec<Inline>) {
        let label = text_of(&content);
        self.inline(address::link(address, content));
        if !title.is_empty() && title != label {
            self.text(&format!(" ({title})"));
        }
    }

    fn item(&mut self, is_done: Option<bool>, has_room: bool, blocks: Vec<Block>) {
        if let Kind::List(list) = &mut self.current.kind {
            list.is_loose |= has_room;
            list.items.push(Item { is_done, blocks });
        } else {
            self.hand_over(blocks);
        }
    }

    fn cell(&mut self, cell: Cell, at: usize) {
        if let Kind::Row { cells, end, .. } = &mut self.current.kind {
            cells.push(cell);
            *end = at;
        }
    }

    fn row(&mut self, cells: Vec<Cell>, is_head: bool) {
        match &mut self.current.kind {
            Kind::Table(table) if is_head => table.head = cells,
            Kind::Table(table) => table.rows.push(cells),
            _ => {}
        }
    }

    /// A row with more cells than the table has columns: the rest belongs to the last one.
    fn whole(&self, mut cells: Vec<Cell>, rest: Range<usize>) -> Vec<Cell> {
        let rest = self.source.get(rest).unwrap_or_default();
        let rest = rest.trim_matches(|char: char| char == '|' || char.is_whitespace());
        if let (false, Some(last)) = (rest.is_empty(), cells.last_mut()) {
            last.push(Inline::Text(format!(" | {rest}")));
        }
        cells
    }

    fn mark(&mut self, done: bool) {
        let around = self.outer.iter_mut().rev().map(|frame| &mut frame.kind);
        let mut kinds = [&mut self.current.kind].into_iter().chain(around);
        let item = kinds.find_map(|kind| match kind {
            Kind::Item { is_done, .. } => Some(is_done),
            _ => None,
        });
        if let Some(is_done) = item {
            *is_done = Some(done);
        }
    }

    /// Lines that are shown as they are.
    fn lines(&mut self, text: &str) {
        for line in text.split_inclusive('\n') {
            self.text(line.trim_end_matches(['\n', '\r']));
            if line.ends_with('\n') {
                self.inline(Inline::Break);
            }
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(Inline::Text(known)) = self.current.inlines.last_mut() {
            known.push_str(text);
        } else if !text.is_empty() {
            self.inline(Inline::Text(text.to_owned()));
        }
    }

    fn inline(&mut self, inline: Inline) {
        self.current.inlines.push(inline);
    }

    fn block(&mut self, block: Block) {
        self.current.flush();
        self.current.blocks.push(block);
    }

    fn hand_over(&mut self, blocks: Vec<Block>) {
        self.current.flush();
        self.current.blocks.extend(blocks);
    }

    fn is_in_link(&self) -> bool {
        let around = self.outer.iter().map(|frame| &frame.kind);
        let mut kinds = [&self.current.kind].into_iter().chain(around);
        kinds.any(|kind| matches!(kind, Kind::Link { .. } | Kind::Image { .. }))
    }
}

const fn is_flat(kind: &Kind) -> bool {
    matches!(kind, Kind::FlatBlock | Kind::FlatInline(_))
}

fn one_line(inlines: Vec<Inline>) -> Vec<Inline> {
    let space = |inline| match inline {
        Inline::Break => Inline::Text(" ".to_owned()),
        inline => inline,
    };
    inlines.into_iter().map(space).collect()
}

/// The first word after a fence, if it looks like the name of a language.
fn language(kind: &CodeBlockKind<'_>) -> String {
    let CodeBlockKind::Fenced(line) = kind else {
        return String::new();
    };
    let ends_it = |char: char| char.is_whitespace() || matches!(char, ',' | '{' | ':');
    let word = line.split(ends_it).next().unwrap_or_default();
    let is_name = |char: char| char.is_ascii_alphanumeric() || "_+-.#".contains(char);
    let is_language = word.len() <= 32 && word.chars().all(is_name);
    word.get(..if is_language { word.len() } else { 0 })
        .unwrap_or_default()
        .to_owned()
}
