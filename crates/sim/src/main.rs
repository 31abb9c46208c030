//! `talaria-sim`: the simulated world as a process of its own, to be talked to, killed and watched.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use talaria_sim::{Platform, certify, crash, model, universe, writers};
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
    #[command(flatten)]
    Platform(Platform),
    /// Be a model whose answers are scripted by the conversation. Example: `talaria-sim model --listen 127.0.0.1:4802`
    Model(model::Arguments),
    /// Play worlds made from seeds and look whether every promise is kept. Example: `talaria-sim universes --seeds 500`
    Universes(universe::Arguments),
    /// Hold every adapter to what it claims, against its simulated vendor. Example: `talaria-sim certify PLATFORM`
    Certify(certify::Arguments),
    /// Kill the real gateway again and again under load, then count. Example: `talaria-sim crash --gateway target/debug/talaria`
    Crash(crash::Arguments),
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
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
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
        Part::Platform(platform) => Ok(platform.serve().await?),
        Part::Model(model) => Ok(model.serve().await?),
        Part::Certify(certify) => certify.certify(std::io::stdout()).await,
        Part::Crash(crash) => crash.crash(std::io::stdout()).await,
        Part::Universes(universes) => universes.play(std::io::stdout()),
    }
}
