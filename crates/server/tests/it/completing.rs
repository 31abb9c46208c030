//! Chat completions: one turn, told at once or bit by bit.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::event::{AttachmentKind, Content, EventKind};
use talaria_domain::ids::{EventId, SessionId};
use talaria_domain::machine::RunState;
use talaria_domain::runner::{Said, Speaker};
use talaria_store::{inbox, runs, transcripts};

use crate::programs::{Answer, Told, World, saying};

const PATH: &str = "/v1/chat/completions";

fn event_of(id: &Value) -> EventId {
    let id = id.as_str().unwrap().strip_prefix("chatcmpl-").unwrap();
    id.parse().unwrap()
}

async fn content_of(world: &World, answer: &Answer) -> Content {
    let event = event_of(&answer.body["id"]);
    let row = world.read(move |tx| inbox::get(tx, event)).await;
    assert_eq!(row.event.address.platform.as_str(), "api");
    match row.event.kind {
        EventKind::Message(content) => content,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_answer_has_the_format_that_clients_know() {
    let world = World::start().await;
    let answer = world.operator().says("hello").await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.words);
    let mut expected = json!({
        "object": "chat.completion",
        "model": "assistant",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": "re: hello", "refusal": null },
            "logprobs": null,
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18 },
    });
    expected["id"] = answer.body["id"].clone();
    expected["created"] = answer.body["created"].clone();
    assert_eq!(answer.body, expected);
    let session: SessionId = answer.session().parse().unwrap();
    let said = world
        .read(move |tx| transcripts::page(tx, session, 0, 10))
        .await;
    assert_eq!(said.len(), 2);
    let window = world.parrot.turns()[0].window;
    assert_eq!(
        window,
        DeliveryWindow::InTurnOnly,
        "nothing is promised for later"
    );
    let again = world.operator().says("hello").await;
    assert_ne!(answer.session(), again.session(), "each is its own");
    world.end().await;
}

/// The one choice of a chunk: what it adds, and whether it is the last.
fn choice(told: &Told) -> (Value, Value) {
    let chunk = told.body();
    assert_eq!(chunk["object"], "chat.completion.chunk");
    let choices = chunk["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 1);
    (
        choices[0]["delta"].clone(),
        choices[0]["finish_reason"].clone(),
    )
}

#[tokio::test]
async fn a_stream_has_every_chunk_in_its_place() {
    let world = World::start().await;
    let mut body = saying("hello");
    body["stream"] = json!(true);
    let reader = world.operator().opens(Method::POST, PATH, &body).await;
    assert!(
        reader
            .response
            .headers()
            .contains_key("x-talaria-session-id")
    );
    let all = reader.all().await;
    assert!(all.iter().all(|told| told.name.is_none()));
    let (done, chunks) = all.split_last().unwrap();
    assert_eq!(done.text, "[DONE]");
    let choices: Vec<_> = chunks.iter().map(choice).collect();
    let expected = [
        (json!({"role": "assistant", "content": ""}), Value::Null),
        (json!({"content": "re: "}), Value::Null),
        (json!({"content": "hello"}), Value::Null),
        (json!({}), json!("stop")),
    ];
    assert_eq!(choices, expected);
    let first = chunks[0].body();
    for chunk in chunks {
        let chunk = chunk.body();
        assert_eq!(
            (&chunk["id"], &chunk["model"], &chunk["created"]),
            (&first["id"], &json!("assistant"), &first["created"])
        );
        assert!(chunk.get("usage").is_none(), "nobody asked");
    }

    body["stream_options"] = json!({"include_usage": true});
    let reader = world.operator().opens(Method::POST, PATH, &body).await;
    let all = reader.all().await;
    assert_eq!(all.len(), 6);
    for told in &all[..4] {
        assert_eq!(told.body()["usage"], Value::Null);
    }
    let last = all[4].body();
    assert_eq!(last["choices"], json!([]));
    assert_eq!(
        last["usage"],
        json!({"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18})
    );
    assert_eq!(all[5].text, "[DONE]");
    world.end().await;
}

#[tokio::test]
async fn a_tools_progress_has_a_name_and_adds_nothing() {
    let world = World::start().await;
    let mut body = saying("use a tool");
    body["stream"] = json!(true);
    let reader = world.operator().opens(Method::POST, PATH, &body).await;
    let all = reader.all().await;
    let progress: Vec<&Told> = all.iter().filter(|told| told.name.is_some()).collect();
    let expected = ["running", "completed"];
    assert_eq!(progress.len(), expected.len());
    for (told, status) in progress.into_iter().zip(expected) {
        assert_eq!(told.name.as_deref(), Some("talaria.tool.progress"));
        assert_eq!(choice(told), (json!({}), Value::Null));
        let expected = json!({"tool": "lever", "call_id": "call-1", "status": status});
        assert_eq!(told.body()["talaria"], expected);
    }
    let said = all.iter().filter(|told| told.name.is_none());
    let said: String = said
        .filter(|told| told.text != "[DONE]")
        .filter_map(|told| choice(told).0["content"].as_str().map(ToOwned::to_owned))
        .collect();
    assert_eq!(said, "let me look\n\nre: use a tool");
    world.end().await;
}

#[tokio::test]
async fn what_is_asked_beside_the_words_is_recorded_with_them() {
    let world = World::start().await;
    let picture = "data:image/png;base64,aGVsbG8=";
    let body = json!({
        "model": "assistant",
        "messages": [
            {"role": "system", "content": "be brief"},
            {"role": "user", "content": "what is a heron?"},
            {"role": "assistant", "content": "a bird"},
            {"role": "developer", "content": [{"type": "text", "text": "be kind"}]},
            {"role": "user", "content": [
                {"type": "text", "text": "and this?"},
                {"type": "image_url", "image_url": {"url": picture, "detail": "low"}},
            ]},
        ],
        "max_completion_tokens": 50, "temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["x"],
        "response_format": {"type": "json_object"}, "user": "somebody", "n": 1, "tools": [],
        "frequency_penalty": 0,
    });
    let answer = world.operator().post(PATH, &body).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.words);
    let content = content_of(&world, &answer).await;
    assert_eq!(content.text, "and this?");
    let [image] = content.attachments.as_slice() else {
        panic!("{content:?}")
    };
    assert_eq!(
        (
            image.kind,
            image.locator.as_str(),
            image.media_type.as_deref()
        ),
        (AttachmentKind::Image, picture, Some("image/png"))
    );
    let wishes = content.wishes.unwrap();
    assert_eq!(wishes.instructions.as_deref(), Some("be brief\n\nbe kind"));
    let before = [
        Said::plain(Speaker::User, "what is a heron?"),
        Said::plain(Speaker::Assistant, "a bird"),
    ];
    assert_eq!(wishes.history.as_deref(), Some(before.as_slice()));
    let options = json!({
        "max_tokens": 50, "temperature": 0.5, "top_p": 0.9, "seed": 7, "stop": ["x"],
        "response_format": {"type": "json_object"},
    });
    assert_eq!(json!(wishes.options), options);
    world.end().await;
}

#[tokio::test]
async fn a_conversation_goes_on_and_stays_its_owners() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let first = ada.says("one").await;
    let session = first.session().to_owned();
    let goes_on = ada.clone().saying("x-talaria-session-id", &session);
    let body = json!({"model": "assistant", "messages": [
        {"role": "user", "content": "made up"},
        {"role": "assistant", "content": "made up, too"},
        {"role": "user", "content": "two"},
    ]});
    let second = goes_on.post(PATH, &body).await;
    assert_eq!(second.session(), session);
    assert_eq!(second.content(), "re: two");
    let wishes = content_of(&world, &second).await.wishes.unwrap();
    assert_eq!(wishes.history, None, "history is ours");
    let window = Some(DeliveryWindow::InTurnOnly);
    assert_eq!(wishes.window, window, "nothing is promised for later");
    let turns = world.parrot.turns();
    let before: Vec<&str> = turns[1]
        .history
        .iter()
        .map(|said| said.text.as_str())
        .collect();
    assert_eq!(before, ["one", "re: one"]);
    for name in [session.as_str(), "not-an-id", ""] {
        let foreign = bob.clone().saying("x-talaria-session-id", name);
        foreign
            .says("mine?")
            .await
            .refused(StatusCode::NOT_FOUND, "not_found");
    }
    assert_eq!(
        world.parrot.turns().len(),
        2,
        "nothing was asked for a stranger"
    );
    world.end().await;
}

#[tokio::test]
async fn a_conversation_that_was_begun_elsewhere_goes_on_here() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let made = ada.post("/api/sessions", &json!({})).await;
    let id = made.body["id"].as_str().unwrap();
    let answer = ada
        .clone()
        .saying("x-talaria-session-id", id)
        .says("hello")
        .await;
    assert_eq!((answer.content(), answer.session()), ("re: hello", id));
    world.end().await;
}

#[tokio::test]
async fn a_turn_that_fails_is_an_error_that_programs_understand() {
    let world = World::start().await;
    let failed = world.operator().says("fail").await;
    let message = failed.refused(StatusCode::BAD_GATEWAY, "run_failed");
    assert_eq!(message, "the model answered 500");
    assert_eq!(failed.body["error"]["type"], "api_error");
    assert_eq!(
        failed.header("x-should-retry"),
        "false",
        "tools may have run"
    );
    let mut body = saying("fail");
    body["stream"] = json!(true);
    let reader = world.operator().opens(Method::POST, PATH, &body).await;
    let all = reader.all().await;
    let last = all.last().unwrap().body();
    assert_eq!(last["error"]["code"], "run_failed");
    assert!(all.iter().all(|told| told.text != "[DONE]"));
    world.end().await;
}

#[tokio::test]
async fn silence_and_commands_are_answers() {
    let world = World::start().await;
    assert_eq!(world.operator().says("silent").await.content(), "");
    let help = world.operator().says("/help").await;
    assert!(help.content().contains("/stop"), "{}", help.words);
    let mut body = saying("/help");
    body["stream"] = json!(true);
    let reader = world.operator().opens(Method::POST, PATH, &body).await;
    let all = reader.all().await;
    let said = choice(&all[1]).0["content"].as_str().unwrap().to_owned();
    assert_eq!(said, help.content());
    assert_eq!(all.last().unwrap().text, "[DONE]");
    world.end().await;
}

#[tokio::test]
async fn a_turn_whose_caller_goes_away_is_cancelled() {
    let world = World::start().await;
    let operator = world.operator();
    let mut body = saying("hang on a stream");
    body["stream"] = json!(true);
    let mut reader = operator.opens(Method::POST, PATH, &body).await;
    let begun = reader.next().await.unwrap();
    world.parrot.until(|it| it.turns().len() == 1).await;
    drop(reader);
    world.parrot.until(|it| it.stopped().len() == 1).await;
    let event = event_of(&begun.body()["id"]);
    let tries = world.read(move |tx| runs::for_event(tx, event)).await;
    assert_eq!(tries.len(), 1);
    assert_eq!(tries[0].state, RunState::Cancelled);

    let whole = saying("hang on for the whole answer");
    let impatient = operator.post(PATH, &whole);
    let gone = async {
        world.parrot.until(|it| it.turns().len() == 2).await;
    };
    tokio::select! {
        biased;
        answer = impatient => panic!("{answer:?}"),
        () = gone => {}
    }
    world.parrot.until(|it| it.stopped().len() == 2).await;
    world.end().await;
}

#[tokio::test]
async fn who_waits_in_a_queue_and_goes_away_stops_nobody_else() {
    let world = World::start().await;
    let operator = world.operator();
    let session = operator.says("hello").await.session().to_owned();
    let here = operator.saying("x-talaria-session-id", &session);
    let mut body = saying("hang first");
    body["stream"] = json!(true);
    let mut first = here.opens(Method::POST, PATH, &body).await;
    first.next().await.unwrap();
    world.parrot.until(|it| it.turns().len() == 2).await;
    let mut second = here
        .opens(Method::POST, PATH, &{
            let mut body = saying("hang second");
            body["stream"] = json!(true);
            body
        })
        .await;
    let waiting = event_of(&second.next().await.unwrap().body()["id"]);
    drop(second);
    let gone = async {
        loop {
            let row = world.read(move |tx| inbox::get(tx, waiting)).await;
            if row.reason.is_some() {
                return row;
            }
            tokio::task::yield_now().await;
        }
    };
    let row = tokio::time::timeout(crate::world::PATIENCE, gone)
        .await
        .unwrap();
    assert_eq!(
        row.reason.as_deref(),
        Some("cancelled before its turn came")
    );
    assert_eq!(
        world.parrot.stopped(),
        Vec::<String>::new(),
        "the first goes on"
    );
    drop(first);
    world.parrot.until(|it| it.stopped().len() == 1).await;
    assert_eq!(world.parrot.turns().len(), 2);
    world.end().await;
}

#[tokio::test]
async fn the_same_key_with_the_same_body_is_the_same_turn() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let ada = ada.saying("idempotency-key", "once");
    let first = ada.says("hello").await;
    let again = ada.says("hello").await;
    assert_eq!(first.body["id"], again.body["id"]);
    assert_eq!(
        (first.content(), first.session()),
        (again.content(), again.session())
    );
    assert_eq!(world.parrot.turns().len(), 1);
    ada.says("goodbye")
        .await
        .refused(StatusCode::CONFLICT, "conflict");
    let there = ada
        .clone()
        .saying("x-talaria-session-id", first.session())
        .says("hello")
        .await;
    there.refused(StatusCode::CONFLICT, "conflict");
    let other = bob.saying("idempotency-key", "once").says("hello").await;
    assert_ne!(
        other.body["id"], first.body["id"],
        "another principal's is another one"
    );

    let slow = world.program("cyd").await.saying("idempotency-key", "slow");
    let mut body = saying("hang");
    body["stream"] = json!(true);
    let mut reader = slow.opens(Method::POST, PATH, &body).await;
    reader.next().await.unwrap();
    let early = slow.post(PATH, &body).await;
    early.refused(StatusCode::CONFLICT, "idempotency_key_in_use");
    assert_eq!(early.header("retry-after"), "1");
    drop(reader);
    world.parrot.until(|it| it.stopped().len() == 1).await;
    world.end().await;
}
