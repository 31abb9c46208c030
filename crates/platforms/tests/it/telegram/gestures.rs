//! Typing signs and marks.

use std::time::Duration;

use serde_json::json;
use talaria_domain::adapter::{Adapter as _, Mark, Sign};
use talaria_domain::address::ChatKind;
use talaria_domain::delivery::{Outcome, Rejection};
use talaria_domain::event::ReactionChange::{self, Added, Removed};
use talaria_domain::names::MessageId;
use talaria_sim::vendor::On;

use super::world::{ADA, BOT, World, class, in_time, place};

async fn mark(world: &World, message: &str, mark: Mark, change: ReactionChange) -> Outcome {
    let reactions = world.telegram.abilities().reactions.unwrap();
    let at = place(ADA, ChatKind::Direct, None);
    let message = MessageId::from(message);
    in_time(reactions.mark((&at, &message), mark, change)).await
}

fn marks(world: &World) -> Vec<String> {
    let marks = world.vendor().chat(ADA).messages[0].marks.clone();
    assert!(marks.iter().all(|(who, _)| who == BOT));
    marks.into_iter().map(|(_, mark)| mark).collect()
}

#[tokio::test]
async fn a_typing_sign_is_shown_and_goes_by_itself() {
    let world = World::with_ada().await;
    let typing = world.telegram.abilities().typing.unwrap();
    assert_eq!(typing.lasts(), Duration::from_secs(5));
    let at = place(ADA, ChatKind::Direct, None);
    for sign in [Sign::On, Sign::Off] {
        let outcome = in_time(typing.sign(&at, sign)).await;
        assert_eq!(outcome, Outcome::Delivered { receipts: vec![] });
    }
    let signs = world.vendor().chat(ADA).signs;
    assert_eq!(signs.len(), 1);
    assert_eq!(
        (signs[0].says.as_str(), signs[0].thread.as_deref()),
        ("typing", None)
    );
    world.order(On::Typing, "429", 1);
    let outcome = in_time(typing.sign(&at, Sign::On)).await;
    assert!(
        matches!(
            outcome,
            Outcome::NotSent {
                retry_after: Some(_),
                ..
            }
        ),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_mark_takes_the_place_of_the_one_before() {
    let world = World::with_ada().await;
    mark(&world, "1", Mark::Seen, Added).await;
    assert_eq!(marks(&world), ["👀"]);
    mark(&world, "1", Mark::Done, Added).await;
    assert_eq!(marks(&world), ["👍"]);
    // What was taken away has gone before; what is there stays.
    mark(&world, "1", Mark::Seen, Removed).await;
    assert_eq!(marks(&world), ["👍"]);
    mark(&world, "1", Mark::Done, Removed).await;
    assert!(marks(&world).is_empty());
    mark(&world, "1", Mark::Failed, Added).await;
    assert_eq!(marks(&world), ["👎"]);
    assert_eq!(world.asked("setmessagereaction").len(), 4);
    assert_eq!(world.asked("setmessagereaction")[2]["reaction"], json!([]));
}

#[tokio::test]
async fn a_message_that_is_gone_has_no_mark() {
    let world = World::with_ada().await;
    let outcome = mark(&world, "999", Mark::Seen, Added).await;
    assert_eq!(class(&outcome), Some(Rejection::Gone));
    let outcome = mark(&world, "no number", Mark::Seen, Added).await;
    assert_eq!(class(&outcome), Some(Rejection::Invalid));
}
