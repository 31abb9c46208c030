//! `Idempotency-Key`: the same key with the same body of the same principal is the same turn, also after a restart. The
//! turn's id is written down before the turn is handed in, so that a request that was cut off in between goes on with it.

use std::time::Duration;

use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use talaria_domain::digest::{Digest, Fields};
use talaria_domain::ids::EventId;
use talaria_domain::machine::InboxState;
use talaria_domain::run::QUEUE_FULL;
use talaria_domain::scope::ScopeKey;
use talaria_store::inbox::{self, InboxRow};
use talaria_store::passing::{self, Span};
use talaria_store::{StoreError, Tx, state};

use super::refusal::Refusal;
use super::turn::{Asker, Turn};
use crate::error::ApiError;
use crate::shared::App;

const KEY: &str = "idempotency-key";

/// How long a key may be.
const LENGTH: usize = 255;

/// For how long a key is known. Never longer than its turn is: without the turn it would be taken for a new one.
const KEPT: Duration = Duration::from_hours(7 * 24);

/// How soon to come back for a turn that is under way.
const UNDER_WAY: u64 = 1;

/// A turn that is asked for.
#[derive(Debug, Clone)]
pub(super) enum Claim {
    /// For the first time.
    First(Fresh),
    /// Again.
    Again(Box<Turn>),
}

/// The id of a turn that is about to be handed in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fresh {
    pub(super) event: EventId,
    /// Whether somebody who was cut off may hand it in once more.
    pub(super) is_kept: bool,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    body: Digest,
    event: EventId,
}

/// What is asked for: on which route, with which body.
pub(super) struct Request<'a> {
    pub(super) route: &'static str,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Map<String, Value>,
}

/// Says whether a turn is asked for again.
pub(super) async fn claim(
    app: &App,
    asker: &Asker,
    request: &Request<'_>,
) -> Result<Claim, Refusal> {
    let now = app.now();
    let fresh = EventId::next(&*app.shared.ids, now);
    let Some(key) = key(request.headers)? else {
        return Ok(Claim::First(Fresh {
            event: fresh,
            is_kept: false,
        }));
    };
    let first = |event| {
        Ok(Claim::First(Fresh {
            event,
            is_kept: true,
        }))
    };
    let owner = asker.caller.owner().0.to_string();
    let scope = ScopeKey(Fields::of("server idempotency").text(&owner).digest());
    let name = Fields::of("request").text(request.route).text(key);
    let (name, body) = (name.digest().to_string(), fingerprint(request));
    let work = move |tx: &mut Tx<'_>| {
        if let Some(kept) = state::get(tx, scope, &name)? {
            let unreadable = |error: serde_json::Error| StoreError::Unreadable {
                thing: "idempotency key",
                why: error.to_string(),
            };
            let kept: Kept = serde_json::from_value(kept.value).map_err(unreadable)?;
            // There was no room for it: another try is the first one.
            if kept.body != body || !has_no_room(tx, kept.event)? {
                return Ok(kept);
            }
        }
        let kept = Kept { body, event: fresh };
        let value = serde_json::to_value(&kept).map_err(|error| StoreError::Broken {
            why: error.to_string(),
        })?;
        let until = now.plus(KEPT);
        passing::set(tx, scope, &name, &value, Span { at: now, until })?;
        Ok(kept)
    };
    let kept = app.shared.ledger.write(work).await?;
    if kept.body != body {
        let message = "this idempotency key was used with another body".to_owned();
        return Err(ApiError::Conflict { message }.into());
    }
    if kept.event == fresh {
        return first(fresh);
    }
    match Turn::find(app, &asker.caller, kept.event).await {
        Ok(turn) => Ok(Claim::Again(Box::new(turn))),
        // It was cut off before the turn was handed in.
        Err(Refusal::Usual(ApiError::NotFound { .. })) => first(kept.event),
        Err(refusal) => Err(refusal),
    }
}

fn has_no_room(tx: &mut Tx<'_>, event: EventId) -> talaria_store::Result<bool> {
    match inbox::get(tx, event) {
        Err(StoreError::NotFound { .. }) => Ok(false),
        found => Ok(is_crowded_out(&found?)),
    }
}

/// Whether a turn was not taken because too many waited before it. Nothing of it has begun.
pub(super) fn is_crowded_out(row: &InboxRow) -> bool {
    row.state == InboxState::Discarded && row.reason.as_deref() == Some(QUEUE_FULL)
}

/// The first request with this key is not answered yet.
pub(super) fn under_way() -> Refusal {
    Refusal::Later {
        status: StatusCode::CONFLICT,
        code: "idempotency_key_in_use",
        message: "the first request with this idempotency key is still under way".to_owned(),
        seconds: UNDER_WAY,
    }
}

fn key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(value) = headers.get(KEY) else {
        return Ok(None);
    };
    let is_key = |text: &&str| {
        (1..=LENGTH).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic())
    };
    let text = value.to_str().ok().filter(is_key);
    let unfit = || ApiError::BadInput {
        param: None,
        message: format!("expected 1 to {LENGTH} visible ASCII characters in Idempotency-Key"),
    };
    text.map(Some).ok_or_else(unfit)
}

/// All that decides what the answer is.
fn fingerprint(request: &Request<'_>) -> Digest {
    let header = |name: &str| {
        let value = request.headers.get(name);
        value.map_or(String::new(), |value| {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        })
    };
    let body = Value::Object(request.body.clone()).to_string();
    let fields = Fields::of("request body")
        .text(&body)
        .text(&header(super::turn::SESSION.as_str()))
        .text(&header("x-talaria-profile"));
    // Only where it is: what was kept before there were callbacks stays the same.
    match header(super::callback::HEADER.as_str()) {
        none if none.is_empty() => fields.digest(),
        callback => fields.text(&callback).digest(),
    }
}

#[cfg(test)]
mod tests {
    //! What makes two requests the same.

    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn another_callback_is_another_request() {
        let body = Map::new();
        let print = |callback: Option<&'static str>| {
            let header = |url| {
                (
                    super::super::callback::HEADER,
                    HeaderValue::from_static(url),
                )
            };
            let headers: HeaderMap = callback.map(header).into_iter().collect();
            fingerprint(&Request {
                route: "runs",
                headers: &headers,
                body: &body,
            })
        };
        let (one, other) = ("https://example.org/1", "https://example.org/2");
        assert_eq!(print(Some(one)), print(Some(one)));
        assert_ne!(print(Some(one)), print(Some(other)));
        assert_ne!(print(Some(one)), print(None));
    }
}
