//! The bridge as the certification suite needs it.

use futures::FutureExt as _;
use talaria_domain::profile::Account;
use talaria_platforms::Credential;

use super::{Offer, Terms, Written};
use crate::certify::{Candidate, Places, Starting};
use crate::vendor::venue::Venue;

const TOKEN: &str = "the bridge's token";

/// The bridge that takes keys.
pub(crate) const CANDIDATE: Candidate = Candidate {
    platform: "relay",
    start,
    credential,
    places: Places {
        direct,
        thread: Some(thread),
    },
    calls: None,
};

fn start(port: u16) -> Starting {
    async move {
        let terms = Terms {
            token: Some(TOKEN.to_owned()),
            ..Terms::offering(Offer::Edits)
        };
        let server = super::start(("127.0.0.1", port), terms).await?;
        Ok(Box::new(server) as Box<dyn Venue>)
    }
    .boxed()
}

fn credential(url: &str, is_valid: bool) -> Credential {
    Credential {
        account: Account {
            platform: "relay".into(),
            name: "certified".into(),
            profile: "assistant".into(),
        },
        api_base: url.parse().ok(),
        token: Some(if is_valid { TOKEN } else { "another" }.into()),
        app_token: None,
        webhook: None,
    }
}

fn direct(who: u64, text: &str) -> Written {
    Written::direct(&format!("person {who}"), text)
}

fn thread(who: u64, text: &str) -> Written {
    Written {
        thread: Some(format!("topic {who}")),
        mentioned: true,
        ..Written::to_chat("room", "group", (&format!("person {who}"), text))
    }
}
