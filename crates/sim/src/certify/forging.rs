//! Calls of a platform: genuine ones are taken after they were recorded, and nobody else is believed.

use futures::FutureExt as _;

use super::Check;
use super::candidates::{Calls, Forgery};
use super::desk::Mood;
use super::trial::{Checked, Stop, Trial, absent, ensure, fails, joined, url};
use crate::vendor::stage::now;

pub(super) const CHECKS: &[Check] = &[
    ("a genuine call is taken, once it was recorded", |trial| {
        genuine(trial).boxed()
    }),
    (
        "absent, empty, wrong and old signatures are refused",
        |trial| forged(trial).boxed(),
    ),
];

fn calls(trial: &Trial) -> Result<Calls, Stop> {
    let calls = trial.candidate.calls;
    calls.map_or_else(|| absent("it does not call us"), Ok)
}

/// What a call is answered with; none if there can be no such call.
async fn answered(trial: &Trial, forgery: Forgery) -> Result<Option<u16>, Stop> {
    let Calls { credential, make } = calls(trial)?;
    let Some(call) = make(forgery, now()) else {
        return Ok(None);
    };
    let hooked = match joined(credential(&url(trial.port))) {
        Ok(hooked) => hooked,
        Err(why) => return fails(why.to_string()),
    };
    let before = trial.desk.connections();
    let calling = async {
        // Who it is has to be known before anybody can call.
        trial.desk.until(|desk| desk.connections() > before).await;
        match hooked.adapter.abilities().hook {
            Some(hook) => Ok(Some(hook.take(&call, &trial.desk).await.status)),
            None => fails("it takes no calls"),
        }
    };
    tokio::select! {
        biased;
        ended = hooked.adapter.receive(&trial.desk) => fails(format!("the connection ended: {ended:?}")),
        status = calling => status,
    }
}

async fn genuine(trial: &Trial) -> Checked {
    trial.desk.be(Mood::Fails(1));
    let status = answered(trial, Forgery::Genuine).await?.unwrap_or(0);
    ensure(status >= 500, || {
        format!("{status} although it was not recorded")
    })?;
    let status = answered(trial, Forgery::Genuine).await?.unwrap_or(0);
    ensure(status == 200, || {
        format!("{status} although it was recorded")
    })?;
    let recorded = trial.desk.recorded().len();
    ensure(recorded == 1, || format!("{recorded} were recorded"))
}

async fn forged(trial: &Trial) -> Checked {
    for forgery in [
        Forgery::Absent,
        Forgery::Empty,
        Forgery::Wrong,
        Forgery::Old,
    ] {
        let status = answered(trial, forgery).await?;
        ensure(status.is_none_or(|status| status == 401), || {
            format!("{forgery:?} was answered {status:?}")
        })?;
    }
    let handed = trial.desk.handed().len();
    ensure(handed == 0, || format!("{handed} were believed"))
}
