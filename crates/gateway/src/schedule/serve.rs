//! An occurrence, in one transaction: its row, which there can be only one of, what comes of it, and the schedule's next
//! time. A crash is before all of it or after all of it.

use talaria_domain::address::ReturnAddress;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Author, Event, EventKind, InternalCause, Mention};
use talaria_domain::ids::{EventId, ReplyId, ScheduleId, SessionId};
use talaria_domain::machine::ScheduleState;
use talaria_domain::profile::BusyPolicy;
use talaria_domain::schedule::{Schedule, What};
use talaria_store::schedules::{self, Outcome};
use talaria_store::sessions::{self, Opening};
use talaria_store::{Result, StoreError, Tx, inbox, keys};

use super::{due, words};
use crate::access::decide::Deed;
use crate::access::{Decision, Facts, decide};
use crate::delivery::say::{self, Place, Statement};
use crate::jobs::keep::Told;
use crate::lanes::busy;
use crate::shared::Shared;

/// How many times are passed over in one commit.
const AT_ONCE: usize = 256;
/// Why a time is passed over.
const PASSED: &str = "it passed while the gateway was not running, and a later one was served";

/// Serves what is due of a schedule. Nothing, if somebody else has.
pub(crate) fn fire(
    tx: &mut Tx<'_>,
    shared: &Shared,
    id: ScheduleId,
    now: Timestamp,
) -> Result<Told> {
    let schedule = match schedules::get(tx, id) {
        Ok(schedule) => schedule,
        Err(StoreError::NotFound { .. }) => return Ok(Told::new()),
        Err(error) => return Err(error),
    };
    if schedule.state != ScheduleState::Active {
        return Ok(Told::new());
    }
    let Some(due) = due::due(&schedule, now, AT_ONCE) else {
        return Ok(Told::new());
    };
    for passed in &due.passed {
        let outcome = Outcome::Skipped(PASSED.to_owned());
        schedules::record_occurrence(tx, (id, *passed), &outcome, now)?;
    }
    let told = match due.serve {
        Some(time) => serve(tx, shared, &schedule, (time, now))?,
        None => Told::new(),
    };
    schedules::advance(tx, id, due.next, now)?;
    Ok(told)
}

/// Lets it happen, as the occurrence of this time. Nothing, if that was recorded before.
pub(crate) fn serve(
    tx: &mut Tx<'_>,
    shared: &Shared,
    schedule: &Schedule,
    (due, now): (Timestamp, Timestamp),
) -> Result<Told> {
    let occurrence = (schedule.id, due);
    let return_to = match still_allowed(shared, schedule) {
        Ok(return_to) => return_to,
        Err(reason) => {
            tracing::warn!(schedule = %schedule.id, reason, "a schedule is due and is passed over");
            let skipped = Outcome::Skipped(reason.to_owned());
            schedules::record_occurrence(tx, occurrence, &skipped, now)?;
            return Ok(Told::new());
        }
    };
    match &schedule.what {
        What::Say(_) => {
            let reply = ReplyId::next(&*shared.ids, now);
            if !schedules::record_occurrence(tx, occurrence, &Outcome::Reply(reply), now)? {
                return Ok(Told::new());
            }
            let place = Place::of(here(tx, shared, schedule, return_to)?);
            let statement = Statement::planned(reply, &words::said(schedule, due, now));
            let said = say::answer(tx, shared, &place, &statement)?;
            Ok(vec![(place.session(), said)])
        }
        What::Ask(_) => {
            let event = EventId::next(&*shared.ids, now);
            if schedules::record_occurrence(tx, occurrence, &Outcome::Event(event), now)? {
                let to = here(tx, shared, schedule, return_to)?;
                ask(tx, shared, (schedule, event, due), &to)?;
            }
            Ok(Told::new())
        }
    }
}

/// Puts the question into the lane. A turn that runs there is never stopped for it.
fn ask(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (schedule, id, due): (&Schedule, EventId, Timestamp),
    to: &ReturnAddress,
) -> Result<()> {
    let now = shared.now();
    let event = Event {
        id,
        dedupe: schedules::key_of(schedule.id, due),
        address: to.address.clone(),
        principal: to.requester.clone(),
        message: None,
        kind: EventKind::Internal {
            cause: InternalCause::Schedule {
                schedule: schedule.id,
                due,
            },
            text: words::asked(schedule, due, now),
        },
        sent_at: None,
        received_at: now,
    };
    inbox::record_pinned(tx, &event, to.session)?;
    if inbox::occupancy(tx, to.session)?.claimed.is_some() {
        let profile = shared.settings.profiles.get(&to.profile);
        let usual = profile.map_or(BusyPolicy::Queue, |profile| profile.profile.busy);
        let policy = busy::gentle(busy::policy_of(tx, to.session, usual)?);
        inbox::set_busy(tx, id, policy)?;
    }
    Ok(())
}

/// The way back, if whoever wanted it may still talk there, and as what they may by now.
fn still_allowed(
    shared: &Shared,
    schedule: &Schedule,
) -> std::result::Result<ReturnAddress, &'static str> {
    let mut to = schedule.return_to.clone();
    let settings = &shared.settings;
    let Some(account) = settings.account(&to.address) else {
        return Err("the account that it would go through is not configured any more");
    };
    if !settings.profiles.contains_key(&to.profile) {
        return Err("the profile that it belongs to is not configured any more");
    }
    let who = &to.requester;
    // An operator is known elsewhere than where the message goes.
    if (&who.platform, &who.account) != (&to.address.platform, &to.address.account) {
        return Ok(to);
    }
    let facts = Facts {
        principal: who,
        address: &to.address,
        deed: Deed::Wrote(Mention::Direct, Author::Person),
        command: None,
        grant: shared.lodge.role(who),
        has_spoken: true,
    };
    match decide(&account.access, &facts) {
        Decision::Allowed { role, .. } => {
            to.requester.role = role;
            Ok(to)
        }
        _ => Err("whoever wanted it may not talk here any more"),
    }
}

/// The same in the conversation that the chat has by now.
fn here(
    tx: &mut Tx<'_>,
    shared: &Shared,
    schedule: &Schedule,
    to: ReturnAddress,
) -> Result<ReturnAddress> {
    let session = if let Some(session) = keys::current(tx, schedule.key)? {
        session
    } else {
        // It was erased; whoever is there next begins anew.
        let key = keys::origin(tx, schedule.key)?;
        let (owner, now) = (key.owner(&to.requester), shared.now());
        let fresh = SessionId::next(&*shared.ids, now);
        sessions::resolve(tx, &Opening::of(key, owner, fresh, now))?
    };
    Ok(ReturnAddress { session, ..to })
}
