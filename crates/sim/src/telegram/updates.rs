//! What one bot has not acknowledged, and who of several asks for it ("Getting updates").
//!
//! Pure: updates and questions in, pages out.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::methods::No;

/// How many updates come at once at most.
const PAGE: usize = 100;
/// What is told only to those who ask for it ("allowed_updates").
const ON_REQUEST: [&str; 3] = ["chat_member", "message_reaction", "message_reaction_count"];

/// How a bot is called.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Webhook {
    pub(super) url: String,
    pub(super) secret: String,
    /// When and why the last call went wrong.
    pub(super) error: Option<(i64, String)>,
}

/// What one bot has not acknowledged.
#[derive(Debug, Default)]
pub(super) struct Queue {
    updates: VecDeque<(i64, Value)>,
    last: i64,
    /// What the bot wants to hear of; the usual if it never said.
    wanted: Option<Vec<String>>,
    /// How often somebody asked what is new.
    polls: u64,
    pub(super) webhook: Option<Webhook>,
}

impl Queue {
    pub(super) fn len(&self) -> usize {
        self.updates.len()
    }

    /// Something happened, if the bot wants to hear of it.
    pub(super) fn push(&mut self, kind: &str, what: Value) {
        let is_wanted = match &self.wanted {
            Some(wanted) => wanted.iter().any(|name| name == kind),
            None => !ON_REQUEST.contains(&kind),
        };
        if is_wanted {
            self.last += 1;
            let mut update = json!({ "update_id": self.last });
            update[kind] = what;
            self.updates.push_back((self.last, update));
        }
    }

    /// From now on the bot wants to hear of these; an empty list is the usual.
    pub(super) fn want(&mut self, wanted: Option<Value>) {
        if let Some(Value::Array(names)) = wanted {
            let names = names.iter().filter_map(Value::as_str).map(str::to_owned);
            let names: Vec<String> = names.collect();
            self.wanted = Some(names).filter(|names| !names.is_empty());
        }
    }

    pub(super) fn wanted(&self) -> Option<&[String]> {
        self.wanted.as_deref()
    }

    /// Somebody asks what is new, and has everything before `offset`; a negative one keeps so many of the last. Whoever
    /// asked before is not listened to any more.
    pub(super) fn open_poll(&mut self, offset: i64) -> u64 {
        if offset < 0 {
            let keep = usize::try_from(-offset).unwrap_or(usize::MAX);
            let forget = self.updates.len().saturating_sub(keep);
            self.updates.drain(..forget);
        } else {
            self.updates.retain(|(number, _)| *number >= offset);
        }
        self.polls += 1;
        self.polls
    }

    /// Whether there is something to tell to whoever asks.
    pub(super) fn is_ready(&self, poll: u64) -> bool {
        self.polls != poll || !self.updates.is_empty() || self.webhook.is_some()
    }

    /// What is new.
    pub(super) fn page(&self, poll: u64, limit: Option<i64>) -> Result<Value, No> {
        if self.webhook.is_some() {
            return Err(No::of(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the \
                 webhook first",
            ));
        }
        if self.polls != poll {
            return Err(No::of(
                409,
                "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
            ));
        }
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(PAGE).clamp(1, PAGE);
        let page = self.updates.iter().take(limit);
        Ok(page.map(|(_, update)| update.clone()).collect())
    }

    /// The next that somebody is to be called with.
    pub(super) fn next_call(&self) -> Option<(Webhook, i64, Value)> {
        let webhook = self.webhook.clone()?;
        let (number, update) = self.updates.front()?;
        Some((webhook, *number, update.clone()))
    }

    /// It was taken.
    pub(super) fn took(&mut self, number: i64) {
        self.updates.retain(|(other, _)| *other != number);
    }

    /// Everything is forgotten.
    pub(super) fn forget(&mut self) {
        self.updates.clear();
    }
}
