//! The one way in, for chats, the API, the gateway's own events and schedules: access decision, dedupe, session, row
//! and what the lane has to say about it, in one transaction. Whoever hands an event in may tell its platform "got it"
//! once this has answered, and not before.

pub mod command;
pub mod reset;

pub(crate) mod cursor;

mod admission;
mod enter;
mod held;
mod stranger;

use std::sync::Arc;

use talaria_domain::adapter::{Accepted, Disconnected, Identity, Intake, NotAccepted, Pending};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Event, EventKind};
use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::live::Happening;
use talaria_domain::profile::{Account, BusyPolicy};
use talaria_domain::run::QUEUE_FULL;
use talaria_domain::session_key::{SessionKey, Source};
use talaria_store::inbox::{self, Arrival, Met};
use talaria_store::sessions::{self, Led, Opening};
use talaria_store::{Result, StoreError, Tx, jobs, keys};

use crate::access::decide::Ignored;
use crate::access::words;
use crate::asking::hear::{self, Heard};
use crate::control;
use crate::delivery::say::{self, Place};
use crate::lanes::busy;
use crate::lifecycle::{owner, wakes};
use crate::settings::{AccountSettings, ProfileSettings};
use crate::shared::Shared;
use crate::turns::begin::{self, Begin, Begun};

use self::admission::{Admission, Decided};
use self::enter::Entry;

/// The way in.
#[derive(Clone)]
pub(crate) struct Front(pub(crate) Arc<Shared>);

impl Intake for Front {
    fn connected(
        &self,
        account: &Account,
        identity: &Identity,
    ) -> std::result::Result<(), Disconnected> {
        let shared = &self.0;
        shared.pulse.prove(account, identity, shared.now())?;
        shared.spawn(wakes::look_at_everything(Arc::clone(shared)));
        Ok(())
    }

    fn alive(&self, account: &Account) {
        let shared = &self.0;
        shared.pulse.received(account, shared.now());
    }

    fn kept<'a>(
        &'a self,
        account: &'a Account,
    ) -> Pending<'a, std::result::Result<Option<String>, NotAccepted>> {
        Box::pin(cursor::kept(&self.0, account))
    }

    fn keep<'a>(
        &'a self,
        account: &'a Account,
        place: String,
    ) -> Pending<'a, std::result::Result<(), NotAccepted>> {
        Box::pin(cursor::keep(&self.0, account, place))
    }

    fn accept(&self, event: Event) -> Pending<'_, std::result::Result<Accepted, NotAccepted>> {
        Box::pin(self.take_in(event))
    }
}

/// What the transaction decided.
struct Admitted {
    /// The conversation it belongs to; or the event that it is the same as.
    to: std::result::Result<SessionId, EventId>,
    happenings: Vec<Happening>,
    /// Sessions whose turn was ended and has to be told so.
    stopped: Vec<SessionId>,
    /// The turn that has begun with it.
    begun: Option<Box<Begun>>,
    /// Whether there was no room for it in its lane.
    is_crowded_out: bool,
}

impl Admitted {
    const fn of(to: std::result::Result<SessionId, EventId>) -> Self {
        Self {
            to,
            happenings: Vec::new(),
            stopped: Vec::new(),
            begun: None,
            is_crowded_out: false,
        }
    }
}

impl Front {
    async fn take_in(&self, event: Event) -> std::result::Result<Accepted, NotAccepted> {
        let shared = &self.0;
        let (decided, is_if_followed) = match admission::decide(shared, event) {
            Admission::In(decided) => (decided, false),
            Admission::IfFollowed(decided) => (decided, true),
            // Boxed: it is rare, and larger than everything else here.
            Admission::Stranger(decided) => {
                return Box::pin(stranger::ask(shared, decided)).await;
            }
            Admission::Ignored(reason) => return Ok(self.ignore(reason)),
            Admission::Refused(reason) => return Ok(self.refuse(reason)),
            Admission::Looped {
                event,
                account,
                is_news,
            } => {
                if is_news {
                    self.tell_of_a_loop(&event, account);
                }
                return Ok(self.ignore("programs have talked to each other for long enough"));
            }
        };
        let is_by_a_bot = decided.is_by_a_bot;
        let address = is_by_a_bot.then(|| decided.event.address.clone());
        let accepted = self.let_in(decided, is_if_followed).await;
        if let Some(address) = address
            && !matches!(
                accepted,
                Ok(Accepted::Recorded { .. } | Accepted::CrowdedOut { .. })
            )
        {
            shared.lodge.programs.take_back(&address);
        }
        accepted
    }

    async fn let_in(
        &self,
        decided: Decided<'_>,
        is_if_followed: bool,
    ) -> std::result::Result<Accepted, NotAccepted> {
        let shared = &self.0;
        let Decided {
            event,
            account,
            profile,
            wish,
            ..
        } = decided;
        let arrival = arrival(event, account, profile).map_err(|error| not_accepted(&error))?;
        if is_if_followed && !self.has_answered(&arrival).await? {
            return Ok(self.ignore(words::ignored(Ignored::NotMentioned)));
        }
        // Boxed: it is handed on many times.
        let entry = Box::new(Entry {
            arrival,
            profile: Arc::clone(profile),
            wish,
        });
        enter::enter(shared, entry).await
    }

    /// Whether we have answered in the conversation that an event belongs to.
    async fn has_answered(&self, arrival: &Arrival) -> std::result::Result<bool, NotAccepted> {
        let key = arrival.opening().key_id();
        let read = self.0.ledger.read(move |tx| sessions::has_history(tx, key));
        read.await.map_err(|error| not_accepted(&error))
    }

    fn ignore(&self, reason: &str) -> Accepted {
        tracing::debug!(reason, "ignored");
        self.0.lodge.counts.ignore();
        Accepted::Refused {
            reason: reason.to_owned(),
        }
    }

    fn refuse(&self, reason: String) -> Accepted {
        tracing::info!(reason, "refused");
        self.0.lodge.counts.refuse();
        Accepted::Refused { reason }
    }

    /// Tells the operator, and nobody in the room.
    fn tell_of_a_loop(&self, event: &Event, account: &AccountSettings) {
        let at = &event.address;
        let (platform, name, chat) = (at.platform.as_str(), at.account.as_str(), at.chat.as_str());
        tracing::warn!(
            platform,
            account = name,
            chat,
            "programs talk to each other without end"
        );
        let Some(home) = account.home.clone() else {
            return;
        };
        let text = format!(
            "In the chat `{chat}` programs talk to each other without end. What they write there does not count for ten \
             minutes; people are answered as usual."
        );
        let shared = Arc::clone(&self.0);
        self.0
            .spawn(async move { owner::say(&shared, &home, &text).await });
    }
}

/// The event with its conversation, all that can be computed without the ledger.
fn arrival(event: Event, account: &AccountSettings, profile: &ProfileSettings) -> Result<Arrival> {
    let source = Source::of(&event.address, &event.principal);
    let key = SessionKey::derive(&profile.profile.name, &source, profile.profile.sharing);
    let owner = key.owner(&event.principal);
    let at = event.received_at;
    let fresh = event.id.opens();
    let not_before = match event.kind {
        EventKind::Message(_) if !account.merge_window.is_zero() => at.plus(account.merge_window),
        _ => Timestamp::ZERO,
    };
    Ok(Arrival::of(event, Opening::of(key, owner, fresh, at))?.not_before(not_before))
}

pub(super) fn not_accepted(error: &StoreError) -> NotAccepted {
    NotAccepted {
        reason: error.to_string(),
    }
}

/// All that is decided about an arrival, in its transaction.
fn admit(
    tx: &mut Tx<'_>,
    shared: &Arc<Shared>,
    (profile, wish): (&ProfileSettings, Option<BusyPolicy>),
    (arrival, is_seated): (&Arrival, bool),
) -> Result<Admitted> {
    let event = arrival.event();
    let fresh_for = match event.kind {
        EventKind::Message(_) => start_over(tx, profile, arrival)?,
        _ => None,
    };
    let led = match inbox::lead(tx, arrival)? {
        Met::Before { first } => return Ok(Admitted::of(Err(first))),
        Met::Now(led) => led,
    };
    let session = led.session;
    let mut admitted = Admitted::of(Ok(session));
    let name = &profile.profile.name;
    if let Some(reason) = fresh_for {
        let text = format!("I started a new conversation: {reason}. /resume goes back.");
        let place = Place::of_event(event, session, name);
        admitted
            .happenings
            .push(say::notice(tx, shared, &place, &text)?);
    }
    if is_seated && begin(tx, shared, (arrival, led), &mut admitted)? {
        return Ok(admitted);
    }
    inbox::queue(tx, arrival, session)?;
    let place = Place::of_event(event, session, name);
    match &event.kind {
        EventKind::Command { .. } => {}
        EventKind::Message(_) | EventKind::Internal { .. } => {
            let policy = wish.unwrap_or(profile.profile.busy);
            let heard = match wish {
                Some(_) => Heard::Message(None),
                None => hear::message(tx, shared, (event, session))?,
            };
            if let Heard::Message(hint) = heard {
                queue_up(tx, shared, (policy, wish), (event, &place), &mut admitted)?;
                remind(tx, shared, &place, (hint, &mut admitted))?;
            }
        }
        EventKind::Pressed { token, choice } => {
            let pressed = (*token, choice);
            let told = hear::press(tx, shared, (event, session), pressed)?;
            inbox::execute(tx, event.id, event.received_at)?;
            if let Some(text) = told {
                let said = say::notice(tx, shared, &place, &text)?;
                admitted.happenings.push(said);
            }
        }
        EventKind::Edited(_) | EventKind::Reaction { .. } | EventKind::Membership { .. } => {
            inbox::discard(tx, event.id, "needs no answer", event.received_at)?;
        }
    }
    Ok(admitted)
}

/// Says what is still waited for, unless the message has just ended that.
fn remind(
    tx: &mut Tx<'_>,
    shared: &Shared,
    place: &Place,
    (hint, admitted): (Option<String>, &mut Admitted),
) -> Result<()> {
    if let Some(hint) = hint.filter(|_| admitted.stopped.is_empty()) {
        let said = say::notice(tx, shared, place, &hint)?;
        admitted.happenings.push(said);
    }
    Ok(())
}

/// Begins the turn in the same transaction, if nothing else is in the lane: then the event is recorded as claimed, once, in
/// place of being queued and claimed. In such a lane nothing is waited for either: an open question has a run that waits
/// for it, and that run's event is in the lane.
fn begin(
    tx: &mut Tx<'_>,
    shared: &Arc<Shared>,
    (arrival, led): (&Arrival, Led),
    admitted: &mut Admitted,
) -> Result<bool> {
    let session = led.session;
    let is_quiet = led.is_new || (!shared.running.has(session) && !inbox::is_open(tx, session)?);
    if !is_quiet {
        return Ok(false);
    }
    match begin::begin_at_once(tx, shared, arrival, led)? {
        None => return Ok(false),
        Some(Begin::Turn(begun)) => admitted.begun = Some(begun),
        Some(Begin::Told(told)) => {
            let told = told.into_iter().map(|(_, happening)| happening);
            admitted.happenings.extend(told);
        }
        Some(Begin::Nothing | Begin::Later(_)) => {}
    }
    Ok(true)
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
    let Some(session) = keys::current(tx, arrival.opening().key_id())? else {
        return Ok(None);
    };
    let last = sessions::get(tx, session)?.updated_at;
    let Some(reason) = reset::due(reset, last, at) else {
        return Ok(None);
    };
    let lane = inbox::occupancy(tx, session)?;
    let is_alive = lane.claimed.is_some()
        || lane.waiting + lane.internal > 0
        || jobs::count_open(tx, session)? > 0;
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
    let is_internal = matches!(event.kind, EventKind::Internal { .. });
    if lane.waiting > shared.settings.limits.queue && !is_internal {
        inbox::discard(tx, event.id, QUEUE_FULL, event.received_at)?;
        admitted.is_crowded_out = true;
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
    let policy = if is_internal {
        busy::gentle(policy)
    } else {
        policy
    };
    inbox::set_busy(tx, event.id, policy)?;
    if policy == BusyPolicy::Interrupt {
        admitted.stopped =
            control::stop::end_turn(tx, shared, place.session(), "a newer message came")?;
    }
    if lane.came_while_busy == 0 && !is_internal {
        let text = busy::told(policy);
        admitted
            .happenings
            .push(say::notice(tx, shared, place, text)?);
    }
    tracing::debug!(%running, policy = policy.as_str(), "came while a turn ran");
    Ok(())
}
