//! Connections that can be cut. Stopping is polite first: what was asked is answered. Whoever then neither reads nor
//! leaves would hold the gateway for ever; so every connection fails once `cut` is cancelled.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// A listener whose connections can be cut.
pub(crate) struct CuttableListener {
    pub(crate) listener: TcpListener,
    pub(crate) cut: CancellationToken,
}

impl Listener for CuttableListener {
    type Io = Cuttable;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Cuttable, SocketAddr) {
        let (stream, from) = Listener::accept(&mut self.listener).await;
        // A stream of small answers: without this the system waits for more before it sends one. If it cannot be
        // switched off, answers come late, no more.
        stream.set_nodelay(true).unwrap_or_default();
        (Cuttable::until(self.cut.clone(), stream), from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that fails once it is cut.
#[derive(Debug)]
pub struct Cuttable {
    stream: TcpStream,
    cut: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Cuttable {
    /// A connection that lasts until this is cancelled.
    pub fn until(cut: CancellationToken, stream: TcpStream) -> Self {
        let cut = Box::pin(cut.cancelled_owned());
        Self { stream, cut }
    }

    fn fail_if_cut(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        match self.cut.as_mut().poll(context) {
            Poll::Ready(()) => Err(io::ErrorKind::ConnectionAborted.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl AsyncRead for Cuttable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.fail_if_cut(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Cuttable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.fail_if_cut(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.fail_if_cut(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.fail_if_cut(context)?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
