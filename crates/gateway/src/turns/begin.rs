//! The beginning of a turn, in one transaction: the lane's lease, the event, what is merged into it, the history, the
//! run with its frozen authority. Or, if the event was tried before, what has to be told instead.

pub(crate) mod held;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value};
use talaria_domain::authority::{Authority, Frozen, ResourceKind};
use talaria_domain::binding::DeliveryPolicy;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Attachment, Event, Wishes};
use talaria_domain::ids::{DeadId, RunId, SessionId};
use talaria_domain::machine::InboxState;
use talaria_domain::names::{BindingId, NodeName};
use talaria_domain::runner::{Said, Speaker};
use talaria_domain::scope::Snapshot;
use talaria_domain::session_key::{SessionKey, SessionKeyId, Source};
use talaria_store::inbox::{self, Arrival, InboxRow};
use talaria_store::kept::Kept;
use talaria_store::leases::{self, Lease, LeaseName};
use talaria_store::runs::{self, Admission};
use talaria_store::sessions::{Led, Tail};
use talaria_store::{Conflict, Result, StoreError, Tx, keys};

use super::envelope::{self, Company};
use super::recent::History;
use super::resume::{self, Resume};
use super::written::Written;
use super::{errand, history};
use crate::asking;
use crate::binding::Chosen;
use crate::delivery::say::{self, Place, Statement};
use crate::jobs::delegation::{self, Errand};
use crate::jobs::keep::Told;
use crate::lanes::merge;
use crate::registry::revoke;
use crate::settings::ProfileSettings;
use crate::shared::Shared;
use crate::state;
use crate::state::rules::{Drawers, Facts, Owner};

/// How much of a journal is looked at to decide whether to do a turn again.
const JOURNAL: u32 = 100_000;

/// What the lane has for us.
pub(crate) enum Begin {
    /// Nothing that we may take.
    Nothing,
    /// Something, at that time.
    Later(Timestamp),
    /// It needed no turn; these people are told.
    Told(Told),
    /// A turn.
    Turn(Box<Begun>),
}

/// A turn that has begun.
pub(crate) struct Begun {
    pub(crate) lease: Lease,
    pub(crate) row: InboxRow,
    /// The event and what was merged into it, in order.
    pub(crate) events: Arc<[Event]>,
    /// The same with their files, once those were fetched.
    pub(crate) fetched: OnceLock<Arc<[Event]>>,
    pub(crate) run: RunId,
    /// The profile, with the runner and the authority that its binding gives it.
    pub(crate) profile: Arc<ProfileSettings>,
    authority: Kept<Authority>,
    frozen: Arc<Frozen>,
    pub(crate) binding: BindingId,
    pub(crate) config: Map<String, Value>,
    pub(crate) delivery: DeliveryPolicy,
    /// Whether its binding says what it may use.
    pub(crate) is_bound: bool,
    /// Where what it remembers is kept, once somebody asked.
    drawers: OnceLock<Drawers>,
    /// What of it the runner is given.
    pub(crate) snapshot: Snapshot,
    pub(crate) place: Place,
    pub(crate) company: Company,
    /// Whether nothing else was in its lane when it began.
    pub(crate) is_alone: bool,
    /// What a model is shown of what was said before; none if that is too much to read here, or if whoever asks brings
    /// it along.
    history: Option<History>,
    /// The same once the runner has seen it.
    shown: Mutex<Option<History>>,
    /// How far the session had come when it began, if that was looked at.
    pub(crate) tail: Option<Tail>,
    pub(crate) key: SessionKeyId,
    /// The task that it does for another run.
    pub(crate) errand: Option<Errand>,
    /// Whether its beginning is committed, once that is known.
    pub(crate) written: Written,
}

impl Begun {
    /// For whoever takes part in the turn; and the history, which only the runner needs.
    pub(crate) fn share(mut self: Box<Self>) -> (Arc<Self>, Option<History>) {
        let history = self.history.take();
        (Arc::from(self), history)
    }

    pub(crate) fn session(&self) -> SessionId {
        self.row.session
    }

    /// What it is admitted with, at this time.
    pub(crate) fn admission(&self, at: Timestamp) -> Admission {
        Admission {
            id: self.run,
            event: self.row.event.id,
            runner: self.profile.profile.runner.clone(),
            attempt: self.row.attempts,
            authority: self.authority.clone(),
            return_to: self.place.0.clone(),
            at,
        }
    }

    /// What it may use.
    pub(crate) const fn authority(&self) -> &Kept<Authority> {
        &self.authority
    }

    /// The same, made ready to be asked at every effect.
    pub(crate) fn frozen(&self) -> Arc<Frozen> {
        match &self.errand {
            Some(errand) => Arc::new(errand.authority.clone().freeze()),
            None => Arc::clone(&self.frozen),
        }
    }

    /// Where what it remembers is kept: its identities come from the event it answers.
    pub(crate) fn drawers(&self) -> &Drawers {
        self.drawers.get_or_init(|| {
            let profile = &self.profile.profile;
            let owner = Owner {
                profile: profile.name.clone(),
                runner: profile.runner.clone(),
                binding: self.binding.clone(),
                policy: self.authority().state.clone(),
            };
            Drawers::of(&owner, &Facts::of(&self.row.event, self.session()))
        })
    }

    /// Lends what the model was shown to whoever ends the turn.
    pub(crate) fn lay_down(&self, history: History) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(history);
    }

    /// What the model was shown, if that is all of what was said and the runner has come to an end.
    pub(crate) fn take_shown(&self) -> Option<History> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.take()
    }

    /// How many delegations it is away from a person.
    pub(crate) fn depth(&self) -> u32 {
        self.errand.as_ref().map_or(0, |errand| errand.depth)
    }

    /// What a program asked for beside its words.
    pub(crate) fn wishes(&self) -> Option<&Wishes> {
        self.events.last()?.wishes()
    }

    /// What is said now, as the model is told.
    pub(crate) fn prompt(&self) -> String {
        envelope::prompt(self.input().iter(), self.company)
    }

    /// The event and what was merged into it, with their files as far as those were fetched.
    pub(crate) fn input(&self) -> &Arc<[Event]> {
        self.fetched.get().unwrap_or(&self.events)
    }

    /// Whether it may read what came with what was said. Where nothing but the profile counts, it may.
    pub(crate) fn may_read(&self, attachment: &Attachment) -> bool {
        let files = self.authority().grants.get(&ResourceKind::File);
        !self.is_bound || files.is_some_and(|files| files.contains_key(&attachment.locator))
    }
}

/// Begins the next turn of a session.
pub(crate) fn begin(tx: &mut Tx<'_>, shared: &Arc<Shared>, session: SessionId) -> Result<Begin> {
    match inbox::head(tx, session)? {
        Some(head) => begin_with(tx, shared, head),
        None => Ok(Begin::Nothing),
    }
}

/// Begins the turn for what was just found at the front of a lane.
pub(crate) fn begin_with(tx: &mut Tx<'_>, shared: &Arc<Shared>, head: InboxRow) -> Result<Begin> {
    let (session, now) = (head.session, shared.now());
    if head.state == InboxState::Queued && head.not_before > now {
        return Ok(Begin::Later(head.not_before));
    }
    let lease = match claimed_by(tx, shared, session, leases::claim)? {
        Ok(lease) => lease,
        // Whoever has it renews it in time, or is gone by then, and perhaps never knew that they had it.
        Err(until) => return Ok(Begin::Later(until)),
    };
    let run = RunId::next(&*shared.ids, now);
    let head = if head.state == InboxState::Claimed {
        // Its owner is gone: claiming the lease has put it back.
        inbox::head(tx, session)?
    } else {
        Some(head)
    };
    let Some(head) = head.filter(|head| head.not_before <= now) else {
        leases::release(tx, &lease)?;
        return Ok(Begin::Nothing);
    };
    let before = head.run;
    let row = inbox::take(tx, &lease, head, run)?;
    let key = keys::origin_of(tx, session)?;
    let key = (&key, key.id());
    let claimed = Claimed {
        lease,
        row,
        run,
        before,
        tail: None,
    };
    go_on(tx, shared, claimed, key)
}

/// An event that was claimed.
struct Claimed {
    lease: Lease,
    row: InboxRow,
    run: RunId,
    /// The run that had it before.
    before: Option<RunId>,
    /// How far its session had come, if that was looked at.
    tail: Option<Tail>,
}

/// Begins the turn for what arrives just now, in a lane where nothing else is; none if somebody has the lane.
pub(crate) fn begin_at_once(
    tx: &mut Tx<'_>,
    shared: &Arc<Shared>,
    arrival: &Arrival,
    led: Led,
) -> Result<Option<Begin>> {
    // Also if the session is new somebody may have it: one with its id may have been erased, and its lease is there for
    // longer.
    let claim = if led.is_new {
        leases::claim_new
    } else {
        leases::claim
    };
    let Ok(lease) = claimed_by(tx, shared, led.session, claim)? else {
        return Ok(None);
    };
    let run = RunId::next(&*shared.ids, shared.now());
    let row = inbox::record_claimed(tx, arrival, led.session, (&lease, run))?;
    let (opening, found);
    let key = if led.is_own {
        opening = arrival.opening();
        (opening.key(), opening.key_id())
    } else {
        found = keys::origin_of(tx, led.session)?;
        (&found, found.id())
    };
    let claimed = Claimed {
        lease,
        row,
        run,
        before: None,
        tail: Some(led.tail),
    };
    let mut begin = go_on(tx, shared, claimed, key)?;
    if let Begin::Turn(begun) = &mut begin {
        begun.is_alone = true;
    }
    Ok(Some(begin))
}

/// How a lease is taken.
type Claim = fn(&mut Tx<'_>, &LeaseName, &NodeName, Duration) -> Result<Lease>;

/// The lane's lease; or until when somebody has it.
fn claimed_by(
    tx: &mut Tx<'_>,
    shared: &Shared,
    session: SessionId,
    claim: Claim,
) -> Result<std::result::Result<Lease, Timestamp>> {
    let (name, ttl) = (LeaseName::Lane(session), shared.settings.limits.lease);
    match claim(tx, &name, &shared.settings.node, ttl) {
        Ok(lease) => Ok(Ok(lease)),
        Err(StoreError::Conflict(Conflict::Held { until, .. })) => Ok(Err(until)),
        Err(error) => Err(error),
    }
}

/// Goes on with an event that was claimed.
fn go_on(
    tx: &mut Tx<'_>,
    shared: &Arc<Shared>,
    claimed: Claimed,
    key: (&SessionKey, SessionKeyId),
) -> Result<Begin> {
    let (before, profile) = (claimed.before, &key.0.profile);
    let Some(own) = shared.own.get(profile) else {
        let Claimed { lease, row, .. } = &claimed;
        let place = Place::of_event(&row.event, row.session, profile);
        let reason = format!(
            "the profile {:?} is not configured any more",
            profile.as_str()
        );
        return give_up(tx, shared, (lease, row), &place, &reason);
    };
    let begun = gather(tx, shared, claimed, own, key)?;
    if begun.errand.as_ref().is_some_and(|errand| errand.is_over) {
        let now = shared.now();
        inbox::discard(tx, begun.row.event.id, "its job has ended", now)?;
        leases::release(tx, &begun.lease)?;
        return Ok(Begin::Told(Told::new()));
    }
    take_up(tx, shared, before, begun)
}

/// Does it, or does it again; or says why not.
fn take_up(tx: &mut Tx<'_>, shared: &Shared, before: Option<RunId>, begun: Begun) -> Result<Begin> {
    let taken_back = match before {
        Some(before) => asking::take_back(tx, shared, &begun.place, before)?,
        None => Vec::new(),
    };
    match what_to_do(tx, shared, before, &begun)? {
        Resume::Again => admit(tx, begun, shared.now()),
        Resume::Tell { tools } => {
            let session = begun.session();
            let mut told = tell(tx, shared, &begun, &tools)?;
            if let Begin::Told(told) = &mut told {
                told.extend(taken_back.into_iter().map(|said| (session, said)));
            }
            Ok(told)
        }
        Resume::GiveUp => {
            let reason = format!("it failed {} times", begun.row.attempts - 1);
            give_up(
                tx,
                shared,
                (&begun.lease, &begun.row),
                &begun.place,
                &reason,
            )
        }
    }
}

fn gather(
    tx: &mut Tx<'_>,
    shared: &Shared,
    claimed: Claimed,
    own: &Chosen,
    key: (&SessionKey, SessionKeyId),
) -> Result<Begun> {
    let events = together(tx, shared, &claimed)?;
    let row = &claimed.row;
    let mut chosen = shared.settings.bindings.choose(own, &events);
    if claimed.before.is_some() {
        // What was taken away from an earlier attempt stays away.
        let left = revoke::left_for(tx, row.event.id, &chosen.profile.authority)?;
        chosen = chosen.with(left);
    }
    let errand = delegation::errand_of(tx, row)?;
    let errand = errand.map(|errand| errand.within(&chosen.authority));
    let mut begun = assemble(claimed, events.into(), chosen, key);
    if let Some(errand) = &errand {
        begun.authority = Kept::from(errand.authority.clone());
    }
    begun.errand = errand;
    begun.history = before_it(tx, shared, &begun)?;
    if begun.profile.runner.wants_state() {
        begun.snapshot = state::snapshot(tx, begun.drawers())?;
    }
    Ok(begun)
}

/// What is known of a turn without the ledger.
fn assemble(
    claimed: Claimed,
    events: Arc<[Event]>,
    chosen: Chosen,
    (key, key_id): (&SessionKey, SessionKeyId),
) -> Begun {
    let Claimed {
        lease,
        row,
        run,
        tail,
        ..
    } = claimed;
    let source = Source::of(&row.event.address, &row.event.principal);
    let company = if chosen.profile.profile.sharing.is_shared(&source) {
        Company::Shared
    } else {
        Company::Alone
    };
    // The anchor is the last of several: that is where the conversation is.
    let anchor = events.last().unwrap_or(&row.event);
    Begun {
        place: Place::of_event(anchor, row.session, &key.profile),
        snapshot: Snapshot::default(),
        drawers: OnceLock::new(),
        profile: chosen.profile,
        authority: chosen.authority,
        frozen: chosen.frozen,
        binding: chosen.id,
        config: chosen.config,
        delivery: chosen.delivery,
        is_bound: chosen.is_bound,
        fetched: OnceLock::new(),
        lease,
        row,
        events,
        run,
        company,
        history: None,
        shown: Mutex::default(),
        tail,
        is_alone: false,
        key: key_id,
        errand: None,
        written: Written::default(),
    }
}

/// What a turn is about: its event, what was merged into it before, and what is merged into it now.
fn together(tx: &mut Tx<'_>, shared: &Shared, claimed: &Claimed) -> Result<Vec<Event>> {
    let first = &claimed.row.event;
    let window = shared.settings.account(&first.address);
    let window = window.map_or(Duration::ZERO, |account| account.merge_window);
    let mut events = vec![first.clone()];
    // Not by its attempts: an event that is replayed has them forgotten, and what was merged into it has not.
    if claimed.before.is_some() {
        let merged = inbox::merged(tx, first.id)?;
        events.extend(merged.into_iter().map(|row| row.event));
    }
    if window.is_zero() && !merge::is_news(first) {
        return Ok(events);
    }
    let lane = inbox::lane(tx, claimed.row.session)?;
    let rest = lane.into_iter().map(|row| row.event);
    let rest: Vec<Event> = rest.filter(|event| event.id != first.id).collect();
    let merged = merge::merge(events.last().unwrap_or(first), &rest, window);
    for other in &merged {
        inbox::merge(tx, *other, first.id, shared.now())?;
    }
    events.extend(rest.into_iter().take(merged.len()));
    Ok(events)
}

/// What was said before, as far as that has to be looked for: kept since the last turn, or in the ledger.
fn before_it(tx: &mut Tx<'_>, shared: &Shared, begun: &Begun) -> Result<Option<History>> {
    let is_brought = begun.wishes().is_some_and(|it| it.history.is_some());
    match begun.tail.map(|tail| tail.last) {
        _ if is_brought => Ok(None),
        Some(0) => Ok(Some(History::new())),
        Some(last) => match shared.recents.take(begun.session(), last) {
            Some(kept) => Ok(Some(kept)),
            None => history::recent(tx, begun.session()),
        },
        None => history::recent(tx, begun.session()),
    }
}

fn what_to_do(
    tx: &mut Tx<'_>,
    shared: &Shared,
    before: Option<RunId>,
    begun: &Begun,
) -> Result<Resume> {
    let attempt = begun.row.attempts;
    let Some(before) = before.filter(|_| attempt > 1) else {
        return Ok(Resume::Again);
    };
    let journal: Vec<_> = runs::journal(tx, before, 0, JOURNAL)?
        .into_iter()
        .map(|(_, event)| event)
        .collect();
    let limits = shared.settings.limits;
    Ok(resume::decide(
        &journal,
        attempt,
        limits.attempts,
        limits.resume,
    ))
}

fn admit(tx: &mut Tx<'_>, begun: Begun, now: Timestamp) -> Result<Begin> {
    runs::record_running(tx, &begun.lease, &begun.admission(now), &[])?;
    if let Some(errand) = &begun.errand {
        delegation::begin(tx, errand, begun.run)?;
    }
    Ok(Begin::Turn(Box::new(begun)))
}

/// The turn was interrupted where it cannot simply be done again.
fn tell(tx: &mut Tx<'_>, shared: &Shared, begun: &Begun, tools: &[String]) -> Result<Begin> {
    let now = shared.now();
    let text = if tools.is_empty() {
        "I was interrupted before I could answer. Say \"continue\" and I will.".to_owned()
    } else {
        format!(
            "I was interrupted while I was using {}, and I do not know how far it got. Say \"continue\" and I will look.",
            tools.join(", ")
        )
    };
    let session = begun.session();
    if let Some(errand) = &begun.errand {
        let row = (&begun.lease, &begun.row);
        let reason = errand::interrupted(tools);
        return errand::give_up(tx, shared, row, errand, &reason);
    }
    let asked = Said::plain(Speaker::User, begun.prompt());
    history::append(tx, session, None, &asked, now)?;
    history::append(
        tx,
        session,
        None,
        &Said::plain(Speaker::Assistant, &text),
        now,
    )?;
    let said = say::answer(
        tx,
        shared,
        &begun.place,
        &Statement::to(&begun.row, None, &text),
    )?;
    inbox::complete(tx, &begun.lease, begun.row.event.id, now)?;
    leases::hand_in(tx, &begun.lease)?;
    Ok(Begin::Told(vec![(session, said)]))
}

/// The event is given up: an operator finds it, and the person is told.
pub(crate) fn give_up(
    tx: &mut Tx<'_>,
    shared: &Shared,
    (lease, row): (&Lease, &InboxRow),
    place: &Place,
    reason: &str,
) -> Result<Begin> {
    if let Some(errand) = delegation::errand_of(tx, row)? {
        return errand::give_up(tx, shared, (lease, row), &errand, reason);
    }
    let letter = DeadId::next(&*shared.ids, shared.now());
    let text =
        format!("I could not answer this: {reason}. It is kept for the operator as {letter}.");
    let said = say::answer(tx, shared, place, &Statement::to(row, None, &text))?;
    inbox::give_up(tx, lease, row.event.id, letter, reason)?;
    leases::release(tx, lease)?;
    Ok(Begin::Told(vec![(row.session, said)]))
}
