//! `POST /api/send`: a text to a place, without an agent. Recorded like everything that goes out; its reply's id leads to
//! what became of it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::names::{AccountName, ChatId, PlatformName, ThreadId};

use crate::access::keys::Caller;
use crate::contract::{Operation, Routes, words};
use crate::courier::{Destination, NotDispatched, Parcel};
use crate::error::ApiError;
use crate::input::Sent;
use crate::shared::App;

pub(super) fn routes() -> Routes {
    Routes::new().post("/api/send", send, || {
        let sent = json!({
            "type": "object",
            "properties": { "reply_id": { "type": "string", "format": "uuid" } },
            "required": ["reply_id"]
        });
        Operation::of("Sends a text to a place, without an agent.")
            .takes::<Sending>()
            .gives_shape(StatusCode::ACCEPTED, &sent)
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sending {
    to: Place,
    #[schemars(regex(pattern = r"\S"))]
    text: String,
}

/// A place, in short or in full: in full, ids may have colons in them.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Place {
    Short(String),
    Full(FullPlace),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FullPlace {
    #[schemars(with = "words::Name")]
    platform: PlatformName,
    #[schemars(with = "Option<words::Name>")]
    account: Option<AccountName>,
    #[schemars(with = "Option<words::Name>")]
    chat: Option<ChatId>,
    #[schemars(with = "Option<words::Name>")]
    thread: Option<ThreadId>,
}

async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    Sent(asked): Sent<Sending>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    if asked.text.trim().is_empty() {
        return Err(ApiError::bad("text", "expected some text, found none"));
    }
    let parcel = Parcel {
        to: destination(asked.to)?,
        text: asked.text,
        requester: caller.principal,
    };
    let sent = app.shared.courier.dispatch(parcel).await;
    let reply = sent.map_err(|refused| match refused {
        NotDispatched::NotFound { reason } => ApiError::bad("to", reason),
        NotDispatched::Retry { reason } => ApiError::Unavailable { cause: reason },
    })?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "reply_id": reply }))))
}

pub(super) fn destination(place: Place) -> Result<Destination, ApiError> {
    let FullPlace {
        platform,
        account,
        chat,
        thread,
    } = match place {
        Place::Full(full) => full,
        Place::Short(text) => {
            let mut names = text.splitn(3, ':').map(str::to_owned);
            FullPlace {
                platform: names.next().unwrap_or_default().into(),
                account: None,
                chat: names.next().map(ChatId::from),
                thread: names.next().map(ThreadId::from),
            }
        }
    };
    let is_empty = platform.is_empty()
        || account.as_ref().is_some_and(AccountName::is_empty)
        || chat.as_ref().is_some_and(ChatId::is_empty)
        || thread.as_ref().is_some_and(ThreadId::is_empty);
    if is_empty || (thread.is_some() && chat.is_none()) {
        let expected = "expected PLATFORM, PLATFORM:CHAT or PLATFORM:CHAT:THREAD, or an object \
                        with platform, account, chat and thread";
        return Err(ApiError::bad("to", expected));
    }
    Ok(Destination {
        platform,
        account,
        chat,
        thread,
    })
}

#[cfg(test)]
mod tests;
