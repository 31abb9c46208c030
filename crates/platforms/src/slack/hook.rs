//! Slack calls us: events, presses and slash commands. The signature is checked before anything is read, and "got it" is
//! answered only after intake said so. How often Slack has tried does not matter: the same event has the same key.

use std::time::Duration;

use serde_json::Value;
use talaria_domain::adapter::{HookAnswer, HookCall, Intake};
use url::form_urlencoded;

use super::Slack;
use super::connection::{Heard, hear, skip};
use super::inbound::Told;
use super::wire::Callback;
use crate::webhook::{Scheme, Verified};

/// "Verifying requests from Slack".
const SCHEME: Scheme<'_> = Scheme {
    signature: "x-slack-signature",
    timestamp: "x-slack-request-timestamp",
    version: "v0",
    window: Duration::from_mins(5),
};
const FORM: &str = "application/x-www-form-urlencoded";

/// Takes a call.
pub(super) async fn take(slack: &Slack, call: &HookCall, intake: &dyn Intake) -> HookAnswer {
    let Some(secret) = &slack.secret else {
        return answer(404);
    };
    let verified = Verified::by_hmac_sha256(call, secret, SCHEME, slack.clock.now());
    match verified {
        Ok(verified) => believe(slack, call, verified, intake).await,
        Err(why) => {
            tracing::warn!(account = %slack.account.name, why = why.as_str(), "a call was refused");
            answer(401)
        }
    }
}

async fn believe(
    slack: &Slack,
    call: &HookCall,
    verified: Verified<'_>,
    intake: &dyn Intake,
) -> HookAnswer {
    let media_type = call.header("content-type").unwrap_or_default();
    let (payload, is_press) = if media_type.starts_with(FORM) {
        form(verified.body())
    } else {
        (serde_json::from_slice(verified.body()).ok(), false)
    };
    let Some(payload) = payload else {
        skip(slack, "a call cannot be read");
        return answer(400);
    };
    let is_form = media_type.starts_with(FORM);
    let told = match (is_form, is_press) {
        (true, true) => Told::Interaction(&payload),
        (true, false) => Told::Command(&payload),
        (false, _) => match event(slack, &payload) {
            Ok(told) => told,
            Err(answer) => return answer,
        },
    };
    let Some(me) = slack.me() else {
        // Nobody knows yet who we are; Slack calls again.
        return answer(503);
    };
    match hear(slack, intake, &me, told).await {
        Heard::Taken | Heard::Foreign | Heard::Revoked => answer(200),
        Heard::NotTaken => answer(503),
    }
}

/// The event in a call, or what is answered to a call that has none.
fn event<'a>(slack: &Slack, payload: &'a Value) -> Result<Told<'a>, HookAnswer> {
    let kind = payload.get("type").and_then(Value::as_str);
    match kind {
        Some("event_callback") => Ok(Told::Event(payload)),
        Some("url_verification") => {
            let callback: Callback = serde_json::from_value(payload.clone()).unwrap_or_default();
            Err(HookAnswer {
                status: 200,
                media_type: "text/plain",
                body: callback.challenge.unwrap_or_default(),
            })
        }
        other => {
            // Among them is the word that Slack leaves events out because there are too many.
            skip(slack, other.unwrap_or("a call of no type"));
            Err(answer(200))
        }
    }
}

/// What a form has in it, and whether it is a press: that is a tree in one of its fields.
fn form(body: &[u8]) -> (Option<Value>, bool) {
    let mut fields = serde_json::Map::new();
    for (name, value) in form_urlencoded::parse(body) {
        if name == "payload" {
            return (serde_json::from_str(&value).ok(), true);
        }
        fields.insert(name.into_owned(), value.into_owned().into());
    }
    (Some(Value::Object(fields)), false)
}

const fn answer(status: u16) -> HookAnswer {
    HookAnswer {
        status,
        media_type: "text/plain",
        body: String::new(),
    }
}
