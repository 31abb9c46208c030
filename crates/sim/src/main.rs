//! `talaria-sim`: the simulated world as a process of its own, to be talked to, killed and watched.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use talaria_sim::writers;
use talaria_store::Ledger;

/// The simulated world as a process of its own.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    part: Part,
}

#[derive(Subcommand)]
enum Part {
    /// Write to a ledger and tell each event that was acknowledged. Example: `talaria-sim writers --store sqlite:store.db`
    Writers {
        /// The ledger's url.
        #[arg(long)]
        store: String,
        /// How many write at once.
        #[arg(long, default_value_t = 64)]
        writers: usize,
        /// How many messages each of them writes.
        #[arg(long, default_value_t = u64::MAX)]
        messages: u64,
    },
    /// Open a ledger, look whether it holds together, and tell each event in it.
    Check {
        /// The ledger's url.
        #[arg(long)]
        store: String,
    },
}

#[tokio::main(flavor = "current_thread")]
#[expect(
    clippy::print_stderr,
    reason = "the one place where this program says why it ends"
)]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> talaria_store::Result<()> {
    match arguments.part {
        Part::Writers {
            store,
            writers,
            messages,
        } => {
            let ledger = Ledger::open(&store).await?;
            writers::write(ledger.clone(), writers, messages, std::io::stdout()).await?;
            ledger.close().await;
            Ok(())
        }
        Part::Check { store } => {
            let ledger = Ledger::open(&store).await?;
            writers::check(&ledger, std::io::stdout()).await?;
            ledger.close().await;
            Ok(())
        }
    }
}
