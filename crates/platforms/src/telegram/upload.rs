//! A request with a file in it, as `multipart/form-data` (RFC 7578). The file is read while it is sent and is never in
//! memory as a whole.

#[cfg(test)]
mod tests;

use std::io;
use std::path::Path;

use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use reqwest::Body;
use serde_json::{Map, Value};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use super::outbound::Upload;

/// How much of a file is in memory at once.
const PIECE: usize = 64 * 1024;

/// A body, and what has to be said about it.
pub(super) struct Form {
    pub(super) body: Body,
    pub(super) length: u64,
    pub(super) media_type: String,
}

/// Puts the file at `path` into a form with these fields.
pub(super) async fn form(
    fields: &Map<String, Value>,
    upload: &Upload,
    (path, boundary): (&Path, &str),
) -> io::Result<Form> {
    let file = File::open(path).await?;
    let size = file.metadata().await?.len();
    let head = head(fields, upload, boundary);
    let tail = format!("\r\n--{boundary}--\r\n");
    let length = size + count(&head) + count(&tail);
    let around = |text: String| stream::iter([Ok::<_, io::Error>(text.into_bytes())]);
    let pieces = stream::try_unfold(file.take(size), |mut file| async move {
        let mut piece = Vec::with_capacity(PIECE);
        let read = (&mut file)
            .take(PIECE as u64)
            .read_to_end(&mut piece)
            .await?;
        Ok((read > 0).then_some((piece, file)))
    });
    let whole = around(head).chain(pieces.into_stream()).chain(around(tail));
    Ok(Form {
        body: Body::wrap_stream(whole),
        length,
        media_type: format!("multipart/form-data; boundary={boundary}"),
    })
}

fn count(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX)
}

/// Everything before the file.
fn head(fields: &Map<String, Value>, upload: &Upload, boundary: &str) -> String {
    let mut head = String::new();
    for (name, value) in fields {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        head.push_str(&format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n"
        ));
    }
    let (field, name, kind) = (upload.field, quoted(&upload.file_name), &upload.media_type);
    head.push_str(&format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
         Content-Type: {kind}\r\n\r\n"
    ));
    head
}

/// A name within quotes, as browsers write it.
fn quoted(name: &str) -> String {
    let mut quoted = String::new();
    for letter in name.chars() {
        match letter {
            '"' => quoted.push_str("%22"),
            '\r' | '\n' => quoted.push(' '),
            other => quoted.push(other),
        }
    }
    quoted
}
