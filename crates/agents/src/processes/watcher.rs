//! Reads what a process prints and brings what its patterns find to the book of jobs. How far it is stands in a file
//! beside the output, written after the book has taken a notice, so that a gateway that comes later goes on from there.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use talaria_domain::adapter::Pending;
use talaria_domain::ids::JobId;
use talaria_domain::job::Jobs;

use super::insist::insist;
use super::output::read_on;
use super::process::output_in;
use super::watch::{Notice, Watch};

/// How far the output was read, and what was told of it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    offset: u64,
    /// The number of the last notice.
    token: u64,
    /// Whether the end is told instead of more notices.
    is_promoted: bool,
}

/// Looks after the patterns of one process.
pub(super) struct Watcher {
    watch: Watch,
    place: Place,
    directory: PathBuf,
}

impl Watcher {
    /// Goes on where an earlier one was, or begins.
    pub(super) fn open(patterns: Vec<String>, directory: &Path) -> Self {
        let read = std::fs::read(place_in(directory)).ok();
        let place: Place = read
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default();
        let mut watch = Watch::of(patterns);
        if place.is_promoted {
            watch.disable();
        }
        Self {
            watch,
            place,
            directory: directory.to_owned(),
        }
    }

    /// Whether the end is to be told because there was too much before.
    pub(super) const fn is_promoted(&self) -> bool {
        self.place.is_promoted
    }

    /// What there is to tell of what was printed since.
    pub(super) async fn look(&mut self, now: Duration) -> Option<Notice> {
        let watch = &mut self.watch;
        let output = output_in(&self.directory);
        let read = read_on(&output, self.place.offset, |bytes| watch.take(bytes)).await;
        self.place.offset = read.unwrap_or(self.place.offset);
        let notice = self.watch.notice(now);
        self.place.is_promoted |= matches!(notice, Some(Notice::Disabled { .. }));
        notice
    }

    /// A notice could not be told: the next one says how much that was.
    pub(super) fn take_back(&mut self, notice: &Notice) {
        self.watch.take_back(notice);
    }

    /// Brings the next notice to the book, however long that takes.
    pub(super) fn report(
        &mut self,
        jobs: &Arc<dyn Jobs>,
        job: JobId,
        text: String,
    ) -> Pending<'static, ()> {
        self.place.token += 1;
        let (jobs, place) = (Arc::clone(jobs), self.place);
        let path = place_in(&self.directory);
        Box::pin(async move {
            insist("report", || jobs.report(job, place.token, text.clone())).await;
            // The same notice again has the same number, and the book takes it once.
            let text = serde_json::to_vec(&place).unwrap_or_default();
            let part = path.with_extension("part");
            let written = match tokio::fs::write(&part, text).await {
                Ok(()) => tokio::fs::rename(&part, &path).await,
                Err(error) => Err(error),
            };
            if let Err(error) = written {
                tracing::warn!(%job, %error, "how far an output was watched could not be written down");
            }
        })
    }
}

fn place_in(directory: &Path) -> PathBuf {
    directory.join("watched")
}
