//! What is registered is a copy that can only lose; who does nothing is closed, at its time and not before.

use std::collections::BTreeSet;

use talaria_domain::authority::Authority;
use talaria_domain::clock::ManualClock;

use super::*;

const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn run(number: u32) -> RunId {
    let mut bytes = [0; 16];
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    RunId::from_bytes(bytes)
}

fn registration(number: u32) -> Registration {
    let authority = Authority {
        rights: [Right::HistoryPage].into(),
        ..Authority::default()
    };
    let authority = authority
        .with(ResourceKind::Tool, "terminal", Grant::of(["call"]))
        .with(ResourceKind::Storage, "plugin", Grant::of(["get", "set"]));
    Registration {
        run: run(number),
        session: SessionId::from_bytes(*run(number).as_bytes()),
        runner: "plugin:acme/agent/main".into(),
        binding: "profile:assistant".into(),
        authority: Arc::new(authority.freeze()),
        idle: IDLE,
        at: START,
        stop: CancellationToken::new(),
    }
}

fn ids(runs: &[Arc<ActiveRun>]) -> Vec<RunId> {
    runs.iter().map(|run| run.registration().run).collect()
}

fn code<T: std::fmt::Debug>(refused: Result<T, Refusal>) -> RefusalCode {
    refused.unwrap_err().code
}

#[test]
fn what_was_registered_is_found_as_it_was_registered() {
    let registry = Registry::default();
    let registered = registry.register(registration(1)).unwrap();
    let found = registry.get(run(1)).unwrap();
    let with = found.registration();
    assert_eq!(with.runner.as_str(), "plugin:acme/agent/main");
    assert_eq!(with.binding.as_str(), "profile:assistant");
    assert_eq!(
        (with.run, with.at, found.active_at()),
        (run(1), START, START)
    );
    assert_eq!(
        with.authority.authority(),
        registered.with.authority.authority()
    );
}

#[test]
fn a_blank_identity_is_refused() {
    let registry = Registry::default();
    for blank in ["", " ", "\t\n"] {
        let refused = registry.register(Registration {
            runner: blank.into(),
            ..registration(1)
        });
        assert_eq!(refused.unwrap_err(), NotRegistered::Nameless, "{blank:?}");
    }
    assert!(registry.is_empty() && registry.get(run(1)).is_none());
}

#[test]
fn without_a_state_policy_a_run_has_conversation_and_actor() {
    let registry = Registry::default();
    let run = registry.register(registration(1)).unwrap();
    let state = &run.registration().authority.authority().state;
    let scopes: Vec<&str> = state.scopes.iter().map(|scope| scope.as_str()).collect();
    assert!(state.enable);
    assert_eq!(scopes, ["conversation", "actor"]);
}

#[test]
fn mutating_what_was_registered_changes_nothing() {
    let registry = Registry::default();
    let mut source = Authority::default().with(ResourceKind::Tool, "files", Grant::of(["call"]));
    let run = registry.register(Registration {
        authority: Arc::new(source.clone().freeze()),
        ..registration(1)
    });
    let run = run.unwrap();
    source = source.with(ResourceKind::Tool, "terminal", Grant::of(["call"]));
    source.grants.remove(&ResourceKind::Model);
    source.state.enable = false;
    assert!(run.check(ResourceKind::Tool, "files", "call").is_ok());
    let refused = run.check(ResourceKind::Tool, "terminal", "call");
    assert_eq!(code(refused), RefusalCode::NotAllowed);
    assert!(run.registration().authority.authority().state.enable);
}

#[test]
fn an_unknown_run_is_not_there_and_does_no_harm() {
    let registry = Registry::default();
    assert!(registry.get(run(7)).is_none());
    assert!(registry.unregister(run(7)).is_none());
    registry.touch(run(7), START);
    assert!(registry.list().is_empty());
}

#[test]
fn a_run_that_has_ended_is_given_back_once_and_is_gone() {
    let registry = Registry::default();
    registry.register(registration(1)).unwrap();
    registry.register(registration(2)).unwrap();
    let ended = registry.unregister(run(1)).unwrap();
    assert_eq!(ended.registration().run, run(1));
    let late = ended.check(ResourceKind::Tool, "terminal", "call");
    assert_eq!(code(late), RefusalCode::RunEnded);
    assert!(registry.unregister(run(1)).is_none());
    assert!(registry.get(run(1)).is_none());
    assert_eq!(ids(&registry.list()), [run(2)]);
}

#[test]
fn every_active_run_is_listed_the_oldest_first() {
    let registry = Registry::default();
    for (number, later) in [(3, 0), (1, 5), (2, 5)] {
        let at = START.plus(Duration::from_secs(later));
        let with = registration(number);
        registry.register(Registration { at, ..with }).unwrap();
    }
    assert_eq!(ids(&registry.list()), [run(3), run(1), run(2)]);
    assert_eq!(registry.len(), 3);
}

#[test]
fn doing_something_moves_the_time_of_the_last_deed() {
    let registry = Registry::default();
    let active = registry.register(registration(1)).unwrap();
    registry.touch(run(1), START.plus(Duration::from_secs(9)));
    assert_eq!(active.active_at(), START.plus(Duration::from_secs(9)));
    registry.touch(run(1), START);
    assert_eq!(
        active.active_at(),
        START.plus(Duration::from_secs(9)),
        "never back"
    );
}

#[test]
fn a_run_is_stale_after_its_limit_and_not_at_it() {
    let registry = Registry::default();
    let two_hours_ago = START.minus(Duration::from_hours(2));
    let stale = Registration {
        at: two_hours_ago,
        ..registration(1)
    };
    let stale = registry.register(stale).unwrap();
    let fresh = registry.register(registration(2)).unwrap();
    assert_eq!(ids(&registry.expire(START)), [run(1)]);
    assert_eq!(stale.expired(), Some(IDLE));
    assert!(stale.registration().stop.is_cancelled());
    assert!(registry.get(run(1)).is_none(), "it has no access any more");
    assert_eq!(ids(&registry.list()), [run(2)]);
    assert_eq!(
        ids(&registry.expire(START.plus(IDLE))),
        [],
        "exactly the limit"
    );
    assert!(fresh.expired().is_none() && !fresh.registration().stop.is_cancelled());
    let after = START.plus(IDLE + Duration::from_millis(1));
    assert_eq!(ids(&registry.expire(after)), [run(2)]);
    assert_eq!(ids(&registry.expire(after)), [], "once");
}

#[test]
fn a_run_that_did_something_has_its_whole_time_again() {
    let registry = Registry::default();
    registry.register(registration(1)).unwrap();
    let half = START.plus(IDLE / 2);
    registry.touch(run(1), half);
    assert_eq!(ids(&registry.expire(START.plus(IDLE * 5 / 4))), []);
    let due = half.plus(IDLE + Duration::from_millis(1));
    assert_eq!(registry.next_look(), Some(due), "somebody looks then");
    assert_eq!(ids(&registry.expire(due)), [run(1)]);
}

#[test]
fn a_run_that_waits_for_others_is_not_idle() {
    let (registry, clock) = (Registry::default(), ManualClock::at(START));
    let active = registry.register(registration(1)).unwrap();
    let wait = active.wait(&clock);
    clock.advance(IDLE * 3);
    assert_eq!(ids(&registry.expire(clock.now())), []);
    clock.advance(IDLE * 3);
    drop(wait);
    assert_eq!(
        ids(&registry.expire(clock.now())),
        [],
        "its time begins again"
    );
    clock.advance(IDLE + Duration::from_millis(1));
    assert_eq!(ids(&registry.expire(clock.now())), [run(1)]);
}

#[test]
fn whatever_is_revoked_counts_at_the_next_effect() {
    let registry = Registry::default();
    let [one, other] = [1, 2].map(|it| registry.register(registration(it)).unwrap());
    let set = |run: &ActiveRun| run.check(ResourceKind::Storage, "plugin", "set").is_ok();
    let get = |run: &ActiveRun| run.check(ResourceKind::Storage, "plugin", "get").is_ok();
    let call = |run: &ActiveRun| run.check(ResourceKind::Tool, "terminal", "call").is_ok();
    assert!(set(&one) && get(&one) && call(&one));
    one.revoke(&Revocation::Resource {
        kind: ResourceKind::Storage,
        name: "plugin".to_owned(),
        operation: Some("set".to_owned()),
    });
    assert!(!set(&one) && get(&one) && set(&other));
    let everywhere = registry.revoke(&Revocation::Resource {
        kind: ResourceKind::Tool,
        name: "terminal".to_owned(),
        operation: None,
    });
    assert_eq!(everywhere, 2);
    assert!(!call(&one) && !call(&other) && get(&other));
    assert!(one.may(Right::HistoryPage).is_ok());
    one.revoke(&Revocation::Right(Right::HistoryPage));
    assert_eq!(code(one.may(Right::HistoryPage)), RefusalCode::NotAllowed);
    assert!(one.may_remember().is_ok());
    one.revoke(&Revocation::State);
    assert_eq!(code(one.may_remember()), RefusalCode::NotAllowed);
    assert!(other.may_remember().is_ok());
}

#[test]
fn what_is_left_is_what_a_child_can_be_given() {
    let registry = Registry::default();
    let active = registry.register(registration(1)).unwrap();
    assert_eq!(active.left(), *active.registration().authority.authority());
    active.revoke(&Revocation::Resource {
        kind: ResourceKind::Tool,
        name: "terminal".to_owned(),
        operation: None,
    });
    active.revoke(&Revocation::Right(Right::HistoryPage));
    active.revoke(&Revocation::State);
    let left = active.left();
    assert!(!left.allows(ResourceKind::Tool, "terminal", "call"));
    assert!(left.allows(ResourceKind::Storage, "plugin", "get"));
    assert!(left.rights.is_empty() && !left.state.is_usable());
}

#[test]
fn what_is_taken_away_before_a_run_is_registered_is_not_lost() {
    let registry = Registry::default();
    let terminal = Revocation::Resource {
        kind: ResourceKind::Tool,
        name: "terminal".to_owned(),
        operation: None,
    };
    registry.revoke_from(run(1), &terminal);
    let [one, other] = [1, 2].map(|it| registry.register(registration(it)).unwrap());
    assert!(one.check(ResourceKind::Tool, "terminal", "call").is_err());
    assert!(other.check(ResourceKind::Tool, "terminal", "call").is_ok());
    registry.revoke_from(run(2), &terminal);
    assert!(other.check(ResourceKind::Tool, "terminal", "call").is_err());
    for number in 0..10_000 {
        registry.revoke_from(run(number + 10), &terminal);
    }
    assert_eq!(
        registry.runs().early.len(),
        MOST_EARLY,
        "it does not grow for ever"
    );
    let last = registry.register(registration(10_009)).unwrap();
    assert!(last.check(ResourceKind::Tool, "terminal", "call").is_err());
}

#[test]
fn a_run_is_registered_once_and_a_second_time_widens_nothing() {
    let registry = Registry::default();
    registry.register(registration(1)).unwrap();
    let wide = Authority::default().with(ResourceKind::Tool, "everything", Grant::of(["call"]));
    let again = Registration {
        authority: Arc::new(wide.freeze()),
        ..registration(1)
    };
    assert_eq!(registry.register(again).unwrap_err(), NotRegistered::Known);
    let found = registry.get(run(1)).unwrap();
    assert!(
        found
            .check(ResourceKind::Tool, "everything", "call")
            .is_err()
    );
    assert!(found.check(ResourceKind::Tool, "terminal", "call").is_ok());
    registry.unregister(run(1));
    assert!(
        registry.register(registration(1)).is_ok(),
        "it is over, and could come again"
    );
}

#[test]
fn a_run_that_was_stopped_may_nothing() {
    let registry = Registry::default();
    let active = registry.register(registration(1)).unwrap();
    registry.stop(active.registration().session);
    let refused = active.check(ResourceKind::Tool, "terminal", "call");
    assert_eq!(code(refused), RefusalCode::RunEnded);
    assert_eq!(code(active.may(Right::HistoryPage)), RefusalCode::RunEnded);
    assert_eq!(code(active.may_remember()), RefusalCode::RunEnded);
}

#[test]
fn a_refusal_names_the_resource_and_the_operation() {
    let registry = Registry::default();
    let active = registry.register(registration(1)).unwrap();
    let refused = active.check(ResourceKind::KnowledgeBase, "wiki", "retrieve");
    let words = refused.unwrap_err().reason;
    for word in ["knowledge_base", "\"wiki\"", "retrieve", "not allowed"] {
        assert!(words.contains(word), "{words}");
    }
    assert_eq!(
        code(active.may(Right::Ask)),
        RefusalCode::NotAllowed,
        "nobody said that it may ask"
    );
}

#[test]
fn a_lane_is_knocked_at_for_as_long_as_its_turn_runs() {
    let registry = Registry::default();
    let session = registration(1).session;
    assert!(!registry.knock(session) && !registry.has(session));
    registry.register(registration(1)).unwrap();
    assert!(registry.has(session) && !registry.is_knocked(session));
    assert!(registry.knock(session) && registry.is_knocked(session));
    assert!(registry.end(run(1)), "somebody knocked");
    assert!(registry.end(run(1)), "nobody knows: look");
    registry.register(registration(1)).unwrap();
    assert!(!registry.end(run(1)));
}

const RUNS: u32 = 10_000;

/// Registers every fourth run, with a tool of its own; every third of them has ended by then.
fn register_part(registry: &Registry, part: u32) {
    for number in (0..RUNS).filter(|number| number % 4 == part) {
        let own = format!("tool {number}");
        let authority = Authority::default().with(ResourceKind::Tool, own, Grant::of(["call"]));
        let with = Registration {
            authority: Arc::new(authority.freeze()),
            ..registration(number)
        };
        registry.register(with).unwrap();
        if number % 3 == 0 {
            registry.unregister(run(number)).unwrap();
        }
    }
}

#[test]
fn ten_thousand_runs_at_once_each_know_their_own() {
    let registry = Registry::default();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let registry = &registry;
            scope.spawn(move || register_part(registry, part));
        }
    });
    let listed: BTreeSet<RunId> = ids(&registry.list()).into_iter().collect();
    for number in 0..RUNS {
        let found = registry.get(run(number));
        assert_eq!(found.is_some(), number % 3 != 0);
        assert_eq!(listed.contains(&run(number)), number % 3 != 0);
        let Some(found) = found else { continue };
        let may = |number: u32| found.check(ResourceKind::Tool, &format!("tool {number}"), "call");
        assert!(may(number).is_ok() && may(number + 1).is_err());
    }
    let late = START.plus(IDLE + Duration::from_millis(1));
    assert_eq!(registry.expire(late).len(), listed.len());
    assert!(registry.list().is_empty());
}

#[test]
fn what_is_left_of_runs_that_have_ended_does_not_grow() {
    let registry = Registry::default();
    for number in 0..10_000 {
        registry.register(registration(number)).unwrap();
        registry.unregister(run(number));
    }
    assert!(registry.runs().looks.len() <= 64);
}
