//! Descriptors that are not sockets, pipes or files, and whose events tokio waits for all the same.

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// A descriptor that can be waited for until there is something to read.
#[expect(
    deprecated,
    reason = "its successor asks for `unsafe` to have it promised that the descriptor stays open; an owned one does"
)]
pub(super) fn readable(descriptor: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(descriptor, Interest::READABLE)
}
