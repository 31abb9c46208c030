//! What became of a message is told as it is: there, not there, or nobody knows.

use std::time::Duration;

use talaria_domain::adapter::{Adapter as _, Mark, Sign};
use talaria_domain::capabilities::{Capability, TextUnit};
use talaria_domain::delivery::{Outcome, Receipt, Rejection};
use talaria_domain::event::ReactionChange;
use talaria_sim::discord::{self, On, Terms, user_id};

use super::world::{NOW, TOKEN, World, adapter, class, in_time, part, receipt};

#[tokio::test]
async fn a_message_is_there_and_has_a_receipt() {
    let world = World::start().await;
    let asked = world.say("hello");
    let mut outgoing = part(1, "**hello**");
    outgoing.to.reply_to = Some(asked.as_str().into());
    let receipt = receipt(world.send(&outgoing).await);
    let shown = &world.vendor().chat("general").messages[1];
    assert_eq!(receipt.message.as_str(), shown.message_id);
    assert_eq!(receipt.at, NOW);
    assert_eq!(shown.text, "**hello**");
    assert_eq!(shown.reply_to.as_deref(), Some(&*asked));
    assert_eq!(
        shown.format.as_deref(),
        Some(r#"{"parse":[],"replied_user":false}"#)
    );
}

#[tokio::test]
async fn an_answer_to_what_is_gone_is_still_sent() {
    let world = World::start().await;
    world.say("hello");
    let mut outgoing = part(1, "hi");
    outgoing.to.reply_to = Some("42".into());
    receipt(world.send(&outgoing).await);
    assert_eq!(world.seen(), ["hi"]);
}

#[tokio::test]
async fn what_can_be_done_is_there() {
    let world = World::start().await;
    let capabilities = world.discord.capabilities();
    assert_eq!(capabilities.can, [Capability::Prompts].into());
    assert_eq!(capabilities.text_limit.max, 2_000);
    assert_eq!(capabilities.text_limit.unit, TextUnit::Chars);
    let abilities = world.discord.abilities();
    assert!(
        abilities.edit.is_some() && abilities.typing.is_some() && abilities.reactions.is_some()
    );
    assert!(abilities.threads.is_some() && abilities.media.is_some() && abilities.hook.is_none());
}

#[tokio::test]
async fn every_no_is_told_as_its_class_and_nothing_is_there() {
    let world = World::start().await;
    world.say("hello");
    for (mishap, expected) in [
        ("401", Rejection::Unauthorized),
        ("403 50001", Rejection::Forbidden),
        ("403 50013", Rejection::Forbidden),
        ("403 50007", Rejection::Forbidden),
        ("400 50083", Rejection::Forbidden),
        ("404 10003", Rejection::Gone),
        ("400 too_long", Rejection::TooLong),
        ("400 50035", Rejection::Invalid),
        ("400 whatever", Rejection::Invalid),
    ] {
        world.order(On::Send, mishap);
        let outcome = world.send(&part(1, "hello")).await;
        assert_eq!(class(&outcome), Some(expected), "{mishap}");
    }
    assert!(world.seen().is_empty());
}

#[tokio::test]
async fn discords_own_limits_are_told_as_what_they_are() {
    let world = World::start().await;
    world.say("hello");
    let outcome = world.send(&part(1, &"🦀".repeat(2_001))).await;
    assert_eq!(class(&outcome), Some(Rejection::TooLong));
    receipt(world.send(&part(2, &"🦀".repeat(2_000))).await);
    let outcome = world.send(&part(3, " ")).await;
    assert_eq!(class(&outcome), Some(Rejection::Invalid));
    let mut elsewhere = part(4, "hello");
    elsewhere.to.chat = "42".into();
    assert_eq!(class(&world.send(&elsewhere).await), Some(Rejection::Gone));
}

#[tokio::test]
async fn too_many_requests_close_the_chat_for_as_long_as_discord_says() {
    let world = World::start().await;
    world.say("hello");
    world.order(On::Send, "429");
    let wait = |outcome: &Outcome| match outcome {
        Outcome::NotSent { retry_after, .. } => *retry_after,
        other => panic!("{other:?}"),
    };
    let outcome = world.send(&part(1, "hello")).await;
    assert_eq!(wait(&outcome), Some(Duration::from_secs(3)));
    assert!(world.seen().is_empty());
    assert_eq!(world.asked(On::Send).len(), 1);
}

#[tokio::test]
async fn it_is_waited_for_instead_of_being_refused() {
    let terms = Terms::for_tokens([TOKEN]);
    let world = World::on(Terms {
        limit: Some(2),
        ..terms
    })
    .await;
    world.say("hello");
    for number in 1..=3 {
        receipt(world.send(&part(number, &number.to_string())).await);
    }
    assert_eq!(world.seen(), ["1", "2", "3"]);
    assert_eq!(world.asked(On::Send).len(), 3, "nothing was refused");
}

#[tokio::test]
async fn a_limit_on_everything_closes_every_chat() {
    let world = World::start().await;
    world.say("hello");
    world.order(On::Typing, "429 global");
    let typing = world.discord.abilities().typing.unwrap();
    let at = part(1, "").to;
    let outcome = in_time(typing.sign(&at, Sign::On)).await;
    assert!(matches!(
        outcome,
        Outcome::NotSent {
            retry_after: Some(_),
            ..
        }
    ));
    // The next waits for its turn, and is not refused.
    receipt(world.send(&part(1, "hello")).await);
    assert_eq!(world.asked(On::Send).len(), 1);
}

#[tokio::test]
async fn without_an_answer_nobody_knows() {
    for (mishap, is_there) in [
        ("500", false),
        ("502", false),
        ("close", false),
        ("drop_after_accept", true),
    ] {
        let world = World::start().await;
        world.say("hello");
        world.order(On::Send, mishap);
        let outcome = world.send(&part(1, "hello")).await;
        assert!(
            matches!(outcome, Outcome::Unknown { .. }),
            "{mishap}: {outcome:?}"
        );
        assert_eq!(world.seen().len(), usize::from(is_there), "{mishap}");
        assert_eq!(
            world.asked(On::Send).len(),
            1,
            "{mishap}: asked again unseen"
        );
    }
}

#[tokio::test]
async fn the_same_part_is_one_message_for_a_few_minutes() {
    let world = World::start().await;
    world.say("hello");
    world.order(On::Send, "drop_after_accept");
    let outcome = world.send(&part(1, "hi")).await;
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    receipt(world.send(&part(1, "hi")).await);
    receipt(world.send(&part(2, "hi")).await);
    assert_eq!(world.seen(), ["hi", "hi"]);
}

#[tokio::test]
async fn a_discord_that_hangs_is_not_waited_for_for_ever() {
    let world = World::start().await;
    world.say("hello");
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
async fn a_discord_that_is_not_there_was_certainly_not_told() {
    let terms = Terms::for_tokens([TOKEN]);
    let server = discord::start("127.0.0.1:0", terms).await.unwrap();
    let url = server.url();
    server.stop().await;
    for url in [url.as_str(), "http://nobody.invalid"] {
        let discord = adapter(url);
        let outcome = in_time(discord.send(&part(1, "hello"))).await;
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
async fn a_message_that_is_there_is_changed() {
    let world = World::start().await;
    world.say("hello");
    let sent = receipt(world.send(&part(1, "…")).await);
    let edit = world.discord.abilities().edit.unwrap();
    for _ in 0..2 {
        let changed = receipt(in_time(edit.edit(&sent, &part(1, "hello"))).await);
        assert_eq!(changed.message, sent.message);
    }
    assert_eq!(world.seen(), ["hello"]);
    let gone = Receipt {
        message: "42".into(),
        at: NOW,
    };
    let outcome = in_time(edit.edit(&gone, &part(1, "hello"))).await;
    assert_eq!(class(&outcome), Some(Rejection::Gone));
    for (mishap, is_unknown) in [("500", true), ("drop_after_accept", true), ("429", false)] {
        world.order(On::Edit, mishap);
        let outcome = in_time(edit.edit(&sent, &part(1, "bye"))).await;
        let found = matches!(outcome, Outcome::Unknown { .. });
        assert_eq!(found, is_unknown, "{mishap}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_typing_sign_and_marks_are_seen() {
    let world = World::start().await;
    let id = world.say("hello");
    let at = part(1, "").to;
    let abilities = world.discord.abilities();
    let typing = abilities.typing.unwrap();
    assert_eq!(typing.lasts(), Duration::from_secs(10));
    for sign in [Sign::On, Sign::Off] {
        let outcome = in_time(typing.sign(&at, sign)).await;
        assert!(matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
    }
    assert_eq!(world.vendor().chat("general").signs.len(), 1);

    let marks = abilities.reactions.unwrap();
    let message = id.as_str().into();
    for (mark, change) in [
        (Mark::Seen, ReactionChange::Added),
        (Mark::Seen, ReactionChange::Removed),
        (Mark::Done, ReactionChange::Added),
        (Mark::Failed, ReactionChange::Added),
    ] {
        let outcome = in_time(marks.mark((&at, &message), mark, change)).await;
        assert!(matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
    }
    let shown = &world.vendor().chat("general").messages[0];
    let bot = user_id("bot 1");
    let expected = [(bot.clone(), "✅".to_owned()), (bot, "❌".to_owned())];
    assert_eq!(shown.marks, expected);
    let gone = "42".into();
    let outcome = in_time(marks.mark((&at, &gone), Mark::Seen, ReactionChange::Added)).await;
    assert_eq!(class(&outcome), Some(Rejection::Gone));
}

#[tokio::test]
async fn nobody_hears_the_token() {
    let world = World::start().await;
    world.say("hello");
    world.order(On::Send, &format!("403 {TOKEN}"));
    let outcome = world.send(&part(1, "hello")).await;
    let told = format!("{outcome:?}");
    assert!(told.contains("[token]") && !told.contains(TOKEN), "{told}");
}
