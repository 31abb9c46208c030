//! Each line is a message; the answers are on standard output, in order, and nothing else is.

use crate::fake::{Fake, SESSION};
use crate::program::Done;

async fn chat(fake: &Fake, lines: &str) -> Done {
    fake.home.run_with(&["chat"], &[], lines).await
}

#[tokio::test]
async fn answers_come_in_order_and_whole() {
    let fake = Fake::start().await;
    let done = chat(&fake, "one\n\ntwo and more\nthree").await;
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(
        done.out,
        "You said one.\nYou said two and more.\nYou said three.\n"
    );
    assert_eq!(done.err, "");
}

#[tokio::test]
async fn it_attaches_before_it_posts() {
    let fake = Fake::start().await;
    chat(&fake, "one\n").await.shows(&["You said one."]);
    let asked: Vec<_> = fake.asked().into_iter().map(|(place, _)| place).collect();
    let attached = format!("GET /api/sessions/{SESSION}/events");
    let posted = format!("POST /api/sessions/{SESSION}/messages");
    assert_eq!(
        asked[..3],
        ["POST /api/sessions".to_owned(), attached, posted]
    );
}

#[tokio::test]
async fn no_input_is_a_short_conversation() {
    let fake = Fake::start().await;
    let done = chat(&fake, "").await;
    assert_eq!(
        (done.code, done.out.as_str(), done.err.as_str()),
        (0, "", "")
    );
}

#[tokio::test]
async fn commands_are_answered_like_messages() {
    let fake = Fake::start().await;
    let done = chat(&fake, "/help\none\n").await;
    assert_eq!(
        done.out, "Commands: /help, /stop.\nYou said one.\n",
        "{done:?}"
    );
}

#[tokio::test]
async fn a_turn_that_fails_ends_with_its_notice() {
    let fake = Fake::start().await;
    let done = chat(&fake, "break\none\n").await;
    assert_eq!(done.code, 0);
    assert_eq!(
        done.out,
        "I could not finish this: the model is gone.\nYou said one.\n"
    );
}

#[tokio::test]
async fn a_turn_that_says_nothing_does_not_hang() {
    let fake = Fake::start().await;
    let done = chat(&fake, "silence\none\n").await;
    assert_eq!((done.code, done.out.as_str()), (0, "You said one.\n"));
}

#[tokio::test]
async fn a_message_that_is_refused_is_explained() {
    let fake = Fake::start().await;
    // Nothing ever happens in its session, so only the ledger knows.
    let done = chat(&fake, "refuse\none\n").await;
    assert_eq!(
        done.out, "the message is discarded: the queue is full\nYou said one.\n",
        "{done:?}"
    );
}

#[tokio::test]
async fn what_happened_while_the_connection_was_gone_is_found() {
    let fake = Fake::start().await;
    let done = chat(&fake, "restart\none\n").await;
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "Back again.\nYou said one.\n"),
        "{done:?}"
    );
    assert_eq!(
        done.err,
        "talaria: the connection to the gateway is lost, trying again\ntalaria: the gateway is back\n"
    );
}

#[tokio::test]
async fn a_message_whose_answer_got_lost_is_posted_again_and_taken_once() {
    let fake = Fake::start().await;
    let done = chat(&fake, "flaky\n").await;
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "You said flaky.\n"),
        "{done:?}"
    );
    let posted = fake.bodies(&format!("POST /api/sessions/{SESSION}/messages"));
    assert_eq!(posted.len(), 2);
    assert_eq!(posted[0]["id"], posted[1]["id"], "under the same id");
    assert!(posted[0]["id"].as_str().is_some_and(|id| !id.is_empty()));
}

#[tokio::test]
async fn a_conversation_goes_on() {
    let fake = Fake::start().await;
    let other = "0198c0de-0000-7000-8000-0000000000ab";
    let done = fake
        .home
        .run_with(&["chat", "--session", other], &[], "one\n")
        .await;
    done.shows(&["You said one."]);
    assert_eq!(
        fake.bodies(&format!("POST /api/sessions/{other}/messages"))
            .len(),
        1
    );
    let unknown = fake
        .home
        .run_with(&["chat", "--session", "x"], &[], "one\n")
        .await;
    unknown.fails(1, &["there is no session x"]);
}

#[tokio::test]
async fn tools_are_not_part_of_the_answer() {
    let fake = Fake::start().await;
    let done = chat(&fake, "tool\n").await;
    assert_eq!((done.out.as_str(), done.err.as_str()), ("One file.\n", ""));
}
