//! Responses: the same turns in the other format, kept until they are deleted.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::programs::{Answer, Program, World};

const PATH: &str = "/v1/responses";

async fn asks(program: &Program<'_>, body: Value) -> Answer {
    program.post(PATH, &body).await
}

fn text(response: &Value) -> String {
    let items = response["output"].as_array().unwrap().iter();
    let items = items.filter(|item| item["type"] == "message");
    let texts = items.map(|item| item["content"][0]["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join("|")
}

fn path(answer: &Answer) -> String {
    format!("{PATH}/{}", answer.body["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_response_is_answered_kept_and_deleted() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let body = json!({
        "model": "assistant", "input": "use a tool", "instructions": "be brief", "metadata": {"a": "b"},
    });
    let made = asks(&ada, body).await;
    assert_eq!(made.status, StatusCode::OK, "{}", made.words);
    for (name, value) in [
        ("object", json!("response")),
        ("status", json!("completed")),
        ("instructions", json!("be brief")),
        ("metadata", json!({"a": "b"})),
        ("store", json!(true)),
        ("error", Value::Null),
    ] {
        assert_eq!(made.body[name], value, "{name}");
    }
    assert_eq!(text(&made.body), "let me look|re: use a tool");
    assert_eq!(made.body["usage"]["total_tokens"], 18);
    assert_eq!(
        world.parrot.turns()[0].profile.instructions.trim(),
        "be brief",
        "the agent is told"
    );
    let path = path(&made);
    assert_eq!(ada.get(&path).await.body, made.body);
    let foreign = bob.get(&path).await;
    foreign.refused(StatusCode::NOT_FOUND, "not_found");
    let foreign = bob.delete(&path).await;
    foreign.refused(StatusCode::NOT_FOUND, "not_found");
    let deleted = ada.delete(&path).await;
    assert_eq!(
        deleted.body,
        json!({"id": made.body["id"], "object": "response", "deleted": true})
    );
    for gone in [ada.get(&path).await, ada.delete(&path).await] {
        gone.refused(StatusCode::NOT_FOUND, "not_found");
    }
    let unkept = asks(&ada, json!({"input": "hello", "store": false})).await;
    assert_eq!(unkept.status, StatusCode::OK);
    let gone = ada.get(&self::path(&unkept)).await;
    gone.refused(StatusCode::NOT_FOUND, "not_found");
    let chat = ada.says("hello").await.body["id"]
        .as_str()
        .unwrap()
        .replace("chatcmpl-", "resp_");
    let other = ada.get(&format!("{PATH}/{chat}")).await;
    other.refused(StatusCode::NOT_FOUND, "not_found");
    world.end().await;
}

#[tokio::test]
async fn a_response_follows_the_last_one_of_its_conversation() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let first = asks(&ada, json!({"input": "one"})).await;
    let follows =
        |answer: &Answer| json!({"input": "two", "previous_response_id": answer.body["id"]});
    let second = asks(&ada, follows(&first)).await;
    assert_eq!(second.body["previous_response_id"], first.body["id"]);
    assert_eq!(second.session(), first.session());
    let turns = world.parrot.turns();
    let before: Vec<&str> = turns[1]
        .history
        .iter()
        .map(|said| said.text.as_str())
        .collect();
    assert_eq!(before, ["one", "re: one"]);
    let foreign = asks(&bob, follows(&second)).await;
    foreign.refused(StatusCode::NOT_FOUND, "not_found");
    let by_name = json!({"input": "three", "conversation": second.session()});
    let third = asks(&ada, by_name.clone()).await;
    assert_eq!(third.session(), first.session());
    let foreign = asks(&bob, by_name).await;
    foreign.refused(StatusCode::NOT_FOUND, "not_found");
    let world = world.crashed().await;
    assert_eq!(
        world.parrot.turns().len(),
        0,
        "what has ended is not done again"
    );
    world.end().await;
}

/// What the agent knew when it was asked this.
fn history(world: &World, prompt: &str) -> Vec<String> {
    let turns = world.parrot.turns();
    let turn = turns.iter().find(|turn| turn.prompt == prompt).unwrap();
    turn.history.iter().map(|said| said.text.clone()).collect()
}

#[tokio::test]
async fn a_response_that_is_followed_twice_has_two_answers_that_know_nothing_of_each_other() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let follows = |input: &str, answer: &Answer| json!({"input": input, "previous_response_id": answer.body["id"]});
    let first = asks(&ada, json!({"input": "one"})).await;
    let second = asks(&ada, follows("two", &first)).await;
    let (left, right) = tokio::join!(
        asks(&ada, follows("left", &second)),
        asks(&ada, follows("right", &second))
    );
    let early = asks(&ada, follows("early", &first)).await;
    for (answer, said) in [
        (&left, "re: left"),
        (&right, "re: right"),
        (&early, "re: early"),
    ] {
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.words);
        assert_eq!(text(&answer.body), said);
    }
    let both = ["one", "re: one", "two", "re: two"];
    assert_eq!(history(&world, "left"), both);
    assert_eq!(history(&world, "right"), both);
    assert_eq!(history(&world, "early"), ["one", "re: one"]);
    assert_ne!(left.session(), right.session());
    // Each goes on by itself.
    asks(&ada, follows("more left", &left)).await;
    asks(&ada, follows("more right", &right)).await;
    assert_eq!(history(&world, "more left")[4..], ["left", "re: left"]);
    assert_eq!(history(&world, "more right")[4..], ["right", "re: right"]);
    // One that failed can be followed, too: that it did is known.
    let failed = ada
        .post(PATH, &json!({"input": "fail", "stream": true}))
        .await;
    let id = failed
        .words
        .split("resp_")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for input in ["after", "once more after"] {
        let body = json!({"input": input, "previous_response_id": format!("resp_{id}")});
        assert_eq!(asks(&ada, body).await.status, StatusCode::OK);
        let known = history(&world, input);
        assert_eq!(known.len(), 2, "{known:?}");
        assert!(known[1].starts_with("I could not finish this"), "{known:?}");
    }
    world.end().await;
}

#[tokio::test]
async fn a_stream_that_was_cut_off_goes_on_where_its_reader_was() {
    let world = World::start().await;
    let operator = world.operator();
    let body = json!({"input": "use a tool", "stream": true});
    let all = operator.opens(Method::POST, PATH, &body).await.all().await;
    let id = all[0].body()["response"]["id"].as_str().unwrap().to_owned();
    let reads = async |query: &str| {
        let path = format!("{PATH}/{id}?stream=true{query}");
        operator
            .opens(Method::GET, &path, &Value::Null)
            .await
            .all()
            .await
    };
    assert_eq!(reads("").await, all);
    for last in 0..all.len() {
        let rest = reads(&format!("&starting_after={last}")).await;
        assert_eq!(rest, all[last + 1..], "{last}");
    }
    let odd = operator.get(&format!("{PATH}/{id}?starting_after=1")).await;
    odd.refused(StatusCode::BAD_REQUEST, "bad_input");

    // Whoever only reads stops nothing by leaving, and is told what happens meanwhile.
    let body = json!({"input": "hang", "stream": true});
    let mut first = operator.opens(Method::POST, PATH, &body).await;
    let begun = first.next().await.unwrap().body();
    let path = format!("{PATH}/{}", begun["response"]["id"].as_str().unwrap());
    let streamed = format!("{path}?stream=true");
    let mut reader = operator.opens(Method::GET, &streamed, &Value::Null).await;
    while reader.next().await.unwrap().name.as_deref() != Some("response.output_text.delta") {}
    drop(reader);
    let reader = operator.opens(Method::GET, &streamed, &Value::Null).await;
    let cancelled = operator.post(&format!("{path}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, StatusCode::OK, "{}", cancelled.words);
    let last = reader.all().await.pop().unwrap();
    assert_eq!(last.name.as_deref(), Some("response.incomplete"));
    let theirs = first.all().await.pop().unwrap();
    assert_eq!(theirs, last);
    world.end().await;
}

#[tokio::test]
async fn a_stream_leads_to_the_response_that_is_kept() {
    let world = World::start().await;
    let operator = world.operator();
    let body = json!({"input": "use a tool", "stream": true});
    let all = operator.opens(Method::POST, PATH, &body).await.all().await;
    for (number, told) in all.iter().enumerate() {
        let event = told.body();
        assert_eq!(told.name.as_deref(), event["type"].as_str());
        assert_eq!(event["sequence_number"], number);
    }
    assert_eq!(all[0].name.as_deref(), Some("response.created"));
    let last = all.last().unwrap();
    assert_eq!(last.name.as_deref(), Some("response.completed"));
    let response = last.body()["response"].clone();
    let deltas = all
        .iter()
        .filter(|told| told.name.as_deref() == Some("response.output_text.delta"));
    let said: String = deltas
        .map(|told| told.body()["delta"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(said, text(&response).replace('|', ""));
    let id = response["id"].as_str().unwrap();
    let kept = operator.get(&format!("{PATH}/{id}")).await;
    assert_eq!(kept.body, response);

    let body = json!({"input": "fail", "stream": true});
    let all = operator.opens(Method::POST, PATH, &body).await.all().await;
    let last = all.last().unwrap();
    assert_eq!(last.name.as_deref(), Some("response.failed"));
    assert_eq!(last.body()["response"]["error"]["code"], "run_failed");
    let failed = asks(&operator, json!({"input": "fail"})).await;
    failed.refused(StatusCode::BAD_GATEWAY, "run_failed");
    world.end().await;
}

#[tokio::test]
async fn a_response_is_cancelled_on_demand() {
    let world = World::start().await;
    let operator = world.operator();
    let body = json!({"input": "hang", "stream": true});
    let mut reader = operator.opens(Method::POST, PATH, &body).await;
    let begun = reader.next().await.unwrap().body();
    let id = begun["response"]["id"].as_str().unwrap();
    world.parrot.until(|it| it.turns().len() == 1).await;
    let path = format!("{PATH}/{id}");
    assert_eq!(operator.get(&path).await.body["status"], "in_progress");
    let follow = json!({"input": "x", "previous_response_id": id});
    let early = asks(&operator, follow).await;
    early.refused(StatusCode::CONFLICT, "response_in_progress");
    let cancelled = operator.post(&format!("{path}/cancel"), &json!({})).await;
    assert_eq!(cancelled.status, StatusCode::OK, "{}", cancelled.words);
    let all = reader.all().await;
    let last = all.last().unwrap().body();
    assert_eq!(last["type"], "response.incomplete");
    assert_eq!(operator.get(&path).await.body["status"], "cancelled");
    world.end().await;
}
