//! What a part comes to: delivered, refused, not sent, or nobody knows.

use std::time::Duration;

use talaria_domain::adapter::{Adapter as _, TextForm};
use talaria_domain::delivery::{Outcome, Receipt, Rejection};
use talaria_sim::slack::On;

use super::world::{
    ADA, CHANNEL, DIRECT, NOW, World, class, direct, in_time, part, part_to, place, receipt,
    slack_at,
};

#[tokio::test]
async fn a_part_is_a_message() {
    let world = World::start().await;
    let first = receipt(world.send(&part(1, "hello")).await);
    let second = receipt(world.send(&part(2, "again")).await);
    assert_ne!(first.message, second.message);
    assert_eq!(world.seen(DIRECT), ["hello", "again"]);
    let asked = world.vendor().requests();
    assert_eq!(asked[0].path, "/api/chat.postMessage");
    assert_eq!(asked[0].body["unfurl_links"], false);
    assert_eq!(asked[0].body["unfurl_media"], false);
}

#[tokio::test]
async fn what_is_written_to_a_person_goes_to_their_chat() {
    let world = World::start().await;
    for number in 1..3 {
        receipt(
            world
                .send(&part_to(number, "hello", place(ADA, None)))
                .await,
        );
    }
    assert_eq!(world.seen("D0ADA"), ["hello", "hello"]);
    let requests = world.vendor().requests();
    let opened = requests
        .iter()
        .filter(|asked| asked.path == "/api/conversations.open");
    assert_eq!(opened.count(), 1);
}

#[tokio::test]
async fn a_no_has_its_class() {
    for (mishap, expected) in [
        ("400 channel_not_found", Rejection::Gone),
        ("400 is_archived", Rejection::Gone),
        ("400 not_in_channel", Rejection::Forbidden),
        ("400 missing_scope", Rejection::Forbidden),
        ("400 msg_too_long", Rejection::TooLong),
        ("400 markup", Rejection::Markup),
        ("400 no_text", Rejection::Invalid),
        ("401", Rejection::Unauthorized),
        ("403", Rejection::Forbidden),
        ("400 account_inactive", Rejection::Unauthorized),
    ] {
        let world = World::start().await;
        world.order(On::Send, mishap);
        let outcome = world.send(&part(1, "hello")).await;
        assert_eq!(class(&outcome), Some(expected), "{mishap}: {outcome:?}");
        assert!(world.seen(DIRECT).is_empty(), "{mishap}");
    }
}

#[tokio::test]
async fn a_chat_that_is_not_there_or_archived_is_gone() {
    let world = World::start().await;
    let outcome = world
        .send(&part_to(1, "hello", place("nowhere", None)))
        .await;
    assert_eq!(class(&outcome), Some(Rejection::Gone));
    world.vendor().with(|world| world.archive(CHANNEL));
    let outcome = world.send(&part_to(1, "hello", place(CHANNEL, None))).await;
    assert_eq!(class(&outcome), Some(Rejection::Gone));
}

#[tokio::test]
async fn too_many_requests_close_the_chat_for_as_long_as_slack_says() {
    let world = World::start().await;
    world.order(On::Send, "429");
    let outcome = world.send(&part(1, "hello")).await;
    assert!(
        matches!(outcome, Outcome::NotSent { retry_after: Some(wait), .. } if wait == Duration::from_secs(3)),
        "{outcome:?}"
    );
    receipt(world.send(&part(1, "hello")).await);
    assert_eq!(world.seen(DIRECT), ["hello"]);
}

#[tokio::test]
async fn without_an_answer_nobody_knows() {
    for (mishap, is_there) in [
        ("500", false),
        ("503", false),
        ("400 fatal_error", false),
        ("400 internal_error", false),
        ("400 something_new", false),
        ("close", false),
        ("drop_after_accept", true),
    ] {
        let world = World::start().await;
        world.order(On::Send, mishap);
        let outcome = world.send(&part(1, "hello")).await;
        assert!(
            matches!(outcome, Outcome::Unknown { .. }),
            "{mishap}: {outcome:?}"
        );
        assert_eq!(world.seen(DIRECT).len(), usize::from(is_there), "{mishap}");
        assert_eq!(world.asked(On::Send), 1, "{mishap}: asked again unseen");
    }
}

#[tokio::test]
async fn slack_that_hangs_is_not_waited_for_for_ever() {
    let world = World::start().await;
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
async fn slack_that_is_not_there_was_certainly_not_told() {
    let world = World::start().await;
    let url = world.server.url();
    world.server.stop().await;
    for url in [url.as_str(), "http://nobody.invalid"] {
        let slack = slack_at(url);
        let outcome = in_time(slack.send(&part(1, "hello"))).await;
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
async fn what_is_too_long_after_all_is_said() {
    let world = World::start().await;
    let outcome = world.send(&part(1, &"x".repeat(40_001))).await;
    assert_eq!(class(&outcome), Some(Rejection::TooLong));
}

#[tokio::test]
async fn plain_text_says_so() {
    let world = World::start().await;
    let mut outgoing = part(1, "*hello* <!channel>");
    outgoing.form = TextForm::Plain;
    receipt(world.send(&outgoing).await);
    let shown = &world.vendor().chat(DIRECT).messages[0];
    assert_eq!(
        (shown.text.as_str(), shown.format.as_deref()),
        ("*hello* &lt;!channel&gt;", Some("plain"))
    );
}

#[tokio::test]
async fn a_message_that_is_there_is_changed() {
    let world = World::start().await;
    let sent = receipt(world.send(&part(1, "…")).await);
    let edit = world.slack.abilities().edit.unwrap();
    for _ in 0..2 {
        // The second time it is the same text, which is no mistake.
        let changed = receipt(in_time(edit.edit(&sent, &part(1, "hello"))).await);
        assert_eq!(changed.message, sent.message);
    }
    assert_eq!(world.seen(DIRECT), ["hello"]);
    let gone = Receipt {
        message: "1.000001".into(),
        at: NOW,
    };
    let outcome = in_time(edit.edit(&gone, &part(1, "hello"))).await;
    assert_eq!(class(&outcome), Some(Rejection::Gone));
    let theirs = world.vendor().write(&direct("mine"));
    let theirs = Receipt {
        message: theirs.id.as_str().into(),
        at: NOW,
    };
    let outcome = in_time(edit.edit(&theirs, &part(1, "hello"))).await;
    assert_eq!(class(&outcome), Some(Rejection::Forbidden));
}

#[tokio::test]
async fn a_change_goes_wrong_like_a_message() {
    let world = World::start().await;
    let sent = receipt(world.send(&part(1, "…")).await);
    let edit = world.slack.abilities().edit.unwrap();
    for (mishap, text) in [
        ("429", "…"),
        ("400 edit_window_closed", "…"),
        ("400 message_not_found", "…"),
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
            "400 edit_window_closed" => class(&outcome) == Some(Rejection::Forbidden),
            "400 message_not_found" => class(&outcome) == Some(Rejection::Gone),
            "401" => class(&outcome) == Some(Rejection::Unauthorized),
            _ => matches!(outcome, Outcome::Unknown { .. }),
        };
        assert!(is_expected, "{mishap}: {outcome:?}");
        assert_eq!(world.seen(DIRECT), [text], "{mishap}");
    }
}

#[tokio::test]
async fn nobody_hears_of_a_token() {
    let world = World::start().await;
    world.order(On::Send, &format!("400 {}", super::world::TOKEN));
    let outcome = world.send(&part(1, "hello")).await;
    let Outcome::Unknown { detail } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(detail.contains("[token]"), "{detail}");
    assert!(!detail.contains(super::world::TOKEN), "{detail}");
}
