//! The Bot API as the certification suite and the crashes need it: a bot that asks for its updates, people who write to it
//! alone, and a group where each has a topic of their own.

use futures::FutureExt as _;
use talaria_domain::profile::Account;
use talaria_platforms::Credential;

use super::Terms;
use crate::certify::{Candidate, Places, Starting};
use crate::vendor::Written;
use crate::vendor::venue::Venue;

const TOKEN: &str = "1000001:the-token-of-the-bot";
const FORUM: &str = "-1001000000001";

/// The bot.
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
    // A bot is called or asks, never both; how it is called is told by stories of its own.
    calls: None,
};

fn start(port: u16) -> Starting {
    async move {
        let server = super::start(("127.0.0.1", port), Terms::of([TOKEN])).await?;
        Ok(Box::new(server) as Box<dyn Venue>)
    }
    .boxed()
}

fn credential(url: &str, is_valid: bool) -> Credential {
    let token = if is_valid { TOKEN } else { "1000001:another" };
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

fn person(who: u64) -> String {
    (5_000_000 + who).to_string()
}

fn direct(who: u64, text: &str) -> Written {
    let person = person(who);
    Written::to_chat(&person, "direct", (&person, text))
}

fn thread(who: u64, text: &str) -> Written {
    Written {
        thread: Some((100 + who).to_string()),
        mentioned: true,
        ..Written::to_chat(FORUM, "forum", (&person(who), text))
    }
}
