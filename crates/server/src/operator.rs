//! The operator's API: one file per group of endpoints. Which scope a group needs is said here and nowhere else.

mod dead;
mod events;
mod inbox;
mod jobs;
mod keys;
mod login;
mod messages;
mod metrics;
mod outbox;
mod probes;
mod runs;
mod send;
mod sessions;
mod status;
mod trace;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;

use crate::access::guard::guard;
use crate::access::keys::Scope;
use crate::shared::App;

type Group = fn() -> Router<Arc<App>>;

/// Open to everybody who gets to the listener. `metrics` asks for itself where that is not only this machine.
const OPEN: [Group; 2] = [probes::routes, metrics::routes];

/// For every key.
const CHAT: [Group; 3] = [sessions::routes, messages::routes, events::routes];

/// For operators.
const OPERATOR: [Group; 10] = [
    status::routes,
    trace::routes,
    inbox::routes,
    outbox::routes,
    runs::routes,
    jobs::routes,
    dead::routes,
    send::routes,
    keys::routes,
    login::routes,
];

pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let guarded = |groups: &[Group], scope: Scope| {
        let state = (Arc::clone(app), scope);
        together(groups).route_layer(from_fn_with_state(state, guard))
    };
    together(&OPEN)
        .merge(guarded(&CHAT, Scope::Chat))
        .merge(guarded(&OPERATOR, Scope::Operator))
}

fn together(groups: &[Group]) -> Router<Arc<App>> {
    let join = |all: Router<Arc<App>>, group: &Group| all.merge(group());
    groups.iter().fold(Router::new(), join)
}
