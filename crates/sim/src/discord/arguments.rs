//! Simulated Discord from the command line.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;

use super::Terms;

/// How simulated Discord is started.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:4812")]
    listen: SocketAddr,
    /// A token that is accepted, for a bot of its own; any if there is none.
    #[arg(long)]
    token: Vec<String>,
    /// How many messages a channel takes in five seconds; any number if it is not said.
    #[arg(long)]
    limit: Option<u32>,
    /// Milliseconds between two heartbeats.
    #[arg(long, default_value_t = 41_250)]
    heartbeat: u64,
}

impl Arguments {
    /// Tells where it listens, and serves until the process ends.
    pub async fn serve(self) -> io::Result<()> {
        let terms = Terms {
            tokens: self.token,
            limit: self.limit,
            heartbeat: Duration::from_millis(self.heartbeat),
        };
        let server = super::start(self.listen, terms).await?;
        writeln!(io::stdout(), "{}", server.url())?;
        server.ended().await
    }
}
