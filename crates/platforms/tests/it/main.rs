//! Real adapters against their simulated vendors, over real sockets.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected should stop there"
)]

mod callback;
mod discord;
mod relay;
mod slack;
mod telegram;
