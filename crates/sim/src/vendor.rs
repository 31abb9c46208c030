//! What all simulated vendors share: rooms where people and bots write ([`room`]), faults that are ordered ([`fault`]), a
//! stage that can be waited on ([`stage`]), a port ([`server`]) and the control side that a test or a person talks to.
//! A vendor adds what is its own: the wire, and what it remembers of who has heard what.

pub mod fault;
pub mod room;
pub mod server;
pub mod stage;
pub mod venue;

mod control;
mod cuttable;
pub mod line;

pub use fault::{Fault, Mishap, NoMishap, On};
pub use room::{
    Asked, Chat, Deed, Did, File, Post, Press, Reaction, Room, Shown, Signed, Written, WrittenId,
};
pub use server::Server;
pub use stage::{Stage, World};
