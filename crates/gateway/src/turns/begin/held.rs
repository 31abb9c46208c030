//! Beginning a turn without the ledger, and writing the beginning down afterwards.

use std::sync::Arc;

use talaria_domain::capabilities::Capability;
use talaria_domain::event::Event;
use talaria_domain::run::RunEvent;
use talaria_store::inbox::{self, Arrival};
use talaria_store::leases::{self, Lease, LeaseName};
use talaria_store::sessions::{self, Tail};
use talaria_store::{Result, Tx, runs};

use super::{Begun, Claimed, assemble};
use crate::files::fetch;
use crate::shared::Shared;
use crate::turns::recent::History;
use crate::turns::written::Written;

/// Begins a turn of which the ledger need not know yet: nothing in it can have to do with the turn, and whoever asks waits
/// on the line. None if there is more to it.
pub(crate) fn begin(shared: &Shared, arrival: &Arrival) -> Option<Box<Begun>> {
    let (event, opening) = (arrival.event(), arrival.opening());
    let account = shared.settings.account(&event.address)?;
    let capabilities = account.adapter.capabilities();
    let reads_ledger = capabilities.can.contains(&Capability::ReadsLedger);
    if event.hearing().is_left() || !event.opens_its_chat() || !reads_ledger {
        return None;
    }
    let key = opening.key();
    let events: Arc<[Event]> = [event.clone()].into();
    let chosen = shared
        .settings
        .bindings
        .choose(shared.own.get(&key.profile)?, &events);
    let runner = &chosen.profile.runner;
    if !runner.thinks_first() || runner.wants_state() || fetch::has_files(&events) {
        return None;
    }
    let (session, now) = (event.id.opens(), shared.now());
    let lease = Lease::first(&LeaseName::Lane(session), &shared.settings.node, now);
    // There is no other run that could be the first: its id need not be looked up by the event's.
    let run = event.id.begins();
    let tail = Tail {
        owner: opening.owner(),
        last: 0,
    };
    let claimed = Claimed {
        row: inbox::to_be_claimed(arrival, session, (&lease, run)),
        lease,
        run,
        before: None,
        tail: Some(tail),
    };
    let begun = Begun {
        is_alone: true,
        history: Some(History::new()),
        written: Written::held(),
        ..assemble(claimed, events, chosen, (key, opening.key_id()))
    };
    Some(Box::new(begun))
}

/// Writes down the beginning of a turn that was held, and what its run yielded first.
pub(crate) fn write_down(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (arrival, begun): (&Arrival, &Begun),
    yielded: &[RunEvent],
) -> Result<()> {
    let session = sessions::open_with(tx, arrival.opening(), 0, arrival.event().received_at)?;
    leases::record(tx, &begun.lease, shared.settings.limits.lease)?;
    inbox::record_claimed(tx, arrival, session, (&begun.lease, begun.run))?;
    runs::record_running(tx, &begun.lease, &begun.admission(shared.now()), yielded)
}
