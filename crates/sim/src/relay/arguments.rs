//! The simulated bridge from the command line.

use std::io::{self, Write as _};
use std::net::SocketAddr;

use clap::Args;

use super::{Offer, Terms};

/// How the simulated bridge is started.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:4801")]
    listen: SocketAddr,
    /// What it offers beside messages.
    #[arg(long, value_enum, default_value_t)]
    offer: Offer,
    /// How much text fits into one message, in UTF-16.
    #[arg(long, default_value_t = 4_096)]
    limit: usize,
    /// The token that is accepted; any if there is none.
    #[arg(long)]
    token: Option<String>,
}

impl Arguments {
    /// Tells where it listens, and serves until the process ends.
    pub async fn serve(self) -> io::Result<()> {
        let terms = Terms {
            offer: self.offer,
            limit: self.limit,
            token: self.token,
        };
        let server = super::start(self.listen, terms).await?;
        writeln!(io::stdout(), "{}", server.url())?;
        server.ended().await
    }
}
