//! A picture by its address: one that is in the address itself, or one that the model's server fetches. An address that
//! is neither is refused before anything is sent.
//!
//! Pure: an address in, a picture out. A sentence never quotes more of an address than its start.

#[cfg(test)]
mod tests;

use super::ModelError;
use super::draft::clip;

const MOST_OF_AN_ADDRESS: usize = 40;

/// A picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Image<'a> {
    /// It is in its address.
    Inline {
        /// What kind of picture it is, `image/png` for instance.
        media_type: &'a str,
        /// It, in base64.
        base64: &'a str,
    },
    /// The server fetches it from there.
    Remote(&'a str),
}

impl<'a> Image<'a> {
    /// The picture that an address stands for.
    pub(super) fn read(address: &'a str) -> Result<Self, ModelError> {
        let read = match address.strip_prefix("data:") {
            Some(rest) => inline(rest),
            None => remote(address),
        };
        read.map_err(|expected| {
            let start = clip(address, MOST_OF_AN_ADDRESS);
            let why = format!("the picture {start:?} cannot be read: {expected}");
            ModelError::AskDifferently { why }
        })
    }
}

/// RFC 2397: `data:[<mediatype>][;base64],<data>`.
fn inline(rest: &str) -> Result<Image<'_>, &'static str> {
    const EXPECTED: &str = "expected `data:image/...;base64,` in front of it";
    let (head, base64) = rest.split_once(',').ok_or(EXPECTED)?;
    let media = head.strip_suffix(";base64").ok_or(EXPECTED)?;
    let (media_type, _) = media.split_once(';').unwrap_or((media, ""));
    let name = media_type.strip_prefix("image/").ok_or(EXPECTED)?;
    if name.is_empty() {
        return Err(EXPECTED);
    }
    if !is_base64(base64) {
        return Err("what comes after the comma is not base64");
    }
    Ok(Image::Inline { media_type, base64 })
}

/// RFC 4648, section 4: groups of four, the last one filled up.
fn is_base64(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    let is_of_it = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    !bare.is_empty()
        && text.len() - bare.len() <= 2
        && text.len().is_multiple_of(4)
        && bare.bytes().all(is_of_it)
}

/// What is at the address is the server's to find out: here it only has to be one.
fn remote(address: &str) -> Result<Image<'_>, &'static str> {
    let rest = address.strip_prefix("https://").unwrap_or_default();
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let is_blank = |letter: char| letter.is_whitespace() || letter.is_control();
    if host.is_empty() || address.contains(is_blank) {
        return Err(
            "expected an address that starts with `https://` or `data:image/`, without blanks",
        );
    }
    Ok(Image::Remote(address))
}
