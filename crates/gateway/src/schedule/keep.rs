//! What becomes of schedules in the ledger, each in the transaction of whoever calls. What cannot be kept is not promised:
//! whether the conversation can be reached then is asked when the schedule is made.

use talaria_domain::address::{Address, ReturnAddress};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{JobId, ScheduleId};
use talaria_domain::job::Promise;
use talaria_domain::machine::ScheduleState;
use talaria_domain::schedule::{Schedule, ScheduleOrder, ScheduleRequest, What};
use talaria_store::{Result, StoreError, Tx, schedules, sessions};

use super::{Change, serve};
use crate::jobs::keep::Told;
use crate::jobs::{Answer, delegation, unreachable_later, way_back};
use crate::shared::Shared;

/// A schedule that is wanted, and where it is to happen.
#[derive(Debug, Clone)]
pub(crate) struct Commission {
    pub(crate) id: ScheduleId,
    pub(crate) order: ScheduleOrder,
    pub(crate) return_to: ReturnAddress,
    /// For how long whoever asks can be reached.
    pub(crate) window: DeliveryWindow,
}

/// Records a schedule, or says why not.
pub(crate) fn create(
    tx: &mut Tx<'_>,
    shared: &Shared,
    commission: &Commission,
) -> Result<Answer<Schedule>> {
    let Commission {
        id,
        order,
        return_to,
        window,
    } = commission;
    match schedules::get(tx, *id) {
        // Told that it might not have been stored, somebody tried again.
        Ok(schedule) => return Ok(Ok(schedule)),
        Err(StoreError::NotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    let now = shared.now();
    let plan = match order.clone().understand(&shared.settings.zone, now) {
        Ok(plan) => plan,
        Err(words) => return Ok(Err(words)),
    };
    let last = if plan.when.is_recurring() {
        Timestamp::from_millis(i64::MAX)
    } else {
        plan.next_at
    };
    let is_apart = delegation::of_session(tx, return_to.session)?.is_some();
    if is_apart || !window.may_promise(last) {
        return Ok(Err(unreachable_later(match plan.what {
            What::Say(_) => Promise::Notice,
            What::Ask(_) => Promise::Wake,
        })));
    }
    let schedule = Schedule {
        id: *id,
        name: plan.name,
        when: plan.when,
        zone: plan.zone,
        what: plan.what,
        return_to: return_to.clone(),
        key: sessions::get(tx, return_to.session)?.key,
        state: ScheduleState::Active,
        next_at: Some(plan.next_at),
        created_at: now,
    };
    let open = schedules::count_open(tx, schedule.owner())?;
    let most = shared.settings.limits.schedules;
    if usize::try_from(open).unwrap_or(0) >= most {
        return Ok(Err(format!(
            "you have {open} schedules, and may have {most}: remove some"
        )));
    }
    schedules::record(tx, &schedule)?;
    Ok(Ok(schedule))
}

/// The way back of a schedule that is made at `asked`: no answer to the message that asked for it, which is long gone
/// by then.
pub(crate) fn way_back_of(
    asked: &ReturnAddress,
    callback: Option<&Address>,
    id: ScheduleId,
) -> ReturnAddress {
    let mut asked = asked.clone();
    asked.address.reply_to = None;
    way_back::of(&asked, callback, JobId::from_bytes(*id.as_bytes()))
}

/// Does what somebody wants of their own schedules in their own chat. Others' are not there.
pub(crate) fn obey(
    tx: &mut Tx<'_>,
    shared: &Shared,
    commission: impl FnOnce(ScheduleOrder) -> Commission,
    (asked, request): (&ReturnAddress, &ScheduleRequest),
) -> Result<Answer<Vec<Schedule>>> {
    let key = sessions::get(tx, asked.session)?.key;
    let own = schedules::open_in(tx, asked.requester.key(), key)?;
    let (name, change) = match request {
        ScheduleRequest::Create(order) => {
            let created = create(tx, shared, &commission(order.clone()))?;
            return Ok(created.map(|schedule| vec![schedule]));
        }
        ScheduleRequest::List => return Ok(Ok(own)),
        ScheduleRequest::Pause(name) => (name, Change::Pause),
        ScheduleRequest::Resume(name) => (name, Change::Resume),
        ScheduleRequest::Remove(name) => (name, Change::Remove),
    };
    let id = match named(&own, name) {
        Ok(id) => id,
        Err(words) => return Ok(Err(words)),
    };
    let changed = self::change(tx, shared, id, change)?;
    Ok(changed.map(|(schedule, _)| vec![schedule]))
}

/// The one of these that is meant, by its id or its name.
fn named(own: &[Schedule], name: &str) -> Answer<ScheduleId> {
    let name = name.trim().trim_matches('`');
    if name.is_empty() {
        return Err("say which one, by its name or its id: `list` shows them".to_owned());
    }
    let is_meant = |schedule: &&Schedule| {
        schedule.id.to_string() == name.to_lowercase()
            || schedule.name.to_lowercase() == name.to_lowercase()
    };
    let mut meant = own.iter().filter(is_meant);
    match (meant.next(), meant.next()) {
        (Some(one), None) => Ok(one.id),
        (Some(_), Some(_)) => Err(format!(
            "several of your schedules here are called {name:?}: say which one by its id"
        )),
        (None, _) => Err(format!("you have no schedule {name:?} here")),
    }
}

/// Changes a schedule that whoever calls may change; gives it as it is afterwards.
pub(crate) fn change(
    tx: &mut Tx<'_>,
    shared: &Shared,
    id: ScheduleId,
    change: Change,
) -> Result<Answer<(Schedule, Told)>> {
    let (schedule, now) = (schedules::get(tx, id)?, shared.now());
    let mut told = Told::new();
    let name = &schedule.name;
    match (change, schedule.state) {
        (_, ScheduleState::Done) => return Ok(Err(format!("{name:?} has ended"))),
        (Change::Pause, ScheduleState::Paused) | (Change::Resume, ScheduleState::Active) => {}
        (Change::Pause, ScheduleState::Active) => schedules::pause(tx, id, now)?,
        (Change::Resume, ScheduleState::Paused) => {
            let Some(next) = schedule.when.next_after(&schedule.zone, now) else {
                let words = format!("the time of {name:?} is over: remove it, and make another");
                return Ok(Err(words));
            };
            schedules::resume(tx, id, next, now)?;
        }
        (Change::Remove, _) => schedules::remove(tx, id, now)?,
        (Change::Run, _) => told = serve::serve(tx, shared, &schedule, (now, now))?,
    }
    Ok(Ok((schedules::get(tx, id)?, told)))
}
