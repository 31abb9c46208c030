//! Slack calls us: only what is signed is believed, and "got it" is answered after intake said so.

use std::sync::Arc;

use axum::body::{Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::routing::post;
use axum::{Router, response::IntoResponse as _, response::Response};
use serde_json::{Value, json};
use talaria_domain::adapter::{Adapter as _, HookAnswer, HookCall, Outgoing};
use talaria_domain::clock::SystemClock;
use talaria_domain::event::EventKind;
use talaria_domain::question::{Button, Choice, PressToken, Prompt};
use talaria_platforms::Workshop;
use talaria_platforms::slack::Slack;
use talaria_sim::slack::hooks::{self, Target, signature};
use talaria_sim::slack::{On, Press};
use talaria_sim::vendor::World as _;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::world::{
    ADA, BOT, DIRECT, Desk, NOW, SECRET, Verdict, World, called_at, direct, in_channel, in_time,
    part, receipt, workshop,
};

/// An adapter that is called over a real socket.
struct Called {
    slack: Arc<Slack>,
    desk: Arc<Desk>,
    target: Target,
    _serving: JoinSet<()>,
}

async fn take(State((slack, desk)): State<(Arc<Slack>, Arc<Desk>)>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body: Bytes = to_bytes(body, usize::MAX).await.unwrap();
    let text = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        (name.to_string(), value.to_str().unwrap().to_owned())
    };
    let call = HookCall {
        headers: parts.headers.iter().map(text).collect(),
        body: body.to_vec(),
    };
    let hook = slack.abilities().hook.unwrap();
    let HookAnswer { status, body, .. } = hook.take(&call, &*desk).await;
    (StatusCode::from_u16(status).unwrap(), body).into_response()
}

impl Called {
    async fn at(world: &World, desk: Desk) -> Self {
        // Slack signs with the time of day.
        let workshop = Workshop {
            clock: Arc::new(SystemClock),
            ..workshop()
        };
        let slack = Arc::new(called_at(&world.server.url(), &workshop));
        let desk = Arc::new(desk);
        let state = (Arc::clone(&slack), Arc::clone(&desk));
        let routes = Router::new().route("/hooks/slack/office", post(take));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let target = Target {
            bot: BOT.to_owned(),
            url: format!(
                "http://{}/hooks/slack/office",
                listener.local_addr().unwrap()
            ),
            secret: SECRET.to_owned(),
        };
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            axum::serve(listener, routes.with_state(state))
                .await
                .unwrap();
        });
        Self {
            slack,
            desk,
            target,
            _serving: serving,
        }
    }

    /// Connects, and is called, for as long as the story goes.
    async fn during(&self, world: &World, story: impl Future<Output = ()>) {
        in_time(async {
            tokio::select! {
                biased;
                ended = self.slack.receive(&*self.desk) => panic!("disconnected: {ended:?}"),
                never = hooks::call(world.vendor(), &self.target) => match never {},
                () = story => {}
            }
        })
        .await;
    }
}

#[tokio::test]
async fn what_slack_calls_for_is_taken() {
    let world = World::start().await;
    let called = Called::at(&world, Desk::open()).await;
    world.vendor().write(&direct("hello"));
    world.vendor().write(&in_channel("all"));
    world.vendor().write(&direct("/talaria stop"));
    called.during(&world, world.all_acknowledged()).await;
    assert_eq!(called.desk.texts(), ["hello", "all", "/stop"]);
    assert_eq!(world.asked(On::Connect), 0, "no socket was asked for");
}

#[tokio::test]
async fn a_press_that_slack_calls_for_is_taken() {
    let world = World::start().await;
    let called = Called::at(&world, Desk::open()).await;
    let outgoing = Outgoing {
        prompt: Some(Prompt {
            token: PressToken::from_random([1; 16]),
            buttons: vec![Button {
                label: "Approve".to_owned(),
                choice: Choice::Approve,
            }],
        }),
        ..part(1, "May I?")
    };
    let sent = receipt(world.send(&outgoing).await);
    world.vendor().press(&Press {
        message: sent.message.to_string(),
        button: "Approve".to_owned(),
        sender: ADA.to_owned(),
    });
    called.during(&world, world.all_acknowledged()).await;
    let pressed = &called.desk.events()[0].kind;
    let choice = Choice::Approve;
    let token = PressToken::from_random([1; 16]).hash();
    assert_eq!(*pressed, EventKind::Pressed { token, choice });
    assert_eq!(world.seen(DIRECT), ["May I?"]);
}

#[tokio::test]
async fn what_was_not_taken_is_called_for_again_as_the_same_event() {
    let world = World::start().await;
    let called = Called::at(&world, Desk::judging([Verdict::Fail, Verdict::Fail])).await;
    world.vendor().write(&direct("one"));
    world.vendor().write(&direct("two"));
    called.during(&world, world.all_acknowledged()).await;
    assert_eq!(called.desk.texts(), ["one", "one", "one", "two"]);
    let events = called.desk.events();
    assert_eq!(events[0].dedupe, events[2].dedupe);
}

#[tokio::test]
async fn a_call_is_answered_only_after_intake_said_so() {
    let world = World::start().await;
    let called = Called::at(&world, Desk::closed()).await;
    world.vendor().write(&direct("hello"));
    let story = async {
        called.desk.was_handed(1).await;
        assert_eq!(world.vendor().see(|world| world.backlog()), 1);
        called.desk.let_one();
        world.all_acknowledged().await;
    };
    called.during(&world, story).await;
}

fn stamp(away: i64) -> String {
    (NOW.as_millis() / 1_000 + away).to_string()
}

fn call(body: &str, headers: &[(&str, &str)]) -> HookCall {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let json = ("content-type".to_owned(), "application/json".to_owned());
    HookCall {
        headers: headers.iter().map(owned).chain([json]).collect(),
        body: body.as_bytes().to_vec(),
    }
}

fn signed(body: &str, away: i64) -> HookCall {
    let stamp = stamp(away);
    let signature = signature(SECRET, &stamp, body);
    call(
        body,
        &[
            ("x-slack-request-timestamp", &stamp),
            ("x-slack-signature", &signature),
        ],
    )
}

fn challenge() -> String {
    json!({ "type": "url_verification", "challenge": "3eZbrw1aB", "token": "x" }).to_string()
}

/// An adapter that knows who it is, and what it answers to a call.
async fn answered(calls: Vec<HookCall>) -> (Vec<HookAnswer>, Arc<Desk>) {
    let world = World::start().await;
    let slack = called_at(&world.server.url(), &workshop());
    let desk = Arc::new(Desk::open());
    let story = desk.has_met(|met| !met.identities.is_empty());
    in_time(async {
        tokio::select! {
            biased;
            ended = slack.receive(&*desk) => panic!("disconnected: {ended:?}"),
            () = story => {}
        }
    })
    .await;
    let hook = slack.abilities().hook.unwrap();
    let mut answers = Vec::new();
    for call in &calls {
        answers.push(in_time(hook.take(call, &*desk)).await);
    }
    (answers, desk)
}

fn event(team: &str, text: &str) -> String {
    let event = json!({
        "type": "message", "channel": "D1", "channel_type": "im", "user": "U1", "text": text, "ts": "1.2",
    });
    json!({ "type": "event_callback", "team_id": team, "event": event }).to_string()
}

#[tokio::test]
async fn a_forged_call_is_refused_without_a_word() {
    let body = event("T0SIM0001", "let me in");
    let (now, old) = (stamp(0), stamp(-301));
    let right = signature(SECRET, &now, &body);
    let wrong = signature("another secret", &now, &body);
    let replayed = signature(SECRET, &old, &body);
    let stamped = ("x-slack-request-timestamp", now.as_str());
    let with = |signature| call(&body, &[stamped, ("x-slack-signature", signature)]);
    let calls = vec![
        call(&body, &[]),
        call(&body, &[stamped]),
        with(""),
        with("v0="),
        with(&wrong),
        // Signed for something else.
        with(&signature(SECRET, &now, "{}")),
        // A recording, as it was and with a fresh time.
        call(
            &body,
            &[
                ("x-slack-request-timestamp", &old),
                ("x-slack-signature", &replayed),
            ],
        ),
        with(&replayed),
        signed(&body, 301),
        call(
            &body,
            &[
                stamped,
                ("x-slack-signature", &right),
                ("x-slack-signature", &right),
            ],
        ),
        // Not even the challenge is answered to whoever asks.
        call(&challenge(), &[]),
    ];
    let count = calls.len();
    let (answers, desk) = answered(calls).await;
    let refused = HookAnswer {
        status: 401,
        media_type: "text/plain",
        body: String::new(),
    };
    assert_eq!(answers, vec![refused; count]);
    assert!(desk.events().is_empty());
}

#[tokio::test]
async fn a_signed_challenge_is_answered() {
    let (answers, _) = answered(vec![signed(&challenge(), 0)]).await;
    assert_eq!(
        (answers[0].status, answers[0].body.as_str()),
        (200, "3eZbrw1aB")
    );
}

#[tokio::test]
async fn another_workspaces_event_is_answered_and_dropped() {
    let calls = vec![
        signed(&event("T0OTHER", "psst"), 0),
        signed(&event("T0SIM0001", "hello"), -300),
    ];
    let (answers, desk) = answered(calls).await;
    assert_eq!((answers[0].status, answers[1].status), (200, 200));
    assert_eq!(desk.texts(), ["hello"]);
}

#[tokio::test]
async fn garbage_is_an_answer_and_never_a_crash() {
    let limited: Value = json!({ "type": "app_rate_limited", "team_id": "T0SIM0001" });
    let calls = vec![
        signed("", 0),
        signed("<html>", 0),
        signed("5", 0),
        signed("{}", 0),
        signed(r#"{"type":"event_callback"}"#, 0),
        signed(&limited.to_string(), 0),
    ];
    let (answers, desk) = answered(calls).await;
    let statuses: Vec<_> = answers.iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [400, 400, 200, 200, 200, 200]);
    assert!(desk.events().is_empty());
}

#[tokio::test]
async fn before_anybody_knows_who_we_are_slack_has_to_call_again() {
    let world = World::start().await;
    let slack = called_at(&world.server.url(), &workshop());
    let hook = slack.abilities().hook.unwrap();
    let call = signed(&event("T0SIM0001", "hello"), 0);
    let answer = in_time(hook.take(&call, &Desk::open())).await;
    assert_eq!(answer.status, 503);
    let without = &world.slack;
    assert!(without.abilities().hook.is_none());
}
