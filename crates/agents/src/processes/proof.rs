//! Decides what becomes of a process job after a restart: whether what runs is what was started, or how it ended, or
//! why nobody can know.
//!
//! Pure: what the ledger says and what was found in, a verdict out.

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use talaria_domain::machine::JobState;

/// How a process is found again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Handle {
    /// Its number.
    pub(super) pid: u32,
    /// When it was started, in the kernel's own measure.
    pub(super) start: u64,
    /// The start of the machine that both belong to.
    pub(super) boot: String,
    /// Where its output and its exit code are.
    pub(super) directory: PathBuf,
}

/// What was found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The exit code that it left.
    pub(super) exit: Option<i32>,
    /// The start time of the process that has its number.
    pub(super) start: Option<u64>,
    /// The start of the machine.
    pub(super) boot: String,
    /// Whether its output is there.
    pub(super) has_output: bool,
    /// Whether it was in a terminal, which ended with the gateway.
    pub(super) is_pty: bool,
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It runs, and is looked after again.
    Runs,
    /// It ended with this code.
    Ended(i32),
    /// It is lost, and why.
    Lost(&'static str),
    /// It runs, but nobody can look after it: it is ended, and lost.
    End(&'static str),
}

/// Decides.
pub(super) fn decide(state: JobState, handle: Option<&Handle>, found: &Found) -> Verdict {
    let Some(handle) = handle.filter(|_| state == JobState::Running) else {
        return Verdict::Lost("it was not started when the gateway stopped");
    };
    if let Some(code) = found.exit {
        return Verdict::Ended(code);
    }
    if handle.boot != found.boot {
        return Verdict::Lost("the machine was restarted");
    }
    if found.start != Some(handle.start) {
        return Verdict::Lost("it was gone after the gateway had stopped, and left no exit code");
    }
    if !found.has_output {
        return Verdict::End("its output file is gone, so that it was ended");
    }
    if found.is_pty {
        return Verdict::End("it was in a terminal that ended with the gateway");
    }
    Verdict::Runs
}
