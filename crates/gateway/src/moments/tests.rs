//! Moments that pass, and those who do not wait for them.

use std::time::Duration;

use tokio::time::{Instant, advance, sleep};

use super::{MOMENT, Moments};

/// What happens while moments pass.
async fn meanwhile<T>(moments: &Moments, story: impl Future<Output = T>) -> T {
    tokio::select! {
        () = moments.keep() => unreachable!("moments pass for ever"),
        told = story => told,
    }
}

#[tokio::test(start_paused = true)]
async fn everybody_waits_for_a_moment_from_when_they_came() {
    let moments = Moments::default();
    let start = Instant::now();
    let wait = async |after: u64| {
        sleep(Duration::from_millis(after)).await;
        moments.pass().await;
        start.elapsed()
    };
    let all = async { tokio::join!(wait(0), wait(1), wait(1), wait(24), wait(400)) };
    let ended = meanwhile(&moments, all).await;
    let after = |millis| Duration::from_millis(millis) + MOMENT;
    assert_eq!(ended, (after(0), after(1), after(1), after(24), after(400)));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_kept_of_those_who_left() {
    let moments = Moments::default();
    for _ in 0..100 {
        let passing = tokio::time::timeout(Duration::from_millis(1), moments.pass());
        assert!(passing.await.is_err());
    }
    meanwhile(&moments, moments.pass()).await;
    assert_eq!(moments.waiting().len(), 0);
    advance(MOMENT).await;
    assert_eq!(moments.next_end(), None, "there is nothing to wake up for");
}
