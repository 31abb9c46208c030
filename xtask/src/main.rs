//! What people and continuous integration run. One file and one line here per command.
//!
//! A command prints through `output` alone and answers with an exit code; an error is for what
//! kept it from doing its work, never for what it found.

mod bench;
mod crash;
mod page;
mod real_model;
mod schemathesis;
mod sdk;
mod sim;
mod test;
mod tidy;
mod vendors;

mod browser;
mod command;
mod debian;
mod gateway;
mod output;
mod postgres;
mod process;
mod stopwatch;

use std::process::ExitCode;

use clap::Parser;

#[derive(Parser)]
#[command(bin_name = "cargo xtask", about = "What people and CI run")]
enum Task {
    /// Everything it takes to trust the tree: format, tidy, clippy, tests on both engines, worlds, crashes, a browser, docs
    Test(test::Arguments),
    /// The house rules that clippy cannot see
    Tidy,
    /// Kill the real gateway again and again under load, then count
    Crash(crash::Arguments),
    /// Play worlds made from seeds, with everything that can go wrong, and look whether every promise is kept
    Sim(sim::Arguments),
    /// Run one benchmark against a durable PostgreSQL
    Bench(bench::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Task::parse() {
        Task::Test(arguments) => Ok(test::run(&arguments)),
        Task::Tidy => tidy::run(),
        Task::Crash(arguments) => crash::run(&arguments),
        Task::Sim(arguments) => sim::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        output::problem(&format!("error: {error:#}"));
        ExitCode::FAILURE
    })
}
