//! Following a response. Its first follower goes on in the same conversation; whoever follows it later, or after something
//! else was said there, gets a conversation of their own with all that was said up to that response, so that the answers
//! have nothing to do with each other.

use serde_json::json;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::runner::Speaker;
use talaria_domain::scope::ScopeKey;
use talaria_store::passing::{self, Span};
use talaria_store::sessions::Opening;
use talaria_store::transcripts::{self, Entry, Utterance, Visibility};
use talaria_store::{Result, Tx, inbox, keys, runs, sessions, state};

use super::KEPT;

#[cfg(test)]
mod tests;

/// More than any window holds.
const MOST: u32 = 20_000;

/// Who follows whom.
pub(super) struct Step {
    /// Where it is kept who follows whom.
    pub(super) scope: ScopeKey,
    /// The response that is followed, and its conversation.
    pub(super) previous: (EventId, SessionId),
    /// The one that follows.
    pub(super) next: EventId,
    /// A conversation that can be opened for it.
    pub(super) opening: Opening,
    pub(super) at: Timestamp,
}

/// The conversation in which a response is followed.
pub(super) fn follow(tx: &mut Tx<'_>, step: &Step) -> Result<SessionId> {
    let (previous, session) = step.previous;
    let name = next(previous);
    let mine = json!(step.next);
    let first = state::get(tx, step.scope, &name)?.map(|kept| kept.value);
    if is_last(tx, previous, session)? && first.is_none_or(|first| first == mine) {
        let span = Span {
            at: step.at,
            until: step.at.plus(KEPT),
        };
        passing::set(tx, step.scope, &name, &mine, span)?;
        return Ok(session);
    }
    branch(tx, step)
}

/// Under which name it is kept who follows a response.
fn next(previous: EventId) -> String {
    format!("next {previous}")
}

/// Forgets who follows a response.
pub(super) fn forget(tx: &mut Tx<'_>, scope: ScopeKey, previous: EventId) -> Result<()> {
    state::delete(tx, scope, &next(previous)).map(drop)
}

/// Whether nothing else was said in a conversation since.
fn is_last(tx: &mut Tx<'_>, event: EventId, session: SessionId) -> Result<bool> {
    let key = sessions::get(tx, session)?.key;
    let last = runs::last(tx, session)?;
    let is_last = last.is_none_or(|last| last.event == event);
    Ok(is_last && keys::current(tx, key)? == Some(session) && !inbox::is_open(tx, session)?)
}

fn branch(tx: &mut Tx<'_>, step: &Step) -> Result<SessionId> {
    let (previous, session) = step.previous;
    let tries = runs::for_event(tx, previous)?;
    let ended_at = match tries.last() {
        Some(run) => run.active_at,
        None => inbox::get(tx, previous)?.event.received_at,
    };
    let entries = transcripts::page(tx, session, 0, MOST)?;
    let is_of_it = |entry: &&Entry| tries.iter().any(|run| entry.run == Some(run.id));
    let of_it = entries.iter().rev().find(is_of_it);
    // What was not answered is remembered without its run.
    let by_then = || entries.iter().rev().find(|entry| entry.at <= ended_at);
    let end = of_it.or_else(by_then).map_or(0, |entry| entry.seq);
    let copy = sessions::resolve(tx, &step.opening)?;
    let all: Vec<Utterance> = known_at(entries, end).collect();
    transcripts::append_all(tx, copy, &all)?;
    Ok(copy)
}

/// What was known when the entry with this number was the last one.
fn known_at(entries: Vec<Entry>, end: i64) -> impl Iterator<Item = Utterance> {
    let is_summary = |entry: &&Entry| entry.speaker == Speaker::System && entry.seq <= end;
    let summary = entries.iter().rev().find(is_summary);
    let summed_up = summary.map_or(0, |summary| summary.seq);
    let is_known = move |entry: &Entry| {
        let is_there = match entry.visibility {
            Visibility::Shown => true,
            // By a summary that was made later.
            Visibility::Compacted => entry.seq >= summed_up,
            Visibility::Undone => false,
        };
        is_there && entry.seq <= end
    };
    entries.into_iter().filter(is_known).map(|entry| Utterance {
        speaker: entry.speaker,
        text: entry.text,
        detail: entry.detail,
        // The run stays where it was.
        run: None,
        at: entry.at,
    })
}
