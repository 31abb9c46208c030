//! The server through its front door: a real listener on loopback, a real ledger in a temporary file, and a gateway that
//! does what each story needs of it.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected should stop there"
)]

mod conformity;
mod gateway;
mod programs;
mod world;

mod approving;
mod asking_wrongly;
mod calling;
mod choosing;
mod coming_in_crowds;
mod completing;
mod describing;
mod failing;
mod forgetting;
mod getting_in;
mod inviting;
mod keeping_keys;
mod letting_in;
mod looking_after;
mod planning;
mod refusing;
mod responding;
mod running;
mod sending;
mod stopping;
mod taking_away;
mod talking;
mod telling;
mod watching;
