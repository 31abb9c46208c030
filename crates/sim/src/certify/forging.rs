//! Calls of a platform: genuine ones are taken after they were recorded, and nobody else is believed.

use futures::FutureExt as _;
use talaria_domain::adapter::HookAnswer;
use talaria_domain::clock::Timestamp;

use super::Check;
use super::candidates::Forgery;
use super::desk::Mood;
use super::trial::{Checked, Stop, Trial, absent, connection, ensure, fails};
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

async fn call(trial: &Trial, forgery: Forgery, at: Timestamp) -> Result<HookAnswer, Stop> {
    let Some(made) = trial.candidate.calls else {
        return absent("it does not call us");
    };
    let Ok(hooked) = connection(&trial.candidate, trial.port, true) else {
        return fails("it cannot be connected");
    };
    let Some(hook) = hooked.adapter.abilities().hook else {
        return fails("it takes no calls");
    };
    Ok(hook.take(&made(forgery, at), &trial.desk).await)
}

async fn genuine(trial: &Trial) -> Checked {
    trial.desk.be(Mood::Fails(1));
    let answer = call(trial, Forgery::Genuine, now()).await?;
    ensure(answer.status >= 500, || {
        format!("{} although it was not recorded", answer.status)
    })?;
    let answer = call(trial, Forgery::Genuine, now()).await?;
    ensure(answer.status == 200, || {
        format!("{} although it was recorded", answer.status)
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
        let answer = call(trial, forgery, now()).await?;
        ensure(answer.status == 401, || {
            format!("{forgery:?} was answered {}", answer.status)
        })?;
    }
    let handed = trial.desk.handed().len();
    ensure(handed == 0, || format!("{handed} were believed"))
}
