//! Benchmarks: one line per name. They run against a PostgreSQL with durable settings; what a
//! benchmark measures and prints is its own affair.

use std::process::ExitCode;

use anyhow::Context;
use clap::builder::PossibleValuesParser;

use crate::postgres::{Durable, Postgres};
use crate::{command, output};

/// Name of the benchmark, and what cargo is asked for.
const BENCHES: &[(&str, &[&str])] = &[
    (
        "context",
        &["bench", "-p", "talaria-agents", "--bench", "context"],
    ),
    (
        "ledger",
        &["bench", "-p", "talaria-store", "--bench", "ledger"],
    ),
    (
        "turns",
        &[
            "bench",
            "--profile",
            "release",
            "-p",
            "talaria",
            "--bench",
            "turns",
        ],
    ),
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which benchmark
    #[arg(value_parser = PossibleValuesParser::new(BENCHES.iter().map(|(name, _)| *name)))]
    name: String,
    /// Arguments for the benchmark itself, after `--`
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let name = &arguments.name;
    let (_, cargo_arguments) = BENCHES
        .iter()
        .find(|(known, _)| known == name)
        .with_context(|| format!("no benchmark is called {name}"))?;
    let postgres = Postgres::start(Durable::Yes)?;
    output::line(&format!("bench {name}: {}", postgres.url()));
    let mut cargo = command::cargo(cargo_arguments);
    cargo.arg("--").args(&arguments.rest);
    command::succeed(cargo.envs(postgres.environment()))?;
    Ok(ExitCode::SUCCESS)
}
