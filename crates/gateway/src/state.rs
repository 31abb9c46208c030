//! What is remembered for runs, in one transaction each. Where it is kept and whether it may be is decided by the pure
//! rules; this only reads and writes. Everything it needs was frozen when the run was admitted.

pub mod rules;

use serde_json::Value;
use talaria_domain::clock::Timestamp;
use talaria_domain::effects::{Kept, Memory, MemoryAnswer, MemoryRequest, Refusal, RefusalCode};
use talaria_domain::scope::{ScopeKey, Snapshot, StateScope};
use talaria_store::state::{self as stored, Page, Remembered, Swap};
use talaria_store::{Conflict, Result, StoreError, Tx};

use self::rules::{Drawers, EXTERNAL, MOST_KEYS, Naming, Step};

/// How many values a run is given when it begins.
const SHOWN: u32 = 256;
/// The largest of them, in bytes; what is larger is asked for.
const SHOWN_BYTES: u32 = 32 * 1_024;

type Answered = std::result::Result<MemoryAnswer, Refusal>;

/// Does what is asked of a memory, or says why not.
pub fn answer(
    tx: &mut Tx<'_>,
    drawers: &Drawers,
    (memory, request): (Memory, &MemoryRequest),
    at: Timestamp,
) -> Result<Answered> {
    match rules::decide(drawers, memory, request) {
        Ok((drawer, step)) => {
            let naming = rules::naming(drawers, memory, &step);
            let answered = act(tx, drawer, step, at)?;
            if let (Ok(_), Some(naming)) = (&answered, naming) {
                name(tx, &naming, at)?;
            }
            Ok(answered)
        }
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// What the conversation is called elsewhere, for all of its runners.
fn name(tx: &mut Tx<'_>, naming: &Naming, at: Timestamp) -> Result<()> {
    match naming {
        Naming::Called(place, name) => stored::set(tx, *place, EXTERNAL, name, at).map(drop),
        Naming::Forgotten(place) => stored::delete(tx, *place, EXTERNAL).map(drop),
    }
}

fn act(tx: &mut Tx<'_>, drawer: ScopeKey, step: Step, at: Timestamp) -> Result<Answered> {
    match step {
        Step::Get { key } => {
            let found = stored::get(tx, drawer, &key)?;
            Ok(Ok(MemoryAnswer::Found(found.map(kept))))
        }
        Step::Set {
            key,
            value,
            expected,
        } => {
            let version = match expected {
                None => Ok(stored::set(tx, drawer, &key, &value, at)?),
                Some(expected) => {
                    let swap = Swap {
                        expected,
                        value,
                        at,
                    };
                    unless_changed(stored::compare_and_set(tx, drawer, &key, &swap))?
                }
            };
            match version {
                Ok(1) => first_of_its_name(tx, drawer, &key),
                Ok(version) => Ok(Ok(MemoryAnswer::Stored { version })),
                Err(refusal) => Ok(Err(refusal)),
            }
        }
        Step::Delete { key } => {
            let was_there = stored::delete(tx, drawer, &key)?;
            Ok(Ok(MemoryAnswer::Deleted(was_there)))
        }
        Step::List(page) => list(tx, drawer, &page),
        Step::Clear => Ok(Ok(MemoryAnswer::Cleared(stored::clear(tx, drawer)?))),
    }
}

/// A value that was not there before, if there is room for it.
fn first_of_its_name(tx: &mut Tx<'_>, drawer: ScopeKey, key: &str) -> Result<Answered> {
    if stored::count(tx, drawer)? <= MOST_KEYS {
        return Ok(Ok(MemoryAnswer::Stored { version: 1 }));
    }
    stored::delete(tx, drawer, key)?;
    let reason = format!("at most {MOST_KEYS} keys are kept in one place: forget some first");
    Ok(Err(Refusal::new(RefusalCode::TooLarge, reason)))
}

fn list(tx: &mut Tx<'_>, drawer: ScopeKey, page: &Page) -> Result<Answered> {
    // One more than asked for tells whether there is more.
    let more = Page {
        limit: page.limit + 1,
        ..page.clone()
    };
    let mut found = stored::page(tx, drawer, &more)?;
    let has_more = found.len() > page.limit as usize;
    found.truncate(page.limit as usize);
    let kept = found.into_iter().map(|(key, found)| (key, kept(found)));
    Ok(Ok(MemoryAnswer::Listed {
        kept: kept.collect(),
        has_more,
    }))
}

/// What a run is given of what is remembered: a copy, with every scope in it. Scopes that are switched off, or that
/// nobody holds, are empty.
pub fn snapshot(tx: &mut Tx<'_>, drawers: &Drawers) -> Result<Snapshot> {
    let open = drawers.open_scopes();
    let mut snapshot = Snapshot {
        open: open.iter().map(|(scope, _)| *scope).collect(),
        ..Snapshot::default()
    };
    let mut named = None;
    if !open.is_empty() {
        let elsewhere = drawers.elsewhere();
        let keys: Vec<ScopeKey> = open.iter().map(|(_, key)| *key).chain(elsewhere).collect();
        let found = stored::shown(tx, &keys, SHOWN, SHOWN_BYTES)?;
        snapshot.is_whole = found.is_whole;
        for (key, name, value) in found.values {
            let scope = open.iter().find(|(_, open)| *open == key);
            match scope.and_then(|(scope, _)| snapshot.scopes.get_mut(scope)) {
                Some(values) => drop(values.insert(name, value)),
                None => named = Some(value),
            }
        }
        if !snapshot.is_whole {
            named = ask_for_name(tx, drawers, &mut snapshot)?;
        }
    }
    rules::seed(drawers, named, &mut snapshot);
    Ok(snapshot)
}

/// The ids that a conversation has elsewhere may be among what was too much to show. A seed must not stand for them.
fn ask_for_name(
    tx: &mut Tx<'_>,
    drawers: &Drawers,
    snapshot: &mut Snapshot,
) -> Result<Option<Value>> {
    let (Some(own), Some(place)) = (drawers.key(StateScope::Conversation), drawers.elsewhere())
    else {
        return Ok(None);
    };
    if let Some(own) = stored::get(tx, own, EXTERNAL)? {
        let values = snapshot.scopes.entry(StateScope::Conversation).or_default();
        values.insert(EXTERNAL.to_owned(), own.value);
    }
    let named = stored::get(tx, place, EXTERNAL)?;
    Ok(named.map(|named| named.value))
}

/// A change that counts only if nobody else was first.
fn unless_changed(set: Result<i64>) -> Result<std::result::Result<i64, Refusal>> {
    match set {
        Ok(version) => Ok(Ok(version)),
        Err(StoreError::Conflict(Conflict::Version { expected, found })) => {
            let reason = format!("expected version {expected}, found {found}: read it again");
            Ok(Err(Refusal::new(RefusalCode::Conflict, reason)))
        }
        Err(error) => Err(error),
    }
}

fn kept(found: Remembered) -> Kept {
    Kept {
        value: found.value,
        version: found.version,
        created_at: found.created_at,
        updated_at: found.updated_at,
    }
}
