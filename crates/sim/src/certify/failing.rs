//! What goes wrong: "later" is heard whatever was sent, no answer is never called a no, and a no is a no.

use std::time::Duration;

use futures::FutureExt as _;
use talaria_domain::adapter::Sign;
use talaria_domain::address::Address;
use talaria_domain::delivery::Outcome;

use super::Check;
use super::abilities::{delivered, place};
use super::trial::{Checked, Trial, absent, connection, ensure, fails};
use crate::vendor::On;

pub(super) const CHECKS: &[Check] = &[
    ("`retry_after` is heard at a send", |trial| {
        later_at_send(trial).boxed()
    }),
    ("`retry_after` is heard at a change", |trial| {
        later_at_edit(trial).boxed()
    }),
    ("`retry_after` is heard at a typing sign", |trial| {
        later_at_typing(trial).boxed()
    }),
    ("no answer after a send is in doubt", |trial| {
        ambiguous(trial).boxed()
    }),
    ("a broken vendor is in doubt", |trial| broken(trial).boxed()),
    ("a vendor that is away got nothing", |trial| {
        away(trial).boxed()
    }),
    ("a permanent no is permanent", |trial| {
        refused(trial).boxed()
    }),
];

const WAIT: Duration = Duration::from_secs(3);

fn is_later(outcome: &Outcome) -> Checked {
    let is_heard = matches!(
        outcome,
        Outcome::NotSent { retry_after: Some(wait), .. } if *wait >= WAIT && *wait <= WAIT * 2
    );
    ensure(is_heard, || format!("{outcome:?}"))
}

async fn later_at_send(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    trial.goes_wrong(On::Send, "429", Some(WAIT.as_secs()));
    is_later(&trial.adapter.send(&trial.part(&to, "too fast")).await)
}

async fn later_at_edit(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    let Some(edit) = trial.adapter.abilities().edit else {
        return absent("messages cannot be changed");
    };
    let receipt = delivered(trial.adapter.send(&trial.part(&to, "so far")).await)?;
    trial.goes_wrong(On::Edit, "429", Some(WAIT.as_secs()));
    is_later(&edit.edit(&receipt, &trial.part(&to, "further")).await)
}

async fn later_at_typing(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    let Some(typing) = trial.adapter.abilities().typing else {
        return absent("it has no typing sign");
    };
    trial.goes_wrong(On::Typing, "429", Some(WAIT.as_secs()));
    is_later(&typing.sign(&to, Sign::On).await)
}

async fn ambiguous(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    trial.goes_wrong(On::Send, "drop_after_accept", None);
    let outcome = trial.adapter.send(&trial.part(&to, "did it arrive")).await;
    ensure(matches!(outcome, Outcome::Unknown { .. }), || {
        format!("{outcome:?}")
    })
}

async fn broken(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    trial.goes_wrong(On::Send, "500", None);
    let outcome = trial.adapter.send(&trial.part(&to, "did it arrive")).await;
    ensure(matches!(outcome, Outcome::Unknown { .. }), || {
        format!("{outcome:?}")
    })
}

async fn away(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    trial.vendor_goes().await;
    // A connection that was open may have carried it away: here there is none yet.
    let Ok(other) = connection(&trial.candidate, trial.port, true) else {
        return fails("it cannot be made");
    };
    let part = trial.part(&to, "nobody is there");
    let outcome = other.adapter.send(&part).await;
    ensure(matches!(outcome, Outcome::NotSent { .. }), || {
        format!("{outcome:?}")
    })
}

async fn refused(trial: &Trial) -> Checked {
    let (to, _) = place(trial).await?;
    trial.goes_wrong(On::Send, "403", None);
    let outcome = trial.adapter.send(&trial.part(&to, "not here")).await;
    ensure(matches!(outcome, Outcome::Rejected { .. }), || {
        format!("{outcome:?}")
    })?;
    let Outcome::Rejected { detail, .. } = outcome else {
        return fails("it was not refused");
    };
    let nowhere = Address {
        chat: "999999999999".into(),
        ..to
    };
    let is_told = !detail.is_empty() && nowhere.chat.as_str() != detail;
    ensure(is_told, || "it does not say why".to_owned())
}
