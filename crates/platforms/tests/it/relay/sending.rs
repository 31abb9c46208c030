//! What became of a message is told as it is: there, not there, or nobody knows.

use std::time::Duration;

use talaria_domain::adapter::{Adapter as _, TextForm};
use talaria_domain::capabilities::{Capability, TextUnit};
use talaria_domain::delivery::{Outcome, Receipt, Rejection};
use talaria_sim::relay::{self, Offer, On, Terms};

use super::world::{Desk, NOW, World, in_time, part, relay_to};

/// Connects once, so that the adapter knows what it can do.
async fn connected(offer: Offer) -> World {
    let world = World::offering(offer).await;
    let desk = Desk::open();
    world
        .while_connected(&desk, world.was_asked(On::Updates, 1))
        .await;
    world
}

fn receipt(outcome: Outcome) -> Receipt {
    match outcome {
        Outcome::Delivered { receipts } if receipts.len() == 1 => receipts[0].clone(),
        other => panic!("not one receipt: {other:?}"),
    }
}

fn class(outcome: &Outcome) -> Option<Rejection> {
    match outcome {
        Outcome::Rejected { class, .. } => Some(*class),
        _ => None,
    }
}

#[tokio::test]
async fn a_message_is_there_and_has_a_receipt() {
    let world = World::offering(Offer::Plain).await;
    let mut outgoing = part(1, "**hello**");
    outgoing.to.thread = Some("topic".into());
    outgoing.to.reply_to = Some("m7".into());
    let receipt = receipt(world.send(&outgoing).await);
    let shown = &world.vendor().chat("chat of ada").messages[0];
    assert_eq!(receipt.message.as_str(), shown.message_id);
    assert_eq!(receipt.at, NOW);
    assert_eq!(shown.text, "**hello**");
    assert_eq!(shown.thread.as_deref(), Some("topic"));
    assert_eq!(shown.reply_to.as_deref(), Some("m7"));
    assert_eq!(shown.format.as_deref(), Some("markdown"));
}

#[tokio::test]
async fn what_can_be_done_is_what_the_bridge_says() {
    let before = World::offering(Offer::Edits).await;
    let capabilities = before.relay.capabilities();
    assert!(capabilities.can.is_empty() && before.relay.abilities().edit.is_none());
    assert_eq!(capabilities.text_limit.max, 4_096);

    for (offer, can) in [
        (Offer::Plain, vec![]),
        (Offer::Keys, vec![Capability::IdempotentSend]),
        (Offer::Edits, vec![]),
    ] {
        let world = connected(offer).await;
        let capabilities = world.relay.capabilities();
        assert_eq!(capabilities.can.into_iter().collect::<Vec<_>>(), can);
        assert_eq!(
            world.relay.abilities().edit.is_some(),
            offer == Offer::Edits
        );
        assert_eq!(capabilities.text_limit.unit, TextUnit::Utf16);
    }
}

#[tokio::test]
async fn every_no_is_told_as_its_class_and_nothing_is_there() {
    let world = World::offering(Offer::Plain).await;
    for (mishap, expected) in [
        ("401", Rejection::Unauthorized),
        ("403", Rejection::Forbidden),
        ("404", Rejection::Gone),
        ("409", Rejection::Invalid),
        ("400 markup", Rejection::Markup),
        ("400 too_long", Rejection::TooLong),
        ("400 whatever", Rejection::Invalid),
    ] {
        world.order(On::Send, mishap);
        let outcome = world.send(&part(1, "hello")).await;
        assert_eq!(class(&outcome), Some(expected), "{mishap}");
    }
    assert!(world.seen().is_empty());
}

#[tokio::test]
async fn too_many_requests_close_the_chat_for_as_long_as_the_bridge_says() {
    let world = World::offering(Offer::Plain).await;
    world.order(On::Send, "429");
    let outcome = world.send(&part(1, "hello")).await;
    assert!(
        matches!(outcome, Outcome::NotSent { retry_after: Some(wait), .. } if wait == Duration::from_secs(3)),
        "{outcome:?}"
    );
    receipt(world.send(&part(1, "hello")).await);
    assert_eq!(world.seen(), ["hello"]);
}

#[tokio::test]
async fn without_an_answer_nobody_knows() {
    for (mishap, is_there) in [
        ("500", false),
        ("close", false),
        ("close_before_accept", false),
        ("drop_after_accept", true),
    ] {
        let world = World::offering(Offer::Plain).await;
        world.order(On::Send, mishap);
        let outcome = world.send(&part(1, "hello")).await;
        assert!(
            matches!(outcome, Outcome::Unknown { .. }),
            "{mishap}: {outcome:?}"
        );
        assert_eq!(world.seen().len(), usize::from(is_there), "{mishap}");
        assert_eq!(world.asked(On::Send), 1, "{mishap}: asked again unseen");
    }
}

#[tokio::test]
async fn a_kept_connection_that_closes_is_no_reason_to_send_twice() {
    let world = World::offering(Offer::Plain).await;
    receipt(world.send(&part(1, "one")).await);
    world.order(On::Send, "drop_after_accept");
    let outcome = world.send(&part(2, "two")).await;
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    assert_eq!(world.seen(), ["one", "two"]);
    assert_eq!(world.asked(On::Send), 2);
}

#[tokio::test]
async fn a_bridge_that_hangs_is_not_waited_for_for_ever() {
    let world = World::offering(Offer::Plain).await;
    world.order(On::Send, "hang");
    let outgoing = part(1, "hello");
    let hangs = async {
        world.was_asked(On::Send, 1).await;
        // Nothing moves any more: the clock may jump.
        tokio::time::pause();
    };
    let (outcome, ()) = tokio::join!(world.send(&outgoing), hangs);
    assert!(
        matches!(&outcome, Outcome::Unknown { detail } if detail == "no answer in time"),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_bridge_that_is_not_there_was_certainly_not_told() {
    let server = relay::start("127.0.0.1:0", Terms::offering(Offer::Plain))
        .await
        .unwrap();
    let url = server.url();
    server.stop().await;
    for url in [
        url.as_str(),
        "http://nobody.invalid",
        "http://127.0.0.1:1/below",
    ] {
        let relay = relay_to(url);
        let outcome = in_time(relay.send(&part(1, "hello"))).await;
        assert!(
            matches!(
                outcome,
                Outcome::NotSent {
                    retry_after: None,
                    ..
                }
            ),
            "{url}: {outcome:?}"
        );
    }
}

#[tokio::test]
async fn the_same_part_is_one_message_where_keys_are_taken() {
    let world = World::offering(Offer::Keys).await;
    world.order(On::Send, "drop_after_accept");
    let outcome = world.send(&part(1, "hello")).await;
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    let first = receipt(world.send(&part(1, "hello")).await);
    let again = receipt(world.send(&part(1, "hello")).await);
    assert_eq!(first, again);
    receipt(world.send(&part(2, "another")).await);
    assert_eq!(world.seen(), ["hello", "another"]);
}

#[tokio::test]
async fn what_is_too_long_after_all_is_said() {
    let world = World::offering(Offer::Plain).await;
    let outcome = world.send(&part(1, &"x".repeat(4_097))).await;
    assert_eq!(class(&outcome), Some(Rejection::TooLong));
}

#[tokio::test]
async fn plain_text_follows_where_the_markup_was_not_read() {
    let world = World::offering(Offer::Plain).await;
    world.order(On::Send, "400 markup");
    let mut outgoing = part(1, "*hello");
    assert_eq!(class(&world.send(&outgoing).await), Some(Rejection::Markup));
    outgoing.form = TextForm::Plain;
    receipt(world.send(&outgoing).await);
    let shown = &world.vendor().chat("chat of ada").messages[0];
    assert_eq!(
        (shown.text.as_str(), shown.format.as_deref()),
        ("*hello", Some("plain"))
    );
}

#[tokio::test]
async fn a_message_that_is_there_is_changed() {
    let world = connected(Offer::Edits).await;
    let sent = receipt(world.send(&part(1, "…")).await);
    let edit = world.relay.abilities().edit.unwrap();
    let changed = receipt(in_time(edit.edit(&sent, &part(1, "hello"))).await);
    assert_eq!(changed.message, sent.message);
    let shown = &world.vendor().chat("chat of ada").messages[0];
    assert_eq!((shown.text.as_str(), shown.edits), ("hello", 1));
    let gone = Receipt {
        message: "never/there?".into(),
        at: NOW,
    };
    let outcome = in_time(edit.edit(&gone, &part(1, "hello"))).await;
    assert_eq!(class(&outcome), Some(Rejection::Gone));
    let asked = world.vendor().requests();
    assert_eq!(asked.last().unwrap().path, "/v1/messages/never%2Fthere%3F");
}

#[tokio::test]
async fn a_change_goes_wrong_like_a_message() {
    let world = connected(Offer::Edits).await;
    let sent = receipt(world.send(&part(1, "…")).await);
    let edit = world.relay.abilities().edit.unwrap();
    for (mishap, text) in [
        ("429", "…"),
        ("400 markup", "…"),
        ("401", "…"),
        ("500", "…"),
        ("close", "…"),
        ("drop_after_accept", "hello"),
    ] {
        world.order(On::Edit, mishap);
        let outcome = in_time(edit.edit(&sent, &part(1, "hello"))).await;
        let is_expected = match mishap {
            "429" => matches!(
                outcome,
                Outcome::NotSent {
                    retry_after: Some(_),
                    ..
                }
            ),
            "400 markup" => class(&outcome) == Some(Rejection::Markup),
            "401" => class(&outcome) == Some(Rejection::Unauthorized),
            _ => matches!(outcome, Outcome::Unknown { .. }),
        };
        assert!(is_expected, "{mishap}: {outcome:?}");
        assert_eq!(world.seen(), [text], "{mishap}");
    }
}
