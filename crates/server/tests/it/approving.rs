//! A run asks, and the program whose run it is answers: once, and for nobody else's run.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use talaria_domain::effects::{Answer as Told, Question};
use talaria_domain::run::Action;
use talaria_domain::runner::Host;

use crate::programs::{Answer, Program, World};
use crate::world::PATIENCE;

/// What thinks asks, if the message says so: `enquire`, `enquire freely` or `permit`.
pub(crate) async fn asked(host: &dyn Host, prompt: &str) -> Option<String> {
    let action = if prompt.contains("permit") {
        Action::Approval {
            effect: "pull the lever".to_owned(),
        }
    } else if prompt.contains("enquire") {
        let choices: &[&str] = if prompt.contains("freely") {
            &[]
        } else {
            &["red", "blue"]
        };
        Action::Question {
            text: "Which one?".to_owned(),
            choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
        }
    } else {
        return None;
    };
    let question = Question {
        action,
        patience: Duration::from_mins(10),
    };
    Some(match host.effects().ask(question).await {
        Ok(Told::Approved) => "told yes".to_owned(),
        Ok(Told::Denied) => "told no".to_owned(),
        Ok(Told::Said { text }) => format!("told {text}"),
        Err(refusal) => format!("not told: {:?}", refusal.code),
    })
}

async fn starts(program: &Program<'_>, input: &str) -> String {
    let made = program.post("/v1/runs", &json!({"input": input})).await;
    assert_eq!(made.status, StatusCode::ACCEPTED, "{}", made.words);
    made.body["run_id"].as_str().unwrap().to_owned()
}

async fn decides(program: &Program<'_>, run: &str, decision: Value) -> Answer {
    let path = format!("/v1/runs/{run}/approval");
    program.post(&path, &decision).await
}

/// Waits until the run stands so.
async fn stands(program: &Program<'_>, run: &str, status: &str) -> Value {
    let looking = async {
        loop {
            let shown = program.get(&format!("/v1/runs/{run}")).await;
            if shown.body["status"] == status {
                return shown.body;
            }
            tokio::task::yield_now().await;
        }
    };
    let stood = tokio::time::timeout(PATIENCE, looking).await;
    stood.unwrap_or_else(|_| panic!("{run} is never {status}"))
}

#[tokio::test]
async fn a_program_answers_what_its_run_asks() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let table = [
        ("permit", json!({"decision": "approve"}), "told yes"),
        ("permit", json!({"decision": "deny"}), "told no"),
        (
            "enquire",
            json!({"decision": "answer", "text": "2"}),
            "told blue",
        ),
        ("enquire", json!({"decision": "deny"}), "told no"),
        (
            "enquire freely",
            json!({"decision": "answer", "text": "in May"}),
            "told in May",
        ),
    ];
    for (input, decision, told) in table {
        let run = starts(&ada, input).await;
        let shown = stands(&ada, &run, "waiting").await;
        let request = &shown["request"];
        assert_eq!(
            request["kind"] == "approval",
            input == "permit",
            "{request}"
        );
        let answered = decides(&ada, &run, decision).await;
        assert_eq!(answered.status, StatusCode::OK, "{}", answered.words);
        let shown = stands(&ada, &run, "completed").await;
        assert_eq!(shown["output"], told);
        assert_eq!(shown["request"], Value::Null);
        let again = decides(&ada, &run, json!({"decision": "deny"})).await;
        let words = again.refused(StatusCode::CONFLICT, "conflict");
        assert_eq!(words, "it was answered already");
    }
    world.end().await;
}

#[tokio::test]
async fn the_stream_tells_what_is_asked_and_what_came_of_it() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let run = starts(&ada, "enquire").await;
    let path = format!("/v1/runs/{run}/events");
    let mut reader = ada.opens(Method::GET, &path, &Value::Null).await;
    let asked = reader.next().await.unwrap();
    assert_eq!(asked.name.as_deref(), Some("action_requested"));
    let request = asked.body()["request"].clone();
    assert_eq!(asked.body()["action"]["choices"], json!(["red", "blue"]));
    let decision = json!({"decision": "answer", "text": "red", "request_id": request});
    let answered = decides(&ada, &run, decision).await;
    assert_eq!(answered.status, StatusCode::OK, "{}", answered.words);
    let settled = reader.next().await.unwrap();
    assert_eq!(settled.name.as_deref(), Some("action_settled"));
    let settled = settled.body();
    assert_eq!(
        (&settled["request"], &settled["state"], &settled["answer"]),
        (
            &request,
            &json!("answered"),
            &json!({"answer": "said", "text": "red"})
        )
    );
    let rest = reader.all().await;
    assert_eq!(rest.last().unwrap().name.as_deref(), Some("run_completed"));
    world.end().await;
}

#[tokio::test]
async fn of_many_answers_at_once_one_is_taken() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let run = starts(&ada, "permit").await;
    stands(&ada, &run, "waiting").await;
    let decisions = (0..8).map(|number| {
        let decision = if number % 2 == 0 { "approve" } else { "deny" };
        decides(&ada, &run, json!({ "decision": decision }))
    });
    let answers = futures::future::join_all(decisions).await;
    let taken = answers
        .iter()
        .filter(|answer| answer.status == StatusCode::OK);
    assert_eq!(taken.count(), 1);
    for answer in answers
        .iter()
        .filter(|answer| answer.status != StatusCode::OK)
    {
        assert_eq!(answer.status, StatusCode::CONFLICT, "{}", answer.words);
    }
    stands(&ada, &run, "completed").await;
    world.end().await;
}

#[tokio::test]
async fn nobody_answers_for_another_key() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let run = starts(&ada, "permit").await;
    let shown = stands(&ada, &run, "waiting").await;
    let request = shown["request"]["request_id"].as_str().unwrap();
    let approve = json!({"decision": "approve"});
    let foreign = decides(&bob, &run, approve.clone()).await;
    foreign.refused(StatusCode::NOT_FOUND, "not_found");
    let foreign = bob
        .post(&format!("/api/questions/{request}"), &approve)
        .await;
    foreign.refused(StatusCode::NOT_FOUND, "not_found");
    // Not by way of a run of their own, either.
    let own = starts(&bob, "permit").await;
    stands(&bob, &own, "waiting").await;
    let crossed = json!({"decision": "approve", "request_id": request});
    let crossed = decides(&bob, &own, crossed).await;
    crossed.refused(StatusCode::NOT_FOUND, "not_found");
    assert_eq!(stands(&ada, &run, "waiting").await["status"], "waiting");
    for (program, run) in [(&ada, &run), (&bob, &own)] {
        let denied = decides(program, run, json!({"decision": "deny"})).await;
        assert_eq!(denied.status, StatusCode::OK, "{}", denied.words);
        stands(program, run, "completed").await;
    }
    world.end().await;
}

#[tokio::test]
async fn what_is_no_answer_says_what_was_expected() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let silent = starts(&ada, "hello").await;
    stands(&ada, &silent, "completed").await;
    let nothing = decides(&ada, &silent, json!({"decision": "approve"})).await;
    let words = nothing.refused(StatusCode::CONFLICT, "conflict");
    assert_eq!(words, "the run asks nothing");
    let run = starts(&ada, "enquire").await;
    stands(&ada, &run, "waiting").await;
    let wrong = [
        json!({}),
        json!({"decision": "maybe"}),
        json!({"decision": "answer"}),
        json!({"decision": "answer", "text": " "}),
        json!({"decision": "approve", "text": "x"}),
        json!({"decision": "approve", "extra": 1}),
    ];
    for body in wrong {
        let refused = decides(&ada, &run, body).await;
        refused.refused(StatusCode::BAD_REQUEST, "bad_input");
    }
    for body in [
        json!({"decision": "approve"}),
        json!({"decision": "answer", "text": "green"}),
    ] {
        let refused = decides(&ada, &run, body).await;
        let words = refused.refused(StatusCode::CONFLICT, "conflict");
        assert_eq!(words, "expected `answer` with one of: red, blue");
    }
    assert_eq!(stands(&ada, &run, "waiting").await["status"], "waiting");
    let cancelled = ada
        .post(&format!("/v1/runs/{run}/cancel"), &json!({}))
        .await;
    assert_eq!(cancelled.status, StatusCode::OK);
    stands(&ada, &run, "cancelled").await;
    let late = decides(&ada, &run, json!({"decision": "answer", "text": "red"})).await;
    let words = late.refused(StatusCode::CONFLICT, "conflict");
    assert_eq!(words, "it is not open any more: its run has ended");
    world.end().await;
}

#[tokio::test]
async fn whoever_waits_for_the_answer_itself_is_not_asked() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    assert_eq!(ada.says("permit").await.content(), "not told: Disabled");
    let body = json!({"model": "assistant", "input": "permit"});
    let made = ada.post("/v1/responses", &body).await;
    assert!(made.words.contains("not told: Disabled"), "{}", made.words);
    world.end().await;
}

#[tokio::test]
async fn the_page_sees_what_is_asked_and_answers_it() {
    let world = World::start().await;
    let operator = world.operator();
    let made = operator
        .post("/api/sessions", &json!({"surface": "web"}))
        .await;
    let session = made.body["id"].as_str().unwrap().to_owned();
    let path = format!("/api/sessions/{session}");
    for (text, decision) in [
        ("permit", json!({"decision": "approve"})),
        ("enquire", json!({"decision": "answer", "text": "blue"})),
    ] {
        let said = operator
            .post(&format!("{path}/messages"), &json!({ "text": text }))
            .await;
        assert_eq!(said.status, StatusCode::ACCEPTED);
        let open = open(&operator, &path).await;
        let status = operator.get("/api/status").await;
        assert_eq!(status.body["lanes"]["waiting"], 1);
        let buttons = &open["buttons"];
        assert_eq!(buttons.as_array().unwrap().len(), 2, "{open}");
        let id = open["request_id"].as_str().unwrap();
        let answered = operator
            .post(&format!("/api/questions/{id}"), &decision)
            .await;
        assert_eq!(answered.status, StatusCode::NO_CONTENT);
        let again = operator
            .post(&format!("/api/questions/{id}"), &decision)
            .await;
        again.refused(StatusCode::CONFLICT, "conflict");
        quiet(&operator, &path).await;
    }
    // And by text.
    let said = operator
        .post(&format!("{path}/messages"), &json!({"text": "enquire"}))
        .await;
    assert_eq!(said.status, StatusCode::ACCEPTED);
    open(&operator, &path).await;
    let said = operator
        .post(&format!("{path}/messages"), &json!({"text": "1"}))
        .await;
    assert_eq!(said.status, StatusCode::ACCEPTED);
    quiet(&operator, &path).await;
    let all = operator.get(&format!("{path}/messages?limit=200")).await;
    for told in ["told yes", "told blue", "told red"] {
        assert!(all.words.contains(told), "{}", all.words);
    }
    world.end().await;
}

/// What is open in a conversation, once something is.
async fn open(program: &Program<'_>, path: &str) -> Value {
    let looking = async {
        loop {
            let listed = program.get(&format!("{path}/questions")).await;
            if let Some(first) = listed.body["data"].as_array().and_then(|all| all.first()) {
                return first.clone();
            }
            tokio::task::yield_now().await;
        }
    };
    let found = tokio::time::timeout(PATIENCE, looking).await;
    found.expect("something is asked")
}

/// Waits until nothing runs in a conversation.
async fn quiet(program: &Program<'_>, path: &str) {
    let looking = async {
        while !program.get(path).await.body["running"].is_null() {
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(PATIENCE, looking).await;
    ended.expect("the turn ends");
}
