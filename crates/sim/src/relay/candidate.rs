//! The bridge as the certification suite and the crashes need it, with each of its offers.

use futures::FutureExt as _;
use talaria_domain::profile::Account;
use talaria_platforms::Credential;

use super::{Offer, Terms, Written};
use crate::certify::{Candidate, Places, Starting};
use crate::vendor::venue::Venue;

/// Each bridge has its own: one credential is one account.
const fn token(offer: Offer) -> &'static str {
    match offer {
        Offer::Keys => "the token of the bridge with keys",
        Offer::Edits => "the token of the bridge with edits",
        Offer::Plain => "the token of the plain bridge",
    }
}

/// A bridge that takes keys, one where messages can be changed, and one that can do nothing.
pub(crate) const CANDIDATES: [Candidate; 3] = [
    Candidate {
        name: "keys",
        start: |port| start(port, Offer::Keys),
        credential: |url, is_valid| credential(url, is_valid, Offer::Keys),
        ..EDITS
    },
    EDITS,
    Candidate {
        name: "plain",
        doubts: true,
        start: |port| start(port, Offer::Plain),
        credential: |url, is_valid| credential(url, is_valid, Offer::Plain),
        ..EDITS
    },
];

const EDITS: Candidate = Candidate {
    platform: "relay",
    name: "edits",
    doubts: false,
    start: |port| start(port, Offer::Edits),
    credential: |url, is_valid| credential(url, is_valid, Offer::Edits),
    places: Places {
        direct,
        thread: Some(thread),
    },
    calls: None,
    several: None,
};

fn start(port: u16, offer: Offer) -> Starting {
    async move {
        let terms = Terms {
            token: Some(token(offer).to_owned()),
            ..Terms::offering(offer)
        };
        let server = super::start(("127.0.0.1", port), terms).await?;
        Ok(Box::new(server) as Box<dyn Venue>)
    }
    .boxed()
}

fn credential(url: &str, is_valid: bool, offer: Offer) -> Credential {
    Credential {
        account: Account {
            platform: "relay".into(),
            name: "certified".into(),
            profile: "assistant".into(),
        },
        api_base: url.parse().ok(),
        token: Some(if is_valid { token(offer) } else { "another" }.into()),
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
