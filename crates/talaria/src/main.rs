//! Talaria, the binary.
//!
//! | module | what |
//! |---|---|
//! | `config` | from `talaria.toml` and the environment to the one value that everything is wired from |
//! | `cli` | the commands, one file each, and the exit codes |
//! | `up` | the wiring: from the configuration to a running gateway |
//! | `output` | the terminal |

mod cli;
mod config;
mod output;
mod up;

use std::process::ExitCode;

use config::Environment;
use output::Style;
use tokio::runtime::Builder;

/// A turn allocates some thousand times, on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let environment = Environment::read();
    let style = Style::detect(&environment);
    // One provider for every connection of the process; that it is there already is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = match in_turn().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            output::remark(&format!("talaria: cannot start: {error}"));
            return ExitCode::FAILURE;
        }
    };
    let code = runtime.block_on(cli::run(cli::Context { environment, style }));
    // A thread that still waits for standard input must not keep the process.
    runtime.shutdown_background();
    code
}

/// A runtime in which everybody who has something to do is served in turn. Usually whoever was woken last goes first: then
/// messages are carried one by one through all that a turn is made of, and the model and the callers are woken for each.
/// In turn, all who are at the same step take it one after the other, which costs a fifth less.
fn in_turn() -> Builder {
    #[cfg_attr(
        not(tokio_unstable),
        expect(
            unused_mut,
            reason = "a build without the flag of `.cargo/config.toml`"
        )
    )]
    let mut builder = Builder::new_multi_thread();
    #[cfg(tokio_unstable)]
    builder.disable_lifo_slot();
    builder
}
