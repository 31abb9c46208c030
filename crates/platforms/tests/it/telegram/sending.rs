//! What became of a message is told as it is: there, not there, or nobody knows.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use talaria_domain::adapter::{Adapter as _, TextForm};
use talaria_domain::address::ChatKind;
use talaria_domain::capabilities::{Capability, TextUnit};
use talaria_domain::clock::ManualClock;
use talaria_domain::delivery::{Outcome, PartBody, Receipt, Rejection, ReplyKind};
use talaria_platforms::split::split;
use talaria_sim::telegram::{self, Terms};
use talaria_sim::vendor::On;

use super::world::{
    ADA, GROUP, NOW, TOKEN, World, bot_at, class, in_time, part, part_of, place, receipt,
};

#[tokio::test]
async fn a_message_is_there_and_has_a_receipt() {
    let world = World::with_ada().await;
    let receipt = receipt(
        world
            .send(&part(1, "**hello** & [you](https://example.org)"))
            .await,
    );
    let shown = &world.vendor().chat(ADA).messages[1];
    assert_eq!(receipt.message.as_str(), shown.message_id);
    assert_eq!(receipt.at, NOW);
    assert_eq!(
        (shown.text.as_str(), shown.format.as_deref()),
        ("hello & you", Some("HTML"))
    );
    let asked = &world.asked("sendmessage")[0];
    assert_eq!(asked["chat_id"], json!(42));
    assert_eq!(
        asked["link_preview_options"],
        json!({ "is_disabled": true })
    );
    assert_eq!(asked.get("message_thread_id"), None);
    assert_eq!(asked.get("reply_parameters"), None);
}

#[tokio::test]
async fn what_can_be_done_is_there() {
    let world = World::new().await;
    let capabilities = world.telegram.capabilities();
    assert!(capabilities.can.contains(&Capability::Prompts));
    assert_eq!(
        (capabilities.text_limit.max, capabilities.text_limit.unit),
        (4_096, TextUnit::Utf16)
    );
    let abilities = world.telegram.abilities();
    assert!(
        abilities.edit.is_some() && abilities.typing.is_some() && abilities.reactions.is_some()
    );
    assert!(abilities.threads.is_some() && abilities.media.is_some());
    assert!(abilities.hook.is_none(), "nobody said that we are called");
}

#[tokio::test]
async fn a_no_has_its_class() {
    for (mishap, expected) in [
        ("400 markup", Rejection::Markup),
        ("400 too_long", Rejection::TooLong),
        ("400 gone", Rejection::Gone),
        ("400 chat not found", Rejection::Gone),
        ("400 forbidden", Rejection::Forbidden),
        ("403", Rejection::Forbidden),
        ("403 user is deactivated", Rejection::Gone),
        ("401", Rejection::Unauthorized),
        ("400 something else", Rejection::Invalid),
        ("302", Rejection::Invalid),
    ] {
        let world = World::with_ada().await;
        world.order(On::Send, mishap, 1);
        let outcome = world.send(&part(1, "hello")).await;
        assert_eq!(class(&outcome), Some(expected), "{mishap}: {outcome:?}");
        assert!(world.seen(ADA).is_empty(), "{mishap}");
    }
}

#[tokio::test]
async fn too_many_requests_close_the_chat_for_as_long_as_the_platform_says() {
    let world = World::with_ada().await;
    world.order(On::Send, "429", 1);
    let outcome = world.send(&part(1, "hello")).await;
    assert!(
        matches!(outcome, Outcome::NotSent { retry_after: Some(wait), .. } if wait == Duration::from_secs(37)),
        "{outcome:?}"
    );
    receipt(world.send(&part(1, "hello")).await);
    assert_eq!(world.seen(ADA), ["hello"]);
}

#[tokio::test]
async fn without_an_answer_nobody_knows() {
    for (mishap, is_there) in [
        ("500", false),
        ("close", false),
        ("drop_after_accept", true),
    ] {
        let world = World::with_ada().await;
        world.order(On::Send, mishap, 1);
        let outcome = world.send(&part(1, "hello")).await;
        assert!(
            matches!(outcome, Outcome::Unknown { .. }),
            "{mishap}: {outcome:?}"
        );
        assert_eq!(world.seen(ADA).len(), usize::from(is_there), "{mishap}");
        assert_eq!(
            world.asked("sendmessage").len(),
            1,
            "{mishap}: asked again unseen"
        );
    }
}

#[tokio::test]
async fn a_platform_that_hangs_is_not_waited_for_for_ever() {
    let world = World::with_ada().await;
    world.order(On::Send, "hang", 1);
    let outgoing = part(1, "hello");
    let hangs = async {
        world.was_asked("sendmessage", 1).await;
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
async fn a_platform_that_is_not_there_was_certainly_not_told() {
    let server = telegram::start("127.0.0.1:0", Terms::of([TOKEN]))
        .await
        .unwrap();
    let url = server.url();
    server.stop().await;
    let clock = Arc::new(ManualClock::at(NOW));
    for url in [
        url.as_str(),
        "http://nobody.invalid",
        "http://127.0.0.1:1/below",
    ] {
        let outcome = in_time(bot_at(url, &clock, None).send(&part(1, "hello"))).await;
        let Outcome::NotSent {
            retry_after: None,
            detail,
        } = outcome
        else {
            panic!("{url}: {outcome:?}");
        };
        assert!(!detail.contains("AAa-token"), "{detail}");
    }
}

#[tokio::test]
async fn nobody_is_written_to_who_never_wrote() {
    let world = World::new().await;
    assert_eq!(
        class(&world.send(&part(1, "hello")).await),
        Some(Rejection::Gone)
    );
}

#[tokio::test]
async fn plain_text_follows_where_the_markup_was_not_read() {
    let world = World::with_ada().await;
    world.order(On::Send, "400 markup", 1);
    let mut outgoing = part(1, "a <b & *hello");
    assert_eq!(class(&world.send(&outgoing).await), Some(Rejection::Markup));
    outgoing.form = TextForm::Plain;
    receipt(world.send(&outgoing).await);
    let shown = &world.vendor().chat(ADA).messages[1];
    assert_eq!(
        (shown.text.as_str(), shown.format.as_deref()),
        ("a <b & *hello", None)
    );
}

#[tokio::test]
async fn a_long_answer_arrives_whole_in_pieces_that_fit() {
    let world = World::with_ada().await;
    let paragraph = "🦀 **crabs** & <claws> in `code`, again and again. ".repeat(30);
    let answer = format!(
        "{paragraph}\n\n```rust\n{}\n```\n\nThe end.",
        "let x = 1;\n".repeat(1_200)
    );
    let limit = world.telegram.capabilities().text_limit;
    let pieces = split(&answer, limit);
    assert!(pieces.len() > 2, "{}", pieces.len());
    for (number, piece) in (1..).zip(&pieces) {
        receipt(world.send(&part(number, &piece.render(&answer))).await);
    }
    let seen = world.seen(ADA);
    assert_eq!(seen.len(), pieces.len());
    let crabs: usize = seen.iter().map(|text| text.matches("crabs").count()).sum();
    let lines: usize = seen
        .iter()
        .map(|text| text.matches("let x = 1;").count())
        .sum();
    assert_eq!((crabs, lines), (30, 1_200));
    assert!(seen.last().unwrap().ends_with("The end."));
}

#[tokio::test]
async fn what_is_too_long_after_all_is_said() {
    let world = World::with_ada().await;
    let outcome = world.send(&part(1, &"x".repeat(4_097))).await;
    assert_eq!(class(&outcome), Some(Rejection::TooLong));
}

#[tokio::test]
async fn a_message_that_is_there_is_changed() {
    let world = World::with_ada().await;
    let sent = receipt(world.send(&part(1, "…")).await);
    let changed = receipt(world.edit(&sent, &part(1, "*hello*")).await);
    assert_eq!(changed.message, sent.message);
    let shown = &world.vendor().chat(ADA).messages[1];
    assert_eq!((shown.text.as_str(), shown.edits), ("hello", 1));
    // Once more the same is what was wanted.
    let again = receipt(world.edit(&sent, &part(1, "*hello*")).await);
    assert_eq!(again.message, sent.message);
    assert_eq!(world.vendor().chat(ADA).messages[1].edits, 1);
    for nowhere in ["999", "1", "not-a-number"] {
        let gone = Receipt {
            message: nowhere.into(),
            at: NOW,
        };
        let outcome = world.edit(&gone, &part(1, "hello")).await;
        assert!(class(&outcome).is_some(), "{nowhere}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_change_goes_wrong_like_a_message() {
    let world = World::with_ada().await;
    let sent = receipt(world.send(&part(1, "…")).await);
    for (mishap, text) in [
        ("429", "…"),
        ("400 markup", "…"),
        ("401", "…"),
        ("500", "…"),
        ("close", "…"),
        ("drop_after_accept", "hello"),
    ] {
        world.order(On::Edit, mishap, 1);
        let outcome = world.edit(&sent, &part(1, "hello")).await;
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
        assert_eq!(world.seen(ADA), [text], "{mishap}");
    }
}

#[tokio::test]
async fn progress_makes_no_sound() {
    let world = World::with_ada().await;
    let mut outgoing = part(1, "thinking");
    outgoing.kind = ReplyKind::Progress;
    receipt(world.send(&outgoing).await);
    receipt(world.send(&part(2, "done")).await);
    let asked = world.asked("sendmessage");
    assert_eq!(asked[0]["disable_notification"], json!(true));
    assert_eq!(asked[1].get("disable_notification"), None);
}

#[tokio::test]
async fn an_answer_is_anchored_to_its_question_even_if_that_is_gone() {
    let world = World::new().await;
    let question = world.write(GROUP, "group", "who is there?");
    let mut to = place(GROUP, ChatKind::Group, None);
    to.reply_to = Some(question.as_str().into());
    let body = || PartBody::Text {
        markdown: "me".to_owned(),
    };
    receipt(world.send(&part_of(1, body(), to.clone())).await);
    to.reply_to = Some("77777".into());
    receipt(world.send(&part_of(2, body(), to)).await);
    let messages = world.vendor().chat(GROUP).messages;
    assert_eq!(messages[1].reply_to.as_deref(), Some(question.as_str()));
    assert_eq!(messages[2].reply_to, None);
}

#[tokio::test]
async fn a_group_that_became_a_supergroup_is_followed_within_the_same_send() {
    let world = World::new().await;
    let group = "-555";
    let question = world.write(group, "group", "hello");
    let mut to = place(group, ChatKind::Group, None);
    to.reply_to = Some(question.as_str().into());
    let text = |text: &str| PartBody::Text {
        markdown: text.to_owned(),
    };
    let before = receipt(world.send(&part_of(1, text("before"), to.clone())).await);
    let after = world.vendor().with(|world| world.migrate(group));
    let sent = receipt(world.send(&part_of(2, text("after"), to.clone())).await);
    assert_eq!(world.seen(group), ["before", "after"]);
    let asked = world.asked("sendmessage");
    let chats: Vec<_> = asked.iter().map(|asked| asked["chat_id"].clone()).collect();
    assert_eq!(chats, [json!(-555), json!(-555), json!(after)]);
    assert_eq!(
        asked[2].get("reply_parameters"),
        None,
        "messages have other numbers there"
    );
    // It is known from now on, and what was sent there can be changed there.
    let outgoing = part_of(3, text("more"), to.clone());
    receipt(world.send(&outgoing).await);
    assert_eq!(world.asked("sendmessage").len(), 4);
    receipt(
        world
            .edit(&sent, &part_of(2, text("changed"), to.clone()))
            .await,
    );
    assert_eq!(world.seen(group), ["before", "changed", "more"]);
    let outcome = world.edit(&before, &part_of(1, text("lost"), to)).await;
    assert_eq!(class(&outcome), Some(Rejection::Gone), "{outcome:?}");
}
