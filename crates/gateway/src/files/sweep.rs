//! Removes files that are old: those of events and parts that have ended, and those that nobody recorded. Ids tell when
//! they were made, so that this goes by the gateway's clock and not by the disk's.

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{EventId, PartId};
use talaria_domain::machine::{InboxState, Machine as _};
use talaria_store::{Result, StoreError, Tx, inbox, outbox};

use super::disk;
use crate::shared::Shared;

/// How long a file is kept.
const KEPT: Duration = Duration::from_hours(7 * 24);
/// So many events may have become part of one another.
const MOST_MERGES: usize = 100;

/// Something on disk that belongs to a thing in the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Belonging {
    path: PathBuf,
    owner: Owner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Event(EventId),
    Part(PartId),
}

impl Owner {
    /// When it was made: ids begin with the milliseconds of their time.
    fn made_at(self) -> Timestamp {
        let bytes = match self {
            Self::Event(event) => *event.as_bytes(),
            Self::Part(part) => *part.as_bytes(),
        };
        let millis = bytes.iter().take(6);
        Timestamp::from_millis(millis.fold(0, |all, byte| (all << 8) | i64::from(*byte)))
    }
}

/// Removes what is old and whose thing has ended.
pub(crate) async fn sweep(shared: &Shared) {
    let Some(files) = &shared.settings.files else {
        return;
    };
    let (incoming, outgoing, now) = (files.incoming(), files.outgoing(), shared.now());
    let listed = disk::apart(move || {
        let events = listed(&incoming, event_of);
        let parts = listed(&outgoing, part_of);
        Ok(events.into_iter().chain(parts).collect::<Vec<_>>())
    });
    let listed: Vec<Belonging> = listed.await.unwrap_or_default();
    let old = |it: &Belonging| now.since(it.owner.made_at()) > KEPT;
    let mut removed = 0_usize;
    for it in listed.into_iter().filter(old) {
        if shared.stop.is_cancelled() {
            break;
        }
        let owner = it.owner;
        let is_open = shared.ledger.read(move |tx| is_open(tx, owner)).await;
        // A ledger that does not answer has something to say about it later.
        if is_open.unwrap_or(true) {
            continue;
        }
        match disk::apart(move || remove(&it.path)).await {
            Ok(()) => removed += 1,
            Err(error) => tracing::warn!(%error, "an old file could not be removed"),
        }
    }
    if removed > 0 {
        tracing::info!(files = removed, "files that are old were removed");
    }
}

/// What is in a folder and belongs to something. What nobody here has made is left alone.
fn listed(folder: &Path, owner: fn(&str) -> Option<Owner>) -> Vec<Belonging> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let belonging = |entry: std::fs::DirEntry| {
        let owner = owner(entry.file_name().to_str()?)?;
        let path = entry.path();
        Some(Belonging { path, owner })
    };
    entries.filter_map(belonging).collect()
}

/// `<event id>`.
fn event_of(name: &str) -> Option<Owner> {
    name.parse().ok().map(Owner::Event)
}

/// `<part id>-<name>`, or the same with a dot in front while it was being written.
fn part_of(name: &str) -> Option<Owner> {
    let name = name.strip_prefix('.').unwrap_or(name);
    let id = name.get(..36)?;
    id.parse().ok().map(Owner::Part)
}

fn remove(path: &Path) -> std::io::Result<()> {
    if std::fs::symlink_metadata(path)?.is_dir() {
        return std::fs::remove_dir_all(path);
    }
    std::fs::remove_file(path)
}

/// Whether something may still happen to it by itself. What was pruned has ended.
fn is_open(tx: &mut Tx<'_>, owner: Owner) -> Result<bool> {
    let open = match owner {
        Owner::Event(event) => is_event_open(tx, event),
        Owner::Part(part) => outbox::get_part(tx, part).map(|it| !it.state.is_end()),
    };
    match open {
        Err(StoreError::NotFound { .. }) => Ok(false),
        open => open,
    }
}

/// An event that became part of another one is as open as that is.
fn is_event_open(tx: &mut Tx<'_>, event: EventId) -> Result<bool> {
    let mut row = inbox::get(tx, event)?;
    for _ in 0..MOST_MERGES {
        match row.merged_into.filter(|_| row.state == InboxState::Merged) {
            Some(other) => row = inbox::get(tx, other)?,
            None => break,
        }
    }
    Ok(!row.state.is_end())
}
