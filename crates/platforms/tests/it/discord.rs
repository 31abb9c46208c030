//! The adapter for Discord against the simulated one.

mod acknowledging;
mod disconnecting;
mod files;
mod pressing;
mod receiving;
mod resuming;
mod sending;
mod threads;
mod world;
