//! Gets what people sent, for the turn that answers it: what only the platform can fetch is fetched through the account
//! that it came by, and kept. What is there already, from an attempt before this one, is not fetched again; what cannot
//! be had is named with its reason, and nothing waits for it longer than [`WITHIN`].

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::join_all;
use talaria_domain::adapter::NotFetched;
use talaria_domain::event::{Attachment, Event, EventKind, Kept};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

use super::{Files, disk, name};
use crate::shared::Shared;

/// The largest file that is fetched.
const MOST_BYTES: u64 = 20 << 20;
/// So many are fetched at once.
const AT_ONCE: usize = 8;
/// All of them together may take this long.
const WITHIN: Duration = Duration::from_secs(30);
/// A platform's reason is not quoted at greater length.
const MOST_OF_A_REASON: usize = 200;

/// Whether there is anything that might have to be fetched.
pub(crate) fn has_files(events: &[Event]) -> bool {
    events.iter().any(|event| !attachments(event).is_empty())
}

/// The same events, with what became of their files; none if there is nothing to fetch. Only those that `may` be read
/// are looked at.
pub(crate) async fn fetch(
    shared: &Shared,
    events: &[Event],
    may: impl Fn(&Attachment) -> bool,
) -> Option<Vec<Event>> {
    let files = shared.settings.files.as_ref()?;
    let wanted = events.iter().enumerate().flat_map(|(at, event)| {
        let attachments = attachments(event).iter().enumerate();
        attachments.map(move |(number, attachment)| (at, number, event, attachment))
    });
    let wanted: Vec<_> = wanted
        .filter(|(.., attachment)| is_kept_by_its_platform(attachment) && may(attachment))
        .collect();
    if wanted.is_empty() {
        return None;
    }
    let (seats, deadline) = (Semaphore::new(AT_ONCE), Instant::now() + WITHIN);
    let fetching = wanted.into_iter().map(|(at, number, event, attachment)| {
        let one = Wanted {
            shared,
            event,
            attachment,
            path: path_of(files, event, number, attachment),
        };
        let seats = &seats;
        async move {
            let fetched = timeout_at(deadline, one.get(seats)).await;
            let late = || Err("it took too long".to_owned());
            (at, number, fetched.unwrap_or_else(|_| late()))
        }
    });
    let fetched = join_all(fetching).await;
    let mut events = events.to_vec();
    for (at, number, outcome) in fetched {
        let attachment = events.get_mut(at).map(attachments_mut);
        if let Some(attachment) = attachment.and_then(|all| all.get_mut(number)) {
            attachment.kept = Some(outcome.map_or_else(Kept::Missing, Kept::At));
        }
    }
    Some(events)
}

/// Whether a file is somewhere that only its platform's adapter can get it from.
fn is_kept_by_its_platform(attachment: &Attachment) -> bool {
    let mut starts = ["data:", "https:"].iter();
    !starts.any(|start| attachment.locator.starts_with(start))
}

fn path_of(files: &Files, event: &Event, number: usize, attachment: &Attachment) -> PathBuf {
    let folder = files.incoming().join(event.id.to_string());
    folder.join(format!("{number}-{}", name::of(attachment)))
}

const fn attachments(event: &Event) -> &[Attachment] {
    match &event.kind {
        EventKind::Message(content) | EventKind::Edited(content) => content.attachments.as_slice(),
        _ => &[],
    }
}

const fn attachments_mut(event: &mut Event) -> &mut [Attachment] {
    match &mut event.kind {
        EventKind::Message(content) | EventKind::Edited(content) => {
            content.attachments.as_mut_slice()
        }
        _ => &mut [],
    }
}

/// A file that is wanted, and where it belongs.
struct Wanted<'a> {
    shared: &'a Shared,
    event: &'a Event,
    attachment: &'a Attachment,
    path: PathBuf,
}

impl Wanted<'_> {
    async fn get(&self, seats: &Semaphore) -> Result<PathBuf, String> {
        let path = self.path.clone();
        let is_there = disk::apart(move || Ok(disk::is_file(&path))).await;
        if is_there.unwrap_or(false) {
            return Ok(self.path.clone());
        }
        let Ok(_seat) = seats.acquire().await else {
            return Err("nobody fetches any more".to_owned());
        };
        let bytes = self.ask().await?;
        let path = self.path.clone();
        let kept = disk::apart(move || disk::write(&path, &mut bytes.as_slice())).await;
        match kept {
            Ok(_) => Ok(self.path.clone()),
            Err(error) => {
                tracing::warn!(event = %self.event.id, %error, "a file that was sent could not be kept");
                Err(format!("it could not be kept: {error}"))
            }
        }
    }

    /// Gets it from its platform. An adapter that breaks has not got it.
    async fn ask(&self) -> Result<Vec<u8>, String> {
        let declared = self.attachment.size_bytes.unwrap_or(0);
        if declared > MOST_BYTES {
            return Err(too_large());
        }
        let account = self.shared.settings.account(&self.event.address);
        let media = account.and_then(|account| account.adapter.abilities().media);
        let Some(media) = media else {
            return Err("this account cannot fetch files".to_owned());
        };
        let fetching = AssertUnwindSafe(media.fetch(self.attachment, MOST_BYTES)).catch_unwind();
        match fetching.await {
            Ok(Ok(bytes)) if bytes.len() as u64 > MOST_BYTES => Err(too_large()),
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(NotFetched { reason })) => Err(in_one_line(&reason)),
            Err(_) => Err("the adapter broke while it was fetching".to_owned()),
        }
    }
}

fn too_large() -> String {
    format!("too large: at most {} MB are fetched", MOST_BYTES >> 20)
}

fn in_one_line(reason: &str) -> String {
    let words: Vec<&str> = reason.split_whitespace().collect();
    words.join(" ").chars().take(MOST_OF_A_REASON).collect()
}
