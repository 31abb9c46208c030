//! Using keys and taking them back.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const EARLY: Timestamp = Timestamp::from_millis(1_000);
const LATE: Timestamp = Timestamp::from_millis(2_000);

fn named(uses: &[(&str, Timestamp)]) -> Vec<(String, Timestamp)> {
    let owned = |(key, at): &(&str, Timestamp)| ((*key).to_owned(), *at);
    uses.iter().map(owned).collect()
}

#[test]
fn the_latest_use_of_each_key_is_written_once() {
    let ring = Ring::default();
    for (key, at) in [("ada", LATE), ("bob", EARLY), ("ada", EARLY), ("ada", LATE)] {
        ring.note(key, at, 0).unwrap();
    }
    let uses = ring.unwritten();
    assert_eq!(uses, named(&[("ada", LATE), ("bob", EARLY)]));
    ring.note("bob", LATE, 0).unwrap();
    ring.written(&uses);
    assert_eq!(
        ring.unwritten(),
        named(&[("bob", LATE)]),
        "it was used meanwhile"
    );
    assert_eq!(ring.last("ada"), Some(LATE));
    assert_eq!(ring.last("cyd"), None);
}

#[test]
fn whoever_uses_a_key_goes_when_it_is_taken_back() {
    let ring = Ring::default();
    let (ada, bob) = (
        ring.note("ada", EARLY, 0).unwrap(),
        ring.note("bob", EARLY, 0).unwrap(),
    );
    ring.take_back("ada");
    assert!(ada.is_cancelled() && !bob.is_cancelled());
    assert_eq!(
        ring.unwritten(),
        named(&[("bob", EARLY)]),
        "there is nothing to write of it"
    );
}

#[test]
fn a_key_that_was_taken_back_while_it_was_looked_up_is_looked_up_again() {
    let ring = Ring::default();
    let seen = ring.taken_back();
    ring.take_back("ada");
    assert!(ring.note("ada", LATE, seen).is_none());
    assert!(ring.note("bob", LATE, seen).is_none(), "whichever it was");
    assert!(ring.note("bob", LATE, ring.taken_back()).is_some());
}

/// Lets time pass, and whoever waited for it go on.
async fn passes(time: Duration) {
    tokio::time::advance(time).await;
    tokio::task::yield_now().await;
}

#[tokio::test(start_paused = true)]
async fn uses_are_written_once_a_minute_and_not_at_all_without_any() {
    let (ring, stop, writes) = (
        Ring::default(),
        CancellationToken::new(),
        AtomicUsize::new(0),
    );
    let writing = ring.gather(&stop, || {
        writes.fetch_add(1, Ordering::Relaxed);
        std::future::ready(())
    });
    let story = async {
        let mut counts = Vec::new();
        let mut count = || counts.push(writes.load(Ordering::Relaxed));
        passes(GATHERED * 10).await;
        count();
        for _ in 0..300 {
            ring.note("ada", LATE, 0).unwrap();
            passes(Duration::from_secs(1)).await;
        }
        count();
        passes(GATHERED * 10).await;
        count();
        stop.cancel();
        counts
    };
    let ((), counts) = tokio::join!(writing, story);
    assert_eq!(counts[0], 0, "nothing was used");
    assert!(
        (4..=5).contains(&counts[1]),
        "five minutes of use: {counts:?}"
    );
    assert!(counts[2] <= 6, "one for the rest: {counts:?}");
}
