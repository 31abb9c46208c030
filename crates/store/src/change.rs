//! Changes of state. Every table module asks here before it writes: an arrow that is not in the machine's table is
//! a conflict, and nothing happens.

use std::fmt::Display;

use talaria_domain::machine::Machine;

use crate::error::{Conflict, Result, StoreError};

/// Refuses what the machine's table does not have: this verb, from this state, to that one.
pub(crate) fn legal<M: Machine>(
    id: impl Display,
    from: M,
    verb: &'static str,
    to: M,
) -> Result<()> {
    if from.may(verb, to) {
        return Ok(());
    }
    let (thing, id, from, to) = (M::THING, id.to_string(), from.as_str(), to.as_str());
    Err(Conflict::Transition {
        verb,
        thing,
        id,
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
