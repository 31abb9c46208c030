//! Whole worlds made from a seed: people who write, vendors that have moods, processes that end in the middle of what
//! they do, a clock that jumps; and a gateway that has to keep its promises in all of them.
//!
//! One seed is one run on one thread. A process is a runtime of its own whose time moves only when everybody waits; it
//! ends by being dropped with everything in it. The ledger, the vendors and what the runner did outlive it. After each
//! life, and at the end, the [`checks`] look at what the vendors saw and at what the ledger says.
//!
//! ```
//! use talaria_sim::universe::{self, Staging};
//!
//! let chronicle = universe::live(1, Staging::default())?;
//! assert_eq!(chronicle.violations, []);
//! # anyhow::Ok(())
//! ```

pub mod chance;
pub mod checks;

mod cast;
mod evidence;
mod facts;
mod faults;
mod life;
mod many;
mod plan;
mod world;

use std::fmt;
use std::ops::AddAssign;

pub use checks::{Invariant, Violation};
pub use many::Arguments;

use plan::Plan;
use world::World;

/// What is played, and with what.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Staging {
    /// What happens.
    pub plot: Plot,
    /// What is broken on purpose, to see that somebody notices.
    pub flaw: Flaw,
}

/// What happens.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Plot {
    /// One process at a time, and all that can go wrong.
    #[default]
    Storm,
    /// Two processes, of which one takes over from the other while it still works.
    Takeover,
}

/// What is broken on purpose.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    #[default]
    Sound,
    /// Adapters say "got it" before it is true.
    AcknowledgedFirst,
    /// What nobody can know is sent again.
    ResendUnknown,
    /// A stale owner's epoch counts again.
    Unfenced,
    /// Messages of one sender become part of another's turn.
    MixedSenders,
    /// Processes that were under way when the gateway ended are not taken up again.
    ForgottenJobs,
    /// Nobody asks whether a run may before it does something.
    Unchecked,
}

/// How much happened.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Universes.
    pub seeds: u64,
    /// Processes.
    pub lives: u64,
    /// Those that ended without being asked to.
    pub crashes: u64,
    /// What people wrote.
    pub messages: u64,
    /// Answers that are there.
    pub answers: u64,
    /// Jobs that ended.
    pub jobs: u64,
    /// Parts of which nobody knows whether they arrived.
    pub unknown: u64,
    /// Dead letters, those of unknown parts among them.
    pub dead: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.seeds += other.seeds;
        self.lives += other.lives;
        self.crashes += other.crashes;
        self.messages += other.messages;
        self.answers += other.answers;
        self.jobs += other.jobs;
        self.unknown += other.unknown;
        self.dead += other.dead;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seeds,
            lives,
            crashes,
            messages,
            answers,
            jobs,
            unknown,
            dead,
        } = self;
        write!(
            f,
            "{seeds} seeds, {lives} lives, {crashes} crashes, {messages} messages, {answers} answers, \
             {jobs} jobs, {unknown} unknown, {dead} dead"
        )
    }
}

/// What became of a universe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chronicle {
    /// Its seed.
    pub seed: u64,
    /// What happened, line by line.
    pub trace: String,
    /// How much.
    pub tally: Tally,
    /// Promises that were not kept.
    pub violations: Vec<Violation>,
}

/// Plays the universe of a seed to its end, or to the first broken promise.
pub fn live(seed: u64, staging: Staging) -> anyhow::Result<Chronicle> {
    let mut world = World::of(Plan::of(seed, staging))?;
    let violations = world.play()?;
    Ok(world.chronicle(violations))
}
