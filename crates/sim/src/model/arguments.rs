//! The simulated model from the command line.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;

use super::answer::Pace;
use super::server::Server;

/// How the simulated model is started.
#[derive(Debug, Clone, Args)]
pub struct Arguments {
    /// Where it listens.
    #[arg(long, default_value = "127.0.0.1:4802")]
    listen: SocketAddr,
    /// How long it waits before each piece of an answer.
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// How many pieces a streamed answer has.
    #[arg(long, default_value_t = Pace::default().pieces)]
    chunks: usize,
}

impl Arguments {
    /// Tells the base url, and serves until the process ends.
    pub async fn serve(self) -> io::Result<()> {
        let pace = Pace {
            delay: Duration::from_millis(self.delay_ms),
            pieces: self.chunks.max(1),
        };
        let server = Server::start(self.listen, pace).await?;
        writeln!(io::stdout(), "{}", server.url())?;
        server.ended().await
    }
}
