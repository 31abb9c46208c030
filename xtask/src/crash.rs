//! Kills the real gateway again and again under load, then counts. What is killed and counted is the simulated world's
//! affair; this builds both binaries and lets it.

use std::process::ExitCode;

use crate::command;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// How often the gateway is killed
    #[arg(long, default_value_t = 50)]
    rounds: u32,
    /// Where choices come from
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let build = ["build", "-p", "talaria", "-p", "talaria-sim"];
    command::succeed(&mut command::cargo(&build))?;
    let (rounds, seed) = (arguments.rounds.to_string(), arguments.seed.to_string());
    let crash = [
        "run",
        "--quiet",
        "-p",
        "talaria-sim",
        "--",
        "crash",
        "--gateway",
        "target/debug/talaria",
        "--rounds",
        &rounds,
        "--seed",
        &seed,
    ];
    command::succeed(&mut command::cargo(&crash))?;
    Ok(ExitCode::SUCCESS)
}
