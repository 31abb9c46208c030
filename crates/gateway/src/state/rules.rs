//! Where a run's memory is kept and what may be done with it. Pure. The identities come from the event and the binding
//! alone: what a runner writes down, the id of its conversation elsewhere among it, is a value and never part of a key.
//!
//! The order of the checks is fixed: switched off, scope not allowed, nobody to remember for, key, value.

use serde_json::{Value, json};
use talaria_domain::descriptor::{StoreName, StoreOperation};
use talaria_domain::effects::{Memory, MemoryRequest, Refusal, RefusalCode};
use talaria_domain::event::{Event, EventKind, InternalCause};
use talaria_domain::ids::SessionId;
use talaria_domain::names::{BindingId, ProfileName, RunnerId, ThreadId};
use talaria_domain::scope::{
    ScopeHolder, ScopeIdentity, ScopeKey, Snapshot, StatePolicy, StateScope,
};
use talaria_store::state::Page;

/// The longest key, in bytes.
pub const LONGEST_KEY: usize = 255;
/// The largest value, in bytes of JSON.
pub const LARGEST_VALUE: usize = 256 * 1_024;
/// The most keys that are kept in one place.
pub const MOST_KEYS: u64 = 1_000;
/// The most that one list has.
pub const MOST_LISTED: usize = 100;

/// What older runners call it, and what it is called.
const ALIAS: (&str, &str) = ("conversation_id", EXTERNAL);

/// The key of the id that a conversation has elsewhere.
pub const EXTERNAL: &str = "external.conversation_id";

/// Who an event is from, what it is about, and where it was said.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The conversation, in its present life.
    pub conversation: Option<String>,
    /// The thread in it.
    pub thread: Option<String>,
    /// What speaks, `user` where nothing is said, and which.
    pub actor: Option<(Option<String>, String)>,
    /// What it is about, `unknown` where nothing is said, and which.
    pub subject: Option<(Option<String>, String)>,
}

impl Facts {
    /// What an event of a session tells. A person is known by platform, account and stable id; a message by its place.
    pub fn of(event: &Event, session: SessionId) -> Self {
        let who = event.principal.stable_user();
        Self {
            conversation: Some(session.to_string()),
            thread: event.address.thread.as_ref().map(ThreadId::to_string),
            actor: who.map(|_| (None, event.principal.key().0.to_string())),
            subject: subject(event),
        }
    }
}

fn subject(event: &Event) -> Option<(Option<String>, String)> {
    if let EventKind::Internal {
        cause: InternalCause::JobEnded { job } | InternalCause::Delegated { job },
        ..
    } = &event.kind
    {
        return Some((Some("job".to_owned()), job.to_string()));
    }
    if let EventKind::Internal {
        cause: InternalCause::Schedule { schedule, .. },
        ..
    } = &event.kind
    {
        return Some((Some("schedule".to_owned()), schedule.to_string()));
    }
    let message = event.message.as_ref().filter(|id| !id.is_empty())?;
    // Its id means something in its own chat only.
    let place = event.address.target().0;
    Some((Some("message".to_owned()), format!("{place} {message}")))
}

/// Whose memory it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The agent.
    pub profile: ProfileName,
    /// What thinks for it.
    pub runner: RunnerId,
    /// Under which binding.
    pub binding: BindingId,
    /// What that allows.
    pub policy: StatePolicy,
}

/// Where each memory of one run is: fixed when the run was admitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawers {
    policy: StatePolicy,
    conversation: Option<ScopeKey>,
    actor: Option<ScopeKey>,
    subject: Option<ScopeKey>,
    runner: ScopeKey,
    plugin: ScopeKey,
    workspace: ScopeKey,
    /// The conversation's id, for runners that keep one elsewhere.
    external: Option<String>,
    /// Where the id is kept that one of the conversation's runners gave it elsewhere.
    elsewhere: Option<ScopeKey>,
}

impl Drawers {
    /// The drawers for a run.
    pub fn of(owner: &Owner, facts: &Facts) -> Self {
        let key = |holder| {
            let identity = ScopeIdentity {
                runner: owner.runner.clone(),
                binding: owner.binding.clone(),
                holder,
            };
            identity.key()
        };
        let present = |id: &&String| !id.is_empty();
        let named = |who: &Option<(Option<String>, String)>, usual: &str| {
            let (kind, id) = who.clone().filter(|(_, id)| !id.is_empty())?;
            let kind = kind.filter(|kind| !kind.is_empty());
            Some((kind.unwrap_or_else(|| usual.to_owned()), id))
        };
        let conversation = facts.conversation.as_ref().filter(present);
        let thread = facts.thread.as_ref().filter(present);
        Self {
            policy: owner.policy.clone(),
            conversation: conversation.map(|conversation| {
                key(ScopeHolder::Conversation {
                    conversation: conversation.clone(),
                    thread: thread.cloned(),
                })
            }),
            actor: named(&facts.actor, "user")
                .map(|(kind, id)| key(ScopeHolder::Actor { kind, id })),
            subject: named(&facts.subject, "unknown")
                .map(|(kind, id)| key(ScopeHolder::Subject { kind, id })),
            runner: key(ScopeHolder::Runner),
            plugin: ScopeKey::plugin(&owner.profile, &owner.runner),
            workspace: ScopeKey::workspace(&owner.profile),
            external: conversation.cloned(),
            elsewhere: conversation.map(|it| ScopeKey::elsewhere(it, thread.map(String::as_str))),
        }
    }

    /// Where the id is kept that the conversation has elsewhere, if this run may know it.
    pub fn elsewhere(&self) -> Option<ScopeKey> {
        let is_open = self.policy.may_use(StateScope::Conversation);
        self.elsewhere.filter(|_| is_open)
    }

    /// The key of a scope; none where there is nobody to remember for.
    pub const fn key(&self, scope: StateScope) -> Option<ScopeKey> {
        match scope {
            StateScope::Conversation => self.conversation,
            StateScope::Actor => self.actor,
            StateScope::Subject => self.subject,
            StateScope::Runner => Some(self.runner),
        }
    }

    /// The scopes that may be read, and that somebody holds.
    pub fn open_scopes(&self) -> Vec<(StateScope, ScopeKey)> {
        let open = StateScope::ALL.into_iter();
        open.filter(|scope| self.policy.may_use(*scope))
            .filter_map(|scope| Some((scope, self.key(scope)?)))
            .collect()
    }
}

/// What is done with a drawer.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Read.
    Get {
        /// What.
        key: String,
    },
    /// Remember.
    Set {
        /// Under which key.
        key: String,
        /// What.
        value: Value,
        /// Only if this is its version.
        expected: Option<i64>,
    },
    /// Forget.
    Delete {
        /// What.
        key: String,
    },
    /// See what there is.
    List(Page),
    /// Forget everything.
    Clear,
}

/// In which drawer what is done, or why not.
pub fn decide(
    drawers: &Drawers,
    memory: Memory,
    request: &MemoryRequest,
) -> Result<(ScopeKey, Step), Refusal> {
    let drawer = drawer(drawers, memory)?;
    let name = |key: &str| checked(named(memory, key));
    let step = match request {
        MemoryRequest::Get { key } => Step::Get { key: name(key)? },
        MemoryRequest::Set {
            key,
            value,
            expected,
        } => Step::Set {
            key: name(key)?,
            value: sized(value)?,
            expected: *expected,
        },
        MemoryRequest::Delete { key } => Step::Delete { key: name(key)? },
        MemoryRequest::List {
            prefix,
            after,
            limit,
        } => Step::List(Page {
            prefix: short(named(memory, prefix))?,
            after: after.as_deref().map(|key| named(memory, key)),
            limit: u32::try_from((*limit).clamp(1, MOST_LISTED)).unwrap_or(1),
        }),
        MemoryRequest::Clear => Step::Clear,
    };
    Ok((drawer, step))
}

fn drawer(drawers: &Drawers, memory: Memory) -> Result<ScopeKey, Refusal> {
    let scope = match memory {
        Memory::Plugin => return Ok(drawers.plugin),
        Memory::Workspace => return Ok(drawers.workspace),
        Memory::State(scope) => scope,
    };
    let refuse = |code, reason: String| Err(Refusal::new(code, reason));
    if !drawers.policy.enable {
        let reason = "state is disabled for this binding";
        return refuse(RefusalCode::Disabled, reason.to_owned());
    }
    let name = scope.as_str();
    if !drawers.policy.may_use(scope) {
        let allowed = drawers.policy.scopes.iter().map(|scope| scope.as_str());
        let allowed: Vec<&str> = allowed.collect();
        let reason = format!(
            "the scope {name} is not enabled for this binding, which has: {}",
            allowed.join(", ")
        );
        return refuse(RefusalCode::Disabled, reason);
    }
    drawers.key(scope).map_or_else(
        || {
            let reason = format!("there is no {name} here that anything could be remembered for");
            refuse(RefusalCode::NotFound, reason)
        },
        Ok,
    )
}

/// The operation on a store that a request is, as grants name it; none for scoped state, which has a policy.
pub fn store_operation(
    memory: Memory,
    request: &MemoryRequest,
) -> Option<(StoreName, StoreOperation)> {
    let store = match memory {
        Memory::State(_) => return None,
        Memory::Plugin => StoreName::Plugin,
        Memory::Workspace => StoreName::Workspace,
    };
    let operation = match request {
        MemoryRequest::Get { .. } => StoreOperation::Get,
        MemoryRequest::Set { .. } => StoreOperation::Set,
        MemoryRequest::Delete { .. } => StoreOperation::Delete,
        MemoryRequest::List { .. } => StoreOperation::List,
        MemoryRequest::Clear => StoreOperation::Clear,
    };
    Some((store, operation))
}

/// Whether a request changes something.
pub const fn is_change(request: &MemoryRequest) -> bool {
    match request {
        MemoryRequest::Get { .. } | MemoryRequest::List { .. } => false,
        MemoryRequest::Set { .. } | MemoryRequest::Delete { .. } | MemoryRequest::Clear => true,
    }
}

/// What a key is called in scoped state, whatever a runner calls it.
pub fn named(memory: Memory, key: &str) -> String {
    match memory {
        Memory::State(_) if key == ALIAS.0 => ALIAS.1.to_owned(),
        _ => key.to_owned(),
    }
}

fn checked(key: String) -> Result<String, Refusal> {
    if key.is_empty() {
        let reason = "expected a key, found none";
        return Err(Refusal::new(RefusalCode::Invalid, reason));
    }
    if key.chars().any(char::is_control) {
        let reason = "a key has no control characters";
        return Err(Refusal::new(RefusalCode::Invalid, reason));
    }
    short(key)
}

fn short(key: String) -> Result<String, Refusal> {
    if key.len() > LONGEST_KEY {
        let found = key.len();
        let reason = format!("a key has at most {LONGEST_KEY} bytes, and this has {found}");
        return Err(Refusal::new(RefusalCode::TooLarge, reason));
    }
    if key.contains('\0') {
        let reason = "a key has no control characters";
        return Err(Refusal::new(RefusalCode::Invalid, reason));
    }
    Ok(key)
}

fn sized(value: &Value) -> Result<Value, Refusal> {
    let size = serde_json::to_vec(value).map_or(usize::MAX, |text| text.len());
    if size > LARGEST_VALUE {
        let reason =
            format!("the value exceeds the limit of {LARGEST_VALUE} bytes of JSON: {size}");
        return Err(Refusal::new(RefusalCode::TooLarge, reason));
    }
    Ok(value.clone())
}

/// What becomes of the conversation's own name elsewhere when a step is done.
#[derive(Debug, Clone, PartialEq)]
pub enum Naming {
    /// All of its runners know it by this from now on.
    Called(ScopeKey, Value),
    /// It goes by its own id again.
    Forgotten(ScopeKey),
}

/// What a step does to the name of the conversation itself, which outlives what one runner keeps: giving its id elsewhere
/// renames it, forgetting that id undoes it. Only a text that says something is a name.
pub fn naming(drawers: &Drawers, memory: Memory, step: &Step) -> Option<Naming> {
    if memory != Memory::State(StateScope::Conversation) {
        return None;
    }
    let place = drawers.elsewhere()?;
    match step {
        Step::Set { key, value, .. } if key == EXTERNAL => {
            let is_name = value.as_str().is_some_and(|name| !name.is_empty());
            is_name.then(|| Naming::Called(place, value.clone()))
        }
        Step::Delete { key } if key == EXTERNAL => Some(Naming::Forgotten(place)),
        _ => None,
    }
}

/// Puts the conversation's id where runners look for the one that they keep elsewhere, if they keep none: the one that
/// another of its runners gave it, or ours. It is not remembered: the next snapshot asks again.
pub fn seed(drawers: &Drawers, named: Option<Value>, snapshot: &mut Snapshot) {
    let is_open = drawers.policy.may_use(StateScope::Conversation);
    let (Some(external), true) = (&drawers.external, is_open) else {
        return;
    };
    let values = snapshot.scopes.entry(StateScope::Conversation).or_default();
    values
        .entry(EXTERNAL.to_owned())
        .or_insert_with(|| named.unwrap_or_else(|| json!(external)));
}

#[cfg(test)]
mod tests;
