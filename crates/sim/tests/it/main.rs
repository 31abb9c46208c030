//! The real ledger in a real process, on a bad day: killed in the middle, second in line, without room, without
//! permission.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that meets the unexpected should stop there"
)]

mod bad_disk;
mod kill_nine;
mod second_process;

/// The program under test.
const SIM: &str = env!("CARGO_BIN_EXE_talaria-sim");
