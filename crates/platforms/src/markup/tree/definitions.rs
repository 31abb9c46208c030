//! `[INFO]: done` is a link definition to Markdown, and invisible. Where nothing refers to it, somebody meant it to be
//! read.
//!
//! Pure: text in, text out.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Parser, Tag};

use super::OPTIONS;

/// The source, with each definition that nothing refers to made text.
pub(super) fn kept(markdown: &str) -> Cow<'_, str> {
    let definitions = definitions(markdown);
    if definitions.iter().all(|definition| definition.is_used) {
        return Cow::Borrowed(markdown);
    }
    let mut source = String::with_capacity(markdown.len() + 2 * definitions.len());
    let mut start = 0;
    let mut copy = |source: &mut String, end: usize| {
        source.push_str(markdown.get(start..end).unwrap_or_default());
        start = end;
    };
    for definition in definitions.iter().filter(|definition| !definition.is_used) {
        copy(&mut source, definition.span.start);
        source.push('\\');
        copy(&mut source, definition.span.end);
        // A definition that follows cannot begin in the middle of a paragraph.
        source.push('\n');
    }
    copy(&mut source, markdown.len());
    Cow::Owned(source)
}

struct Definition {
    span: Range<usize>,
    is_used: bool,
}

/// The definitions in the order in which they stand there.
fn definitions(markdown: &str) -> Vec<Definition> {
    let mut parser = Parser::new_ext(markdown, OPTIONS);
    let spans: Vec<_> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| (label.to_lowercase(), definition.span.clone()))
        .collect();
    if spans.is_empty() {
        return Vec::new();
    }
    let used: HashSet<_> = parser
        .by_ref()
        .filter_map(|event| match event {
            Event::Start(Tag::Link { link_type, id, .. } | Tag::Image { link_type, id, .. }) => {
                is_reference(link_type).then(|| id.to_lowercase())
            }
            _ => None,
        })
        .collect();
    let definition = |(label, span)| Definition {
        span,
        is_used: used.contains(&label),
    };
    let mut definitions: Vec<_> = spans.into_iter().map(definition).collect();
    definitions.sort_unstable_by_key(|definition| definition.span.start);
    definitions
}

const fn is_reference(link: LinkType) -> bool {
    matches!(
        link,
        LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut
    )
}
