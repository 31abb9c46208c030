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

/// A turn allocates some thousand times, on several threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let environment = Environment::read();
    let style = Style::detect(&environment);
    // One provider for every connection of the process; that it is there already is fine.
    drop(rustls::crypto::ring::default_provider().install_default());
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
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
