//! The simulated Bot API from the command line.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use clap::Args;

use super::Terms;

/// How the simulated Bot API is started.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:4803")]
    listen: SocketAddr,
    /// The bots' tokens, each a number, a colon and a secret; any such token if there is none.
    #[arg(long)]
    token: Vec<String>,
}

impl Arguments {
    /// Tells where it listens, and serves until the process ends.
    pub async fn serve(self) -> io::Result<()> {
        let server = super::start(self.listen, Terms::of(self.token)).await?;
        writeln!(io::stdout(), "{}", server.url())?;
        server.ended().await
    }
}
