//! What comes in: who we are, what is acknowledged when, what comes again, in which order, and where it was said.

use std::collections::BTreeSet;

use futures::FutureExt as _;
use talaria_domain::adapter::Disconnected;
use talaria_domain::event::{Event, EventKind};

use super::Check;
use super::desk::Mood;
use super::trial::{Checked, MOMENT, MUTE, Trial, absent, connection, ensure, fails};
use crate::vendor::On;

pub(super) const CHECKS: &[Check] = &[
    ("identity is proved before anything else", |trial| {
        identity(trial).boxed()
    }),
    ("a credential that is not accepted ends it", |trial| {
        wrong_credential(trial).boxed()
    }),
    ("acknowledged only after it was recorded", |trial| {
        ack_after_commit(trial).boxed()
    }),
    ("what was not recorded comes again, in order", |trial| {
        redelivery(trial).boxed()
    }),
    (
        "the same message has the same key, however it comes",
        |trial| dedupe(trial).boxed(),
    ),
    ("many messages, in order", |trial| ordering(trial).boxed()),
    ("a backlog is served", |trial| backlog(trial).boxed()),
    ("said in a thread, heard in that thread", |trial| {
        thread(trial).boxed()
    }),
    ("comes back after the vendor was away", |trial| {
        reconnect(trial).boxed()
    }),
    ("garbage is passed over", |trial| garbage(trial).boxed()),
    ("a mute connection is noticed within a minute", |trial| {
        mute(trial).boxed()
    }),
];

fn text(event: &Event) -> &str {
    match &event.kind {
        EventKind::Message(content) => &content.text,
        _ => "",
    }
}

fn texts(events: &[Event]) -> Vec<&str> {
    events.iter().map(text).collect()
}

async fn identity(trial: &Trial) -> Checked {
    trial.connect().await?;
    let identity = trial.desk.identity();
    ensure(identity.is_some_and(|it| !it.id.is_empty()), || {
        "it has no id".to_owned()
    })
}

async fn wrong_credential(trial: &Trial) -> Checked {
    let Ok(other) = connection(&trial.candidate, trial.port, false) else {
        return fails("it cannot be made");
    };
    let receiving = other.adapter.receive(&trial.desk);
    match tokio::time::timeout(MUTE, receiving).await {
        Ok(Disconnected::Unauthorized { detail }) => {
            ensure(!detail.is_empty(), || "it does not say why".to_owned())
        }
        Ok(ended) => fails(format!("it ended with {ended:?}")),
        Err(_) => fails("it goes on"),
    }
}

async fn ack_after_commit(trial: &Trial) -> Checked {
    trial.desk.be(Mood::Holds);
    trial
        .while_receiving(async {
            trial.writes("hold this");
            trial.desk.until(|desk| !desk.handed().is_empty()).await;
            tokio::time::sleep(MOMENT).await;
            let backlog = trial.scene.look().backlog;
            ensure(backlog > 0, || {
                "it was acknowledged before it was recorded".to_owned()
            })?;
            trial.desk.be(Mood::Records);
            trial.sees(|sight| sight.backlog == 0).await
        })
        .await
}

async fn redelivery(trial: &Trial) -> Checked {
    trial.desk.be(Mood::Fails(2));
    trial
        .while_receiving(async {
            for text in ["one", "two", "three"] {
                trial.writes(text);
            }
            trial
                .desk
                .until(|desk| distinct(&desk.recorded()).len() >= 3)
                .await;
            trial.sees(|sight| sight.backlog == 0).await
        })
        .await?;
    let recorded = first_of_each(trial.desk.recorded());
    let seen = texts(&recorded);
    ensure(seen == ["one", "two", "three"], || {
        format!("it came as {seen:?}")
    })
}

/// The keys of these events.
fn distinct(events: &[Event]) -> BTreeSet<talaria_domain::event::DedupeKey> {
    events.iter().map(|event| event.dedupe).collect()
}

/// Each event once, where it came first.
fn first_of_each(events: Vec<Event>) -> Vec<Event> {
    let mut seen = BTreeSet::new();
    let is_first = |event: &Event| seen.insert(event.dedupe);
    events.into_iter().filter(is_first).collect()
}

async fn dedupe(trial: &Trial) -> Checked {
    trial.desk.be(Mood::Fails(1));
    trial
        .while_receiving(async {
            trial.writes("again");
            trial.desk.until(|desk| !desk.recorded().is_empty()).await;
            Ok(())
        })
        .await?;
    let handed = trial.desk.handed();
    ensure(handed.len() >= 2, || "it was handed in once".to_owned())?;
    let keys = distinct(&handed).len();
    ensure(keys == 1, || format!("{keys} keys for one message"))
}

async fn ordering(trial: &Trial) -> Checked {
    let written: Vec<String> = (0..30).map(|number| format!("word {number}")).collect();
    trial
        .while_receiving(async {
            for text in &written {
                trial.writes(text);
            }
            trial
                .desk
                .until(|desk| distinct(&desk.recorded()).len() >= 30)
                .await;
            Ok(())
        })
        .await?;
    let recorded = first_of_each(trial.desk.recorded());
    ensure(texts(&recorded) == written, || {
        format!("it came as {:?}", texts(&recorded))
    })
}

async fn backlog(trial: &Trial) -> Checked {
    trial
        .hears(&(trial.candidate.places.direct)(1, "before"))
        .await?;
    // Nobody is connected.
    trial.writes("meanwhile");
    trial
        .while_receiving(async {
            let is_there = |desk: &super::desk::Desk| {
                desk.recorded()
                    .iter()
                    .any(|event| text(event) == "meanwhile")
            };
            trial.desk.until(is_there).await;
            Ok(())
        })
        .await
}

async fn thread(trial: &Trial) -> Checked {
    let Some(place) = trial.candidate.places.thread else {
        return absent("it has no threads");
    };
    let written = place(1, "in the thread");
    let event = trial.hears(&written).await?;
    let (said, heard) = (
        written.thread,
        event.address.thread.map(|it| it.to_string()),
    );
    ensure(heard.is_some() && heard == said, || {
        format!("said in {said:?}, heard in {heard:?}")
    })
}

async fn reconnect(trial: &Trial) -> Checked {
    trial.connect().await?;
    trial.vendor_goes().await;
    let ended = trial.ends_within(MUTE).await?;
    ensure(matches!(ended, Disconnected::Lost { .. }), || {
        format!("it ended with {ended:?}")
    })?;
    let scene = trial.vendor_comes().await?;
    trial
        .while_receiving(async {
            scene.write(&(trial.candidate.places.direct)(1, "back again"));
            let is_there =
                |desk: &super::desk::Desk| texts(&desk.recorded()).contains(&"back again");
            trial.desk.until(is_there).await;
            Ok(())
        })
        .await
}

async fn garbage(trial: &Trial) -> Checked {
    trial.goes_wrong(On::Updates, "garbage", None);
    trial.goes_wrong(On::Socket, "garbage", None);
    trial
        .hears(&(trial.candidate.places.direct)(1, "after the garbage"))
        .await
        .map(drop)
}

async fn mute(trial: &Trial) -> Checked {
    trial.goes_wrong(On::Updates, "hang", None);
    trial.goes_wrong(On::Socket, "hang", None);
    // Where a connection stays, it goes mute after the next thing that is said on it.
    trial.writes("the last thing");
    let ended = trial.ends_within(MUTE).await?;
    ensure(matches!(ended, Disconnected::Lost { .. }), || {
        format!("it ended with {ended:?}")
    })
}
