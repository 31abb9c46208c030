//! The ledger through its front door. Every story runs on SQLite and on a real PostgreSQL, which `cargo xtask test`
//! starts; without one the PostgreSQL half fails rather than being left out.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that meets the unexpected should stop there"
)]

#[macro_use]
mod world;

mod accepting;
mod asking;
mod batching;
mod events_kept;
mod fencing;
mod forgetting;
mod keeping_house;
mod lanes;
mod leading;
mod lost_server;
mod measuring;
mod opening;
mod operator_views;
mod outgoing;
mod remembering;
mod running;
mod scheduling;
mod transitions;
mod waking;
mod whole_turns;
mod working_later;
