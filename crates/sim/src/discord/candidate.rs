//! Discord as the certification suite and the crashes need it.

use std::time::Duration;

use futures::FutureExt as _;
use talaria_domain::profile::Account;
use talaria_platforms::Credential;

use super::{Terms, Written};
use crate::certify::{Candidate, Places, Several, Starting};
use crate::vendor::venue::Venue;

const TOKEN: &str = "a-token-that-nobody-may-see";
/// A heart that beats often enough for somebody who waits to see it stop.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// Discord.
pub(crate) const CANDIDATE: Candidate = Candidate {
    platform: "discord",
    name: "",
    doubts: false,
    start,
    credential,
    places: Places {
        direct,
        thread: Some(thread),
    },
    calls: None,
    several: Some(Several {
        start: start_several,
        credential: numbered,
    }),
};

fn start(port: u16) -> Starting {
    async move {
        let terms = Terms {
            heartbeat: HEARTBEAT,
            ..Terms::for_tokens([TOKEN])
        };
        let server = super::start(("127.0.0.1", port), terms).await?;
        Ok(Box::new(server) as Box<dyn Venue>)
    }
    .boxed()
}

fn credential(url: &str, is_valid: bool) -> Credential {
    Credential {
        account: Account {
            platform: "discord".into(),
            name: "certified".into(),
            profile: "assistant".into(),
        },
        api_base: url.parse().ok(),
        token: Some(if is_valid { TOKEN } else { "another" }.into()),
        app_token: None,
        webhook: None,
    }
}

fn token(number: usize) -> String {
    format!("{TOKEN}-{number}")
}

fn start_several(bots: usize) -> Starting {
    async move {
        let terms = Terms {
            tokens: (1..=bots).map(token).collect(),
            heartbeat: HEARTBEAT,
            limit: None,
        };
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

fn person(who: u64) -> String {
    (1_050_000_000_000_000_000 + who).to_string()
}

fn direct(who: u64, text: &str) -> Written {
    let chat = (1_060_000_000_000_000_000 + who).to_string();
    Written::to_chat(&chat, "direct", (&person(who), text))
}

fn thread(who: u64, text: &str) -> Written {
    Written {
        thread: Some((1_070_000_000_000_000_000 + who).to_string()),
        mentioned: true,
        ..Written::to_chat("1080000000000000000", "group", (&person(who), text))
    }
}
