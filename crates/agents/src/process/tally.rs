//! What a run said and did so far, as far as its end depends on it: words that are not a whole message yet, calls that
//! are open, what its models cost, and what was lost on the way.
//!
//! Pure: reports in, what follows from them out.

#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashSet};

use talaria_domain::ids::RunId;
use talaria_domain::run::Usage;

/// Longer ids are no ids.
const MOST_OF_AN_ID: usize = 200;

/// What a run said and did so far.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Deltas since the last whole message.
    growing: String,
    has_spoken: bool,
    /// Something of it was too long to be taken, and nobody knows what.
    has_lost: bool,
    used: HashSet<String>,
    open: BTreeSet<String>,
    usage: Usage,
    /// What people said that the runner has not taken up.
    unheard: Vec<String>,
}

impl Tally {
    /// A run in a conversation where these calls were made before.
    pub(super) fn after<'a>(calls: impl Iterator<Item = &'a str>) -> Self {
        Self {
            used: calls.map(str::to_owned).collect(),
            ..Self::default()
        }
    }

    /// The answer grew.
    pub(super) fn grow(&mut self, text: &str) {
        self.growing.push_str(text);
    }

    /// A message is whole: the text that was given, or what its deltas come to. None if there is nothing in it.
    pub(super) fn complete(&mut self, text: Option<String>) -> Option<String> {
        let grown = std::mem::take(&mut self.growing);
        let text = text.unwrap_or(grown);
        let is_there = !text.trim().is_empty();
        self.has_spoken |= is_there;
        is_there.then_some(text)
    }

    /// The id of a new call: the one that was asked for if it is free, else one of our own.
    pub(super) fn call_id(&mut self, run: RunId, wanted: Option<String>) -> String {
        let wanted = wanted.filter(|id| self.is_free(id));
        let numbered = (self.used.len() + 1..).map(|number| format!("call_{run}_{number}"));
        let mut free = wanted.into_iter().chain(numbered);
        let id = free.find(|id| self.is_free(id)).unwrap_or_default();
        self.used.insert(id.clone());
        id
    }

    fn is_free(&self, id: &str) -> bool {
        !id.is_empty() && id.len() <= MOST_OF_AN_ID && !self.used.contains(id)
    }

    /// The runner started a call of its own; whether that can be.
    pub(super) fn start(&mut self, call: &str) -> bool {
        let is_free = self.is_free(call);
        if is_free {
            self.used.insert(call.to_owned());
            self.open.insert(call.to_owned());
        }
        is_free
    }

    /// A call of the runner's own ended; whether that can be.
    pub(super) fn end(&mut self, call: &str) -> bool {
        self.open.remove(call)
    }

    /// A model of the host was asked.
    pub(super) fn spend(&mut self, usage: Usage) {
        self.usage.input_tokens = self.usage.input_tokens.saturating_add(usage.input_tokens);
        self.usage.output_tokens = self.usage.output_tokens.saturating_add(usage.output_tokens);
    }

    /// What all of it cost.
    pub(super) const fn usage(&self) -> Usage {
        self.usage
    }

    /// Something was too long to be taken.
    pub(super) fn lose(&mut self) {
        self.has_lost = true;
    }

    /// Whether all that it said may be what was lost.
    pub(super) const fn is_speechless(&self) -> bool {
        self.has_lost && !self.has_spoken
    }

    /// People said something, and the runner is told.
    pub(super) fn tell(&mut self, texts: &[String]) {
        self.unheard.extend_from_slice(texts);
    }

    /// The runner took up what it was told.
    pub(super) fn hear(&mut self, texts: &[String]) {
        self.unheard.retain(|text| !texts.contains(text));
    }

    /// What people are told about what they said in vain.
    pub(super) fn regret(&mut self) -> Option<String> {
        let texts = std::mem::take(&mut self.unheard);
        if texts.is_empty() {
            return None;
        }
        let texts: Vec<String> = texts
            .iter()
            .map(|text| text.chars().take(80).collect())
            .collect();
        Some(format!(
            "(This came too late for the answer above: {:?}. Please say it again.)",
            texts.join(" / ")
        ))
    }
}
