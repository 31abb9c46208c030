//! Somebody whom nobody knows writes to us alone. They get a code, or are told to come back, or hear nothing; what they
//! wrote is not kept. The event, what waits and the notice are one commit: a message that is delivered again asks for
//! nothing again.

use std::sync::Arc;

use talaria_domain::adapter::{Accepted, NotAccepted};
use talaria_domain::event::{Content, Event, EventKind};
use talaria_domain::live::Happening;
use talaria_domain::names::ProfileName;
use talaria_store::inbox::{self, Arrival, Recorded};
use talaria_store::{Result, Tx, dedupe};

use super::admission::Decided;
use super::{arrival, not_accepted};
use crate::access::grants;
use crate::access::pairing::{Asked, Chance, GOOD_FOR};
use crate::delivery::say::{self, Place};
use crate::shared::Shared;

/// The code itself is written below it when it is sent.
const UNKNOWN: &str = "I do not know you yet. Whoever runs me can let you in.";
const LATER: &str =
    "I do not know you yet, and I cannot take your name right now. Try again later.";
/// Why the event needs no turn.
const REASON: &str = "a stranger asked to be paired";

/// They ask to be let in.
pub(super) async fn ask(
    shared: &Arc<Shared>,
    decided: Decided<'_>,
) -> std::result::Result<Accepted, NotAccepted> {
    let Decided {
        event,
        account,
        profile,
        ..
    } = decided;
    shared.lodge.counts.refuse();
    let unheard = || Accepted::Refused {
        reason: "a stranger, who has asked already".to_owned(),
    };
    if is_silence(shared, &event).await? {
        return Ok(unheard());
    }
    let event = Event {
        // What strangers say is nobody's business.
        kind: EventKind::Message(Content::default()),
        ..event
    };
    let (id, chance) = (event.id, chance()?);
    let arrival = arrival(event, account, profile).map_err(|error| not_accepted(&error))?;
    let (this, profile) = (Arc::clone(shared), profile.profile.name.clone());
    let written = shared
        .ledger
        .write(move |tx| record(tx, &this, (&arrival, &profile), &chance));
    let recorded = written.await.map_err(|error| not_accepted(&error))?;
    Ok(match recorded {
        None => unheard(),
        Some(Recorded::Duplicate { first }) => Accepted::Duplicate { first },
        Some(Recorded::Accepted { session, .. }) => {
            tracing::info!(event = %id, "a stranger asks to be paired");
            Accepted::Recorded { event: id, session }
        }
    })
}

/// Whether they would hear nothing: most of what strangers write ends here, without a commit.
async fn is_silence(shared: &Arc<Shared>, event: &Event) -> std::result::Result<bool, NotAccepted> {
    let register = shared.ledger.read(grants::register).await;
    let mut register = register.map_err(|error| not_accepted(&error))?;
    let who = (&event.principal, &event.address);
    Ok(register.ask(who, shared.now(), &Chance::default()) == Asked::Silence)
}

fn chance() -> std::result::Result<Chance, NotAccepted> {
    let mut bytes = Chance::default();
    getrandom::fill(&mut bytes).map_err(|_| NotAccepted {
        reason: "the system gave no random numbers".to_owned(),
    })?;
    Ok(bytes)
}

/// All of it in one transaction; none if they hear nothing.
fn record(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (arrival, profile): (&Arrival, &ProfileName),
    chance: &Chance,
) -> Result<Option<Recorded>> {
    let (event, now) = (arrival.event(), shared.now());
    if let Some(first) = dedupe::first(tx, event.dedupe)? {
        return Ok(Some(Recorded::Duplicate { first }));
    }
    let mut register = grants::register(tx)?;
    let text = match register.ask((&event.principal, &event.address), now, chance) {
        Asked::Silence => return Ok(None),
        Asked::Later => (LATER, None),
        Asked::Code(code) => (UNKNOWN, Some(code)),
    };
    grants::keep(tx, &register, now)?;
    let recorded = inbox::record(tx, arrival)?;
    if let Recorded::Accepted { session, .. } = recorded {
        inbox::discard(tx, event.id, REASON, event.received_at)?;
        let place = Place::of_event(event, session, profile);
        tell(tx, shared, &place, text)?;
    }
    Ok(Some(recorded))
}

fn tell(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    (text, code): (&str, Option<String>),
) -> Result<()> {
    let said = say::notice(tx, shared, place, text)?;
    // Before the commit: nobody may send the notice without it.
    if let (Happening::Said { reply, .. }, Some(code)) = (said, code) {
        let now = shared.now();
        shared.lodge.hold(reply, code, now.plus(GOOD_FOR), now);
    }
    Ok(())
}
