//! The terminal: the only file of this crate that prints.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool speaks through its terminal, and through this file alone"
)]

/// A line of the result, on standard output.
pub(crate) fn line(text: &str) {
    println!("{text}");
}

/// A line on what went wrong, on standard error.
pub(crate) fn problem(text: &str) {
    eprintln!("{text}");
}
