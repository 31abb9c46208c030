//! The adapter for Telegram against the simulated Bot API, and against some that are not well.

mod acknowledging;
mod calling;
mod disconnecting;
mod files;
mod gestures;
mod hearing;
mod odd_servers;
mod pressing;
mod sending;
mod threads;
mod world;
