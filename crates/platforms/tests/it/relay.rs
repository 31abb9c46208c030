//! The adapter for bridges against the simulated one, and against some that are not well.

mod acknowledging;
mod disconnecting;
mod odd_bridges;
mod sending;
mod world;
