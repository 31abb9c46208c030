//! Runs: turns that outlive the connection.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use talaria_domain::address::ReturnAddress;
use talaria_domain::ids::{EventId, JobId};
use talaria_domain::job::{JobKind, Promise};
use talaria_store::jobs::{self, Order};
use talaria_store::{inbox, runs};

use crate::programs::{Answer, Program, Told, World};
use crate::world::PATIENCE;

async fn starts(program: &Program<'_>, input: &str) -> String {
    let made = program.post("/v1/runs", &json!({"input": input})).await;
    assert_eq!(made.status, StatusCode::ACCEPTED, "{}", made.words);
    assert_eq!(made.body["session_id"], made.session());
    made.body["run_id"].as_str().unwrap().to_owned()
}

/// Reads a run's events to the end, from after the last one that was read.
async fn reads(program: &Program<'_>, run: &str, last: Option<&str>) -> Vec<Told> {
    let program = match last {
        Some(last) => program.clone().saying("last-event-id", last),
        None => program.clone(),
    };
    let path = format!("/v1/runs/{run}/events");
    let reader = program.opens(Method::GET, &path, &Value::Null).await;
    reader.all().await
}

async fn cancels(program: &Program<'_>, run: &str) -> Answer {
    let path = format!("/v1/runs/{run}/cancel");
    program.post(&path, &json!({})).await
}

async fn shows(program: &Program<'_>, run: &str) -> Answer {
    program.get(&format!("/v1/runs/{run}")).await
}

fn names(all: &[Told]) -> Vec<(&str, &str)> {
    all.iter()
        .map(|told| (told.id.as_deref().unwrap(), told.name.as_deref().unwrap()))
        .collect()
}

#[tokio::test]
async fn a_run_is_told_in_full_to_whoever_reads_and_whenever() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let run = starts(&ada, "use a tool").await;
    let (one, other) = tokio::join!(reads(&ada, &run, None), reads(&ada, &run, None));
    let expected = [
        ("1", "message_completed"),
        ("2", "tool_started"),
        ("3", "tool_completed"),
        ("4", "message_delta"),
        ("5", "message_delta"),
        ("6", "message_completed"),
        ("6", "run_completed"),
    ];
    assert_eq!(names(&one), expected);
    assert_eq!(one, other);
    let late = reads(&ada, &run, None).await;
    assert_eq!(late, one, "after its end, too");
    let rest = reads(&ada, &run, Some("3")).await;
    assert_eq!(rest, one[3..], "from where somebody was");
    let end = reads(&ada, &run, Some("6")).await;
    assert_eq!(end, one[6..]);
    let told = one[1].body();
    assert_eq!(
        (&told["run_id"], &told["seq"], &told["tool"]),
        (&json!(run), &json!(2), &json!("lever"))
    );

    let shown = shows(&ada, &run).await;
    assert_eq!(shown.status, StatusCode::OK);
    let fields = [
        ("run_id", json!(run)),
        ("object", json!("run")),
        ("status", json!("completed")),
        ("model", json!("assistant")),
        ("output", json!("re: use a tool")),
        ("usage", json!({"input_tokens": 11, "output_tokens": 7})),
        ("error", Value::Null),
    ];
    for (name, value) in fields {
        assert_eq!(shown.body[name], value, "{name}");
    }
    let event: EventId = run.parse().unwrap();
    let tries = world.read(move |tx| runs::for_event(tx, event)).await;
    let by_run = shows(&ada, &tries[0].id.to_string()).await;
    assert_eq!(by_run.body, shown.body, "the runner's own id leads to it");
    world.end().await;
}

#[tokio::test]
async fn a_run_goes_on_when_its_reader_goes_away_and_is_cancelled_on_demand() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let run = starts(&ada, "hang").await;
    world.parrot.until(|it| it.turns().len() == 1).await;
    let path = format!("/v1/runs/{run}/events");
    let mut reader = ada.opens(Method::GET, &path, &Value::Null).await;
    assert_eq!(reader.next().await.unwrap().body()["text"], "hm");
    drop(reader);
    assert_eq!(shows(&ada, &run).await.body["status"], "running");
    let (cancelled, all) = tokio::join!(cancels(&ada, &run), reads(&ada, &run, Some("1")));
    assert_eq!(cancelled.status, StatusCode::OK, "{}", cancelled.words);
    assert_eq!(names(&all), [("1", "run_cancelled")]);
    world.parrot.until(|it| it.stopped().len() == 1).await;
    let shown = shows(&ada, &run).await;
    assert_eq!(shown.body["status"], "cancelled");
    assert_eq!(shown.body["error"]["code"], "run_cancelled");
    let again = cancels(&ada, &run).await;
    assert_eq!(again.body["status"], "cancelled", "what has ended stays so");
    world.end().await;
}

#[tokio::test]
async fn a_run_that_waits_is_cancelled_without_a_turn() {
    let world = World::start().await;
    let ada = world.program("ada").await;
    let first = ada.post("/v1/runs", &json!({"input": "hang"})).await;
    world.parrot.until(|it| it.turns().len() == 1).await;
    let here = ada.saying("x-talaria-session-id", first.session());
    let second = starts(&here, "never said").await;
    assert_eq!(shows(&here, &second).await.body["status"], "queued");
    let path = format!("/v1/runs/{second}/cancel");
    let cancelled = here.post(&path, &json!({})).await;
    assert_eq!(cancelled.body["status"], "cancelled");
    let run = first.body["run_id"].as_str().unwrap();
    assert_eq!(shows(&here, run).await.body["status"], "running");
    cancels(&here, run).await;
    world.parrot.until(|it| it.stopped().len() == 1).await;
    assert_eq!(world.parrot.turns().len(), 1);
    world.end().await;
}

#[tokio::test]
async fn after_a_crash_a_run_is_told_truthfully() {
    let world = World::start().await;
    let thinking = starts(&world.operator(), "hang").await;
    let working = starts(&world.operator(), "stuck in a tool").await;
    under_way(&world, &thinking, 1).await;
    under_way(&world, &working, 2).await;
    let world = world.crashed().await;
    let operator = world.operator();
    let all = reads(&operator, &working, None).await;
    assert_eq!(all.last().unwrap().name.as_deref(), Some("run_interrupted"));
    let shown = shows(&operator, &working).await;
    assert_eq!(shown.body["status"], "interrupted");
    let message = shown.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("lever"), "{message}");

    // What only thought is done again, and goes on under the same id with numbers of its own.
    let path = format!("/v1/runs/{thinking}/events");
    let mut reader = operator.opens(Method::GET, &path, &Value::Null).await;
    let (first, second) = (reader.next().await.unwrap(), reader.next().await.unwrap());
    assert_eq!(first.id.as_deref(), Some("1"));
    assert_eq!(
        (&first.name, &first.body()["text"]),
        (&second.name, &second.body()["text"])
    );
    assert!(second.body()["seq"].as_i64() > Some(1), "{second:?}");
    assert_eq!(shows(&operator, &thinking).await.body["status"], "running");
    cancels(&operator, &thinking).await;
    assert_eq!(
        reader.next().await.unwrap().name.as_deref(),
        Some("run_cancelled")
    );
    assert_eq!(reader.next().await, None);
    world.end().await;
}

/// Waits until a run's journal has so many events.
async fn under_way(world: &World, run: &str, events: usize) {
    let event: EventId = run.parse().unwrap();
    let journalled = async || {
        let run = world.read(move |tx| runs::for_event(tx, event)).await;
        let Some(run) = run.first().map(|run| run.id) else {
            return 0;
        };
        let journal = world.read(move |tx| runs::journal(tx, run, 0, 10)).await;
        journal.len()
    };
    let waiting = async {
        while journalled().await < events {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waiting).await;
    waited.expect("it is under way");
}

#[tokio::test]
async fn a_foreign_run_is_not_found() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let run = starts(&ada, "hello").await;
    reads(&ada, &run, None).await;
    let nobodys = "0198c0de-0000-7000-8000-000000000001";
    for path in ["", "/events"] {
        for id in [run.as_str(), nobodys, "nonsense"] {
            let answer = bob.get(&format!("/v1/runs/{id}{path}")).await;
            answer.refused(StatusCode::NOT_FOUND, "not_found");
        }
    }
    let answer = cancels(&bob, &run).await;
    let theirs = answer
        .refused(StatusCode::NOT_FOUND, "not_found")
        .replace(&run, "");
    let nothing = bob.get(&format!("/v1/runs/{nobodys}")).await;
    let nothing = nothing
        .refused(StatusCode::NOT_FOUND, "not_found")
        .replace(nobodys, "");
    assert_eq!(theirs, nothing, "not even that it is there");
    let odd = ada.clone().saying("last-event-id", "x");
    let odd = odd.get(&format!("/v1/runs/{run}/events")).await;
    odd.refused(StatusCode::BAD_REQUEST, "bad_input");
    world.end().await;
}

#[tokio::test]
async fn a_run_that_is_asked_for_again_is_the_same_also_after_a_crash() {
    let world = World::start().await;
    let body = json!({"input": "hello"});
    let once = world.operator().saying("idempotency-key", "once");
    let first = once.post("/v1/runs", &body).await;
    let run = first.body["run_id"].as_str().unwrap().to_owned();
    reads(&once, &run, None).await;
    let again = once.post("/v1/runs", &body).await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    let completion = once.says("hello").await;
    assert_eq!(completion.content(), "re: hello", "a key is one route's");
    let world = world.crashed().await;
    let once = world.operator().saying("idempotency-key", "once");
    let again = once.post("/v1/runs", &body).await;
    assert_eq!((again.status, &again.body), (first.status, &first.body));
    let other = once.post("/v1/runs", &json!({"input": "goodbye"})).await;
    other.refused(StatusCode::CONFLICT, "conflict");
    assert_eq!(world.parrot.turns().len(), 0, "nothing was done again");
    world.end().await;
}

#[tokio::test]
async fn a_job_is_its_owners() {
    let world = World::start().await;
    let (ada, bob) = (world.program("ada").await, world.program("bob").await);
    let run = starts(&ada, "hello").await;
    reads(&ada, &run, None).await;
    let event: EventId = run.parse().unwrap();
    let job = JobId::from_bytes([7; 16]);
    let recorded = world.ledger.write(move |tx| {
        let row = inbox::get(tx, event)?;
        let return_to = ReturnAddress {
            address: row.event.address,
            requester: row.event.principal,
            profile: "assistant".into(),
            session: row.session,
        };
        let order = Order {
            id: job,
            run: None,
            kind: JobKind::Process,
            return_to,
            work: json!({}),
            promise: Promise::Nothing,
            node: "node".into(),
            at: row.event.received_at,
        };
        jobs::record(tx, &order)
    });
    recorded.await.unwrap();
    let path = format!("/v1/jobs/{job}");
    let shown = ada.get(&path).await;
    assert_eq!(shown.status, StatusCode::OK, "{}", shown.words);
    assert_eq!(
        (&shown.body["id"], &shown.body["status"]),
        (&json!(job), &json!("queued"))
    );
    let theirs = bob.get(&path).await;
    assert_eq!(
        theirs.refused(StatusCode::NOT_FOUND, "not_found"),
        format!("there is no job {job}")
    );
    world.end().await;
}
