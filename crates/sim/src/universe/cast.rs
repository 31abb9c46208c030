//! Who writes where, and how a message is recognised wherever it turns up: each carries a canary of its own, such as
//! `m017-ada`. What belongs to whom is kept here, apart from everything that the gateway says about it.

use std::collections::BTreeSet;

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Content, DedupeKey, Event, EventKind};
use talaria_domain::ids::EventId;
use talaria_domain::principal::{Principal, Role};
use talaria_domain::session_key::{SessionKey, SessionKeyId, Sharing, Source};

use crate::chat::Offer;

/// The platform that everything happens on.
pub(crate) const PLATFORM: &str = "example";
/// The agent.
pub(crate) const PROFILE: &str = "assistant";
/// Our accounts there, and what each can do.
pub(crate) const ACCOUNTS: [(&str, Offer); 3] = [
    ("plain", Offer::Plain),
    ("keys", Offer::Keys),
    ("edits", Offer::Edits),
];
/// Who writes. The last one may not.
pub(crate) const PEOPLE: [&str; 4] = ["ada", "bob", "cyd", STRANGER];
/// Who may not.
pub(crate) const STRANGER: &str = "eve";

/// Where people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Which of the accounts.
    pub(crate) account: usize,
    pub(crate) room: Room,
    pub(crate) thread: Option<&'static str>,
}

/// What kind of chat it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// One person and us.
    Alone(&'static str),
    /// Everybody.
    Group(&'static str),
}

impl Place {
    fn address(self) -> Address {
        let (chat_kind, chat) = match self.room {
            Room::Alone(who) => (ChatKind::Direct, format!("{who} alone")),
            Room::Group(name) => (ChatKind::Group, name.to_owned()),
        };
        Address {
            platform: PLATFORM.into(),
            account: ACCOUNTS[self.account].0.into(),
            chat_kind,
            chat: chat.into(),
            thread: self.thread.map(Into::into),
            reply_to: None,
        }
    }
}

/// What somebody wrote, as the universe knows it.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// Its number in the universe, which its canary has, too.
    pub(crate) number: u32,
    pub(crate) who: &'static str,
    /// Which of the accounts.
    pub(crate) account: usize,
    pub(crate) chat: String,
    pub(crate) thread: Option<String>,
    /// The conversation that it belongs to.
    pub(crate) key: SessionKeyId,
    /// Whether several people meet there.
    pub(crate) is_shared: bool,
    pub(crate) dedupe: DedupeKey,
}

/// The canary of a message.
pub(crate) fn canary(number: u32, who: &str) -> String {
    format!("m{number:03}-{who}")
}

/// The numbers of the messages whose canaries are in a text.
pub(crate) fn canaries(text: &str) -> BTreeSet<u32> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter_map(number).collect()
}

/// The numbers of the messages whose jobs are named in a text: a job is called after its message, as `j-m017-ada`.
pub(crate) fn job_canaries(text: &str) -> BTreeSet<u32> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words
        .filter_map(|word| number(word.strip_prefix("j-")?))
        .collect()
}

fn number(word: &str) -> Option<u32> {
    let (digits, name) = word.strip_prefix('m')?.split_once('-')?;
    let is_number = digits.len() == 3 && !name.is_empty();
    is_number.then(|| digits.parse().ok())?
}

/// What `who` writes somewhere, and what has to be known of it.
pub(crate) fn write(
    (number, text): (u32, &str),
    who: &'static str,
    place: Place,
    sharing: Sharing,
    at: Timestamp,
) -> (Event, Written) {
    let address = place.address();
    let principal = Principal {
        platform: address.platform.clone(),
        account: address.account.clone(),
        user: who.into(),
        alternate: None,
        display_name: Some(format!("{who} the person")),
        role: Role::Member,
    };
    let source = Source::of(&address, &principal);
    let token = format!("w{number:03}");
    let dedupe = DedupeKey::derive(&address.platform, &address.account, &token);
    let written = Written {
        number,
        who,
        account: place.account,
        chat: address.chat.to_string(),
        thread: address.thread.as_ref().map(ToString::to_string),
        key: SessionKey::derive(&PROFILE.into(), &source, sharing).id(),
        is_shared: sharing.is_shared(&source),
        dedupe,
    };
    let mut id = [0; 16];
    id[12..].copy_from_slice(&number.to_be_bytes());
    let event = Event {
        // Adapters give what they hand in an id of their own.
        id: EventId::from_bytes(id),
        dedupe,
        address,
        principal,
        message: Some(token.into()),
        kind: EventKind::Message(Content {
            text: text.to_owned(),
            ..Content::default()
        }),
        sent_at: Some(at),
        received_at: at,
    };
    (event, written)
}

#[cfg(test)]
mod tests {
    //! Canaries.

    use super::*;

    #[test]
    fn a_canary_is_recognised_wherever_it_stands() {
        let found = |text: &str| canaries(text).into_iter().collect::<Vec<_>>();
        assert_eq!(found("re: [ada] m017-ada think 5 + m018-bob.12"), [17, 18]);
        assert_eq!(found("\"m001-ada…\""), [1]);
        assert_eq!(found("m17-ada m0175-ada mm017-ada m017- hm017"), [0_u32; 0]);
        assert_eq!(found(&canary(9, "ada")), [9]);
        let job = format!("re: j-{} is done", canary(9, "ada"));
        assert_eq!(found(&job), [0_u32; 0], "a job is not its message");
        assert_eq!(job_canaries(&job), [9].into());
    }
}
