//! Runners, models and tools through the front door: scripted servers on loopback, real processes, and a host that
//! writes down what it is told.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected should stop there"
)]

mod book;
mod desk;
mod process_runner_house;
mod server;
mod world;

mod adopting;
mod anthropic_talks;
mod asking;
mod background;
mod context_children;
mod crowd;
mod delegating;
mod demo_shows;
mod gate;
mod openai_talks;
mod ownership;
mod planning;
mod process_runner;
mod process_runner_examples;
mod process_runner_hostile;
mod pty_programs;
mod revoking;
mod rounds;
mod sending;
mod servers_fail;
mod stopping;
mod summaries;
mod terminal_runs;
mod together;
mod watching;
mod whole;
mod wishing;
