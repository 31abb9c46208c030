//! Decides what is promised about a background process, and says it: only what the conversation can keep.
//!
//! Pure: what was asked for and whether a late result can be delivered in, the promise and its words out.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};
use talaria_domain::job::Promise;

const MOST_PATTERNS: usize = 20;
const LONGEST_PATTERN: usize = 200;

const UNSUPPORTED: &str = "this conversation cannot be reached after your answer, so nobody will tell you when the \
    process ends or what it prints: use process(action=\"poll\") or process(action=\"wait\") before you answer";
const IGNORED: &str = "`notify_on_complete` and `watch_patterns` exclude each other: you will be told the end, and \
    `watch_patterns` are ignored";
const HINT: &str = "nobody will tell you when it ends: use process(action=\"poll\"), or start such a process with \
    `notify_on_complete`";
const PTY: &str = "a process in a pty does not survive a restart of the gateway";

/// What was asked for.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Wish {
    /// To be told the end.
    pub(super) is_notified: bool,
    /// To be told what matches.
    pub(super) patterns: Vec<String>,
    /// It runs in a terminal.
    pub(super) is_pty: bool,
}

/// What is promised.
#[derive(Debug, PartialEq)]
pub(super) struct Plan {
    /// About the end.
    pub(super) promise: Promise,
    /// What is looked for in the output.
    pub(super) patterns: Vec<String>,
    /// The same for the model.
    pub(super) words: Map<String, Value>,
}

/// Refuses patterns that cannot be looked for.
pub(super) fn check(patterns: &[String]) -> Result<(), String> {
    if patterns.len() > MOST_PATTERNS {
        return Err(format!(
            "wrong arguments: `watch_patterns` has {} patterns, and at most {MOST_PATTERNS} are looked for",
            patterns.len()
        ));
    }
    let is_fine = |it: &String| !it.is_empty() && it.chars().count() <= LONGEST_PATTERN;
    match patterns.iter().find(|it| !is_fine(it) || it.contains('\n')) {
        Some(pattern) => Err(format!(
            "wrong arguments: a pattern of `watch_patterns` is one line of 1 to {LONGEST_PATTERN} characters, \
             not {pattern:?}"
        )),
        None => Ok(()),
    }
}

/// Decides. `is_reachable` is whether the conversation can be told something after the turn.
pub(super) fn decide(wish: Wish, is_reachable: bool) -> Plan {
    let is_asked = wish.is_notified || !wish.patterns.is_empty();
    let mut words = Map::new();
    let mut say = |name: &str, value: Value| words.insert(name.to_owned(), value);
    let mut plan = (Promise::Nothing, Vec::new());
    if is_asked && !is_reachable {
        say("notify_unsupported", json!(UNSUPPORTED));
    } else if wish.is_notified {
        plan.0 = Promise::Wake;
        if !wish.patterns.is_empty() {
            say("watch_patterns_ignored", json!(IGNORED));
        }
    } else if is_asked {
        say("watch_patterns", json!(wish.patterns));
        plan.1 = wish.patterns;
    } else {
        say("hint", json!(HINT));
    }
    say("notify_on_complete", json!(plan.0 == Promise::Wake));
    if wish.is_pty {
        say("pty", json!(PTY));
    }
    Plan {
        promise: plan.0,
        patterns: plan.1,
        words,
    }
}
