//! The one way in, for chats, the API, the gateway's own events and schedules: access decision, dedupe, session, row
//! and what the lane has to say about it, in one transaction. Whoever hands an event in may tell its platform "got it"
//! once this has answered, and not before.

pub mod command;
pub mod reset;

use std::sync::Arc;

use talaria_domain::adapter::{Accepted, Intake, NotAccepted, Pending};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Event, EventKind};
use talaria_domain::ids::SessionId;
use talaria_domain::live::Happening;
use talaria_domain::profile::{Account, BusyPolicy};
use talaria_domain::session_key::{SessionKey, Source};
use talaria_store::inbox::{self, Arrival, Recorded};
use talaria_store::sessions::{self, Opening};
use talaria_store::{Result, Tx, jobs};

use crate::access::{self, Decision};
use crate::control;
use crate::delivery::say::{self, Place};
use crate::lanes::busy;
use crate::lifecycle::health::Condition;
use crate::lifecycle::wakes;
use crate::settings::{AccountSettings, ProfileSettings};
use crate::shared::Shared;

/// The way in.
#[derive(Clone)]
pub(crate) struct Front(pub(crate) Arc<Shared>);

impl Intake for Front {
    fn connected(&self, account: &Account) {
        let shared = &self.0;
        shared.pulse.set(account, Condition::Connected);
        shared.spawn(wakes::look_at_everything(Arc::clone(shared)));
    }

    fn accept(&self, event: Event) -> Pending<'_, std::result::Result<Accepted, NotAccepted>> {
        Box::pin(self.take_in(event))
    }
}

/// What can be decided without the ledger.
struct Decided<'a> {
    event: Event,
    account: &'a AccountSettings,
    profile: &'a ProfileSettings,
    /// What the sender wants to happen if a turn runs.
    wish: Option<BusyPolicy>,
}

/// What the transaction decided.
struct Admitted {
    recorded: Recorded,
    happenings: Vec<Happening>,
    is_interrupted: bool,
}

impl Front {
    async fn take_in(&self, event: Event) -> std::result::Result<Accepted, NotAccepted> {
        let shared = &self.0;
        let Decided {
            event,
            account,
            profile,
            wish,
        } = match self.decide(event) {
            Ok(decided) => decided,
            Err(reason) => {
                tracing::info!(reason, "refused");
                return Ok(Accepted::Refused { reason });
            }
        };
        shared
            .pulse
            .received(account.adapter.account(), shared.now());
        let (id, is_command) = (event.id, matches!(event.kind, EventKind::Command { .. }));
        let arrival = self
            .arrival(event, account, profile)
            .map_err(|error| not_accepted(&error))?;
        let (this, profile) = (Arc::clone(shared), profile.clone());
        let admitted = shared
            .ledger
            .write(move |tx| admit(tx, &this, (&profile, wish), &arrival))
            .await
            .map_err(|error| not_accepted(&error))?;
        match admitted.recorded {
            Recorded::Duplicate { first } => Ok(Accepted::Duplicate { first }),
            Recorded::Accepted { session, .. } => {
                if admitted.is_interrupted {
                    shared.running.stop(session);
                }
                for happening in admitted.happenings {
                    shared.watchers.tell(session, happening);
                }
                if is_command {
                    control::start(shared, id);
                }
                Ok(Accepted::Recorded { event: id, session })
            }
        }
    }

    /// Whose event it is and what it is, or why it is refused.
    fn decide(&self, mut event: Event) -> std::result::Result<Decided<'_>, String> {
        let settings = &self.0.settings;
        let account = settings.account(&event.address).ok_or_else(|| {
            format!(
                "no account {:?} on {:?} is configured",
                event.address.account.as_str(),
                event.address.platform.as_str()
            )
        })?;
        match access::decide(&account.access, &event.principal) {
            Decision::Refused { reason } => return Err(reason),
            Decision::Allowed(role) => event.principal.role = role,
        }
        let name = &account.adapter.account().profile;
        let profile = settings
            .profiles
            .get(name)
            .ok_or_else(|| format!("no profile {:?} is configured", name.as_str()))?;
        let wish = recognise(&mut event);
        Ok(Decided {
            event,
            account,
            profile,
            wish,
        })
    }

    fn arrival(
        &self,
        event: Event,
        account: &AccountSettings,
        profile: &ProfileSettings,
    ) -> Result<Arrival> {
        let source = Source::of(&event.address, &event.principal);
        let key = SessionKey::derive(&profile.profile.name, &source, profile.profile.sharing);
        let owner = key.owner(&event.principal);
        let at = event.received_at;
        let fresh = SessionId::next(&*self.0.ids, at);
        let not_before = match event.kind {
            EventKind::Message(_) if !account.merge_window.is_zero() => {
                at.plus(account.merge_window)
            }
            _ => Timestamp::ZERO,
        };
        Ok(Arrival::of(event, Opening::of(key, owner, fresh, at))?.not_before(not_before))
    }
}

/// Turns a message that is a command into one. `/queue TEXT` and `/steer TEXT` stay messages, with a wish.
fn recognise(event: &mut Event) -> Option<BusyPolicy> {
    let EventKind::Message(content) = &mut event.kind else {
        return None;
    };
    let command::Parsed::Command { name, arguments } =
        command::parse(content, event.address.chat_kind)
    else {
        return None;
    };
    let wish = BusyPolicy::parse(&name).filter(|_| !arguments.is_empty());
    if wish.is_some() {
        content.text = arguments;
    } else {
        event.kind = EventKind::Command { name, arguments };
    }
    wish
}

fn not_accepted(error: &talaria_store::StoreError) -> NotAccepted {
    NotAccepted {
        reason: error.to_string(),
    }
}

/// All that is decided about an arrival, in its transaction.
fn admit(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (profile, wish): (&ProfileSettings, Option<BusyPolicy>),
    arrival: &Arrival,
) -> Result<Admitted> {
    let event = arrival.event();
    let fresh_for = match event.kind {
        EventKind::Message(_) => start_over(tx, profile, arrival)?,
        _ => None,
    };
    let recorded = inbox::record(tx, arrival)?;
    let mut admitted = Admitted {
        recorded,
        happenings: Vec::new(),
        is_interrupted: false,
    };
    let Recorded::Accepted { session, .. } = recorded else {
        return Ok(admitted);
    };
    let place = Place::of_event(event, session, &profile.profile.name);
    if let Some(reason) = fresh_for {
        let text = format!("I started a new conversation: {reason}. /resume goes back.");
        admitted
            .happenings
            .push(say::notice(tx, shared, &place, &text)?);
    }
    match &event.kind {
        EventKind::Command { .. } => {}
        EventKind::Message(_) | EventKind::Internal { .. } => {
            let policy = wish.unwrap_or(profile.profile.busy);
            queue_up(tx, shared, (policy, wish), (event, &place), &mut admitted)?;
        }
        EventKind::Edited(_) | EventKind::Reaction { .. } | EventKind::Membership { .. } => {
            inbox::discard(tx, event.id, "needs no answer", event.received_at)?;
        }
    }
    Ok(admitted)
}

/// Ends a conversation whose time is over; gives why. Never while something is still going on in it.
fn start_over(
    tx: &mut Tx<'_>,
    profile: &ProfileSettings,
    arrival: &Arrival,
) -> Result<Option<String>> {
    let (reset, at) = (profile.reset, arrival.event().received_at);
    if reset.idle.is_none() && reset.at_hour.is_none() {
        return Ok(None);
    }
    let Some(session) = sessions::current(tx, arrival.opening().key_id())? else {
        return Ok(None);
    };
    let last = sessions::get(tx, session)?.updated_at;
    let Some(reason) = reset::due(reset, last, at) else {
        return Ok(None);
    };
    let lane = inbox::occupancy(tx, session)?;
    let is_alive =
        lane.claimed.is_some() || lane.waiting > 0 || !jobs::open(tx, Some(session))?.is_empty();
    if is_alive || talaria_store::dedupe::first(tx, arrival.event().dedupe)?.is_some() {
        return Ok(None);
    }
    sessions::reset(tx, arrival.opening(), "reset_policy")?;
    Ok(Some(reason))
}

/// What the lane has to say: full, busy, or nothing.
fn queue_up(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (usual, wish): (BusyPolicy, Option<BusyPolicy>),
    (event, place): (&Event, &Place),
    admitted: &mut Admitted,
) -> Result<()> {
    let lane = inbox::occupancy(tx, place.session())?;
    if lane.waiting > shared.settings.limits.queue {
        inbox::discard(tx, event.id, "the queue was full", event.received_at)?;
        let text = format!(
            "I could not take this message: {} others are waiting already. Send it again later, or /stop what I am doing.",
            lane.waiting - 1
        );
        admitted
            .happenings
            .push(say::notice(tx, shared, place, &text)?);
        return Ok(());
    }
    let Some(running) = lane.claimed else {
        return Ok(());
    };
    let policy = match wish {
        Some(wish) => wish,
        None => busy::policy_of(tx, place.session(), usual)?,
    };
    inbox::set_busy(tx, event.id, policy)?;
    if policy == BusyPolicy::Interrupt {
        control::stop::end_turn(tx, shared, place.session(), "a newer message came")?;
        admitted.is_interrupted = true;
    }
    let is_internal = matches!(event.kind, EventKind::Internal { .. });
    if lane.came_while_busy == 0 && !is_internal {
        let text = busy::told(policy);
        admitted
            .happenings
            .push(say::notice(tx, shared, place, text)?);
    }
    tracing::debug!(%running, policy = policy.as_str(), "came while a turn ran");
    Ok(())
}
