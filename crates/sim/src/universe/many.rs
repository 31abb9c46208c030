//! Many universes at once, one per thread at a time; each is as deterministic as if it were alone. What is said of a
//! broken promise is enough to see it again.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Result, bail};

use super::{Chronicle, Staging, Tally, live};

/// A line is written after so many.
const STRETCH: u64 = 500;
/// So many broken universes are enough to see.
const ENOUGH: u64 = 5;

/// Which universes are played.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Arguments {
    /// How many.
    #[arg(long, default_value_t = 2_000)]
    seeds: u64,
    /// The first of them.
    #[arg(long, default_value_t = 1)]
    from: u64,
}

/// What came of them so far.
struct Progress<W> {
    tally: Tally,
    broken: u64,
    out: W,
}

impl Arguments {
    /// Plays them all and says what came of it. A broken promise is an error.
    pub fn play(self, out: impl Write + Send) -> Result<()> {
        let next = AtomicU64::new(self.from);
        let progress = Mutex::new(Progress {
            tally: Tally::default(),
            broken: 0,
            out,
        });
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let ended = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| scope.spawn(|| self.work(&next, &progress)))
                .collect();
            let ends = workers.into_iter().map(thread::ScopedJoinHandle::join);
            ends.collect::<Vec<_>>()
        });
        for end in ended {
            match end {
                Ok(end) => end?,
                Err(_) => bail!("a thread that plays universes panicked"),
            }
        }
        let progress = progress
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let Progress {
            tally,
            broken,
            mut out,
        } = progress;
        writeln!(out, "in all: {tally}")?;
        match broken {
            0 => Ok(()),
            broken => bail!(
                "{broken} of {} universes have a broken promise",
                tally.seeds
            ),
        }
    }

    fn work(&self, next: &AtomicU64, progress: &Mutex<Progress<impl Write>>) -> Result<()> {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= self.from.saturating_add(self.seeds) {
                return Ok(());
            }
            let lived = catch_unwind(AssertUnwindSafe(|| live(seed, Staging::default())));
            let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(chronicle) = lived {
                progress.add(&chronicle?)?;
            } else {
                progress.broken += 1;
                progress.tell(seed, "it panicked", "")?;
            }
            if progress.broken >= ENOUGH {
                return Ok(());
            }
        }
    }
}

impl<W: Write> Progress<W> {
    fn add(&mut self, chronicle: &Chronicle) -> Result<()> {
        self.tally += chronicle.tally;
        if self.tally.seeds.is_multiple_of(STRETCH) {
            writeln!(self.out, "{}", self.tally)?;
        }
        let Some(first) = chronicle.violations.first() else {
            return Ok(());
        };
        self.broken += 1;
        // One trace is enough to read; the others are there to be asked for.
        let trace = if self.broken == 1 {
            &chronicle.trace
        } else {
            ""
        };
        self.tell(chronicle.seed, &first.to_string(), trace)
    }

    fn tell(&mut self, seed: u64, what: &str, trace: &str) -> Result<()> {
        if !trace.is_empty() {
            writeln!(self.out, "{trace}")?;
        }
        writeln!(self.out, "seed {seed} failed: {what}")?;
        writeln!(
            self.out,
            "replay it with `cargo xtask sim --seeds 1 --from {seed}`"
        )?;
        Ok(())
    }
}
