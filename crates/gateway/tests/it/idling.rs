//! Nobody asks the ledger again and again: a gateway with nothing to do does nothing.

use std::time::Duration;

use crate::world::{Setup, World};

#[tokio::test(start_paused = true)]
async fn an_idle_gateway_makes_no_ledger_calls() {
    let world = World::begin(Setup::default()).await;
    for text in ["one", "two", "/status"] {
        world.says("ada", text);
        world.passes(Duration::from_secs(5)).await;
    }
    assert_eq!(world.sees("ada").len(), 3);
    let before = world.calls.count();
    assert!(before > 0, "it has done something");
    world.passes(Duration::from_hours(10)).await;
    assert_eq!(world.calls.count(), before);
    world.says("ada", "three");
    world.passes(Duration::from_secs(5)).await;
    assert!(world.calls.count() > before, "and it is still there");
    world.ends().await;
}
