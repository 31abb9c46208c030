//! What programs call, in the format that OpenAI's clients speak: one file per endpoint, every one of them a view of the
//! same turn. A request enters through intake like any message, at the surface where nothing is promised for later.
//!
//! **Invariant:** a turn belongs to the key's principal; a foreign session, run or job is not found.

pub(crate) mod allowance;
mod capabilities;
mod completions;
mod jobs;
mod models;
mod once;
mod refusal;
mod responses;
mod runs;
mod turn;
mod waiting;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;

use crate::access::guard::guard;
use crate::access::keys::Scope;
use crate::shared::App;

/// Every route here is for every key.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let state = (Arc::clone(app), Scope::Chat);
    Router::new()
        .merge(models::routes())
        .merge(capabilities::routes())
        .merge(completions::routes())
        .merge(responses::routes())
        .merge(runs::routes())
        .merge(jobs::routes())
        .route_layer(from_fn_with_state(state, guard))
}
