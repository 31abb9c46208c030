//! What people wrote, as Slack writes it down, back into what they meant: `<@U1>` is somebody, `<url|words>` is a link,
//! and three characters are written as entities ("Formatting message text").
//!
//! Pure: text in, text out.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

/// What people call themselves, by their ids.
pub(super) type Names = BTreeMap<String, String>;

/// Whether somebody is mentioned, by their id.
pub(super) fn mentions(text: &str, user: &str) -> bool {
    mentioned(text).any(|id| id == user)
}

/// Everybody who is mentioned.
pub(super) fn mentioned(text: &str) -> impl Iterator<Item = &str> {
    pieces(text).filter_map(|piece| match piece {
        Piece::Token(token) => person(token).map(|(id, _)| id),
        Piece::Text(_) => None,
    })
}

/// The text without the mentions of somebody that it begins with.
pub(super) fn without_address<'a>(text: &'a str, user: &str) -> &'a str {
    let mut rest = text.trim_start();
    loop {
        let token = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        match token {
            Some((token, after)) if person(token).is_some_and(|(id, _)| id == user) => {
                rest = after.trim_start_matches([':', ',']).trim_start();
            }
            _ => return rest,
        }
    }
}

/// The text as it was meant.
pub(super) fn readable(text: &str, names: &Names) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(text) => out.push_str(&plain(text)),
            Piece::Token(token) => out.push_str(&meaning(token, names)),
        }
    }
    out
}

/// The three characters that Slack reads as its own, written so that it does not ("Escaping text").
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

enum Piece<'a> {
    Text(&'a str),
    /// What stands between `<` and `>`.
    Token(&'a str),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let token = rest.strip_prefix('<').and_then(|inner| {
            let (token, after) = inner.split_once('>')?;
            (!token.is_empty() && !token.contains('<')).then_some((token, after))
        });
        if let Some((token, after)) = token {
            rest = after;
            return Some(Piece::Token(token));
        }
        // A `<` that begins nothing is a character like any other.
        let after_first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[after_first..]
            .find('<')
            .map_or(rest.len(), |at| at + after_first);
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(text))
    })
}

/// Who a token stands for, and what they are called there.
fn person(token: &str) -> Option<(&str, Option<&str>)> {
    let (id, label) = halves(token.strip_prefix('@')?);
    (!id.is_empty()).then_some((id, label))
}

fn meaning(token: &str, names: &Names) -> String {
    if let Some((id, label)) = person(token) {
        let name = names.get(id).map(String::as_str).or(label).unwrap_or(id);
        return format!("@{name}");
    }
    if let Some(channel) = token.strip_prefix('#') {
        let (id, label) = halves(channel);
        return format!("#{}", label.unwrap_or(id));
    }
    if let Some(special) = token.strip_prefix('!') {
        let (command, label) = halves(special);
        let word = command.split('^').next().unwrap_or(command);
        return match (word, label) {
            ("here" | "channel" | "everyone", _) | (_, None) => format!("@{word}"),
            (_, Some(label)) => plain(label),
        };
    }
    let (address, words) = halves(token);
    let (address, words) = (plain(address), words.map(plain));
    match words {
        None => address,
        Some(words) if is_other_than_page(&address) => words,
        Some(words) if is_itself(&address, &words) => address,
        Some(words) => format!("{words} ({address})"),
    }
}

/// A mail address or a number: what is shown says it all.
fn is_other_than_page(address: &str) -> bool {
    address.starts_with("mailto:") || address.starts_with("tel:")
}

/// An address that Slack made a link of by itself.
fn is_itself(address: &str, words: &str) -> bool {
    let bare = address.split_once("://").map_or(address, |(_, bare)| bare);
    address == words || bare.trim_end_matches('/') == words.trim_end_matches('/')
}

fn halves(token: &str) -> (&str, Option<&str>) {
    match token.split_once('|') {
        Some((left, right)) => (left, Some(right).filter(|right| !right.is_empty())),
        None => (token, None),
    }
}

fn plain(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    // Last, or `&amp;lt;` would be read twice.
    text.replace("&amp;", "&")
}
