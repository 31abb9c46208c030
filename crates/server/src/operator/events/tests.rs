//! What a reader is written, and when.

use std::collections::VecDeque;

use talaria_domain::adapter::Pending;
use talaria_domain::ids::{EventId, RunId};
use talaria_domain::run::RunEvent;

use super::*;

/// A conversation in which this has happened, and nothing more does.
struct Past(VecDeque<Happening>);

impl Watch for Past {
    fn next(&mut self) -> Pending<'_, Option<Happening>> {
        let next = self.0.pop_front();
        Box::pin(async {
            match next {
                Some(happening) => Some(happening),
                None => future::pending().await,
            }
        })
    }
}

fn watching(happenings: impl IntoIterator<Item = Happening>) -> Watching {
    Watching::of(Box::new(Past(happenings.into_iter().collect())))
}

fn started() -> Happening {
    Happening::Started {
        run: RunId::from_bytes([1; 16]),
        event: EventId::from_bytes([2; 16]),
    }
}

fn written(bytes: &Bytes) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[tokio::test(start_paused = true)]
async fn what_waits_is_written_at_once() {
    let mut watching = watching([started(), Happening::Missed, Happening::Missed]);
    let first = watching.next().await.unwrap();
    let beginning = serde_json::to_string(&started()).unwrap();
    let missed = "event: missed\ndata: {\"happening\":\"missed\"}\n\n";
    assert_eq!(
        written(&first),
        format!("event: started\ndata: {beginning}\n\n{missed}{missed}")
    );
}

#[tokio::test(start_paused = true)]
async fn the_news_that_a_turn_begins_waits_for_a_moment_only() {
    let begun = Instant::now();
    let first = watching([started()]).next().await.unwrap();
    assert!(written(&first).starts_with("event: started\n"));
    assert!((A_MOMENT..ALIVE).contains(&begun.elapsed()));
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_says_that_it_is_still_there() {
    let mut watching = watching([Happening::Missed]);
    watching.next().await.unwrap();
    for _ in 0..2 {
        let quiet_since = Instant::now();
        assert_eq!(written(&watching.next().await.unwrap()), ":\n\n");
        assert!((ALIVE..ALIVE * 2).contains(&quiet_since.elapsed()));
    }
}

#[tokio::test(start_paused = true)]
async fn much_is_written_in_pieces_and_all_of_it_once() {
    let much = |seq| Happening::Yielded {
        run: RunId::from_bytes([1; 16]),
        seq,
        what: RunEvent::MessageDelta {
            text: "x".repeat(AT_ONCE),
        },
    };
    let mut watching = watching((1..=3).map(much));
    for seq in 1..=3 {
        let piece = watching.next().await.unwrap();
        let events: Vec<&str> = written(&piece).matches("event: yielded\n").collect();
        assert_eq!(events.len(), 1, "it is long enough for itself");
        assert!(written(&piece).contains(&format!("\"seq\":{seq},")));
    }
}
