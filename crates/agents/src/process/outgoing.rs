//! What waits for a process to read it. Bounded in bytes: whoever has more to say waits for room, and a process that
//! does not read at all is noticed by whoever writes. Lines that are ready together are written together.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time;

/// What a line takes beside its bytes.
const ENVELOPE: usize = 64;
/// So much is written at once.
const BATCH: usize = 64 * 1024;

/// Where lines for a process are left.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    lines: mpsc::Sender<Waiting>,
    room: Arc<Semaphore>,
    most: usize,
}

/// Where they are taken from.
#[derive(Debug)]
pub(super) struct Lines(mpsc::Receiver<Waiting>);

#[derive(Debug)]
struct Waiting {
    line: Vec<u8>,
    /// Room that is free again when it was written.
    _room: OwnedSemaphorePermit,
}

/// The process does not hear anything any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Closed;

/// Why writing ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unwritten {
    /// The process does not read.
    Unread,
    /// The process closed its input.
    Refused,
}

/// A queue of at most so many bytes.
pub(super) fn queue(most: usize) -> (Outgoing, Lines) {
    let most = most.clamp(ENVELOPE, Semaphore::MAX_PERMITS.min(u32::MAX as usize));
    // Every line takes at least its envelope, so that the channel itself is never what is full.
    let (lines, taken) = mpsc::channel(most / ENVELOPE + 1);
    let room = Arc::new(Semaphore::new(most));
    (Outgoing { lines, room, most }, Lines(taken))
}

impl Outgoing {
    /// Leaves a line, as soon as there is room.
    pub(super) async fn send(&self, line: Vec<u8>) -> Result<(), Closed> {
        let room = Arc::clone(&self.room);
        let room = room.acquire_many_owned(self.cost(&line)).await;
        let room = room.map_err(|_| Closed)?;
        let waiting = Waiting { line, _room: room };
        self.lines.send(waiting).await.map_err(|_| Closed)
    }

    /// Leaves a line if there is room.
    pub(super) fn try_send(&self, line: Vec<u8>) {
        let room = Arc::clone(&self.room);
        if let Ok(room) = room.try_acquire_many_owned(self.cost(&line)) {
            let waiting = Waiting { line, _room: room };
            // A process that is gone has no use for it.
            let _ = self.lines.try_send(waiting);
        }
    }

    /// Nobody waits for room any more: the process is gone.
    pub(super) fn close(&self) {
        self.room.close();
    }

    fn cost(&self, line: &[u8]) -> u32 {
        let cost = (line.len() + ENVELOPE).min(self.most);
        u32::try_from(cost).unwrap_or(u32::MAX)
    }
}

impl Lines {
    /// Writes what comes, until the process does not take it.
    pub(super) async fn write(
        &mut self,
        input: &mut (impl AsyncWrite + Unpin),
        patience: Duration,
    ) -> Unwritten {
        let mut batch = Vec::new();
        loop {
            let mut held = Vec::new();
            let Some(first) = self.0.recv().await else {
                return Unwritten::Refused;
            };
            batch.clear();
            batch.extend_from_slice(&first.line);
            held.push(first);
            while batch.len() < BATCH
                && let Ok(next) = self.0.try_recv()
            {
                batch.extend_from_slice(&next.line);
                held.push(next);
            }
            if let Err(why) = put(input, &batch, patience).await {
                return why;
            }
            batch.shrink_to(BATCH * 2);
        }
    }
}

/// Writes all of it. A process that takes a piece now and then is slow, one that takes nothing does not read.
pub(super) async fn put(
    input: &mut (impl AsyncWrite + Unpin),
    mut bytes: &[u8],
    patience: Duration,
) -> Result<(), Unwritten> {
    while !bytes.is_empty() {
        let written = time::timeout(patience, input.write(bytes)).await;
        match written.map_err(|_| Unwritten::Unread)? {
            Ok(0) | Err(_) => return Err(Unwritten::Refused),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
        }
    }
    Ok(())
}
