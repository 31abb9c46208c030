//! The way back to programs against a real receiver: what it is sent, and what each of its answers comes to.

mod receiver;

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use talaria_domain::adapter::{Adapter as _, Outgoing, TextForm};
use talaria_domain::address::ChatKind;
use talaria_domain::capabilities::{Capability, DeliveryWindow};
use talaria_domain::clock::{ManualClock, Timestamp};
use talaria_domain::delivery::{Outcome, Part, PartBody, Rejection, ReplyKind};
use talaria_domain::ids::{PartId, ReplyId, SeededIds};
use talaria_domain::secret::SecretString;
use talaria_platforms::Workshop;
use talaria_platforms::callback::allow::AllowList;
use talaria_platforms::callback::signature::Signer;
use talaria_platforms::callback::{self, Callback, Settings};

use self::receiver::{Answer, Receiver};

const NOW: Timestamp = Timestamp::from_millis(1_700_000_000_000);
const KEY: &[u8] = b"a-secret-that-nobody-may-see";
const PATIENCE: Duration = Duration::from_mins(1);

fn callback(allow: &[String]) -> Callback {
    // Another test of this process may have been first.
    let provider = rustls::crypto::ring::default_provider();
    provider.install_default().unwrap_or_default();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let workshop = Workshop {
        client: client.build().unwrap(),
        clock: Arc::new(ManualClock::at(NOW)),
        ids: Arc::new(SeededIds::from_seed(1)),
    };
    let secret = SecretString::from(format!("whsec_{}", STANDARD.encode(KEY)));
    let settings = Settings {
        allow: AllowList::read(allow).unwrap(),
        signer: Signer::with(&secret).unwrap(),
        profile: "assistant".into(),
    };
    Callback::new(settings, &workshop)
}

/// A part for a receiver. The same number is the same part.
fn part(number: u8, url: &str) -> Outgoing {
    let listed = url.split('?').next().unwrap();
    let allow = AllowList::read(&[listed]).unwrap();
    let mut to = callback::address(&allow, url).unwrap();
    assert_eq!(to.chat_kind, ChatKind::Webhook);
    to.thread = Some("the session".into());
    to.reply_to = Some("the job".into());
    Outgoing {
        part: Part {
            id: PartId::from_bytes([number; 16]),
            reply: ReplyId::from_bytes([number; 16]),
            ordinal: 0,
            body: PartBody::Text {
                markdown: "it is done".to_owned(),
            },
        },
        to,
        kind: ReplyKind::Final,
        form: TextForm::Markdown,
        prompt: None,
        file: None,
    }
}

async fn send(callback: &Callback, outgoing: &Outgoing) -> Outcome {
    let sending = callback.send(outgoing);
    tokio::time::timeout(PATIENCE, sending).await.unwrap()
}

fn class(outcome: &Outcome) -> Option<Rejection> {
    match outcome {
        Outcome::Rejected { class, .. } => Some(*class),
        _ => None,
    }
}

/// The signature that the Standard Webhooks specification wants to see, put together here once more.
fn signature(id: &str, timestamp: &str, body: &str) -> String {
    let mut hmac = Hmac::<Sha256>::new_from_slice(KEY).unwrap();
    hmac.update([id, timestamp, body].join(".").as_bytes());
    format!("v1,{}", STANDARD.encode(hmac.finalize().into_bytes()))
}

#[tokio::test]
async fn a_post_is_signed_and_says_what_it_is_about() {
    let receiver = Receiver::start([]).await;
    let url = receiver.url("/hooks/1?run=7");
    let callback = callback(&[receiver.url("/hooks/")]);
    let outcome = send(&callback, &part(1, &url)).await;
    let Outcome::Delivered { receipts } = outcome else {
        panic!("{outcome:?}");
    };
    let posts = receiver.posts();
    assert_eq!(posts.len(), 1);
    let post = &posts[0];
    let id = PartId::from_bytes([1; 16]).to_string();
    assert_eq!(receipts[0].message.as_str(), id);
    assert_eq!(post.target, "/hooks/1?run=7");
    assert_eq!(post.header("content-type"), "application/json");
    assert_eq!(post.header("webhook-id"), id);
    assert_eq!(post.header("webhook-timestamp"), "1700000000");
    let expected = signature(&id, "1700000000", &post.body);
    assert_eq!(post.header("webhook-signature"), expected);
    let body: serde_json::Value = serde_json::from_str(&post.body).unwrap();
    assert_eq!(body["type"], "reply.final");
    assert_eq!(body["session_id"], "the session");
    assert_eq!(body["job_id"], "the job");
    assert_eq!(body["text"], "it is done");
}

#[tokio::test]
async fn the_same_part_is_the_same_post_letter_for_letter() {
    let receiver = Receiver::start([Answer::Status(500), Answer::Dropped]).await;
    let callback = callback(&[receiver.url("/")]);
    let outgoing = part(1, &receiver.url("/hooks/1"));
    for _ in 0..2 {
        let outcome = send(&callback, &outgoing).await;
        assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    }
    let outcome = send(&callback, &outgoing).await;
    assert!(matches!(outcome, Outcome::Delivered { .. }), "{outcome:?}");
    let posts = receiver.posts();
    assert_eq!(posts.len(), 3);
    for post in &posts[1..] {
        assert_eq!(post.body, posts[0].body);
        assert_eq!(post.header("webhook-id"), posts[0].header("webhook-id"));
    }
}

#[tokio::test]
async fn an_answer_is_taken_at_its_word() {
    let table = [
        (Answer::Status(410), Some(Rejection::Gone)),
        (Answer::Status(404), Some(Rejection::Gone)),
        (Answer::Status(401), Some(Rejection::Unauthorized)),
        (Answer::Status(403), Some(Rejection::Forbidden)),
        (Answer::Status(422), Some(Rejection::Invalid)),
        (Answer::Status(204), None),
    ];
    for (answer, expected) in table {
        let receiver = Receiver::start([answer]).await;
        let callback = callback(&[receiver.url("/")]);
        let outcome = send(&callback, &part(1, &receiver.url("/hooks/1"))).await;
        assert_eq!(class(&outcome), expected, "{answer:?}: {outcome:?}");
    }
    let receiver = Receiver::start([Answer::Later(429, 3)]).await;
    let callback = callback(&[receiver.url("/")]);
    let outcome = send(&callback, &part(1, &receiver.url("/hooks/1"))).await;
    let three = Some(Duration::from_secs(3));
    assert!(
        matches!(outcome, Outcome::NotSent { retry_after, .. } if retry_after == three),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let receiver = Receiver::start([Answer::Elsewhere("/elsewhere")]).await;
    let callback = callback(&[receiver.url("/")]);
    let outcome = send(&callback, &part(1, &receiver.url("/hooks/1"))).await;
    assert_eq!(class(&outcome), Some(Rejection::Invalid), "{outcome:?}");
    let targets: Vec<_> = receiver
        .posts()
        .into_iter()
        .map(|post| post.target)
        .collect();
    assert_eq!(targets, ["/hooks/1"]);
}

#[tokio::test]
async fn nothing_is_posted_where_the_operator_does_not_allow_it_any_more() {
    let receiver = Receiver::start([]).await;
    let callback = callback(&[receiver.url("/other/")]);
    let mut outgoing = part(1, &receiver.url("/hooks/1"));
    for chat in [receiver.url("/hooks/1"), "https".to_owned(), String::new()] {
        outgoing.to.chat = chat.as_str().into();
        let outcome = send(&callback, &outgoing).await;
        assert_eq!(class(&outcome), Some(Rejection::Forbidden), "{chat:?}");
    }
    assert_eq!(receiver.posts().len(), 0);
}

#[tokio::test]
async fn a_receiver_that_is_not_there_was_certainly_not_told() {
    let receiver = Receiver::start([]).await;
    let url = receiver.url("/hooks/secret-path");
    receiver.stop().await;
    let callback = callback(std::slice::from_ref(&url));
    let outcome = send(&callback, &part(1, &url)).await;
    let Outcome::NotSent {
        retry_after: None,
        detail,
    } = outcome
    else {
        panic!("{outcome:?}");
    };
    assert!(!detail.contains("secret-path"), "{detail}");
}

#[tokio::test]
async fn a_receiver_that_hangs_is_not_waited_for_for_ever() {
    let receiver = Receiver::start([Answer::Hung]).await;
    let callback = callback(&[receiver.url("/")]);
    let outgoing = part(1, &receiver.url("/hooks/1"));
    let hangs = async {
        receiver.until(1).await;
        // Nothing moves any more: the clock may jump.
        tokio::time::pause();
    };
    let (outcome, ()) = tokio::join!(callback.send(&outgoing), hangs);
    assert!(
        matches!(&outcome, Outcome::Unknown { detail } if detail == "no answer in time"),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn it_promises_what_it_can_keep() {
    let callback = callback(&[]);
    let capabilities = callback.capabilities();
    assert_eq!(capabilities.can, [Capability::IdempotentSend].into());
    assert_eq!(capabilities.window, DeliveryWindow::Always);
    assert!(callback.abilities().edit.is_none());
}
