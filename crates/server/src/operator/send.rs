//! `POST /api/send`: a text to a place, without an agent. Recorded like everything that goes out; its reply's id leads to
//! what became of it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use talaria_domain::names::{AccountName, ChatId, PlatformName, ThreadId};

use crate::access::keys::Caller;
use crate::courier::{Destination, NotDispatched, Parcel};
use crate::error::ApiError;
use crate::input::Sent;
use crate::shared::App;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/api/send", post(send))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sending {
    to: Place,
    text: String,
}

/// A place, in short or in full: in full, ids may have colons in them.
#[derive(Deserialize)]
#[serde(untagged)]
enum Place {
    Short(String),
    Full(FullPlace),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullPlace {
    platform: PlatformName,
    account: Option<AccountName>,
    chat: Option<ChatId>,
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

fn destination(place: Place) -> Result<Destination, ApiError> {
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
