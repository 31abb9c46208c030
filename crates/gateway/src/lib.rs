//! The flow: a message goes in, is recorded, answered once, and goes out.
//!
//! # Layout, in the order in which a message walks through it
//!
//! | module | owns |
//! |---|---|
//! | [`settings`] | what the operator decided: profiles, accounts, limits |
//! | [`access`] | who may talk, and what they may do |
//! | [`routing`] | which profile answers where |
//! | [`intake`] | the one way in: dedupe, access, session and row in one transaction |
//! | [`binding`] | which runner thinks about an event, and what it may |
//! | [`lanes`] | one conversation, one turn at a time; merging, and what happens to those who come while it is busy |
//! | [`registry`] | the runs under way, what each may use, and the end of those that do nothing |
//! | [`state`] | what is remembered for runs |
//! | [`files`] | what people send is kept, what agents send is copied; old ones go |
//! | [`turns`] | one turn: claimed, run, journalled, ended in a named state |
//! | [`asking`] | a run asks a person: who may answer what, and waiting for it |
//! | [`control`] | slash commands, which never wait behind a turn |
//! | [`delivery`] | the one way out: replies become parts, parts become messages |
//! | [`jobs`] | work that ends later, and tasks that are given to others |
//! | [`schedule`] | what happens at a time |
//! | [`lifecycle`] | starting, watching, draining and stopping all of it |
//!
//! Each stage has pure files that decide and a driver that acts. Drivers are driven by commits: a closure says what it
//! changed, [`lifecycle`] hears of it and knocks at the lane or the target. Nothing asks the ledger again and again.

pub mod settings;

pub mod access;
pub mod binding;
pub mod files;
pub mod intake;
pub mod lanes;
pub mod registry;
pub mod routing;
pub mod state;
pub mod turns;

pub mod asking;
pub mod control;
pub mod delivery;
pub mod jobs;
pub mod schedule;

pub mod lifecycle;

mod courtesy;
mod dispatch;
mod live;
mod moments;
mod shared;

pub use lifecycle::{Gateway, Parts};
