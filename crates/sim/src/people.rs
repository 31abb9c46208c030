//! People who write to us, and what they write, as an adapter would hand it in.

use std::sync::atomic::{AtomicU64, Ordering};

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Content, DedupeKey, Event, EventKind};
use talaria_domain::ids::{EventId, Ids, RandomIds, SessionId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_store::Result;
use talaria_store::inbox::Arrival;
use talaria_store::sessions::Opening;

/// A person, as the platform shows them to us.
pub fn person(who: &str) -> Principal {
    Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: who.into(),
        alternate: None,
        display_name: Some(format!("{who} the person")),
        role: Role::Member,
    }
}

/// The chat that a person has with us alone.
pub fn direct_chat(who: &str) -> Address {
    Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Direct,
        chat: format!("chat of {who}").into(),
        thread: None,
        reply_to: None,
    }
}

/// Where new messages come from: each is one that the platform never sent before.
#[derive(Debug, Default)]
pub struct People {
    ids: RandomIds,
    tokens: AtomicU64,
}

impl People {
    /// People whose messages differ from those of everybody who started elsewhere.
    pub fn starting_at(token: u64) -> Self {
        Self {
            ids: RandomIds::default(),
            tokens: AtomicU64::new(token),
        }
    }

    /// Where their ids come from.
    pub const fn ids(&self) -> &dyn Ids {
        &self.ids
    }

    /// What `who` writes in their direct chat.
    pub fn said(&self, who: &str, text: &str, at: Timestamp) -> Event {
        let token = self.tokens.fetch_add(1, Ordering::Relaxed).to_string();
        let (address, principal) = (direct_chat(who), person(who));
        Event {
            id: EventId::next(&self.ids, at),
            dedupe: DedupeKey::derive(&address.platform, &address.account, &token),
            address,
            principal,
            message: Some(token.into()),
            kind: EventKind::Message(Content {
                text: text.to_owned(),
                ..Content::default()
            }),
            sent_at: Some(at),
            received_at: at,
        }
    }

    /// The conversation that `who` has with us.
    pub fn opening(&self, who: &str, at: Timestamp) -> Opening {
        let source = Source::of(&direct_chat(who), &person(who));
        let key = SessionKey::derive(&"assistant".into(), &source, Sharing::default());
        Opening::of(key, person(who).key(), SessionId::next(&self.ids, at), at)
    }

    /// What `who` writes, ready to be accepted.
    pub fn arrival(&self, who: &str, text: &str, at: Timestamp) -> Result<Arrival> {
        Arrival::of(self.said(who, text, at), self.opening(who, at))
    }
}
