//! A run keeps what it was admitted with, journals what it does, and ends once, under the epoch it began in.

use serde_json::json;
use talaria_domain::authority::{Authority, Grant, ResourceKind, Revocation};
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::machine::RunState;
use talaria_domain::run::{Action, FailureCode, RunEvent, RunOutcome, ToolResult, Usage};
use talaria_domain::scope::StateScope;
use talaria_store::erasure::{self, Erased};
use talaria_store::leases::Lease;
use talaria_store::runs::{self, Admission, Conclusion, Run};
use talaria_store::sessions::{self, Opening};
use talaria_store::views::Wanted;
use talaria_store::{Conflict, StoreError, views};

use crate::world::{TTL, World, person};

/// A run of ada's that works, and the lease of its lane.
async fn under_way(world: &World) -> (RunId, Lease) {
    under_way_for(world, "ada").await
}

async fn under_way_for(world: &World, who: &str) -> (RunId, Lease) {
    let (_, session) = world.says(who, "think").await;
    let lane = world.lane(session, "north").await;
    let run = world.admits(who, &lane).await;
    let (lease, at) = (lane.clone(), world.now());
    world
        .write(move |tx| runs::start(tx, &lease, run, at))
        .await;
    (run, lane)
}

async fn stored(world: &World, run: RunId) -> Run {
    world.read(move |tx| runs::get(tx, run)).await
}

async fn journals(world: &World, lane: &Lease, run: RunId, event: RunEvent) -> i64 {
    let (lease, at) = (lane.clone(), world.now());
    world
        .write(move |tx| runs::append(tx, &lease, run, &event, at))
        .await
}

async fn ends(world: &World, lane: &Lease, run: RunId, outcome: RunOutcome) {
    let (lease, at) = (lane.clone(), world.now());
    world
        .write(move |tx| runs::complete(tx, &lease, run, &outcome, at))
        .await;
}

fn log(text: &str) -> RunEvent {
    let text = text.to_owned();
    RunEvent::Log { text }
}

/// One of each kind.
fn every_event() -> Vec<RunEvent> {
    let (call, text) = ("call-1".to_owned(), "quotes ' \" and \u{1f980}".to_owned());
    let effect = "rm -r build".to_owned();
    vec![
        RunEvent::MessageDelta { text: text.clone() },
        RunEvent::MessageCompleted { text: text.clone() },
        RunEvent::Reasoning { text: text.clone() },
        RunEvent::ToolStarted {
            call: call.clone(),
            tool: "terminal".to_owned(),
            arguments: json!({ "command": "ls", "limit": 7 }),
        },
        RunEvent::ToolCompleted {
            call: call.clone(),
            output: text.clone(),
            result: ToolResult::Refused,
        },
        RunEvent::StateUpdated {
            scope: StateScope::Actor,
            key: "likes".to_owned(),
            value: json!(["tea", null, 1.5]),
        },
        RunEvent::ActionRequested {
            request: call,
            action: Action::Approval { effect },
        },
        RunEvent::Revoked { what: terminal() },
        RunEvent::Log { text },
        RunEvent::Ended(RunOutcome::Cancelled),
    ]
}

fn terminal() -> Revocation {
    Revocation::Resource {
        kind: ResourceKind::Tool,
        name: "terminal".to_owned(),
        operation: Some("call".to_owned()),
    }
}

fn admission(world: &World, session: SessionId) -> Admission {
    let grant = Grant {
        operations: ["call".to_owned(), "describe".to_owned()].into(),
        pinned: Some("sha256:17".to_owned()),
    };
    let tools = [("terminal".to_owned(), grant)].into();
    Admission {
        id: world.id(RunId::from_bytes),
        event: world.id(EventId::from_bytes),
        runner: "local".into(),
        attempt: 3,
        authority: Authority {
            grants: [(ResourceKind::Tool, tools)].into(),
            ..Authority::default()
        }
        .into(),
        return_to: World::way_back("ada", session).into(),
        at: world.now(),
    }
}

async fn ends_after_one(world: &World, who: &str, next: i64) {
    let (run, lane) = under_way_for(world, who).await;
    assert_eq!(journals(world, &lane, run, log("one")).await, 1);
    let (outcome, at) = (RunOutcome::completed(Usage::default()), world.now());
    let end = outcome.clone();
    let concluded = world.write(move |tx| {
        let conclusion = Conclusion {
            next,
            events: &[log("two")],
            outcome: &end,
        };
        runs::conclude(tx, &lane, run, conclusion, at)
    });
    assert_eq!(concluded.await, 2);
    let all = [
        (1, log("one")),
        (2, log("two")),
        (3, RunEvent::Ended(outcome)),
    ];
    for (after, limit, expected) in [
        (0, 100, &all[..]),
        (0, 2, &all[..2]),
        (2, 100, &all[2..]),
        (3, 100, &[]),
    ] {
        let page = world
            .read(move |tx| runs::journal(tx, run, after, limit))
            .await;
        assert_eq!(page, expected, "after {after}");
    }
    let seen = world.read(move |tx| views::journal(tx, run, 100)).await;
    let seen: Vec<_> = seen
        .into_iter()
        .map(|line| (line.seq, line.event))
        .collect();
    assert_eq!(seen, all, "operators see the same");
}

both_engines! {
    async fn what_is_taken_away_is_numbered_with_the_rest_whoever_has_the_lane(world) {
        let (run, lane) = under_way(world).await;
        assert_eq!(journals(world, &lane, run, log("one")).await, 1);
        let at = world.now();
        assert_eq!(world.write(move |tx| runs::revoke(tx, run, &terminal(), at)).await, 2, "no lease is needed");
        assert_eq!(journals(world, &lane, run, log("three")).await, 3);
        assert_eq!(world.read(move |tx| runs::revocations(tx, run)).await, [terminal()]);
        let event = stored(world, run).await.event;
        assert_eq!(world.read(move |tx| runs::revocations_for(tx, event)).await, [terminal()]);
        assert_eq!(world.read(|tx| runs::revocations_for(tx, EventId::from_bytes([9; 16]))).await, []);
        ends(world, &lane, run, RunOutcome::Cancelled).await;
        let refused = world.ledger.write(move |tx| runs::revoke(tx, run, &terminal(), at)).await;
        assert!(matches!(refused, Err(StoreError::Conflict(_))), "{refused:?}");
        assert_eq!(world.read(move |tx| runs::revocations(tx, run)).await, [terminal()], "and nothing was added");
    }

    async fn a_run_comes_back_with_the_authority_and_the_way_back_it_was_admitted_with(world) {
        let (_, session) = world.says("ada", "think").await;
        let lane = world.lane(session, "north").await;
        let admitted = admission(world, session);
        let (lease, row) = (lane.clone(), admitted.clone());
        world.write(move |tx| runs::record(tx, &lease, &row)).await;
        let expected = Run {
            id: admitted.id,
            session,
            event: admitted.event,
            runner: admitted.runner,
            state: RunState::Queued,
            epoch: lane.epoch,
            attempt: 3,
            authority: (*admitted.authority).clone(),
            return_to: (*admitted.return_to).clone(),
            outcome: None,
            created_at: world.now(),
            active_at: world.now(),
        };
        assert_eq!(stored(world, admitted.id).await, expected);
    }

    async fn the_end_of_a_run_has_the_last_number_and_is_told_once(world) {
        // Its owner knows the next number, or does not know that somebody else took one.
        for (who, next) in [("ada", 2), ("bob", 1)] {
            ends_after_one(world, who, next).await;
        }
    }

    async fn what_a_run_says_last_is_in_its_journal_whatever_is_read_of_it(world) {
        let (run, lane) = under_way(world).await;
        let said = |text: &str| RunEvent::MessageCompleted { text: text.to_owned() };
        let events = [said("one"), log("two"), said("three")];
        let (outcome, at) = (RunOutcome::completed(Usage::default()), world.now());
        let (last, end) = (events.clone(), outcome.clone());
        world.write(move |tx| {
            let conclusion = Conclusion { next: 1, events: &last, outcome: &end };
            runs::conclude(tx, &lane, run, conclusion, at)
        }).await;
        let all = events.into_iter().chain([RunEvent::Ended(outcome)]);
        let all: Vec<(i64, RunEvent)> = (1..).zip(all).collect();
        for limit in 1..=5 {
            let (mut read, mut after) = (Vec::new(), 0);
            loop {
                let page = world.read(move |tx| runs::journal(tx, run, after, limit)).await;
                assert!(page.len() <= limit as usize);
                let Some((last, _)) = page.last() else { break };
                after = *last;
                read.extend(page);
            }
            assert_eq!(read, all, "{limit} at a time");
        }
        let shown = world.read(move |tx| views::journal(tx, run, 100)).await;
        assert_eq!(shown.iter().map(|line| line.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    }

    async fn a_run_that_others_end_says_nothing_of_its_end(world) {
        let (run, lane) = under_way(world).await;
        journals(world, &lane, run, log("one")).await;
        let session = stored(world, run).await.session;
        let at = world.now();
        assert_eq!(world.write(move |tx| runs::cancel(tx, session, at)).await, 1);
        assert_eq!(world.read(move |tx| runs::journal(tx, run, 0, 100)).await, [(1, log("one"))]);
    }

    async fn the_journal_counts_from_one_and_gives_back_every_kind_of_event(world) {
        let (run, lane) = under_way(world).await;
        let mut expected = Vec::new();
        for (number, event) in (1..).zip(every_event()) {
            assert_eq!(journals(world, &lane, run, event.clone()).await, number);
            expected.push((number, event));
        }
        assert_eq!(world.read(move |tx| runs::journal(tx, run, 0, 100)).await, expected);
    }

    async fn each_run_has_a_journal_of_its_own(world) {
        let (first, lane) = under_way(world).await;
        let second = world.admits("ada", &lane).await;
        for (run, text) in [(first, "a"), (second, "b"), (first, "c")] {
            journals(world, &lane, run, log(text)).await;
        }
        let journal = world.read(move |tx| runs::journal(tx, first, 0, 100)).await;
        assert_eq!(journal, [(1, log("a")), (2, log("c"))]);
        assert_eq!(world.read(move |tx| runs::journal(tx, second, 0, 100)).await, [(1, log("b"))]);
    }

    async fn a_journal_is_read_page_by_page(world) {
        let (run, lane) = under_way(world).await;
        for number in 1..=5 {
            journals(world, &lane, run, log(&number.to_string())).await;
        }
        let mut pages = Vec::new();
        let mut after = 0;
        loop {
            let page = world.read(move |tx| runs::journal(tx, run, after, 2)).await;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            pages.push(page.iter().map(|(number, _)| *number).collect::<Vec<i64>>());
        }
        assert_eq!(pages, [vec![1, 2], vec![3, 4], vec![5]]);
    }

    async fn nothing_is_journalled_after_the_end(world) {
        let (run, lane) = under_way(world).await;
        journals(world, &lane, run, log("before")).await;
        ends(world, &lane, run, RunOutcome::Cancelled).await;
        let (lease, at) = (lane.clone(), world.now());
        let refused = world.refusal(move |tx| runs::append(tx, &lease, run, &log("after"), at)).await;
        assert!(matches!(refused, StoreError::Conflict(Conflict::Transition { .. })), "{refused:?}");
        assert_eq!(world.read(move |tx| runs::journal(tx, run, 0, 100)).await, [(1, log("before"))]);
    }

    async fn each_outcome_ends_a_run_in_its_state(world) {
        let usage = Usage { input_tokens: u64::MAX, output_tokens: 2 };
        let outcomes = [
            (RunOutcome::completed(usage), RunState::Completed),
            (RunOutcome::failed(FailureCode::ModelAuth, "no model"), RunState::Failed),
            (RunOutcome::Cancelled, RunState::Cancelled),
            (RunOutcome::Interrupted, RunState::Interrupted),
        ];
        let (_, session) = world.says("ada", "think").await;
        let lane = world.lane(session, "north").await;
        for (outcome, state) in outcomes {
            let run = world.admits("ada", &lane).await;
            let (lease, at) = (lane.clone(), world.now());
            world.write(move |tx| runs::start(tx, &lease, run, at)).await;
            ends(world, &lane, run, outcome.clone()).await;
            let row = stored(world, run).await;
            assert_eq!((row.state, row.outcome), (state, Some(outcome)));
        }
    }

    async fn a_run_that_waits_for_a_person_goes_on_after_the_answer(world) {
        let (run, lane) = under_way(world).await;
        let (lease, at) = (lane.clone(), world.now());
        world.write(move |tx| runs::wait(tx, &lease, run, at)).await;
        assert_eq!(stored(world, run).await.state, RunState::Waiting);
        let lease = lane.clone();
        world.write(move |tx| runs::start(tx, &lease, run, at)).await;
        assert_eq!(stored(world, run).await.state, RunState::Running);
    }

    async fn a_run_with_the_id_of_its_event_and_session_is_found_like_any_other(world) {
        let session: SessionId = world.id(SessionId::from_bytes);
        let event = EventId::from_bytes(*session.as_bytes());
        let opening = Opening::of(world.opening("ada").key().clone(), person("ada").key(), session, world.now());
        world.write(move |tx| sessions::resolve(tx, &opening)).await;
        let lane = world.lane(session, "north").await;
        let own = Admission { id: event.begins(), event, ..admission(world, session) };
        let next = Admission { event, ..admission(world, session) };
        let (first, second) = (own.id, next.id);
        let lease = lane.clone();
        world.write(move |tx| runs::record_running(tx, &lease, &own, &[])).await;
        let found = world.read(move |tx| Ok((views::running(tx, session)?, runs::last(tx, session)?))).await;
        assert_eq!((found.0, found.1.map(|run| run.id)), (Some(first), Some(first)));
        let at = world.now();
        let cancelled = world.write(move |tx| runs::cancel(tx, session, at)).await;
        assert_eq!((cancelled, stored(world, first).await.state), (1, RunState::Cancelled));

        world.write(move |tx| runs::record_running(tx, &lane, &next, &[])).await;
        let found = world.read(move |tx| Ok((views::running(tx, session)?, runs::last(tx, session)?))).await;
        assert_eq!((found.0, found.1.map(|run| run.id)), (Some(second), Some(second)));
        let tries = world.read(move |tx| runs::for_event(tx, event)).await;
        assert_eq!(tries.iter().map(|run| run.id).collect::<Vec<_>>(), [first, second]);
        for (after, limit, expected) in [(None, 9, vec![second, first]), (None, 1, vec![second]), (Some(second), 9, vec![first])] {
            let listed = world.read(move |tx| views::runs(tx, None, Some(session), Wanted { after, limit })).await;
            assert_eq!(listed.rows.iter().map(|view| view.run.id).collect::<Vec<_>>(), expected);
        }
        let owner = person("ada").key();
        let estate = world.read(move |tx| erasure::survey(tx, owner, session)).await;
        assert_eq!(world.write(move |tx| erasure::erase(tx, &estate)).await, Erased::Busy);
        world.write(move |tx| runs::cancel(tx, session, at)).await;
        let estate = world.read(move |tx| erasure::survey(tx, owner, session)).await;
        assert_eq!(world.write(move |tx| erasure::erase(tx, &estate)).await, Erased::Gone);
        for run in [first, second] {
            let gone = world.refusal(move |tx| runs::get(tx, run)).await;
            assert!(matches!(gone, StoreError::NotFound { .. }), "{gone}");
        }
    }

    async fn a_run_of_a_former_owner_does_nothing_more(world) {
        let (run, former) = under_way(world).await;
        world.clock.advance(TTL);
        let (_, session) = world.says("ada", "still there?").await;
        let present = world.lane(session, "south").await;
        assert!(present.epoch > former.epoch);
        let before = stored(world, run).await;
        // Neither the former owner under its own epoch, nor the present one for a run that is not its own.
        for lane in [former, present] {
            for verb in 0..5 {
                let (lease, at, next) = (lane.clone(), world.now(), admission(world, session));
                let fenced = world.ledger.write(move |tx| match verb {
                    0 => runs::append(tx, &lease, run, &log("late"), at).map(drop),
                    1 => runs::start(tx, &lease, run, at),
                    2 => runs::wait(tx, &lease, run, at),
                    3 => runs::complete(tx, &lease, run, &RunOutcome::Cancelled, at),
                    _ => runs::record(tx, &lease, &next),
                });
                let (fenced, is_admitted) = (fenced.await, verb == 4 && lane.owner.as_str() == "south");
                let is_fenced = matches!(fenced, Err(StoreError::Conflict(Conflict::Fenced { .. })));
                assert_eq!((is_fenced, fenced.is_ok()), (!is_admitted, is_admitted), "{verb}: {fenced:?}");
            }
        }
        assert_eq!(stored(world, run).await, before);
        assert_eq!(world.read(move |tx| runs::journal(tx, run, 0, 100)).await, []);
    }
}
