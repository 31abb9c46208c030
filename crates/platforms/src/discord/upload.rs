//! A part's body on its way out: JSON, or a form with the file in it, which is read as it is sent.

use std::io;
use std::path::Path;

use futures::{StreamExt as _, TryStreamExt as _, stream};
use reqwest::Body;
use serde_json::Value;
use talaria_domain::adapter::Outgoing;
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use super::client::Load;
use super::{MOST_BYTES, multipart, outbound};

const PIECE: usize = 64 * 1024;

/// What is sent along for this part.
pub(super) async fn load(outgoing: &Outgoing, body: Value) -> Result<Load, Outcome> {
    let PartBody::File { attachment, .. } = &outgoing.part.body else {
        return Ok(Load::Json(body));
    };
    let Some(path) = &outgoing.file else {
        return Ok(Load::Json(body));
    };
    let (file, size) = open(path).await?;
    let boundary = multipart::boundary(outgoing.part.id);
    let name = outbound::file_name(attachment.file_name.as_deref());
    let media_type = attachment.media_type.as_deref().unwrap_or_default();
    let head = multipart::head(&boundary, &body.to_string(), (&name, media_type));
    let tail = multipart::tail(&boundary);
    let length = u64::try_from(head.len() + tail.len()).unwrap_or(u64::MAX);
    let media_type = format!("multipart/form-data; boundary={boundary}");
    let form = form(head, file, tail);
    Ok(Load::Form(media_type, length.saturating_add(size), form))
}

/// The file and its size, if it can be sent.
async fn open(path: &Path) -> Result<(File, u64), Outcome> {
    let rejected = |class, detail| Outcome::Rejected { class, detail };
    let unreadable = |error: io::Error| {
        let why = error.kind();
        rejected(
            Rejection::Invalid,
            format!("the file cannot be read: {why}"),
        )
    };
    let file = File::open(path).await.map_err(unreadable)?;
    let size = file.metadata().await.map_err(unreadable)?.len();
    if size > MOST_BYTES {
        let detail = format!("the file is larger than {MOST_BYTES} bytes");
        return Err(rejected(Rejection::TooLong, detail));
    }
    Ok((file, size))
}

fn form(head: Vec<u8>, file: File, tail: Vec<u8>) -> Body {
    let once = |bytes: Vec<u8>| stream::iter([Ok::<_, io::Error>(bytes)]);
    let pieces = stream::try_unfold(file, |mut file| async move {
        let mut piece = vec![0; PIECE];
        let length = file.read(&mut piece).await?;
        piece.truncate(length);
        Ok::<_, io::Error>((length > 0).then_some((piece, file)))
    });
    let whole = once(head).chain(pieces.into_stream()).chain(once(tail));
    Body::wrap_stream(whole)
}
