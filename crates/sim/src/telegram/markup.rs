//! What a text looks like once its markup is read ("HTML style" of the page), or what is wrong with it, in the words of
//! the open Bot API server.
//!
//! Pure: a marked text in, a plain one with its entities out.

#[cfg(test)]
mod tests;

use serde_json::{Value, json};

/// A text and what is marked in it.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Plain {
    pub(super) text: String,
    pub(super) entities: Vec<Value>,
}

/// The tags that are understood, and the entity that each makes.
const TAGS: [(&str, &str); 16] = [
    ("b", "bold"),
    ("strong", "bold"),
    ("i", "italic"),
    ("em", "italic"),
    ("u", "underline"),
    ("ins", "underline"),
    ("s", "strikethrough"),
    ("strike", "strikethrough"),
    ("del", "strikethrough"),
    ("span", "spoiler"),
    ("tg-spoiler", "spoiler"),
    ("a", "text_link"),
    ("code", "code"),
    ("pre", "pre"),
    ("blockquote", "blockquote"),
    ("tg-emoji", "custom_emoji"),
];

/// Reads a text in this mode; whatever is not HTML is taken as it is.
pub(super) fn read(text: &str, mode: Option<&str>) -> Result<Plain, String> {
    match mode {
        Some(mode) if mode.eq_ignore_ascii_case("html") => html(text),
        Some(mode) if mode.to_ascii_lowercase().starts_with("markdown") => plain(text),
        None | Some("") => plain(text),
        Some(_) => Err("unsupported parse_mode".to_owned()),
    }
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "one way of several to read a text"
)]
fn plain(text: &str) -> Result<Plain, String> {
    Ok(Plain {
        text: text.trim().to_owned(),
        entities: Vec::new(),
    })
}

/// A tag that is open.
struct Open<'a> {
    tag: &'a str,
    attributes: &'a str,
    /// Where it began in the plain text, in UTF-16.
    offset: usize,
}

fn html(source: &str) -> Result<Plain, String> {
    let mut plain = Plain::default();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut rest = source;
    while let Some(letter) = rest.chars().next() {
        let at = source.len() - rest.len();
        match letter {
            '<' => {
                let end = rest.find('>');
                let end =
                    end.ok_or_else(|| wrong(&format!("Unclosed start tag at byte offset {at}")))?;
                let inner = &rest[1..end];
                tag(&mut plain, &mut open, (inner, at))?;
                rest = &rest[end + 1..];
            }
            '&' => {
                let (decoded, length) = entity(rest);
                plain.text.push(decoded);
                rest = &rest[length..];
            }
            other => {
                plain.text.push(other);
                rest = &rest[other.len_utf8()..];
            }
        }
    }
    if let Some(Open { tag, .. }) = open.last() {
        let words = format!("Can't find end tag corresponding to start tag \"{tag}\"");
        return Err(wrong(&words));
    }
    plain
        .entities
        .sort_by_key(|entity| entity["offset"].as_u64());
    plain.text = plain.text.trim_end().to_owned();
    Ok(plain)
}

fn wrong(words: &str) -> String {
    format!("can't parse entities: {words}")
}

fn tag<'a>(
    plain: &mut Plain,
    open: &mut Vec<Open<'a>>,
    (inner, at): (&'a str, usize),
) -> Result<(), String> {
    let offset = plain.text.encode_utf16().count();
    let Some(closed) = inner.strip_prefix('/') else {
        let (tag, attributes) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
        if !TAGS.iter().any(|(known, _)| *known == tag) {
            let words = format!("Unsupported start tag \"{tag}\" at byte offset {at}");
            return Err(wrong(&words));
        }
        open.push(Open {
            tag,
            attributes,
            offset,
        });
        return Ok(());
    };
    let Some(opened) = open.pop() else {
        return Err(wrong(&format!("Unexpected end tag at byte offset {at}")));
    };
    if opened.tag != closed.trim() {
        return Err(wrong(&format!(
            "Unmatched end tag at byte offset {at}, expected \"</{}>\", found \"</{closed}>\"",
            opened.tag
        )));
    }
    let kind = TAGS.iter().find(|(known, _)| *known == opened.tag);
    let kind = kind.map_or("", |(_, kind)| kind);
    let length = offset.saturating_sub(opened.offset);
    if length > 0 {
        let mut entity = json!({ "type": kind, "offset": opened.offset, "length": length });
        if let Some(url) = attribute(opened.attributes, "href") {
            entity["url"] = url.into();
        }
        plain.entities.push(entity);
    }
    Ok(())
}

fn attribute(attributes: &str, name: &str) -> Option<String> {
    let (_, rest) = attributes.split_once(&format!("{name}=\""))?;
    let (value, _) = rest.split_once('"')?;
    let mut decoded = String::new();
    let mut rest = value;
    while let Some(letter) = rest.chars().next() {
        let (letter, length) = if letter == '&' {
            entity(rest)
        } else {
            (letter, letter.len_utf8())
        };
        decoded.push(letter);
        rest = &rest[length..];
    }
    Some(decoded)
}

/// The letter that an `&…;` stands for, and how long that is; an ampersand if it is none.
fn entity(rest: &str) -> (char, usize) {
    let end = rest.find(';').filter(|end| *end < 12);
    let name = end.and_then(|end| rest.get(1..end)).unwrap_or_default();
    let number = name.strip_prefix('#');
    let number = number.and_then(|digits| match digits.strip_prefix('x') {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => digits.parse().ok(),
    });
    let letter = match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        _ => number.and_then(char::from_u32),
    };
    match (letter, end) {
        (Some(letter), Some(end)) => (letter, end + 1),
        _ => ('&', 1),
    }
}
