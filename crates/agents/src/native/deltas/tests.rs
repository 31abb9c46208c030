//! What is heard while a commit is under way goes out as one, and in order.

use std::sync::Mutex;

use talaria_domain::adapter::Pending;
use talaria_domain::effects::Effects;
use talaria_domain::run::RunEvent;
use talaria_domain::runner::{Host, Reach, Stopped};
use tokio::sync::Semaphore;

use super::Deltas;
use crate::models::{Delta, Heard};

/// A host whose commits take until they are let through.
struct Slow {
    permits: Semaphore,
    events: Mutex<Vec<RunEvent>>,
    stops_at: usize,
}

impl Slow {
    fn stopping_at(stops_at: usize, permits: usize) -> Self {
        Self {
            permits: Semaphore::new(permits),
            events: Mutex::default(),
            stops_at,
        }
    }

    fn events(&self) -> Vec<RunEvent> {
        self.events.lock().unwrap().clone()
    }
}

impl Host for Slow {
    fn journal(&self, event: RunEvent) -> Pending<'_, Result<(), Stopped>> {
        Box::pin(async move {
            self.permits.acquire().await.unwrap().forget();
            let mut events = self.events.lock().unwrap();
            events.push(event);
            if events.len() == self.stops_at {
                Err(Stopped)
            } else {
                Ok(())
            }
        })
    }

    fn stopped(&self) -> Pending<'_, ()> {
        Box::pin(std::future::pending())
    }

    fn steered(&self) -> Pending<'_, Result<Vec<String>, Stopped>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }

    fn reach(&self) -> &dyn Reach {
        panic!("nobody here goes beyond the conversation")
    }

    fn effects(&self) -> &dyn Effects {
        panic!("nobody here uses what it was granted")
    }
}

fn text(text: &str) -> RunEvent {
    RunEvent::MessageDelta {
        text: text.to_owned(),
    }
}

fn thought(text: &str) -> RunEvent {
    RunEvent::Reasoning {
        text: text.to_owned(),
    }
}

async fn say(deltas: &Deltas, words: &[&str]) {
    for word in words {
        deltas.hear(Delta::Text((*word).to_owned())).await.unwrap();
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_comes_during_a_commit_goes_out_as_one() {
    let (host, deltas) = (Slow::stopping_at(0, 0), Deltas::default());
    let talk = async {
        say(&deltas, &["a", "b", "c", "d"]).await;
        deltas.close();
        host.permits.add_permits(10);
    };
    let (ended, ()) = tokio::join!(biased; deltas.journal(&host), talk);
    assert_eq!(ended, Ok(()));
    assert_eq!(host.events(), [text("a"), text("bcd")]);
}

#[tokio::test]
async fn what_comes_slowly_goes_out_at_once() {
    let (host, deltas) = (Slow::stopping_at(0, 10), Deltas::default());
    let talk = async {
        say(&deltas, &["a", "b", "c"]).await;
        deltas.close();
    };
    let (ended, ()) = tokio::join!(biased; deltas.journal(&host), talk);
    assert_eq!(ended, Ok(()));
    assert_eq!(host.events(), [text("a"), text("b"), text("c")]);
}

#[tokio::test]
async fn a_thought_goes_out_whole_and_in_front_of_the_words() {
    let (host, deltas) = (Slow::stopping_at(0, 10), Deltas::default());
    let talk = async {
        for piece in ["h", "m", "m"] {
            deltas
                .hear(Delta::Reasoning(piece.to_owned()))
                .await
                .unwrap();
            tokio::task::yield_now().await;
        }
        say(&deltas, &["yes"]).await;
        deltas
            .hear(Delta::Reasoning("or no".to_owned()))
            .await
            .unwrap();
        deltas.close();
    };
    let (ended, ()) = tokio::join!(biased; deltas.journal(&host), talk);
    assert_eq!(ended, Ok(()));
    assert_eq!(
        host.events(),
        [thought("hmm"), text("yes"), thought("or no")]
    );
}

#[tokio::test]
async fn a_host_that_stops_hears_nothing_more() {
    let (host, deltas) = (Slow::stopping_at(2, 10), Deltas::default());
    let talk = async {
        say(&deltas, &["a", "b", "c"]).await;
        deltas.close();
    };
    let (ended, ()) = tokio::join!(biased; deltas.journal(&host), talk);
    assert_eq!(ended, Err(Stopped));
    assert_eq!(host.events(), [text("a"), text("b")]);
}
