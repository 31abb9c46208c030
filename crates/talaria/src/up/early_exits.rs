//! A gateway that keeps falling over must not keep doing what makes it fall. Starts are noted in the data directory and
//! forgotten at a clean end; after several in a short time that were not, interrupted turns are told and not done again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_gateway::settings::ResumePolicy;

const FILE: &str = "starts.json";
/// So many starts in so short a time are a loop.
const STARTS: usize = 4;
const SPAN: Duration = Duration::from_mins(5);

/// The starts that did not end well.
pub(super) struct EarlyExits {
    path: PathBuf,
    starts: Vec<i64>,
}

impl EarlyExits {
    /// Notes a start.
    pub(super) fn note_start(home: &Path, now: Timestamp) -> Self {
        let path = home.join(FILE);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let before: Vec<i64> = serde_json::from_str(&text).unwrap_or_default();
        let starts = recent(&before, now);
        let exits = Self { path, starts };
        exits.write();
        exits
    }

    /// What becomes of interrupted turns.
    pub(super) fn policy(&self) -> ResumePolicy {
        policy(&self.starts)
    }

    /// Notes that this one ended as it should.
    pub(super) fn note_end(mut self) {
        self.starts.clear();
        self.write();
    }

    fn write(&self) {
        let text = serde_json::json!(self.starts).to_string();
        if let Err(error) = std::fs::write(&self.path, text) {
            tracing::warn!(%error, path = %self.path.display(), "starts cannot be noted");
        }
    }
}

/// Those that count, and this one.
fn recent(before: &[i64], now: Timestamp) -> Vec<i64> {
    let since = now.minus(SPAN).as_millis();
    let recent = before.iter().copied().filter(|start| *start >= since);
    recent.chain([now.as_millis()]).collect()
}

fn policy(starts: &[i64]) -> ResumePolicy {
    if starts.len() >= STARTS {
        ResumePolicy::Tell
    } else {
        ResumePolicy::Auto
    }
}

#[cfg(test)]
mod tests {
    //! Loops.

    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    #[test]
    fn several_early_exits_in_a_row_are_a_loop_and_a_clean_one_ends_it() {
        let home = tempfile::tempdir().unwrap();
        let policies: Vec<ResumePolicy> = (0..4)
            .map(|minute| EarlyExits::note_start(home.path(), at(minute)).policy())
            .collect();
        let auto = ResumePolicy::Auto;
        assert_eq!(policies, [auto, auto, auto, ResumePolicy::Tell]);
        EarlyExits::note_start(home.path(), at(4)).note_end();
        assert_eq!(EarlyExits::note_start(home.path(), at(4)).policy(), auto);
    }

    #[test]
    fn starts_long_ago_do_not_count() {
        let home = tempfile::tempdir().unwrap();
        for minute in [0, 10, 20, 30, 40] {
            let exits = EarlyExits::note_start(home.path(), at(minute));
            assert_eq!(exits.policy(), ResumePolicy::Auto);
        }
    }
}
