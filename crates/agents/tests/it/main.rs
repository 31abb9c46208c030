//! Runners, models and tools through the front door: scripted servers on loopback, real processes, and a host that
//! writes down what it is told.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected should stop there"
)]

mod server;
mod world;

mod anthropic_talks;
mod demo_shows;
mod openai_talks;
mod rounds;
mod servers_fail;
mod stopping;
mod summaries;
mod terminal_runs;
