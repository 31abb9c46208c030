//! A simulated vendor on a port. Dropped, it is gone at once: nothing is accepted and every connection is cut.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::serve::ListenerExt as _;
use tokio::net::{TcpListener, ToSocketAddrs};
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::control;
use super::line::{Line, Lines};
use super::stage::{Stage, World};

/// A simulated vendor on a port.
#[derive(Debug)]
pub struct Server<W> {
    stage: Arc<Stage<W>>,
    address: SocketAddr,
    serving: JoinSet<io::Result<()>>,
    _lines: DropGuard,
}

impl<W: World> Server<W> {
    /// Starts it; port 0 is a free one. `routes` is the side that adapters talk to, made with the address that it is
    /// found at; requests know the [`Line`] that they came on.
    pub async fn start(
        listen: impl ToSocketAddrs,
        world: W,
        routes: impl FnOnce(&Arc<Stage<W>>, SocketAddr) -> Router,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind(listen).await?;
        let address = listener.local_addr()?;
        let stage = Arc::new(Stage::of(world));
        let all = CancellationToken::new();
        let routes = routes(&stage, address).merge(control::routes(&stage));
        let lines = Lines {
            listener,
            all: all.clone(),
        };
        // What is tapped is handed to requests as it is; there is nothing to do with it.
        let lines = lines.tap_io(|_| ());
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let service = routes.into_make_service_with_connect_info::<Line>();
            axum::serve(lines, service).await
        });
        Ok(Self {
            stage,
            address,
            serving,
            _lines: all.drop_guard(),
        })
    }

    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where adapters find it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it knows.
    pub const fn vendor(&self) -> &Arc<Stage<W>> {
        &self.stage
    }

    /// Stops it: once this has returned, nobody listens on its port.
    pub async fn stop(mut self) {
        self.serving.shutdown().await;
    }

    /// Waits until it ends, which it does not by itself.
    pub async fn ended(mut self) -> io::Result<()> {
        match self.serving.join_next().await {
            Some(Ok(ended)) => ended,
            Some(Err(broken)) => Err(io::Error::other(broken)),
            None => Ok(()),
        }
    }
}
