//! Simulated worlds: each seed is one, the same every time. What is played and what is looked at is the simulator's own
//! affair; it says which seed failed, why, and how to see it again.

use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::command;

/// As many as `cargo xtask test` takes the time for.
const SEEDS: u64 = 2_000;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How many
    #[arg(long, default_value_t = SEEDS)]
    seeds: u64,
    /// The first of them
    #[arg(long, default_value_t = 1)]
    from: u64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let status = universes(arguments)
        .status()
        .context("cannot start cargo")?;
    Ok(ExitCode::from(u8::from(!status.success())))
}

/// As a step of the tests: a broken promise is an error.
pub(crate) fn check() -> anyhow::Result<()> {
    command::succeed(&mut universes(&Arguments {
        seeds: SEEDS,
        from: 1,
    }))
}

fn universes(arguments: &Arguments) -> Command {
    let Arguments { seeds, from } = arguments;
    let mut cargo = command::cargo(&["run", "--quiet", "--locked", "--package", "talaria-sim"]);
    cargo.args(["--", "universes", "--seeds", &seeds.to_string()]);
    cargo.args(["--from", &from.to_string()]);
    cargo
}
