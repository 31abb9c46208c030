//! The name that a file gets on disk, made of the one that it was sent with.
//!
//! Pure: a name in, a safe one out. It is a single component without a leading dot, at most 100 bytes long, of letters,
//! digits, `.`, `-` and `_`: also a shell and a model read it as one word.

#[cfg(test)]
mod tests;

use talaria_domain::event::{Attachment, AttachmentKind};

use super::kind;

/// The most bytes of a name.
const MOST: usize = 100;
/// A longer ending is none.
const MOST_OF_AN_ENDING: usize = 16;

/// A safe name for an attachment, whatever it was sent as.
pub fn of(attachment: &Attachment) -> String {
    let sent = attachment.file_name.as_deref().unwrap_or_default();
    match safe(sent) {
        Some(name) => name,
        None => usual(attachment),
    }
}

/// The last component of a name without what is not safe in it, if anything is left.
pub fn safe(name: &str) -> Option<String> {
    let last = name.rsplit(['/', '\\']).find(|part| !part.is_empty())?;
    let letter = |letter: char| {
        let is_safe = letter.is_alphanumeric() || matches!(letter, '.' | '-' | '_');
        if is_safe { letter } else { '_' }
    };
    let last: String = last.chars().map(letter).collect();
    let bare = last.trim_start_matches(['.', '-']);
    let has_letters = bare.chars().any(char::is_alphanumeric);
    has_letters.then(|| cut(bare))
}

/// The name with its ending, cut in front of the ending.
fn cut(name: &str) -> String {
    if name.len() <= MOST {
        return name.to_owned();
    }
    let ending = name.rfind('.').and_then(|at| name.get(at..));
    let ending = ending
        .filter(|it| it.len() <= MOST_OF_AN_ENDING)
        .unwrap_or("");
    let mut end = MOST - ending.len();
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ending}", name.get(..end).unwrap_or_default())
}

/// What a file is called that was sent without a name.
fn usual(attachment: &Attachment) -> String {
    let word = match attachment.kind {
        AttachmentKind::Image => "image",
        AttachmentKind::Audio => "audio",
        AttachmentKind::Voice => "voice",
        AttachmentKind::Video => "video",
        AttachmentKind::File => "file",
    };
    let ending = attachment.media_type.as_deref().and_then(kind::ending);
    ending.map_or_else(|| word.to_owned(), |ending| format!("{word}.{ending}"))
}
