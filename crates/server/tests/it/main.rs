//! The server through its front door: a real listener on loopback, a real ledger in a temporary file, and a gateway that
//! does what each story needs of it.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected should stop there"
)]

mod gateway;
mod programs;
mod world;

mod asking_wrongly;
mod completing;
mod getting_in;
mod looking_after;
mod refusing;
mod responding;
mod running;
mod sending;
mod stopping;
mod talking;
mod telling;
mod watching;
