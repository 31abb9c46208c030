//! Connections that can be cut, one by one or all at once: from then on they fail, and whoever is at the other end sees
//! them close without an answer.

use std::io;

use axum::response::{IntoResponse as _, Response};
use axum::serve::Listener;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::cuttable::Cuttable;
use super::fault::{Fault, Mishap};

/// What no protocol has a word for.
pub const GARBAGE: &str = "\u{0}{\"ok\": [tru";

/// A listener whose connections can be cut. What it knows of who is at the other end is the line to them.
pub struct Lines {
    pub(super) listener: TcpListener,
    pub(super) all: CancellationToken,
}

impl Listener for Lines {
    type Io = Cuttable;
    type Addr = Line;

    async fn accept(&mut self) -> (Cuttable, Line) {
        let (stream, _) = Listener::accept(&mut self.listener).await;
        // Without it answers come late, no more.
        stream.set_nodelay(true).unwrap_or_default();
        let line = Line(self.all.child_token());
        (Cuttable::until(line.0.clone(), stream), line)
    }

    fn local_addr(&self) -> io::Result<Line> {
        Ok(Line(self.all.clone()))
    }
}

/// The connection that a request came on.
#[derive(Debug, Clone)]
pub struct Line(CancellationToken);

impl Line {
    /// Cuts it. Nothing is answered on it any more.
    pub async fn cut(self) -> Response {
        self.0.cancel();
        std::future::pending().await
    }

    /// The answer to a request that came on it, unless something goes wrong. A refusal is written by `refuse`: the
    /// status, the code, and how many seconds to wait.
    pub async fn happen(
        self,
        fault: Option<Fault>,
        answer: impl Future<Output = Response>,
        refuse: impl FnOnce(u16, &str, Option<u64>) -> Response,
    ) -> Response {
        let Some(fault) = fault else {
            return answer.await;
        };
        match fault.mishap {
            Mishap::Garbage => GARBAGE.into_response(),
            Mishap::Hang => std::future::pending().await,
            Mishap::Close => self.cut().await,
            Mishap::DropAfterAccept => {
                drop(answer.await);
                self.cut().await
            }
            Mishap::Answer { status, code } => refuse(status, &code, fault.retry_after),
        }
    }
}
