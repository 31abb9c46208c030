//! A form with a file in it, as Discord takes it ("API Reference", uploading files): `payload_json` first, then
//! `files[0]`.
//!
//! Pure: what comes before the file and what comes after it.

#[cfg(test)]
mod tests;

use talaria_domain::ids::PartId;

/// The line between the fields: as unguessable as the part's id.
pub(super) fn boundary(part: PartId) -> String {
    format!("talaria-{part}")
}

/// What comes before the file.
pub(super) fn head(boundary: &str, payload: &str, (name, media_type): (&str, &str)) -> Vec<u8> {
    let media_type: String = media_type.chars().filter(char::is_ascii_graphic).collect();
    let media_type = if media_type.is_empty() {
        "application/octet-stream"
    } else {
        &media_type
    };
    format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\
         Content-Type: application/json\r\n\r\n{payload}\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"files[0]\"; filename=\"{name}\"\r\n\
         Content-Type: {media_type}\r\n\r\n"
    )
    .into_bytes()
}

/// What comes after it.
pub(super) fn tail(boundary: &str) -> Vec<u8> {
    format!("\r\n--{boundary}--\r\n").into_bytes()
}
