//! What joins a place and kinds of events to a runner, with its configuration and its policies. Which binding counts
//! is decided by one pure function: the nearest place first, then the closest pattern. Two that are equally near are
//! a mistake of the configuration and are told there, never chosen between.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::address::Address;
use crate::authority::{ResourceKind, Right};
use crate::descriptor::StoreName;
use crate::event::{EventKind, InternalCause, MembershipChange, ReactionChange};
use crate::names::{AccountName, BindingId, ChatId, PlatformName, ProfileName, RunnerId, ThreadId};
use crate::scope::StatePolicy;

/// What joins a place and kinds of events to a runner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Its identity: part of the key of everything that is remembered under it.
    pub id: BindingId,
    /// Where it counts.
    pub scope: BindingScope,
    /// For what.
    pub events: Vec<EventPattern>,
    /// What thinks.
    pub runner: RunnerId,
    /// What the runner is given, word for word.
    pub config: Map<String, Value>,
    /// What it may.
    pub policy: Policy,
}

/// Where a binding counts, from far to near.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum BindingScope {
    /// Everywhere.
    Global,
    /// For one agent.
    Profile(ProfileName),
    /// For what comes through one account.
    Account {
        /// The chat service.
        platform: PlatformName,
        /// Our account there.
        account: AccountName,
    },
    /// In one chat, or in one thread of it.
    Chat {
        /// The chat service.
        platform: PlatformName,
        /// Our account there.
        account: AccountName,
        /// The chat.
        chat: ChatId,
        /// Only this thread of it.
        thread: Option<ThreadId>,
    },
}

impl BindingScope {
    /// How near it is: the nearest one counts.
    pub const fn nearness(&self) -> u8 {
        match self {
            Self::Global => 0,
            Self::Profile(_) => 1,
            Self::Account { .. } => 2,
            Self::Chat { thread: None, .. } => 3,
            Self::Chat {
                thread: Some(_), ..
            } => 4,
        }
    }

    /// Whether it counts for this agent at this place.
    pub fn covers(&self, profile: &ProfileName, at: &Address) -> bool {
        match self {
            Self::Global => true,
            Self::Profile(name) => name == profile,
            Self::Account { platform, account } => {
                (platform, account) == (&at.platform, &at.account)
            }
            Self::Chat {
                platform,
                account,
                chat,
                thread,
            } => {
                (platform, account, chat) == (&at.platform, &at.account, &at.chat)
                    && (thread.is_none() || *thread == at.thread)
            }
        }
    }

    /// The identity of a binding that has no id of its own.
    pub fn identity(&self) -> BindingId {
        BindingId::from(self.to_string())
    }
}

impl fmt::Display for BindingScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Global => f.write_str("global"),
            Self::Profile(profile) => write!(f, "profile:{profile}"),
            Self::Account { platform, account } => {
                write!(f, "account:{:?}/{:?}", platform.as_str(), account.as_str())
            }
            Self::Chat {
                platform,
                account,
                chat,
                thread,
            } => {
                let (platform, account) = (platform.as_str(), account.as_str());
                write!(f, "chat:{platform:?}/{account:?}/{:?}", chat.as_str())?;
                match thread {
                    Some(thread) => write!(f, "/{:?}", thread.as_str()),
                    None => Ok(()),
                }
            }
        }
    }
}

/// Which events: `message`, `internal.*` or `*`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EventPattern(String);

/// A text that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an event such as \"message\", a family such as \"internal.*\" or \"*\", found {0:?}"
)]
pub struct NotAPattern(String);

impl EventPattern {
    /// Every event.
    pub fn any() -> Self {
        Self("*".to_owned())
    }

    /// The pattern that this text is.
    pub fn parse(text: &str) -> Result<Self, NotAPattern> {
        let name = text.strip_suffix(".*").unwrap_or(text);
        let is_letter = |c: char| c.is_ascii_lowercase() || c == '_';
        let is_part = |part: &str| !part.is_empty() && part.chars().all(is_letter);
        if text == "*" || name.split('.').all(is_part) {
            return Ok(Self(text.to_owned()));
        }
        Err(NotAPattern(text.to_owned()))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// How close it is, if it is about this event at all: the name itself before its family, a family before all.
    pub fn closeness(&self, event: &str) -> Option<usize> {
        match self.0.strip_suffix('*') {
            Some("") => Some(0),
            Some(family) => event.starts_with(family).then_some(family.len()),
            None => (self.0 == event).then_some(usize::MAX),
        }
    }
}

impl TryFrom<String> for EventPattern {
    type Error = NotAPattern;

    fn try_from(text: String) -> Result<Self, NotAPattern> {
        Self::parse(&text)
    }
}

impl From<EventPattern> for String {
    fn from(pattern: EventPattern) -> Self {
        pattern.0
    }
}

/// What patterns are compared with.
pub const fn event_name(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Reaction { change, .. } => match change {
            ReactionChange::Added => "reaction.added",
            ReactionChange::Removed => "reaction.removed",
        },
        EventKind::Membership { change, .. } => match change {
            MembershipChange::Joined => "membership.joined",
            MembershipChange::Left => "membership.left",
        },
        EventKind::Internal { cause, .. } => match cause {
            InternalCause::JobEnded { .. } => "internal.job_ended",
            InternalCause::Delegated { .. } => "internal.delegated",
            InternalCause::Handoff => "internal.handoff",
            InternalCause::Schedule { .. } => "internal.schedule",
            InternalCause::Board => "internal.board",
        },
        other => other.as_str(),
    }
}

/// The events that begin turns: each of them needs a binding wherever a profile can be reached.
pub const BEGINNINGS: [&str; 6] = [
    "message",
    "internal.job_ended",
    "internal.delegated",
    "internal.handoff",
    "internal.schedule",
    "internal.board",
];

/// What a binding allows.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Policy {
    /// Which resources.
    pub resources: ResourcePolicy,
    /// What may be remembered.
    pub state: StatePolicy,
    /// How it may speak.
    pub delivery: DeliveryPolicy,
}

impl Policy {
    /// Whether it allows a right.
    pub fn may(&self, right: Right) -> bool {
        match right {
            Right::Ask => self.delivery.interactions,
            Right::HistoryPage | Right::HistorySearch | Right::EventGet => true,
        }
    }
}

/// Which resources a binding allows. What is not named is refused: there is no word for "all of them".
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ResourcePolicy {
    /// Models, by name.
    pub models: BTreeSet<String>,
    /// Tools, by name.
    pub tools: BTreeSet<String>,
    /// Knowledge bases, by name.
    pub knowledge_bases: BTreeSet<String>,
    /// The files that come with what people say.
    pub files: bool,
    /// Stores.
    pub storage: BTreeSet<StoreName>,
}

impl ResourcePolicy {
    /// Whether a resource is named.
    pub fn names(&self, kind: ResourceKind, name: &str) -> bool {
        match kind {
            ResourceKind::Model => self.models.contains(name),
            ResourceKind::Tool => self.tools.contains(name),
            ResourceKind::KnowledgeBase => self.knowledge_bases.contains(name),
            ResourceKind::File => self.files,
            ResourceKind::Storage => self.storage.iter().any(|store| store.as_str() == name),
        }
    }
}

/// How a run may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DeliveryPolicy {
    /// Whether its answer is shown while it grows.
    pub streaming: bool,
    /// Whether a message that grows says what is going on until there is an answer to show.
    pub progress: bool,
    /// Whether it may ask people.
    pub interactions: bool,
}

impl Default for DeliveryPolicy {
    fn default() -> Self {
        Self {
            streaming: true,
            progress: true,
            interactions: true,
        }
    }
}

/// Why no binding counts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// There is none.
    #[error("no binding is for {event} here")]
    Nothing {
        /// For which event.
        event: String,
    },
    /// Two are equally near.
    #[error("the bindings {one} and {other} are both for {event} here, and neither is nearer")]
    Equal {
        /// For which event.
        event: String,
        /// One of them.
        one: BindingId,
        /// The other.
        other: BindingId,
    },
}

/// The binding that counts for an event of this agent at this place: the nearest, and of the nearest the closest.
pub fn resolve<'a>(
    bindings: impl IntoIterator<Item = &'a Binding>,
    (profile, at): (&ProfileName, &Address),
    event: &str,
) -> Result<&'a Binding, Unresolved> {
    let covering = bindings
        .into_iter()
        .filter(|binding| binding.scope.covers(profile, at));
    choose(covering, event)
}

/// Of bindings that all count at a place, the one for an event.
fn choose<'a>(
    bindings: impl Iterator<Item = &'a Binding>,
    event: &str,
) -> Result<&'a Binding, Unresolved> {
    let rank = |binding: &'a Binding| {
        let closest = binding.events.iter().filter_map(|it| it.closeness(event));
        Some(((binding.scope.nearness(), closest.max()?), binding))
    };
    let mut ranked: Vec<_> = bindings.filter_map(rank).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    let event = || event.to_owned();
    match ranked.as_slice() {
        [] => Err(Unresolved::Nothing { event: event() }),
        [.., (second, one), (first, other)] if first == second => Err(Unresolved::Equal {
            event: event(),
            one: one.id.clone(),
            other: other.id.clone(),
        }),
        [.., (_, nearest)] => Ok(nearest),
    }
}

/// A pair of bindings that can never be chosen between: the same place, the same pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clash {
    /// The first of them, by its place in the list.
    pub one: usize,
    /// The second.
    pub other: usize,
}

/// Every pair that can never be chosen between, or that would remember under one identity.
pub fn clashes(bindings: &[Binding]) -> Vec<Clash> {
    let mut clashes = Vec::new();
    for (other, later) in bindings.iter().enumerate() {
        for (one, earlier) in bindings.iter().take(other).enumerate() {
            let is_shared = |pattern| earlier.events.contains(pattern);
            let is_equal = earlier.scope == later.scope && later.events.iter().any(is_shared);
            if is_equal || earlier.id == later.id {
                clashes.push(Clash { one, other });
            }
        }
    }
    clashes
}

/// The events that begin turns and that nothing is for, where an agent is reached at no place in particular.
pub fn gaps(bindings: &[Binding], profile: &ProfileName) -> Vec<&'static str> {
    let is_for = |binding: &&Binding| match &binding.scope {
        BindingScope::Global => true,
        BindingScope::Profile(name) => name == profile,
        BindingScope::Account { .. } | BindingScope::Chat { .. } => false,
    };
    let is_open = |event: &&str| {
        let found = choose(bindings.iter().filter(is_for), event);
        matches!(found, Err(Unresolved::Nothing { .. }))
    };
    BEGINNINGS.into_iter().filter(is_open).collect()
}

#[cfg(test)]
mod tests;
