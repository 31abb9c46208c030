//! Where links lead. An address that is written out in the text is a link too, so that no writer takes a mark in it for
//! markup; one that a platform would not follow is never made a link; and a mention names one user and nothing else.
//!
//! Pure: text in, links out.

use super::tree::{Inline, text_of};

/// How a link is written that is meant to reach somebody: `[Ada](mention:U123)`.
const MENTION: &str = "mention:";
/// Longer is no id of a user.
const LONGEST_ID: usize = 64;
/// What ends an address in a text.
const ENDS: &str = "<>\"`。，、；：！？（）「」";
/// What an address in a text does not end with.
const TRAILING: &str = "?!.,:;*_~'";

/// What a link in the source is: a mention, or its content, dressed as a whole, with an address.
pub(super) fn link(address: String, content: Vec<Inline>) -> Inline {
    if let Some(user) = address.strip_prefix(MENTION) {
        let name = text_of(&content);
        return if is_user(user) {
            let user = user.to_owned();
            Inline::Mention { user, name }
        } else {
            Inline::Text(name)
        };
    }
    let inside = |content| vec![link(address.clone(), content)];
    match <[Inline; 1]>::try_from(content) {
        Ok([Inline::Strong(content)]) => Inline::Strong(inside(content)),
        Ok([Inline::Emphasis(content)]) => Inline::Emphasis(inside(content)),
        Ok([Inline::Strike(content)]) => Inline::Strike(inside(content)),
        Ok(content) => Inline::Link {
            address,
            content: content.into(),
        },
        Err(content) => Inline::Link { address, content },
    }
}

/// Letters and digits: nothing else can be made to mean everybody, a group or a channel.
fn is_user(id: &str) -> bool {
    let is_id = |char: char| char.is_ascii_alphanumeric();
    (1..=LONGEST_ID).contains(&id.len()) && id.chars().all(is_id)
}

/// Whether every platform follows it.
pub(super) fn is_web(address: &str) -> bool {
    let has_scheme = |scheme: &str| {
        let start = address.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
            && address.len() > scheme.len()
    };
    has_scheme("http://") || has_scheme("https://")
}

/// The address without what could end it early, each such character by its number.
pub(super) fn encoded(address: &str, special: &str) -> String {
    let mut encoded = String::with_capacity(address.len());
    let mut buffer = [0; 4];
    for char in address.chars() {
        if char.is_whitespace() || char.is_control() || special.contains(char) {
            let bytes = char.encode_utf8(&mut buffer).bytes();
            encoded.extend(bytes.map(|byte| format!("%{byte:02X}")));
        } else {
            encoded.push(char);
        }
    }
    encoded
}

/// The line, with the addresses in its text made links.
pub(super) fn linked(inlines: Vec<Inline>) -> Vec<Inline> {
    let mut linked = Vec::with_capacity(inlines.len());
    for inline in inlines {
        match inline {
            Inline::Text(text) => link_text(&text, &mut linked),
            inline => linked.push(inline),
        }
    }
    linked
}

fn link_text(text: &str, linked: &mut Vec<Inline>) {
    let mut rest = text;
    while let Some((start, end)) = find(rest) {
        let (before, address) = (rest.get(..start), rest.get(start..end));
        push_text(before.unwrap_or_default(), linked);
        let address = address.unwrap_or_default();
        linked.push(Inline::Link {
            address: address.to_owned(),
            content: vec![Inline::Text(address.to_owned())],
        });
        rest = rest.get(end..).unwrap_or_default();
    }
    push_text(rest, linked);
}

fn push_text(text: &str, linked: &mut Vec<Inline>) {
    if !text.is_empty() {
        linked.push(Inline::Text(text.to_owned()));
    }
}

/// Where the first address in a text starts and ends.
fn find(text: &str) -> Option<(usize, usize)> {
    text.match_indices("http").find_map(|(start, _)| {
        let before = text.get(..start)?.chars().next_back();
        let rest = text.get(start..)?;
        if before.is_some_and(char::is_alphanumeric) || !is_web(rest) {
            return None;
        }
        let ends_it = |char: char| char.is_whitespace() || char.is_control() || ENDS.contains(char);
        let address = trimmed(rest.split(ends_it).next()?);
        is_web(address).then_some((start, start + address.len()))
    })
}

/// Without the punctuation of the sentence around it, and without a bracket that was opened before it.
fn trimmed(whole: &str) -> &str {
    let more = |closing: char, opening: char| {
        let closed = whole.matches(closing).count();
        closed.saturating_sub(whole.matches(opening).count())
    };
    let (mut round, mut square) = (more(')', '('), more(']', '['));
    whole.trim_end_matches(|char: char| {
        let unopened = match char {
            ')' => &mut round,
            ']' => &mut square,
            char => return TRAILING.contains(char),
        };
        let is_unopened = *unopened > 0;
        *unopened = unopened.saturating_sub(1);
        is_unopened
    })
}

#[cfg(test)]
mod tests;
