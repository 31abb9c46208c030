//! `cargo xtask test`: a table of steps, run in order until one fails.
//!
//! Each step says how to repeat it alone. The last line printed is `N passed, N failed` over all
//! test binaries, in a failed run too once tests ran.

mod tally;

#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::builder::PossibleValuesParser;

use self::tally::Tally;
use crate::postgres::{Durable, Postgres};
use crate::stopwatch::Stopwatch;
use crate::{command, debian, output, page, real_model, schemathesis, sdk, sim, tidy, vendors};

const REPEAT_TESTS: &str = "cargo xtask test --only tests";

const STEPS: &[Step] = &[
    Step {
        name: "format",
        repeat: "cargo fmt --all --check",
        act: Act::Repeat,
    },
    Step {
        name: "tidy",
        repeat: "cargo xtask tidy",
        act: Act::Call(|_| check_tidy()),
    },
    Step {
        name: "clippy",
        repeat: "cargo clippy --workspace --all-targets --locked -- -D warnings",
        act: Act::Repeat,
    },
    Step {
        name: "postgres",
        repeat: "cargo xtask test --only postgres",
        act: Act::Call(Run::start_postgres),
    },
    Step {
        name: "tests",
        repeat: REPEAT_TESTS,
        act: Act::Call(Run::test),
    },
    Step {
        name: "sim",
        repeat: "cargo xtask sim",
        act: Act::Call(|_| sim::check()),
    },
    Step {
        name: "crash",
        repeat: "cargo xtask crash --rounds 10",
        act: Act::Repeat,
    },
    Step {
        name: "certify",
        repeat: "cargo run -p talaria-sim -- certify",
        act: Act::Repeat,
    },
    Step {
        name: "vendors",
        repeat: "cargo xtask test --only vendors",
        act: Act::Call(|_| vendors::check()),
    },
    Step {
        name: "page",
        repeat: "cargo xtask test --only page",
        act: Act::Call(|_| page::check()),
    },
    Step {
        name: "sdk",
        repeat: "cargo xtask test --only sdk",
        act: Act::Call(|_| sdk::check()),
    },
    Step {
        name: "schemathesis",
        repeat: "cargo xtask test --only schemathesis",
        act: Act::Call(|_| schemathesis::check()),
    },
    Step {
        name: "docs",
        repeat: "cargo xtask test --only docs",
        act: Act::Call(|_| document()),
    },
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only this step, and what it needs
    #[arg(long, value_name = "STEP")]
    #[arg(value_parser = PossibleValuesParser::new(STEPS.iter().map(|step| step.name)))]
    only: Option<String>,
    /// Only a conversation with a real language model, which continuous integration does not have
    #[arg(long)]
    real_model: bool,
}

struct Step {
    name: &'static str,
    repeat: &'static str,
    act: Act,
}

enum Act {
    /// The step is the cargo command that repeats it.
    Repeat,
    Call(fn(&mut Run) -> anyhow::Result<()>),
}

/// What the steps leave for those after them.
#[derive(Default)]
struct Run {
    postgres: Option<Postgres>,
    tally: Tally,
    durations: Vec<(&'static str, Duration)>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let chosen = |step: &&Step| {
        arguments
            .only
            .as_deref()
            .is_none_or(|only| only == step.name)
    };
    let mut run = Run::default();
    if arguments.real_model {
        return talk_to_a_real_model(&mut run);
    }
    let outcome = STEPS
        .iter()
        .filter(chosen)
        .try_for_each(|step| run.take(step))
        .and_then(|()| run.close());
    for (name, duration) in &run.durations {
        output::line(&format!("{name:>10} {:7.1} s", duration.as_secs_f64()));
    }
    let code = match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            output::problem(&sentence);
            ExitCode::FAILURE
        }
    };
    if run.tally.is_begun() {
        output::line(&run.tally.totals());
    }
    code
}

fn talk_to_a_real_model(run: &mut Run) -> ExitCode {
    let step = Step {
        name: "real model",
        repeat: "cargo xtask test --real-model",
        act: Act::Call(|_| real_model::check()),
    };
    match run.take(&step) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            output::problem(&sentence);
            ExitCode::FAILURE
        }
    }
}

impl Run {
    fn take(&mut self, step: &Step) -> Result<(), String> {
        output::line(&format!("==> {}", step.name));
        let time = Stopwatch::start();
        let outcome = match step.act {
            Act::Repeat => repeat(step.repeat),
            Act::Call(act) => act(self),
        };
        self.durations.push((step.name, time.elapsed()));
        let seconds = time.elapsed().as_secs_f64();
        outcome.map_err(|error| sentence(step.name, &error, step.repeat))?;
        output::line(&format!("<== {} in {seconds:.1} s", step.name));
        Ok(())
    }

    fn start_postgres(&mut self) -> anyhow::Result<()> {
        let server = Postgres::start(Durable::No)?;
        output::line(&server.url());
        self.postgres = Some(server);
        Ok(())
    }

    fn test(&mut self) -> anyhow::Result<()> {
        if self.postgres.is_none() {
            self.start_postgres()?;
        }
        // One of the examples that are run is written for it.
        debian::ensure_node()?;
        let server = self.postgres.iter().flat_map(Postgres::environment);
        let mut child = command::cargo(&["test", "--workspace", "--locked", "--no-fail-fast"])
            .envs(server)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start cargo")?;
        let stdout = child.stdout.take().context("cargo has no output")?;
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.context("read what cargo prints")?;
            let line = String::from_utf8_lossy(&line);
            output::line(&line);
            self.tally.read(&line);
        }
        self.tally.end();
        let status = child.wait().context("wait for cargo")?;
        if !status.success() {
            bail!("cargo ended with {status}");
        }
        Ok(())
    }

    /// Stops the server, and checks what only the whole run can tell.
    fn close(&mut self) -> Result<(), String> {
        self.postgres = None;
        if !self.tally.is_begun() {
            return Ok(());
        }
        output::line(&self.tally.engines());
        let verdict = self.tally.check_engines();
        verdict.map_err(|error| sentence("store tests", &error, REPEAT_TESTS))
    }
}

fn sentence(step: &str, error: &anyhow::Error, repeat: &str) -> String {
    format!("error: the step `{step}` failed: {error:#}; repeat it alone with `{repeat}`")
}

fn repeat(cargo_command: &str) -> anyhow::Result<()> {
    let arguments: Vec<_> = cargo_command.split(' ').skip(1).collect();
    command::succeed(&mut command::cargo(&arguments))
}

fn check_tidy() -> anyhow::Result<()> {
    match tidy::check()? {
        0 => Ok(()),
        count => bail!("{count} findings"),
    }
}

fn document() -> anyhow::Result<()> {
    let mut cargo = command::cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
    command::succeed(
        cargo
            .arg("--document-private-items")
            .env("RUSTDOCFLAGS", "-D warnings"),
    )
}
