//! What programs call, in the format that OpenAI's clients speak: one file per endpoint, every one of them a view of the
//! same turn. A request enters through intake like any message, at the surface where nothing is promised for later.
//!
//! **Invariant:** a turn belongs to the key's principal; a foreign session, run or job is not found.

pub(crate) mod allowance;
mod callback;
mod capabilities;
mod completions;
mod described;
mod door;
mod jobs;
mod models;
mod once;
mod refusal;
mod responses;
mod runs;
mod turn;
mod waiting;

use crate::access::keys::Scope;
use crate::contract::Routes;

/// Every route here is for every key.
pub(crate) fn routes() -> Routes {
    Routes::new()
        .and(models::routes())
        .and(capabilities::routes())
        .and(completions::routes())
        .and(responses::routes())
        .and(runs::routes())
        .and(jobs::routes())
        .behind(Scope::Chat)
}
