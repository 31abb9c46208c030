//! Nobody asks the ledger again and again: a gateway with nothing to do does nothing.

use std::time::Duration;

use talaria_store::Tx;

use crate::world::{Setup, World};

#[tokio::test(start_paused = true)]
async fn an_idle_gateway_makes_no_ledger_calls() {
    let world = World::begin(Setup::default()).await;
    for text in ["one", "two", "/status"] {
        world.says("ada", text);
        world.passes(Duration::from_secs(5)).await;
    }
    assert_eq!(world.sees("ada").len(), 3);
    // What was said goes into the index, once.
    world.passes(Duration::from_mins(1)).await;
    let before = world.calls.count();
    assert!(before > 0, "it has done something");
    world.passes(Duration::from_mins(8)).await;
    assert_eq!(world.calls.count(), before);
    world.passes(Duration::from_hours(10)).await;
    let looked = world.calls.count() - before;
    assert!(looked <= 11, "once an hour for what is old: {looked}");
    let before = world.calls.count();
    world.says("ada", "three");
    world.passes(Duration::from_secs(5)).await;
    assert!(world.calls.count() > before, "and it is still there");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_old_goes_by_itself_and_nothing_else_does() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "one");
    world.passes(Duration::from_hours(80 * 24)).await;
    world.says("ada", "two");
    world.passes(Duration::from_secs(5)).await;
    assert_eq!(kept(&world).await, 2);
    world.passes(Duration::from_hours(11 * 24)).await;
    assert_eq!(kept(&world).await, 1, "the first is older than 90 days");
    assert_eq!(world.sees("ada").len(), 2);
    world.ends().await;
}

/// How many events are kept.
async fn kept(world: &World) -> i64 {
    let count = |tx: &mut Tx<'_>| tx.row("SELECT COUNT(*) FROM inbox", &[], |row| row.get(0));
    world.read(count).await.unwrap()
}
