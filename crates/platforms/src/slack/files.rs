//! Files: out by the external upload flow (an address is asked for, the bytes go there, then the file is shared), in by
//! asking where a file is. Only the last step of the way out makes a message; whatever fails before it was not sent.

use serde_json::Value;
use talaria_domain::adapter::{NotFetched, Outgoing};
use talaria_domain::delivery::{Outcome, PartBody, Rejection};
use talaria_domain::event::Attachment;
use talaria_domain::names::MessageId;
use tokio::fs;

use super::client::{Client, not_yet};
use super::wire::File;
use super::{classify, outbound};

/// Sends a file. What it is known by afterwards is the file: Slack does not tell the message that shows it.
pub(super) async fn send(
    client: &Client,
    outgoing: &Outgoing,
    channel: &str,
) -> Result<MessageId, Outcome> {
    let invalid = |detail: String| Outcome::Rejected {
        class: Rejection::Invalid,
        detail,
    };
    let Some(path) = &outgoing.file else {
        return Err(invalid("the file is not here".to_owned()));
    };
    let unreadable = |error: std::io::Error| invalid(format!("the file cannot be read: {error}"));
    let file = fs::File::open(path).await.map_err(unreadable)?;
    let length = file.metadata().await.map_err(unreadable)?.len();
    let name = name(outgoing);
    let asked = [("filename", name.as_str()), ("length", &length.to_string())];
    let place = client.form("files.getUploadURLExternal", &asked).await;
    let place = classify::done(place).map_err(not_yet)?;
    let word = |name: &str| place.get(name).and_then(Value::as_str);
    let later = |detail: String| Outcome::NotSent {
        retry_after: None,
        detail,
    };
    let (Some(url), Some(id)) = (word("upload_url"), word("file_id")) else {
        return Err(later("there is no place for the file".to_owned()));
    };
    client.upload(url, (file, length)).await.map_err(later)?;
    let asked = outbound::sharing(outgoing, channel, (id, &name));
    let shared = client.json("files.completeUploadExternal", &asked).await;
    classify::done(shared)?;
    Ok(id.into())
}

fn name(outgoing: &Outgoing) -> String {
    let said = match &outgoing.part.body {
        PartBody::File { attachment, .. } => attachment.file_name.clone(),
        PartBody::Text { .. } => None,
    };
    let path = outgoing.file.as_ref().and_then(|path| path.file_name());
    let path = path.map(|name| name.to_string_lossy().into_owned());
    let said = said.filter(|name| !name.is_empty());
    said.or(path).unwrap_or_else(|| "file".to_owned())
}

/// Gets a file that somebody sent.
pub(super) async fn fetch(
    client: &Client,
    attachment: &Attachment,
    most: u64,
) -> Result<Vec<u8>, NotFetched> {
    let not = |reason: String| NotFetched { reason };
    let too_large = || not(format!("it is larger than {most} bytes"));
    if attachment.size_bytes.is_some_and(|size| size > most) {
        return Err(too_large());
    }
    let asked = [("file", attachment.locator.as_str())];
    let found = match classify::done(client.form("files.info", &asked).await) {
        Ok(mut body) => body.get_mut("file").map(Value::take).unwrap_or_default(),
        Err(outcome) => return Err(not(reason(outcome))),
    };
    let unreadable = |_| not("Slack does not say where it is".to_owned());
    let file: File = serde_json::from_value(found).map_err(unreadable)?;
    if file.size.is_some_and(|size| size > most) {
        return Err(too_large());
    }
    let url = file.url_private_download.or(file.url_private);
    let url = url.ok_or_else(|| not("Slack does not say where it is".to_owned()))?;
    client.download(&url, most).await.map_err(not)
}

fn reason(outcome: Outcome) -> String {
    match outcome {
        Outcome::Rejected { detail, .. }
        | Outcome::NotSent { detail, .. }
        | Outcome::Unknown { detail } => detail,
        Outcome::Delivered { .. } => String::new(),
    }
}
