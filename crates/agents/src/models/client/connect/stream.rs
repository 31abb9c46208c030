//! A connection, whichever way it was made. It knows whether it ends at a proxy, which is asked with whole addresses.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// To a server or to a proxy, with TLS or without.
type Straight = MaybeHttpsStream<TokioIo<TcpStream>>;

/// A connection.
pub(in crate::models::client) struct Stream {
    /// Only a tunnel has TLS on the outside.
    stream: MaybeHttpsStream<Straight>,
    is_to_proxy: bool,
}

impl Stream {
    /// One that ends at the server.
    pub(super) const fn straight(stream: Straight) -> Self {
        Self {
            stream: MaybeHttpsStream::Http(stream),
            is_to_proxy: false,
        }
    }

    /// One that ends at the server, through a proxy that does not see what is said.
    pub(super) const fn tunnelled(stream: MaybeHttpsStream<Straight>) -> Self {
        Self {
            stream,
            is_to_proxy: false,
        }
    }

    /// One that ends at a proxy.
    pub(super) const fn to_proxy(stream: Straight) -> Self {
        Self {
            stream: MaybeHttpsStream::Http(stream),
            is_to_proxy: true,
        }
    }

    fn inner(self: Pin<&mut Self>) -> Pin<&mut MaybeHttpsStream<Straight>> {
        Pin::new(&mut self.get_mut().stream)
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        self.stream.connected().proxy(self.is_to_proxy)
    }
}

impl Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        self.inner().poll_read(context, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner().poll_shutdown(context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.inner().poll_write_vectored(context, slices)
    }
}
