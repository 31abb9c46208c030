//! Tells when an output file grows. One inotify descriptor for all; a watch is for one event and is set again after
//! somebody has looked, so that a process that prints without an end costs no more than one that prints now and then.

use std::collections::HashMap;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::ready::readable;

/// All output files that are watched.
pub(super) struct Growth {
    tasks: TaskTracker,
    stop: CancellationToken,
    watched: Arc<Mutex<Watched>>,
}

#[derive(Default)]
struct Watched {
    /// Made when it is first needed; what could not be made is tried again.
    source: Option<Arc<AsyncFd<OwnedFd>>>,
    waiting: HashMap<i32, Arc<Notify>>,
}

/// One output file.
pub(super) struct Growing {
    path: PathBuf,
    source: Arc<AsyncFd<OwnedFd>>,
    watched: Arc<Mutex<Watched>>,
    number: Option<i32>,
    grown: Arc<Notify>,
}

impl Growth {
    pub(super) fn new(tasks: TaskTracker, stop: CancellationToken) -> Self {
        Self {
            tasks,
            stop,
            watched: Arc::default(),
        }
    }

    /// A file to be watched; [`Growing::arm`] starts it.
    pub(super) fn of(&self, path: &Path) -> io::Result<Growing> {
        Ok(Growing {
            path: path.to_owned(),
            source: self.source()?,
            watched: Arc::clone(&self.watched),
            number: None,
            grown: Arc::default(),
        })
    }

    fn source(&self) -> io::Result<Arc<AsyncFd<OwnedFd>>> {
        let mut watched = lock(&self.watched);
        if let Some(source) = &watched.source {
            return Ok(Arc::clone(source));
        }
        let descriptor = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
        let source = Arc::new(readable(descriptor)?);
        watched.source = Some(Arc::clone(&source));
        let (stop, reading) = (self.stop.clone(), Arc::clone(&source));
        let watched = Arc::clone(&self.watched);
        self.tasks.spawn(async move {
            stop.run_until_cancelled(read(&reading, &watched)).await;
        });
        Ok(source)
    }
}

impl Growing {
    /// Waits for the next change from here on. Set before one looks, so that nothing falls between.
    pub(super) fn arm(&mut self) -> io::Result<()> {
        let mut watched = lock(&self.watched);
        let flags = WatchFlags::MODIFY | WatchFlags::ONESHOT;
        let number = inotify::add_watch(&*self.source, &self.path, flags)?;
        if let Some(before) = self
            .number
            .replace(number)
            .filter(|before| *before != number)
        {
            watched.waiting.remove(&before);
        }
        watched.waiting.insert(number, Arc::clone(&self.grown));
        Ok(())
    }

    /// Ends when it has grown since it was armed.
    pub(super) async fn grown(&self) {
        self.grown.notified().await;
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut watched = lock(&self.watched);
        if watched.waiting.remove(&number).is_some() {
            // The file may be gone, and its watch with it.
            let _ = inotify::remove_watch(&*self.source, number);
        }
    }
}

/// Hands events to whoever waits for them.
async fn read(source: &AsyncFd<OwnedFd>, watched: &Mutex<Watched>) {
    let mut buffer = [MaybeUninit::uninit(); 4096];
    while let Ok(mut ready) = source.readable().await {
        let mut events = Reader::new(source.get_ref(), &mut buffer);
        while let Ok(event) = events.next() {
            let mut watched = lock(watched);
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                watched.waiting.values().for_each(|it| it.notify_one());
            } else if let Some(grown) = watched.waiting.remove(&event.wd()) {
                grown.notify_one();
            }
        }
        ready.clear_ready();
    }
}

/// A poisoned lock means that somebody panicked between two entries: what is there is still good.
fn lock(watched: &Mutex<Watched>) -> MutexGuard<'_, Watched> {
    watched.lock().unwrap_or_else(PoisonError::into_inner)
}
