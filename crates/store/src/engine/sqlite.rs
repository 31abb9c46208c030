//! SQLite: one writer that lets waiting closures share a commit, readers beside it, and the same engine inline for
//! simulation.

mod checkpoint;
mod connection;
mod copy;
mod desk;
mod inline;
mod lock;
mod pool;
mod writer;

pub(crate) use connection::read_value;
pub(crate) use copy::StoreCopy;
pub(crate) use inline::InlineEngine;
pub(crate) use pool::{SqliteEngine, start};
