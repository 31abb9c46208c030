//! Changes of state. Every table module asks here before it writes: an arrow that is not in the machine's table is
//! a conflict, and nothing happens.

use std::fmt::Display;

use talaria_domain::machine::Machine;

use crate::error::{Conflict, Result, StoreError};

/// Refuses what the machine's table does not have.
pub(crate) fn legal<M: Machine>(id: impl Display, from: M, to: M) -> Result<()> {
    if from.may_become(to) {
        return Ok(());
    }
    let (from, to) = (from.as_str(), to.as_str());
    Err(Conflict::Transition {
        thing: M::THING,
        id: id.to_string(),
        from,
        to,
    }
    .into())
}

/// What was looked for must be there.
pub(crate) fn found<T>(thing: &'static str, id: impl Display, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| StoreError::NotFound {
        thing,
        id: id.to_string(),
    })
}
