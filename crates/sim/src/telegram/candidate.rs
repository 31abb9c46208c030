//! The Bot API as the certification suite and the crashes need it.

use futures::FutureExt as _;
use serde_json::json;
use talaria_domain::adapter::HookCall;
use talaria_domain::clock::Timestamp;
use talaria_domain::profile::Account;
use talaria_platforms::{Credential, Webhook};

use super::Terms;
use crate::certify::{Calls, Candidate, Forgery, Places, Several, Starting};
use crate::vendor::Written;
use crate::vendor::venue::Venue;

const TOKEN: &str = "1000001:AAa-token-that-nobody-may-see";
const SECRET: &str = "0123456789abcdef0123456789abcdef";
const FORUM: &str = "-1009876543210";

/// The Bot API.
pub(crate) const CANDIDATE: Candidate = Candidate {
    platform: "telegram",
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
        make: call,
    }),
    several: Some(Several {
        start: start_several,
        credential: numbered,
    }),
};

fn start(port: u16) -> Starting {
    async move {
        let server = super::start(("127.0.0.1", port), Terms::of([TOKEN])).await?;
        Ok(Box::new(server) as Box<dyn Venue>)
    }
    .boxed()
}

fn credential(url: &str, is_valid: bool) -> Credential {
    let token = if is_valid { TOKEN } else { "1000002:another" };
    Credential {
        account: Account {
            platform: "telegram".into(),
            name: "certified".into(),
            profile: "assistant".into(),
        },
        api_base: url.parse().ok(),
        token: Some(token.into()),
        app_token: None,
        webhook: None,
    }
}

fn token(number: usize) -> String {
    format!("{}:AAa-token-that-nobody-may-see", 1_000_000 + number)
}

fn start_several(bots: usize) -> Starting {
    async move {
        let terms = Terms::of((1..=bots).map(token));
        let server = super::start("127.0.0.1:0", terms).await?;
        Ok(Box::new(server) as Box<dyn Venue>)
    }
    .boxed()
}

fn numbered(url: &str, number: usize) -> Credential {
    Credential {
        token: Some(token(number).into()),
        ..credential(url, true)
    }
}

fn hooked(url: &str) -> Credential {
    Credential {
        webhook: Some(Webhook {
            secret: SECRET.into(),
            url: "https://bots.example.org/hooks/telegram/certified"
                .parse()
                .ok(),
        }),
        ..credential(url, true)
    }
}

/// "setWebhook": the secret comes with every call in a header. There is no time in it.
fn call(forgery: Forgery, _: Timestamp) -> Option<HookCall> {
    let secret = match forgery {
        Forgery::Genuine => Some(SECRET),
        Forgery::Absent => None,
        Forgery::Empty => Some(""),
        Forgery::Wrong => Some("0123456789abcdef0123456789abcdee"),
        Forgery::Old => return None,
    };
    let header = |secret: &str| {
        (
            "x-telegram-bot-api-secret-token".to_owned(),
            secret.to_owned(),
        )
    };
    let update = json!({
        "update_id": 7,
        "message": {
            "message_id": 7, "date": 1_700_000_000, "text": "hello",
            "chat": { "id": 42, "type": "private", "first_name": "Ada" },
            "from": { "id": 42, "is_bot": false, "first_name": "Ada" },
        },
    });
    Some(HookCall {
        headers: secret.map(header).into_iter().collect(),
        body: update.to_string().into_bytes(),
    })
}

/// In a private chat the chat's number is the person's.
fn direct(who: u64, text: &str) -> Written {
    let person = (4_200 + who).to_string();
    Written::to_chat(&person, "direct", (&person, text))
}

fn thread(who: u64, text: &str) -> Written {
    Written {
        thread: Some((40 + who).to_string()),
        mentioned: true,
        ..Written::to_chat(FORUM, "forum", (&(4_200 + who).to_string(), text))
    }
}
