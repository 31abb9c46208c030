//! The binary. It will read as a table of contents; so far it says what there is.

use std::process::ExitCode;

/// What the command line promises for "the gateway is not reachable".
const NOT_REACHABLE: u8 = 69;

#[expect(
    clippy::print_stderr,
    reason = "the one sentence that this program says"
)]
fn main() -> ExitCode {
    eprintln!(
        "talaria has no gateway yet, only its ledger: run `cargo xtask test` or read ARCHITECTURE.md"
    );
    ExitCode::from(NOT_REACHABLE)
}
