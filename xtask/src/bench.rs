//! Benchmarks: one line per name. They run against a PostgreSQL with durable settings; what a
//! benchmark measures and prints is its own affair.

use std::process::ExitCode;

use anyhow::Context;
use clap::builder::PossibleValuesParser;

use crate::postgres::{Durable, Postgres};
use crate::{command, output};

/// A benchmark: its name, where it is, and what it is asked with.
struct Bench {
    name: &'static str,
    package: &'static str,
    target: &'static str,
    arguments: &'static [&'static str],
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "api",
        package: "talaria",
        target: "load",
        arguments: &["--api"],
    },
    Bench {
        name: "context",
        package: "talaria-agents",
        target: "context",
        arguments: &[],
    },
    Bench {
        name: "host",
        package: "talaria-gateway",
        target: "host",
        arguments: &[],
    },
    Bench {
        name: "ledger",
        package: "talaria-store",
        target: "ledger",
        arguments: &[],
    },
    Bench {
        name: "platforms",
        package: "talaria",
        target: "platforms",
        arguments: &[],
    },
    Bench {
        name: "turns",
        package: "talaria",
        target: "load",
        arguments: &[],
    },
];

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Which benchmark
    #[arg(value_parser = PossibleValuesParser::new(BENCHES.iter().map(|bench| bench.name)))]
    name: String,
    /// Arguments for the benchmark itself, after `--`
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let name = &arguments.name;
    let bench = BENCHES
        .iter()
        .find(|bench| bench.name == name)
        .with_context(|| format!("no benchmark is called {name}"))?;
    let postgres = Postgres::start(Durable::Yes)?;
    output::line(&format!("bench {name}: {}", postgres.url()));
    // As released: what is measured is what people run.
    let mut cargo = command::cargo(&["bench", "--profile", "release", "-p", bench.package]);
    cargo.args(["--bench", bench.target, "--"]);
    cargo.args(bench.arguments).args(&arguments.rest);
    command::succeed(cargo.envs(postgres.environment()))?;
    Ok(ExitCode::SUCCESS)
}
