//! Connections that can be cut, one by one or all at once: from then on they fail, and whoever is at the other end sees
//! them close without an answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::response::Response;
use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// A listener whose connections can be cut. What it knows of who is at the other end is the line to them.
pub(super) struct Lines {
    pub(super) listener: TcpListener,
    pub(super) all: CancellationToken,
}

impl Listener for Lines {
    type Io = Wire;
    type Addr = Line;

    async fn accept(&mut self) -> (Wire, Line) {
        let (stream, _) = Listener::accept(&mut self.listener).await;
        // Without it answers come late, no more.
        stream.set_nodelay(true).unwrap_or_default();
        let line = Line(self.all.child_token());
        let is_cut = Box::pin(line.0.clone().cancelled_owned());
        (Wire { stream, is_cut }, line)
    }

    fn local_addr(&self) -> io::Result<Line> {
        Ok(Line(self.all.clone()))
    }
}

/// The connection that a request came on.
#[derive(Debug, Clone)]
pub(super) struct Line(CancellationToken);

impl Line {
    /// Cuts it. Nothing is answered on it any more.
    pub(super) async fn cut(self) -> Response {
        self.0.cancel();
        std::future::pending().await
    }
}

/// A connection that fails once it is cut.
pub(super) struct Wire {
    stream: TcpStream,
    is_cut: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Wire {
    fn fail_if_cut(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.is_cut.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.fail_if_cut(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.fail_if_cut(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
