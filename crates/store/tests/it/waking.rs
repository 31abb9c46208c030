//! Whoever waits hears of a commit, once it happened and only then, on this node and on others.

use talaria_sim::people::direct_chat;
use talaria_store::{Ledger, StoreError, Wake, inbox};

use crate::world::World;

fn target() -> Wake {
    Wake::Target(direct_chat("ada").target())
}

both_engines! {
    async fn a_commit_wakes_and_a_failure_does_not(world) {
        let mut wakes = world.ledger.subscribe();
        let lost = world.arrival("bob", "lost");
        let failed = world.ledger.write(move |tx| {
            inbox::record(tx, &lost)?;
            Err::<(), _>(StoreError::NotFound { thing: "reason", id: "to go on".to_owned() })
        });
        assert!(failed.await.is_err());
        let (_, session) = world.says("ada", "hello").await;
        assert_eq!(wakes.next().await, Some(Wake::Lane(session)), "the first wake is the first commit's");
    }

    async fn a_subscriber_that_fell_behind_is_told_to_look_at_everything(world) {
        let mut wakes = world.ledger.subscribe();
        for _ in 0..50 {
            world.write(|tx| {
                tx.wake(target());
                tx.wake(Wake::Jobs);
                tx.wake(target());
                Ok(())
            }).await;
        }
        assert_eq!(wakes.next().await, Some(target()), "kept while there is room");
        assert_eq!(wakes.next().await, Some(Wake::Jobs), "and told once a commit");
        for _ in 0..90 {
            world.write(|tx| {
                for index in 0..60_u8 {
                    tx.wake(Wake::Lane(talaria_domain::ids::SessionId::from_bytes([index; 16])));
                }
                Ok(())
            }).await;
        }
        assert_eq!(wakes.next().await, Some(Wake::Everything));
    }

    async fn closing_ends_the_wait(world) {
        let settings = world.settings.clone();
        world.ledger.close().await;
        let ledger = Ledger::open_with(settings).await.unwrap();
        let mut wakes = ledger.subscribe();
        ledger.close().await;
        assert_eq!(wakes.next().await, None);
        assert_eq!(ledger.subscribe().next().await, None);
    }
}

/// Only PostgreSQL has several nodes; that SQLite refuses a second one is told in `opening`.
#[tokio::test]
async fn another_node_hears_of_it_too() {
    let world = World::postgres().await;
    let other = Ledger::open_with(world.settings.clone()).await.unwrap();
    let (mut here, mut there) = (world.ledger.subscribe(), other.subscribe());
    // The other node listens from some moment on: repeat until it has heard.
    let heard = tokio::time::timeout(std::time::Duration::from_secs(30), async {
        loop {
            let (_, session) = world.says("ada", "hello").await;
            assert_eq!(
                here.next().await,
                Some(Wake::Lane(session)),
                "once here, and not again by way of the server"
            );
            let patience = std::time::Duration::from_millis(200);
            if let Ok(wake) = tokio::time::timeout(patience, there.next()).await {
                return (wake, session);
            }
        }
    });
    let (wake, session) = heard.await.expect("the other node never heard");
    assert_eq!(wake, Some(Wake::Lane(session)));
    other.close().await;
    world.end().await;
}
