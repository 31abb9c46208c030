//! Stopping a turn. Its lane's lease is seized, so that whatever it still does is fenced off; its run, its event and
//! what was shown of its answer end with it. Then the runner is told, and given a moment to clean up.

use talaria_domain::event::Event;
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::runner::{Said, Speaker};
use talaria_domain::session_key::Source;
use talaria_store::inbox::InboxRow;
use talaria_store::leases::{self, LeaseName};
use talaria_store::wake::Wake;
use talaria_store::{Result, StoreError, Tx, inbox, keys, runs, sessions};

use super::{Answer, Order};
use crate::access::roles;
use crate::delivery::say;
use crate::jobs::delegation;
use crate::shared::Shared;
use crate::turns::envelope::{self, Company};
use crate::turns::history;

/// What somebody is told who would end what another one asked for.
pub(super) const NOT_YOURS: &str =
    "I am working for somebody else here. Only they, or a member, may stop that.";

/// `/stop [ID]`. With the id of a message or of a run, that one and no other is stopped: it may have ended meanwhile.
pub(super) fn stop(tx: &mut Tx<'_>, order: &Order<'_>) -> Result<Answer> {
    // People say more than the command.
    let session = match order.arguments.trim().parse() {
        Err(_) => order.row.session,
        Ok(named) => match session_with(tx, order, named)? {
            Some(session) => session,
            None => return Ok(Answer::text("That has ended already: nothing was stopped.")),
        },
    };
    if is_of_another(tx, order, session)? {
        return Ok(Answer::text(NOT_YOURS));
    }
    let stopped = end_turn(tx, order.shared, session, "stopped by /stop")?;
    if stopped.is_empty() {
        return Ok(Answer::text("There is nothing to stop."));
    }
    let waiting = inbox::occupancy(tx, session)?.waiting;
    let text = match waiting {
        0 => "Stopped.".to_owned(),
        1 => "Stopped. One message is waiting and comes next.".to_owned(),
        more => format!("Stopped. {more} messages are waiting and come next."),
    };
    Ok(Answer { text, stopped })
}

/// Whether the turn that a lane has is somebody else's, and the one who asks may not end that.
pub(super) fn is_of_another(
    tx: &mut Tx<'_>,
    order: &Order<'_>,
    session: SessionId,
) -> Result<bool> {
    let who = &order.row.event.principal;
    if roles::may_stop_others(who.role) {
        return Ok(false);
    }
    let Some(event) = turn_of(tx, session)? else {
        return Ok(false);
    };
    Ok(inbox::get(tx, event)?.event.principal.key() != who.key())
}

/// The session of this chat whose turn the id stands for, if it has it right now.
fn session_with(tx: &mut Tx<'_>, order: &Order<'_>, named: EventId) -> Result<Option<SessionId>> {
    let event = match runs::get(tx, RunId::from_bytes(*named.as_bytes())) {
        Err(StoreError::NotFound { .. }) => named,
        found => found?.event,
    };
    let session = match inbox::get(tx, event) {
        Err(StoreError::NotFound { .. }) => return Ok(None),
        found => found?.session,
    };
    let chat = sessions::get(tx, order.row.session)?.key;
    let is_here = sessions::get(tx, session)?.key == chat;
    let has_it = is_here && turn_of(tx, session)? == Some(event);
    Ok(has_it.then_some(session))
}

/// Ends the turn that a session's lane has, if it has one: one that runs, or one that is about to be tried again; and what
/// that turn delegated and waited for. Gives the sessions whose turns ended: the caller tells them after the commit.
pub(crate) fn end_turn(
    tx: &mut Tx<'_>,
    shared: &Shared,
    session: SessionId,
    reason: &str,
) -> Result<Vec<SessionId>> {
    let Some(event) = turn_of(tx, session)? else {
        return Ok(Vec::new());
    };
    let now = shared.now();
    leases::seize(tx, &LeaseName::Lane(session))?;
    runs::cancel(tx, session, now)?;
    let row = inbox::get(tx, event)?;
    abandon(tx, shared, &row, reason)?;
    // Whoever waits behind it has not heard of anything that frees the lane.
    tx.wake(Wake::Lane(session));
    let mut stopped = delegation::let_go(tx, shared, session, None)?.sessions;
    stopped.push(session);
    Ok(stopped)
}

/// Gives up an event that was begun, whether or not a turn has it: what was shown of its answer ends with it, and what
/// was asked is remembered.
pub(crate) fn abandon(
    tx: &mut Tx<'_>,
    shared: &Shared,
    row: &InboxRow,
    reason: &str,
) -> Result<()> {
    let event = row.event.id;
    inbox::discard(tx, event, reason, shared.now())?;
    say::break_off(tx, shared, &row.event)?;
    let mut events = vec![row.event.clone()];
    events.extend(inbox::merged(tx, event)?.into_iter().map(|row| row.event));
    remember(tx, shared, row.session, &events)
}

/// The event that the lane has a turn for.
fn turn_of(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<EventId>> {
    if let Some(claimed) = inbox::occupancy(tx, session)?.claimed {
        return Ok(Some(claimed));
    }
    let begun = inbox::head(tx, session)?.filter(|head| head.attempts > 0);
    Ok(begun.map(|head| head.event.id))
}

/// What was asked is remembered, and that it was not finished.
fn remember(tx: &mut Tx<'_>, shared: &Shared, session: SessionId, events: &[Event]) -> Result<()> {
    let key = sessions::get(tx, session)?.key;
    let key = keys::origin(tx, key)?;
    let profile = shared.settings.profiles.get(&key.profile);
    let is_shared = events.first().zip(profile).is_some_and(|(event, profile)| {
        let source = Source::of(&event.address, &event.principal);
        profile.profile.sharing.is_shared(&source)
    });
    let company = if is_shared {
        Company::Shared
    } else {
        Company::Alone
    };
    let asked = Said::plain(Speaker::User, envelope::prompt(events, company));
    let told = Said::plain(Speaker::Assistant, "(stopped before I answered)");
    for said in [asked, told] {
        history::append(tx, session, None, &said, shared.now())?;
    }
    Ok(())
}
