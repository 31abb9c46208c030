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
    let branch = asks(&ada, follows(&first)).await;
    branch.refused(StatusCode::BAD_REQUEST, "unsupported_parameter");
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
