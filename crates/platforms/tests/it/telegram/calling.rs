//! The platform calls us: only the platform, and "got it" only once it is recorded.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use reqwest::Url;
use serde_json::{Value, json};
use talaria_domain::adapter::{Adapter as _, Disconnected, HookCall};
use talaria_domain::clock::ManualClock;
use talaria_domain::secret::SecretString;
use talaria_platforms::telegram::Telegram;
use talaria_platforms::telegram::config::Hooked;
use talaria_sim::vendor::Written;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::world::{ADA, BOT, Desk, NOW, TOKEN, Verdict, World, bot_at, in_time};

const SECRET: &str = "a-secret-of-the-hook";
const HEADER: &str = "x-telegram-bot-api-secret-token";

/// A bot that is called, and the door that calls come in by.
struct Called {
    world: World,
    telegram: Arc<Telegram>,
    desk: Arc<Desk>,
    url: Url,
    _serving: JoinSet<()>,
}

impl Called {
    async fn with(desk: Desk) -> Self {
        let world = World::new().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = Url::parse(&format!("http://{address}/hooks/telegram/office")).unwrap();
        let hooked = Hooked {
            url: url.clone(),
            secret: SecretString::from(SECRET),
        };
        let clock = Arc::new(ManualClock::at(NOW));
        let telegram = Arc::new(bot_at(&world.server.url(), &clock, Some(hooked)));
        let desk = Arc::new(desk);
        let (inside, intake) = (Arc::clone(&telegram), Arc::clone(&desk));
        let take = move |headers: HeaderMap, body: Bytes| {
            let (telegram, desk) = (Arc::clone(&inside), Arc::clone(&intake));
            async move {
                let named = headers
                    .iter()
                    .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
                let call = HookCall {
                    headers: named.collect(),
                    body: body.to_vec(),
                };
                let answer = telegram.abilities().hook.unwrap().take(&call, &*desk).await;
                StatusCode::from_u16(answer.status).unwrap()
            }
        };
        let routes = Router::new().route("/hooks/telegram/office", post(take));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Self {
            world,
            telegram,
            desk,
            url,
            _serving: serving,
        }
    }

    async fn while_connected(&self, story: impl Future<Output = ()>) {
        in_time(async {
            tokio::select! {
                biased;
                ended = self.telegram.receive(&*self.desk) => panic!("disconnected: {ended:?}"),
                () = story => {}
            }
        })
        .await;
    }

    /// What is answered to a call with these headers.
    async fn take(&self, headers: &[(&str, &str)], body: &Value) -> u16 {
        let headers = headers.iter();
        let call = HookCall {
            headers: headers
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            body: body.to_string().into_bytes(),
        };
        let hook = self.telegram.abilities().hook.unwrap();
        let answer = in_time(hook.take(&call, &*self.desk)).await;
        assert_eq!(answer.body, "", "nobody is told anything");
        answer.status
    }
}

fn update() -> Value {
    json!({
        "update_id": 1,
        "message": {
            "message_id": 1, "date": 1, "text": "hello", "chat": { "id": 42, "type": "private" },
            "from": { "id": 42, "is_bot": false, "first_name": "Ada" },
        },
    })
}

#[tokio::test]
async fn what_people_write_is_called_in_in_order() {
    let called = Called::with(Desk::judging([
        Verdict::Record,
        Verdict::Fail,
        Verdict::Fail,
    ]))
    .await;
    for text in ["one", "two", "three"] {
        called.world.write(ADA, "direct", text);
    }
    called.while_connected(called.world.done()).await;
    assert_eq!(called.desk.texts(), ["one", "two", "two", "two", "three"]);
    let asked = &called.world.asked("setwebhook")[0];
    assert_eq!(asked["url"], json!(called.url.as_str()));
    assert_eq!(
        (&asked["secret_token"], &asked["drop_pending_updates"]),
        (&json!(SECRET), &json!(false))
    );
    assert_eq!(
        asked["max_connections"],
        json!(1),
        "more would overtake each other"
    );
    assert!(called.world.asked("getupdates").is_empty());
    assert_eq!(called.desk.identities()[0].id.as_str(), BOT);
}

#[tokio::test]
async fn the_platform_is_not_told_before_it_is_recorded() {
    let called = Called::with(Desk::closed()).await;
    called.world.write(ADA, "direct", "hello");
    called
        .while_connected(async {
            called.desk.was_handed(1).await;
            assert_eq!(called.world.vendor().backlog(), 1);
            called.desk.let_one();
            called.world.done().await;
        })
        .await;
}

#[tokio::test]
async fn nobody_else_is_listened_to() {
    let called = Called::with(Desk::open()).await;
    called.while_connected(called.desk.was_met()).await;
    let almost = format!("{SECRET}x");
    let half = &SECRET[..SECRET.len() - 1];
    for headers in [
        vec![],
        vec![(HEADER, "")],
        vec![(HEADER, "wrong")],
        vec![(HEADER, almost.as_str())],
        vec![(HEADER, half)],
        vec![(HEADER, TOKEN)],
        vec![("x-something-else", SECRET)],
        vec![(HEADER, SECRET), (HEADER, SECRET)],
        vec![(HEADER, SECRET), (HEADER, "wrong")],
    ] {
        assert_eq!(called.take(&headers, &update()).await, 401, "{headers:?}");
    }
    assert!(called.desk.events().is_empty());
    assert_eq!(called.take(&[(HEADER, SECRET)], &update()).await, 200);
    assert_eq!(called.desk.texts(), ["hello"]);
    // A call that somebody recorded and plays again is the same event.
    assert_eq!(called.take(&[(HEADER, SECRET)], &update()).await, 200);
    let events = called.desk.events();
    assert_eq!(events[0].dedupe, events[1].dedupe);
}

#[tokio::test]
async fn garbage_is_taken_so_that_it_does_not_come_again() {
    let called = Called::with(Desk::open()).await;
    called.while_connected(called.desk.was_met()).await;
    for body in [
        json!("x"),
        json!(null),
        json!([]),
        json!({ "update_id": "x" }),
        json!({ "update_id": 3, "message": 1 }),
    ] {
        assert_eq!(called.take(&[(HEADER, SECRET)], &body).await, 200, "{body}");
    }
    assert!(called.desk.events().is_empty());
}

#[tokio::test]
async fn before_we_know_who_we_are_it_has_to_come_again() {
    let called = Called::with(Desk::open()).await;
    assert_eq!(called.take(&[(HEADER, SECRET)], &update()).await, 503);
    assert!(called.desk.events().is_empty());
}

#[tokio::test]
async fn what_waited_for_a_poll_is_called_in() {
    let called = Called::with(Desk::open()).await;
    let written = Written::to_chat(ADA, "direct", (ADA, "from before"));
    called.world.vendor().write(&written);
    called.while_connected(called.world.done()).await;
    assert_eq!(called.desk.texts(), ["from before"]);
}

#[tokio::test]
async fn whether_we_are_still_called_is_looked_at() {
    let called = Called::with(Desk::open()).await;
    called
        .while_connected(async {
            called.world.was_asked("setwebhook", 1).await;
            tokio::time::pause();
            called.desk.heard_life(1).await;
            tokio::time::resume();
        })
        .await;
    assert_eq!(called.world.asked("getwebhookinfo").len(), 1);
}

#[tokio::test]
async fn whoever_takes_our_calls_away_is_noticed() {
    let called = Called::with(Desk::open()).await;
    let client = reqwest::Client::builder().build().unwrap();
    let url = format!("{}/bot{TOKEN}/setWebhook", called.world.server.url());
    called
        .while_connected(async {
            called.world.was_asked("setwebhook", 1).await;
            let body = json!({ "url": "http://127.0.0.1:1/elsewhere" });
            client.post(url).json(&body).send().await.unwrap();
            tokio::time::pause();
            // Theirs was the second, ours is the third.
            called.world.was_asked("setwebhook", 3).await;
            tokio::time::resume();
        })
        .await;
    assert_eq!(
        called.world.asked("setwebhook")[2]["url"],
        json!(called.url.as_str())
    );
}

#[tokio::test]
async fn a_token_that_was_taken_away_ends_it() {
    let called = Called::with(Desk::open()).await;
    let revoked = async {
        called.world.was_asked("setwebhook", 1).await;
        called.world.vendor().with(|world| world.revoke(TOKEN));
        tokio::time::pause();
    };
    let (ended, ()) = tokio::join!(in_time(called.telegram.receive(&*called.desk)), revoked);
    tokio::time::resume();
    assert!(
        matches!(ended, Disconnected::Unauthorized { .. }),
        "{ended:?}"
    );
}
