//! What an operator does with what went through: follow it, list it, and deal with what was given up.

use reqwest::StatusCode;
use serde_json::{Value, json};
use talaria_domain::address::ReturnAddress;
use talaria_domain::authority::Authority;
use talaria_domain::clock::Clock as _;
use talaria_domain::delivery::{Outcome, Part, PartBody, Receipt, Rejection, ReplyKind};
use talaria_domain::event::{Event, EventKind, InternalCause};
use talaria_domain::ids::{DeadId, EventId, JobId, PartId, ReplyId, RunId, SessionId};
use talaria_domain::job::{JobEnd, JobKind, Promise};
use talaria_domain::machine::JobState;
use talaria_domain::run::{RunEvent, RunOutcome, Usage};
use talaria_store::jobs::{self, Order};
use talaria_store::leases::{self, Lease, LeaseName};
use talaria_store::outbox::{self, Attempt, Head, ReplyStart};
use talaria_store::runs::{self, Admission};
use talaria_store::{Tx, inbox};

use crate::world::{PATIENCE, START, World};

/// A message that was answered, as far as its answer's part being sent.
struct Answered {
    event: EventId,
    session: SessionId,
    run: RunId,
    reply: ReplyId,
    part: PartId,
}

/// The operator writes with a client id; gives where an answer goes.
async fn asked(world: &World) -> (EventId, ReturnAddress) {
    let session = world.operator().begins().await;
    let path = format!("/api/sessions/{session}/messages");
    let body = json!({"text": "a heron?", "id": "client-7"});
    world.operator().post(&path, &body).await;
    let sent = world
        .gateway
        .accepted
        .lock()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    let return_to = ReturnAddress {
        address: sent.address,
        requester: sent.principal,
        profile: "assistant".into(),
        session,
    };
    (sent.id, return_to)
}

/// A turn begins to answer; gives its run and the lease of its lane.
async fn begins(world: &World, event: EventId, return_to: &ReturnAddress) -> (RunId, Lease) {
    let (run, session) = (world.gateway.id(RunId::from_bytes), return_to.session);
    let admission = Admission {
        id: run,
        event,
        runner: "native".into(),
        attempt: 1,
        authority: Authority::default().into(),
        return_to: return_to.clone().into(),
        at: START,
    };
    let work = move |tx: &mut Tx<'_>| {
        let lane = leases::claim(tx, &LeaseName::Lane(session), &"node".into(), PATIENCE)?;
        inbox::claim(tx, &lane, run, START)?;
        runs::record(tx, &lane, &admission)?;
        runs::start(tx, &lane, run, START)?;
        Ok(lane)
    };
    (run, world.write(work).await)
}

/// The operator writes, a turn answers, and the answer is handed to the platform under epoch 1.
async fn answered(world: &World) -> Answered {
    let (event, return_to) = asked(world).await;
    let (run, lane) = begins(world, event, &return_to).await;
    let (session, kind) = (return_to.session, ReplyKind::Final);
    let (reply, part) = (
        world.gateway.id(ReplyId::from_bytes),
        world.gateway.id(PartId::from_bytes),
    );
    let start = ReplyStart {
        id: reply,
        run: Some(run),
        kind,
        return_to: return_to.into(),
        at: START,
    };
    let work = move |tx: &mut Tx<'_>| {
        let text = "a bird".to_owned();
        runs::append(
            tx,
            &lane,
            run,
            &RunEvent::MessageDelta { text: text.clone() },
            START,
        )?;
        outbox::record(tx, &start)?;
        outbox::set_text(tx, reply, &text)?;
        let body = PartBody::Text { markdown: text };
        outbox::add_part(
            tx,
            &Part {
                id: part,
                reply,
                ordinal: 0,
                body,
            },
            START,
        )?;
        outbox::finish(tx, reply, START)?;
        let outcome = RunOutcome::completed(Usage::default());
        runs::complete(tx, &lane, run, &outcome, START)?;
        inbox::complete(tx, &lane, event, START)
    };
    world.write(work).await;
    claims(world, 1).await;
    Answered {
        event,
        session,
        run,
        reply,
        part,
    }
}

/// The platform refuses for a while, and then has it.
async fn arrives(world: &World, part: PartId) {
    let detail = "flood".to_owned();
    let refused = attempt(
        part,
        1,
        Outcome::NotSent {
            retry_after: None,
            detail,
        },
    );
    world
        .write(move |tx| outbox::retry_at(tx, &refused, START))
        .await;
    claims(world, 2).await;
    let receipts = vec![Receipt {
        message: "platform/9".into(),
        at: START,
    }];
    let there = attempt(part, 2, Outcome::Delivered { receipts });
    world.write(move |tx| outbox::deliver(tx, &there)).await;
}

/// Whatever may be sent is taken to be sent.
async fn claims(world: &World, epoch: i64) {
    let at = world.gateway.clock.now();
    world
        .write(move |tx| {
            for target in outbox::open_targets(tx)? {
                let head = outbox::claim(tx, target, epoch, at)?;
                assert!(matches!(head, Head::Claimed(_)), "{head:?}");
            }
            Ok(())
        })
        .await;
}

fn attempt(part: PartId, epoch: i64, outcome: Outcome) -> Attempt {
    Attempt {
        part,
        epoch,
        outcome,
        at: START,
    }
}

async fn gives_up(world: &World, part: PartId, epoch: i64) -> DeadId {
    let (class, detail) = (Rejection::Gone, "the chat is gone".to_owned());
    let (attempt, letter) = (
        attempt(part, epoch, Outcome::Rejected { class, detail }),
        world.gateway.id(DeadId::from_bytes),
    );
    world
        .write(move |tx| outbox::fail(tx, &attempt, letter, "the chat is gone"))
        .await;
    letter
}

#[tokio::test]
async fn a_trace_has_the_whole_life_of_a_message() {
    let world = World::start().await;
    let told = answered(&world).await;
    arrives(&world, told.part).await;
    let trace = world
        .operator()
        .get(&format!("/api/trace/{}", told.event))
        .await;
    assert_eq!(trace.status, StatusCode::OK, "{}", trace.words);
    let event = &trace.body["event"];
    assert_eq!(
        (&event["id"], &event["state"]),
        (&json!(told.event), &json!("completed"))
    );
    assert_eq!(event["content"]["text"], "a heron?");
    assert_eq!(
        (&event["received_at"], &event["ended_at"]),
        (&json!(START), &json!(START))
    );
    let run = &trace.body["runs"][0];
    assert_eq!(
        (&run["id"], &run["state"]),
        (&json!(told.run), &json!("completed"))
    );
    assert_eq!(
        (&run["created_at"], &run["ended_at"]),
        (&json!(START), &json!(START))
    );
    let journal = json!([{"seq": 1, "event": "message_delta", "text": "a bird", "at": START}]);
    assert_eq!(run["journal"], journal);
    let reply = &trace.body["replies"][0];
    assert_eq!(
        (&reply["id"], &reply["state"]),
        (&json!(told.reply), &json!("delivered"))
    );
    let part = &reply["parts"][0];
    assert_eq!(
        (&part["id"], &part["body"]["markdown"]),
        (&json!(told.part), &json!("a bird"))
    );
    let attempts = part["attempts"].as_array().unwrap();
    let outcomes: Vec<&Value> = attempts.iter().map(|attempt| &attempt["outcome"]).collect();
    assert_eq!(outcomes, ["not_sent", "delivered"]);
    assert_eq!(
        part["receipts"],
        json!([{"message": "platform/9", "at": START}])
    );
    assert_eq!(trace.body["dead"], json!([]));
    world.end().await;
}

#[tokio::test]
async fn a_message_is_followed_from_any_one_thing_of_it() {
    let world = World::start().await;
    let told = answered(&world).await;
    arrives(&world, told.part).await;
    let by_event = world
        .operator()
        .get(&format!("/api/trace/{}", told.event))
        .await;
    let ids = [
        told.run.to_string(),
        told.reply.to_string(),
        told.part.to_string(),
    ];
    let names = ["client-7".to_owned(), "platform%2F9".to_owned()];
    for id in ids.iter().chain(&names) {
        let trace = world.operator().get(&format!("/api/trace/{id}")).await;
        assert_eq!(trace.body, by_event.body, "{id}");
    }
    let other = world
        .operator()
        .get(&format!("/api/trace/{}", told.session))
        .await;
    other.refused(StatusCode::NOT_FOUND, "not_found");
    world.end().await;
}

#[tokio::test]
async fn what_went_through_is_listed_by_state() {
    let world = World::start().await;
    let told = answered(&world).await;
    let waiting = world.operator().begins().await;
    world.operator().says(waiting, "next").await;
    let operator = world.operator();
    let ids = async |path: &str| {
        let answer = operator.get(path).await;
        let rows = answer
            .rows()
            .iter()
            .map(|row| row["id"].as_str().unwrap().to_owned());
        rows.collect::<Vec<String>>()
    };
    assert_eq!(ids("/api/inbox").await.len(), 2);
    assert_eq!(
        ids("/api/inbox?state=completed").await,
        [told.event.to_string()]
    );
    assert_eq!(
        ids(&format!("/api/inbox?state=queued&session={waiting}"))
            .await
            .len(),
        1
    );
    assert_eq!(
        ids(&format!("/api/inbox?session={}", told.session)).await,
        [told.event.to_string()]
    );
    assert_eq!(
        ids("/api/runs?state=completed").await,
        [told.run.to_string()]
    );
    assert_eq!(ids("/api/runs?state=running").await, Vec::<String>::new());
    assert_eq!(
        ids("/api/outbox?state=sending").await,
        [told.part.to_string()]
    );
    assert_eq!(ids("/api/outbox?state=queued").await, Vec::<String>::new());
    let first = operator.get("/api/inbox?limit=1").await;
    let rest = operator
        .get(&format!("/api/inbox?limit=1&after={}", first.body["next"]))
        .await;
    assert_eq!(
        (rest.rows()[0]["id"].as_str().unwrap(), &rest.body["next"]),
        (told.event.to_string().as_str(), &Value::Null)
    );
    assert!(
        !first.words.contains("next\\\""),
        "words are in the trace, not in lists"
    );
    world.end().await;
}

#[tokio::test]
async fn what_was_given_up_is_looked_at_and_replayed_once() {
    let world = World::start().await;
    let operator = world.operator();
    let told = answered(&world).await;
    let letter = gives_up(&world, told.part, 1).await;
    let expected = json!({
        "id": letter, "thing": "part", "thing_id": told.part, "session_id": told.session, "state": "open",
        "reason": "the chat is gone", "at": START, "ended_at": null,
    });
    assert_eq!(
        operator.get("/api/dead").await.rows(),
        std::slice::from_ref(&expected)
    );
    assert_eq!(
        operator.get(&format!("/api/dead/{letter}")).await.body,
        expected
    );
    let trace = operator.get(&format!("/api/trace/{letter}")).await;
    assert_eq!(
        trace.body["dead"],
        json!([expected]),
        "a letter leads to its message"
    );
    assert_eq!(trace.body["event"]["id"], json!(told.event));

    let path = format!("/api/dead/{letter}/replay");
    let replayed = operator.post(&path, &json!({})).await;
    assert_eq!(
        (replayed.status, &replayed.body["state"]),
        (StatusCode::OK, &json!("replayed"))
    );
    assert_eq!(replayed.body["ended_at"], json!(START));
    assert_eq!(
        operator.get("/api/outbox?state=queued").await.rows().len(),
        1,
        "on its way again"
    );
    operator
        .post(&path, &json!({}))
        .await
        .refused(StatusCode::CONFLICT, "conflict");
    assert_eq!(operator.get("/api/dead").await.rows().len(), 0);
    world.end().await;
}

#[tokio::test]
async fn what_was_given_up_is_laid_to_rest() {
    let world = World::start().await;
    let operator = world.operator();
    let told = answered(&world).await;
    let letter = gives_up(&world, told.part, 1).await;
    assert_eq!(operator.get("/api/status").await.body["dead"], 1);
    let dropped = operator
        .post(&format!("/api/dead/{letter}/drop"), &json!({}))
        .await;
    assert_eq!(
        (dropped.status, &dropped.body["state"]),
        (StatusCode::OK, &json!("dropped"))
    );
    assert_eq!(operator.get("/api/dead").await.rows().len(), 0);
    assert_eq!(
        operator
            .get("/api/outbox?state=discarded")
            .await
            .rows()
            .len(),
        1
    );
    let missing = world.gateway.id(DeadId::from_bytes);
    for verb in ["replay", "drop"] {
        let answer = operator
            .post(&format!("/api/dead/{missing}/{verb}"), &json!({}))
            .await;
        answer.refused(StatusCode::NOT_FOUND, "not_found");
    }
    world.end().await;
}

#[tokio::test]
async fn a_running_turn_and_what_the_gateway_said_are_shown_with_the_conversation() {
    let world = World::start().await;
    let (event, return_to) = asked(&world).await;
    let session = return_to.session;
    let (run, _) = begins(&world, event, &return_to).await;
    let (id, kind) = (world.gateway.id(ReplyId::from_bytes), ReplyKind::Notice);
    let start = ReplyStart {
        id,
        run: None,
        kind,
        return_to: return_to.into(),
        at: START,
    };
    let work = move |tx: &mut Tx<'_>| {
        outbox::record(tx, &start)?;
        outbox::set_text(tx, id, "this takes a while")?;
        outbox::finish(tx, id, START)
    };
    world.write(work).await;
    let shown = world
        .operator()
        .get(&format!("/api/sessions/{session}"))
        .await;
    assert_eq!(
        (&shown.body["running"], &shown.body["waiting"]),
        (&json!(run), &json!([]))
    );
    let notices = world
        .operator()
        .get(&format!("/api/sessions/{session}/notices"))
        .await;
    let text = "this takes a while";
    let expected = json!({"reply_id": id, "run_id": null, "text": text, "at": START});
    assert_eq!(notices.rows(), [expected]);
    world.end().await;
}

/// A run asks for something that takes its time.
async fn begins_job(world: &World, run: RunId, return_to: &ReturnAddress) -> JobId {
    let order = Order {
        id: world.gateway.id(JobId::from_bytes),
        run: Some(run),
        kind: JobKind::Process,
        return_to: return_to.clone(),
        work: json!({"command": "make all"}),
        promise: Promise::Wake,
        node: "gateway".into(),
        at: START,
    };
    let job = order.id;
    world.write(move |tx| jobs::record(tx, &order)).await;
    job
}

#[tokio::test]
async fn a_job_is_listed_shown_and_followed_to_what_asked_for_it_and_what_told_of_it() {
    let world = World::start().await;
    let operator = world.operator();
    let (event, return_to) = asked(&world).await;
    let (run, lane) = begins(&world, event, &return_to).await;
    let job = begins_job(&world, run, &return_to).await;
    let listed = operator.get("/api/jobs?state=queued").await;
    assert_eq!(listed.rows()[0]["id"], json!(job));
    assert_eq!(listed.rows()[0]["work"], json!({"command": "make all"}));
    let running = operator.get("/api/jobs?state=running").await;
    assert!(running.rows().is_empty());
    let before = operator.get(&format!("/api/trace/{job}")).await;
    assert_eq!(before.body["job"]["state"], json!("queued"));
    assert_eq!(
        before.body["event"]["id"],
        json!(event),
        "what asked for it"
    );

    let news = Event {
        id: world.gateway.id(EventId::from_bytes),
        dedupe: jobs::end_key(job),
        address: return_to.address.clone(),
        principal: return_to.requester.clone(),
        message: None,
        kind: EventKind::Internal {
            cause: InternalCause::JobEnded { job },
            text: "it is built".to_owned(),
        },
        sent_at: None,
        received_at: START,
    };
    let (told, session) = (news.clone(), return_to.session);
    let end = JobEnd {
        state: JobState::Failed,
        text: "it is built".to_owned(),
        result: json!({"code": 2}),
    };
    let work = move |tx: &mut Tx<'_>| {
        inbox::record_pinned(tx, &told, session)?;
        inbox::discard(tx, told.id, "the result was taken", START)?;
        inbox::discard(tx, event, "stopped", START)?;
        leases::release(tx, &lane)?;
        jobs::complete(tx, job, &end, START)
    };
    world.write(work).await;
    let shown = operator.get(&format!("/api/jobs/{job}")).await;
    assert_eq!(shown.body["told"], json!("it is built"));
    assert_eq!(shown.body["result"], json!({"code": 2}));
    let after = operator.get(&format!("/api/trace/{job}")).await;
    assert_eq!(after.body["event"]["id"], json!(news.id), "what told of it");
    let other = operator.get(&format!("/api/jobs/{run}")).await;
    other.refused(StatusCode::NOT_FOUND, "not_found");
    world.end().await;
}
