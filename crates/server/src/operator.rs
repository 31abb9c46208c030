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
mod pairing;
mod probes;
mod questions;
mod runs;
mod schedules;
mod send;
mod sessions;
mod status;
mod trace;
mod why;

use crate::access::keys::Scope;
use crate::contract::Routes;

type Group = fn() -> Routes;

/// Open to everybody who gets to the listener. `metrics` asks for itself where that is not only this machine.
const OPEN: [Group; 2] = [probes::routes, metrics::routes];

/// For every key.
const CHAT: [Group; 4] = [
    sessions::routes,
    messages::routes,
    questions::routes,
    events::routes,
];

/// For operators.
const OPERATOR: [Group; 13] = [
    status::routes,
    trace::routes,
    inbox::routes,
    outbox::routes,
    runs::routes,
    jobs::routes,
    schedules::routes,
    dead::routes,
    send::routes,
    keys::routes,
    pairing::routes,
    why::routes,
    login::routes,
];

pub(crate) fn routes() -> Routes {
    together(&OPEN)
        .and(together(&CHAT).behind(Scope::Chat))
        .and(together(&OPERATOR).behind(Scope::Operator))
}

fn together(groups: &[Group]) -> Routes {
    let join = |all: Routes, group: &Group| all.and(group());
    groups.iter().fold(Routes::new(), join)
}
