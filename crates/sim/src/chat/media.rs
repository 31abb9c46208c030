//! Files on the simulated platform: what people sent is there under its locator, what we sent is there with the bytes
//! that the adapter read.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::adapter::{Media as Carries, NotFetched, Outgoing, Pending};
use talaria_domain::delivery::PartBody;
use talaria_domain::event::{Attachment, AttachmentKind};

use super::{Mood, SimAdapter};

/// A file as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// What kind of thing it is.
    pub kind: AttachmentKind,
    /// Its name.
    pub name: String,
    /// What is in it; none if the adapter was not told where it is.
    pub bytes: Option<Vec<u8>>,
}

/// The files of a vendor.
#[derive(Default)]
pub struct Media {
    is_carried: AtomicBool,
    most_bytes: AtomicU64,
    stored: Mutex<BTreeMap<String, Vec<u8>>>,
    asked: Mutex<Vec<String>>,
    is_mute: AtomicBool,
}

impl Media {
    /// Files of at most so many bytes are carried from now on.
    pub fn carry(&self, most_bytes: u64) {
        self.most_bytes.store(most_bytes, Ordering::Relaxed);
        self.is_carried.store(true, Ordering::Relaxed);
    }

    /// Somebody uploads a file; it can be fetched by this locator.
    pub fn store(&self, locator: &str, bytes: &[u8]) {
        lock(&self.stored).insert(locator.to_owned(), bytes.to_vec());
    }

    /// The locators that were asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        lock(&self.asked).clone()
    }

    /// The next file is shown, and nothing is said about it.
    pub fn fall_mute(&self) {
        self.is_mute.store(true, Ordering::Relaxed);
    }

    pub(super) fn keeps_quiet_about(&self, outgoing: &Outgoing) -> bool {
        let is_file = matches!(outgoing.part.body, PartBody::File { .. });
        is_file && self.is_mute.swap(false, Ordering::Relaxed)
    }

    pub(super) fn is_carried(&self) -> bool {
        self.is_carried.load(Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is sent, if it is a file.
pub(super) fn sent(outgoing: &Outgoing) -> Option<Sent> {
    let PartBody::File { attachment, .. } = &outgoing.part.body else {
        return None;
    };
    let read = |path| std::fs::read(path).ok();
    Some(Sent {
        kind: attachment.kind,
        name: attachment.file_name.clone().unwrap_or_default(),
        bytes: outgoing.file.as_ref().and_then(read),
    })
}

impl Carries for SimAdapter {
    fn most_bytes(&self) -> u64 {
        self.vendor.media.most_bytes.load(Ordering::Relaxed)
    }

    fn fetch<'a>(
        &'a self,
        attachment: &'a Attachment,
        most: u64,
    ) -> Pending<'a, Result<Vec<u8>, NotFetched>> {
        Box::pin(async move {
            let media = &self.vendor.media;
            lock(&media.asked).push(attachment.locator.clone());
            match self.vendor.moods.next() {
                Mood::Hung | Mood::Deaf => std::future::pending().await,
                Mood::Slow(time) => tokio::time::sleep(time).await,
                // As a panic is, without the noise of one that nobody expected.
                Mood::Refusing => std::panic::resume_unwind(Box::new("the adapter breaks")),
                _ => {}
            }
            let found = lock(&media.stored).get(&attachment.locator).cloned();
            let gone = "the platform\nhas it no longer";
            let found = found.ok_or_else(|| gone.to_owned());
            let fits = |bytes: &Vec<u8>| bytes.len() as u64 <= most;
            let fitting = found.and_then(|bytes| {
                let is_fit = fits(&bytes);
                is_fit
                    .then_some(bytes)
                    .ok_or_else(|| "too large".to_owned())
            });
            fitting.map_err(|reason| NotFetched { reason })
        })
    }
}
