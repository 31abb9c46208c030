//! The adapter for Slack against the simulated one, over real sockets.

mod acknowledging;
mod disconnecting;
mod hooking;
mod media;
mod pressing;
mod receiving;
mod sending;
mod threads;
mod world;
