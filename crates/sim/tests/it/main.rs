//! The real ledger in a real process, on a bad day: killed in the middle, second in line, without room, without
//! permission. And the simulated servers, as their clients see them.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that meets the unexpected should stop there"
)]

mod bad_disk;
mod broken_gateways;
mod kill_nine;
mod model_talks;
mod replaying;
mod second_process;
mod vendor_is_controlled;
mod web;

/// The program under test.
const SIM: &str = env!("CARGO_BIN_EXE_talaria-sim");
