//! The adapter for Slack against the simulated one, over real sockets.

mod acknowledging;
mod sending;
mod world;
