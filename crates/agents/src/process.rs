//! The process runner: agents in any language, as child processes that speak JSON-RPC lines on their standard input and
//! output. `docs/runner-protocol.md` is for whoever writes one.
//!
//! **Invariant:** a runner is not trusted. What it says counts for runs of its own connection and no others, every one
//! of its callbacks is checked against its run's authority when it happens, and whatever it does (hang, flood, lie, send
//! garbage, die) ends its own runs truthfully, within bounded memory, and nobody else's.

mod admit;
mod callbacks;
mod child;
mod frame;
mod inbox;
mod memory;
mod methods;
mod order;
mod outgoing;
mod rate;
mod restart;
mod runner;
mod running;
mod seat;
mod serve;
mod tally;
mod wire;

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use talaria_domain::names::RunnerId;

pub use self::runner::ProcessRunner;
use crate::models::Model;
use crate::tools::Tool;

/// One runner outside, as the operator wrote it down.
#[derive(Clone)]
pub struct ProcessRunnerSettings {
    /// What it is called. Its connection stands for this name, whatever it says itself.
    pub id: RunnerId,
    /// The program.
    pub command: PathBuf,
    /// What the program is given.
    pub arguments: Vec<String>,
    /// Where it works.
    pub cwd: Option<PathBuf>,
    /// What it gets beside the environment that every child gets.
    pub variables: Vec<(String, String)>,
    /// How much, how long, how often.
    pub limits: Limits,
}

impl ProcessRunnerSettings {
    /// A program without arguments.
    pub fn of(id: impl Into<RunnerId>, command: impl Into<PathBuf>) -> Self {
        Self {
            id: id.into(),
            command: command.into(),
            arguments: Vec::new(),
            cwd: None,
            variables: Vec::new(),
            limits: Limits::default(),
        }
    }
}

impl fmt::Debug for ProcessRunnerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments and variables may be secret.
        f.debug_struct("ProcessRunnerSettings")
            .field("id", &self.id)
            .field("command", &self.command)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// How much, how long, how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one line.
    pub frame_bytes: usize,
    /// Callbacks of one run that are under way.
    pub in_flight: usize,
    /// The bytes of those.
    pub in_flight_bytes: usize,
    /// Callbacks of one run in a second.
    pub per_second: u32,
    /// Reports of one run that wait to be journalled, deltas put together.
    pub reports: usize,
    /// The bytes of those.
    pub report_bytes: usize,
    /// Bytes that wait for a process to read them.
    pub outgoing_bytes: usize,
    /// How long a process may leave what it is sent unread.
    pub unread: Duration,
    /// How long it may take to introduce itself.
    pub start: Duration,
    /// How long a run that was cancelled may take to end, and a process that was shut down.
    pub grace: Duration,
    /// How long a run waits for a process that may not be started yet.
    pub pause: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame_bytes: 4 << 20,
            in_flight: 1024,
            in_flight_bytes: 16 << 20,
            per_second: 100_000,
            reports: 4096,
            report_bytes: 16 << 20,
            outgoing_bytes: 16 << 20,
            unread: Duration::from_secs(30),
            start: Duration::from_secs(20),
            // Less than the gateway gives a stopped run.
            grace: Duration::from_millis(1_500),
            pause: Duration::from_secs(5),
        }
    }
}

/// What the host has for its runners. What of it a run may use is in its authority.
#[derive(Clone, Default)]
pub struct Resources {
    /// The models.
    pub models: Vec<ModelOffer>,
    /// The tools.
    pub tools: Vec<ToolOffer>,
    /// Those of them that need a person's yes before each call.
    pub approve: BTreeSet<String>,
}

/// A model, and what is behind its name.
#[derive(Clone)]
pub struct ModelOffer {
    /// Its name, as authorities name it.
    pub name: String,
    /// What authorities pin the name to.
    pub implementation: String,
    /// It.
    pub model: Arc<dyn Model>,
}

/// A tool, and what is behind its name.
#[derive(Clone)]
pub struct ToolOffer {
    /// What authorities pin the name to.
    pub implementation: String,
    /// It.
    pub tool: Arc<dyn Tool>,
}
