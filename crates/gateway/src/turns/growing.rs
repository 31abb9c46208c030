//! What people see of an answer while it grows, and when: what is going on, until there are words; the newest state
//! wins, and no more of them are shown in a time than the platform allows.
//!
//! Pure: what a run yields in, what is to be shown out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::run::RunEvent;

use super::doing;

/// What is known so far, and what of it people see.
#[derive(Debug, Default)]
pub(super) struct Growing {
    /// The answer so far.
    text: String,
    /// What is going on.
    doing: Option<String>,
    shown_at: Option<Timestamp>,
    /// Whether people see something older.
    is_behind: bool,
}

/// Something to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Show {
    /// The answer so far, which may be none.
    pub(super) answer: String,
    /// What people see.
    pub(super) visible: String,
}

impl Growing {
    /// Hears what the run yields. What is going on is only shown if `progress` says so.
    pub(super) fn hear(&mut self, event: &RunEvent, progress: bool) {
        match event {
            RunEvent::MessageDelta { text } => self.text.push_str(text),
            RunEvent::ToolStarted {
                tool, arguments, ..
            } => {
                self.text.clear();
                self.doing = progress.then(|| doing::line(tool, arguments));
            }
            _ => return,
        }
        self.is_behind = self.visible().is_some();
    }

    /// When something has to be shown, if it has to be.
    pub(super) fn due_at(&self, pace: Duration) -> Option<Timestamp> {
        let free_at = self.shown_at.map_or(Timestamp::ZERO, |at| at.plus(pace));
        self.is_behind.then_some(free_at)
    }

    /// What has to be shown now, if anything; from then on people see it.
    pub(super) fn take(&mut self, now: Timestamp, pace: Duration) -> Option<Show> {
        self.due_at(pace).filter(|due| *due <= now)?;
        let visible = self.visible()?.to_owned();
        self.shown_at = Some(now);
        self.is_behind = false;
        Some(Show {
            answer: self.text.clone(),
            visible,
        })
    }

    fn visible(&self) -> Option<&str> {
        if self.text.trim().is_empty() {
            return self.doing.as_deref();
        }
        Some(&self.text)
    }
}
