//! Pure: the environment of a child, built for it alone: the allow-listed part of the process's, and the variables of
//! the session it works for. No credential and nothing of another session can be in it, because nothing else is put
//! there.

#[cfg(test)]
mod tests;

use super::environment::Environment;
use super::identity::{Context, Slot};
use super::latch::Latch;
use super::variable::Variable;

/// More than any id or name has. The system refuses to start a child with much more.
const MOST_BYTES: usize = 32 * 1024;

/// What a child that works for `context` gets.
///
/// A variable that nobody bound is the process's own only as long as no session was ever bound here: from then on it
/// could be anybody's.
pub(super) fn build(
    environment: &Environment,
    context: &Context,
    latch: &Latch,
) -> Vec<(String, String)> {
    let has_hermes_names = environment.has_hermes_names();
    let names = 1 + usize::from(has_hermes_names);
    let mut built = Vec::with_capacity(environment.iter().len() + names * Variable::ALL.len());
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    built.extend(environment.iter().map(owned));
    for variable in Variable::ALL {
        let value = match context.slot(variable) {
            Slot::Set(value) => Some(carried(value)),
            Slot::Cleared => Some(""),
            Slot::Unset if latch.is_engaged() => None,
            Slot::Unset => environment.inherited(variable),
        };
        let Some(value) = value else {
            continue;
        };
        built.push(owned((variable.name(), value)));
        if has_hermes_names {
            built.push(owned((variable.hermes_name(), value)));
        }
    }
    built
}

/// What a child can be given of it: all or nothing, since a part of an id could be somebody else's.
fn carried(value: &str) -> &str {
    let fits = value.len() <= MOST_BYTES && !value.contains('\0');
    if fits { value } else { "" }
}
