//! Callbacks about what is remembered and what was said, as the host is asked for them, and what it says as they are
//! answered.
//!
//! Pure: callbacks in, requests out; answers in, answers out.

#[cfg(test)]
mod tests;

use talaria_domain::effects::{
    Kept, Memory, MemoryAnswer, MemoryRequest, PastAnswer, PastRequest, Refusal, RefusalCode,
};
use talaria_domain::ids::EventId;

use super::order;
use super::wire::{Answer, Asked, Item, PastLine, Spoken, StoreName};

/// What is listed at once if nobody says how much.
const USUAL: u32 = 50;
/// What is listed at once at most.
const MOST: u32 = 100;

/// What is asked of a memory, if the callback is about one.
pub(super) fn request(asked: &Asked) -> Option<(Memory, MemoryRequest)> {
    let get = |key: &String| MemoryRequest::Get { key: key.clone() };
    let delete = |key: &String| MemoryRequest::Delete { key: key.clone() };
    let list = |prefix: &String, after: &Option<String>, limit: Option<u32>| MemoryRequest::List {
        prefix: prefix.clone(),
        after: after.clone(),
        limit: bounded(limit),
    };
    Some(match asked {
        Asked::StateGet { scope, key } => (Memory::State(*scope), get(key)),
        Asked::StateDelete { scope, key } => (Memory::State(*scope), delete(key)),
        Asked::StorageGet { store, key } => (memory(*store), get(key)),
        Asked::StorageDelete { store, key } => (memory(*store), delete(key)),
        Asked::StateList {
            scope,
            prefix,
            after,
            limit,
        } => (Memory::State(*scope), list(prefix, after, *limit)),
        Asked::StorageList {
            store,
            prefix,
            after,
            limit,
        } => (memory(*store), list(prefix, after, *limit)),
        Asked::StateSet {
            scope,
            key,
            value,
            expected,
        } => {
            let (key, value, expected) = (key.clone(), value.clone(), *expected);
            let set = MemoryRequest::Set {
                key,
                value,
                expected,
            };
            (Memory::State(*scope), set)
        }
        Asked::StorageSet {
            store,
            key,
            value,
            expected,
        } => {
            let (key, value, expected) = (key.clone(), value.clone(), *expected);
            let set = MemoryRequest::Set {
                key,
                value,
                expected,
            };
            (memory(*store), set)
        }
        _ => return None,
    })
}

const fn memory(store: StoreName) -> Memory {
    match store {
        StoreName::Plugin => Memory::Plugin,
        StoreName::Workspace => Memory::Workspace,
    }
}

/// As much as is asked for, within bounds.
fn bounded(limit: Option<u32>) -> usize {
    limit.unwrap_or(USUAL).clamp(1, MOST) as usize
}

/// What is looked for in the past, if the callback is about it. `own` is the event that the run answers.
pub(super) fn past(asked: &Asked, own: Option<EventId>) -> Option<Result<PastRequest, Refusal>> {
    Some(match asked {
        Asked::HistoryPage { before, limit } => Ok(PastRequest::Page {
            before: *before,
            limit: bounded(*limit),
        }),
        Asked::HistorySearch { words, limit } => Ok(PastRequest::Search {
            words: words.clone(),
            limit: bounded(*limit),
        }),
        Asked::EventGet { event } => {
            let named = event.as_ref().map(|event| event.parse().ok());
            // An id that is none is not told from one of somebody else.
            let id = named.unwrap_or(own).ok_or_else(no_event);
            id.map(|id| PastRequest::Event { id })
        }
        _ => return None,
    })
}

fn no_event() -> Refusal {
    Refusal::new(RefusalCode::NotFound, "there is no such event here")
}

/// What a memory said.
pub(super) fn told(answer: MemoryAnswer) -> Answer {
    match answer {
        MemoryAnswer::Found(kept) => {
            let found = kept.is_some();
            let times = kept.as_ref().map(|it| (it.created_at, it.updated_at));
            let (value, version) = kept.map_or_else(Default::default, |it| (it.value, it.version));
            Answer::Found {
                found,
                value,
                version,
                created_at: times.map(|(created_at, _)| created_at.as_millis()),
                updated_at: times.map(|(_, updated_at)| updated_at.as_millis()),
            }
        }
        MemoryAnswer::Stored { version } => Answer::Stored { version },
        MemoryAnswer::Deleted(deleted) => Answer::Deleted { deleted },
        MemoryAnswer::Cleared(count) => Answer::Deleted { deleted: count > 0 },
        MemoryAnswer::Listed { kept, has_more } => {
            let item = |(key, kept): (String, Kept)| Item {
                key,
                value: kept.value,
                version: kept.version,
                created_at: kept.created_at.as_millis(),
                updated_at: kept.updated_at.as_millis(),
            };
            let items = kept.into_iter().map(item).collect();
            Answer::Listed { items, has_more }
        }
    }
}

/// What the past said.
pub(super) fn told_of(past: PastAnswer) -> Answer {
    match past {
        PastAnswer::Said { lines, has_more } => {
            let lines = lines.into_iter().map(|line| PastLine {
                seq: line.seq,
                at: line.at.as_millis(),
                said: Spoken::from(line.said),
            });
            Answer::Past {
                lines: lines.collect(),
                has_more,
            }
        }
        PastAnswer::Event(event) => Answer::Event {
            event: Box::new(order::happened(&event)),
        },
    }
}
