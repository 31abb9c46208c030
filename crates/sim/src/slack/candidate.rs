//! Slack as the certification suite and the crashes need it.

use futures::FutureExt as _;
use serde_json::json;
use talaria_domain::adapter::HookCall;
use talaria_domain::clock::Timestamp;
use talaria_domain::profile::Account;
use talaria_platforms::{Credential, Webhook};

use super::hooks::signature;
use super::{Bot, Terms, Written};
use crate::certify::{Calls, Candidate, Forgery, Places, Several, Starting};
use crate::vendor::venue::Venue;

const TOKEN: &str = "xoxb-that-nobody-may-see";
const APP_TOKEN: &str = "xapp-that-nobody-may-see";
const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// Slack over Socket Mode; calls are those of the Events API.
pub(crate) const CANDIDATE: Candidate = Candidate {
    platform: "slack",
    name: "",
    doubts: false,
    start,
    credential,
    places: Places {
        direct,
        thread: Some(thread),
    },
    calls: Some(Calls {
        credential: hooked,
        make: |forgery, at| Some(call(forgery, at)),
    }),
    several: Some(Several {
        start: start_several,
        credential: numbered,
    }),
};

fn bot() -> Bot {
    Bot::numbered(1).let_in_by(TOKEN).connected_by(APP_TOKEN)
}

fn start(port: u16) -> Starting {
    async move {
        let terms = Terms::serving(vec![bot()]);
        let server = super::start(("127.0.0.1", port), terms).await?;
        Ok(Box::new(server) as Box<dyn Venue>)
    }
    .boxed()
}

fn credential(url: &str, is_valid: bool) -> Credential {
    let token = if is_valid { TOKEN } else { "xoxb-another" };
    Credential {
        account: Account {
            platform: "slack".into(),
            name: "certified".into(),
            profile: "assistant".into(),
        },
        api_base: url.parse().ok(),
        token: Some(token.into()),
        app_token: Some(APP_TOKEN.into()),
        webhook: None,
    }
}

fn tokens(number: usize) -> (String, String) {
    (format!("{TOKEN}-{number}"), format!("{APP_TOKEN}-{number}"))
}

fn start_several(bots: usize) -> Starting {
    async move {
        let bot = |number| {
            let (token, app_token) = tokens(number);
            Bot::numbered(number)
                .let_in_by(&token)
                .connected_by(&app_token)
        };
        let terms = Terms::serving((1..=bots).map(bot).collect());
        let server = super::start("127.0.0.1:0", terms).await?;
        Ok(Box::new(server) as Box<dyn Venue>)
    }
    .boxed()
}

fn numbered(url: &str, number: usize) -> Credential {
    let (token, app_token) = tokens(number);
    Credential {
        token: Some(token.into()),
        app_token: Some(app_token.into()),
        ..credential(url, true)
    }
}

fn hooked(url: &str) -> Credential {
    Credential {
        app_token: None,
        webhook: Some(Webhook {
            secret: SECRET.into(),
            url: None,
        }),
        ..credential(url, true)
    }
}

/// "Verifying requests from Slack".
fn call(forgery: Forgery, at: Timestamp) -> HookCall {
    let bot = bot();
    let body = json!({
        "type": "event_callback", "team_id": bot.team, "api_app_id": bot.app, "event_id": "Ev1", "event_time": 1,
        "event": {
            "type": "message", "channel": "D0ADA", "channel_type": "im", "user": "U0ADA", "text": "hello",
            "ts": "1700000000.000100", "event_ts": "1700000000.000100",
        },
    })
    .to_string();
    let seconds = at.as_millis() / 1_000;
    let seconds = if forgery == Forgery::Old {
        seconds - 3_600
    } else {
        seconds
    };
    let stamp = seconds.to_string();
    let signed = match forgery {
        Forgery::Genuine | Forgery::Old => Some(signature(SECRET, &stamp, &body)),
        Forgery::Absent => None,
        Forgery::Empty => Some(String::new()),
        Forgery::Wrong => Some(signature("another secret", &stamp, &body)),
    };
    let signed = signed.map(|signed| ("x-slack-signature".to_owned(), signed));
    let stamped = ("x-slack-request-timestamp".to_owned(), stamp);
    HookCall {
        headers: signed.into_iter().chain([stamped]).collect(),
        body: body.into_bytes(),
    }
}

fn person(who: u64) -> String {
    format!("U0PERSON{who}")
}

fn direct(who: u64, text: &str) -> Written {
    Written::to_chat(&format!("D0PERSON{who}"), "direct", (&person(who), text))
}

/// A thread is known by its first message.
fn thread(who: u64, text: &str) -> Written {
    Written {
        thread: Some(format!("1600000000.{who:06}")),
        mentioned: true,
        ..Written::to_chat("C0ROOM", "channel", (&person(who), text))
    }
}
