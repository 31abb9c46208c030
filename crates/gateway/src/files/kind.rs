//! What kind of thing a file is, by the ending of its name and by its media type.
//!
//! Pure: tables. The first ending of a media type is the usual one.

#[cfg(test)]
mod tests;

use talaria_domain::event::AttachmentKind;

const ENDINGS: [(&str, &str); 27] = [
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("png", "image/png"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("svg", "image/svg+xml"),
    ("mp3", "audio/mpeg"),
    ("m4a", "audio/mp4"),
    ("ogg", "audio/ogg"),
    ("opus", "audio/ogg"),
    ("oga", "audio/ogg"),
    ("wav", "audio/wav"),
    ("flac", "audio/flac"),
    ("mp4", "video/mp4"),
    ("webm", "video/webm"),
    ("mov", "video/quicktime"),
    ("pdf", "application/pdf"),
    ("zip", "application/zip"),
    ("gz", "application/gzip"),
    ("json", "application/json"),
    ("txt", "text/plain"),
    ("log", "text/plain"),
    ("md", "text/markdown"),
    ("csv", "text/csv"),
    ("html", "text/html"),
    ("htm", "text/html"),
    ("xml", "application/xml"),
];

/// The media type that the ending of a name stands for.
pub fn media_type(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    let found = ENDINGS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(ending));
    found.map(|(_, media_type)| *media_type)
}

/// The usual ending for a media type.
pub(super) fn ending(media_type: &str) -> Option<&'static str> {
    let bare = media_type.split(';').next().unwrap_or_default().trim();
    let found = ENDINGS
        .iter()
        .find(|(_, known)| known.eq_ignore_ascii_case(bare));
    found.map(|(ending, _)| *ending)
}

/// What people see of a file of this media type.
pub fn of(media_type: Option<&str>) -> AttachmentKind {
    let Some((family, name)) = media_type.and_then(|it| it.split_once('/')) else {
        return AttachmentKind::File;
    };
    match (family, name) {
        // A drawing is not shown as a picture anywhere.
        ("image", "svg+xml") => AttachmentKind::File,
        ("image", _) => AttachmentKind::Image,
        ("audio", _) => AttachmentKind::Audio,
        ("video", _) => AttachmentKind::Video,
        _ => AttachmentKind::File,
    }
}
