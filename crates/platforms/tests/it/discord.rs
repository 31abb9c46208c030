//! The adapter for Discord against the simulated one.

mod receiving;
mod sending;
mod world;
