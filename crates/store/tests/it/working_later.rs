//! Work that outlives its turn: known before it starts, ended once, never lost from sight in between.

use serde_json::json;
use talaria_domain::event::Event;
use talaria_domain::ids::{EventId, JobId, RunId, SessionId};
use talaria_domain::job::{JobKind, Promise};
use talaria_domain::machine::{JobState, Machine as _};
use talaria_store::inbox::{self, Recorded};
use talaria_store::jobs::{self, Job, Order};
use talaria_store::sessions::{self, Apart};
use talaria_store::{Conflict, StoreError, keys};

use crate::world::{World, person};

/// `who` asks for something that takes its time.
async fn orders(world: &World, who: &str) -> (JobId, SessionId) {
    let (_, session) = world.says(who, "build it").await;
    let order = Order {
        id: world.id(JobId::from_bytes),
        run: None,
        kind: JobKind::Process,
        return_to: World::way_back(who, session),
        work: json!({ "command": ["make", "all"] }),
        promise: Promise::Nothing,
        node: "north".into(),
        at: world.now(),
    };
    let job = order.id;
    world.write(move |tx| jobs::record(tx, &order)).await;
    (job, session)
}

async fn starts(world: &World, job: JobId) {
    world
        .write(move |tx| jobs::start(tx, job, &json!({ "pid": 17 })))
        .await;
}

async fn stored(world: &World, job: JobId) -> Job {
    world.read(move |tx| jobs::get(tx, job)).await
}

async fn open(world: &World, session: Option<SessionId>) -> Vec<JobId> {
    let open = world.read(move |tx| jobs::open(tx, session)).await;
    open.iter().map(|job| job.id).collect()
}

fn ends() -> impl Iterator<Item = JobState> {
    JobState::STATES
        .iter()
        .copied()
        .filter(|state| state.is_end())
}

both_engines! {
    async fn a_job_is_recorded_with_its_way_back_before_it_starts(world) {
        let (_, session) = world.says("ada", "build it").await;
        let order = Order {
            id: world.id(JobId::from_bytes),
            run: Some(world.id(RunId::from_bytes)),
            kind: JobKind::Process,
            return_to: World::way_back("ada", session),
            work: json!({ "command": ["make", "it's \"all\""], "limit": null }),
            promise: Promise::Nothing,
            node: "north".into(),
            at: world.now(),
        };
        let recorded = order.clone();
        world.write(move |tx| jobs::record(tx, &recorded)).await;
        let expected = Job {
            id: order.id,
            run: order.run,
            kind: order.kind,
            state: JobState::Queued,
            return_to: order.return_to,
            promise: order.promise,
            work: order.work,
            handle: None,
            result: None,
            created_at: order.at,
        };
        assert_eq!(stored(world, order.id).await, expected);
        assert_eq!(open(world, None).await, [order.id]);
    }

    async fn a_started_job_keeps_the_handle_to_find_it_by(world) {
        let (job, _) = orders(world, "ada").await;
        starts(world, job).await;
        let row = stored(world, job).await;
        assert_eq!((row.state, row.handle), (JobState::Running, Some(json!({ "pid": 17 }))));
        let refused = world.refusal(move |tx| jobs::start(tx, job, &json!({ "pid": 18 }))).await;
        assert!(matches!(refused, StoreError::Conflict(Conflict::Transition { .. })), "{refused:?}");
        assert_eq!(stored(world, job).await.handle, Some(json!({ "pid": 17 })), "it was started once");
        assert_eq!(open(world, None).await, [job]);
    }

    async fn a_running_job_ends_in_any_of_its_ends_with_its_result(world) {
        for end in ends() {
            let (job, _) = orders(world, "ada").await;
            starts(world, job).await;
            let (result, at) = (json!({ "ended": end.as_str() }), world.now());
            let told = result.clone();
            world.write(move |tx| jobs::complete(tx, job, &World::job_end(end, &told), at)).await;
            let row = stored(world, job).await;
            assert_eq!((row.state, row.result), (end, Some(result)));
            assert_eq!(open(world, None).await, []);
        }
    }

    async fn a_job_that_never_started_cannot_have_ended_well(world) {
        for end in ends() {
            let (job, _) = orders(world, "ada").await;
            let at = world.now();
            let ended = world.ledger.write(move |tx| jobs::complete(tx, job, &World::job_end(end, &json!(null)), at)).await;
            assert_eq!(ended.is_err(), end == JobState::Completed, "{ended:?}");
        }
        assert_eq!(open(world, None).await.len(), 1);
    }

    async fn a_job_ends_once(world) {
        let (job, _) = orders(world, "ada").await;
        starts(world, job).await;
        let at = world.now();
        world.write(move |tx| jobs::complete(tx, job, &World::job_end(JobState::Failed, &json!("first")), at)).await;
        for end in ends() {
            let refused = world.refusal(move |tx| jobs::complete(tx, job, &World::job_end(end, &json!("second")), at)).await;
            assert!(matches!(refused, StoreError::Conflict(Conflict::Transition { .. })), "{refused:?}");
        }
        let row = stored(world, job).await;
        assert_eq!((row.state, row.result), (JobState::Failed, Some(json!("first"))));
    }

    async fn what_is_not_an_end_ends_no_job(world) {
        let (job, _) = orders(world, "ada").await;
        let at = world.now();
        for (state, is_started) in [(JobState::Running, false), (JobState::Queued, false), (JobState::Running, true)] {
            if is_started {
                starts(world, job).await;
            }
            let before = stored(world, job).await;
            world.refusal(move |tx| jobs::complete(tx, job, &World::job_end(state, &json!(null)), at)).await;
            assert_eq!(stored(world, job).await, before);
        }
        assert_eq!(open(world, None).await, [job]);
    }

    async fn open_jobs_are_listed_for_everybody_or_for_one_session(world) {
        let (first, ada) = orders(world, "ada").await;
        let (second, bob) = orders(world, "bob").await;
        let (third, _) = orders(world, "ada").await;
        starts(world, third).await;
        assert_eq!(open(world, None).await, [first, second, third]);
        assert_eq!(open(world, Some(ada)).await, [first, third]);
        assert_eq!(open(world, Some(bob)).await, [second]);
        let at = world.now();
        world.write(move |tx| jobs::complete(tx, first, &World::job_end(JobState::Lost, &json!(null)), at)).await;
        assert_eq!(open(world, Some(ada)).await, [third]);
        assert_eq!(open(world, Some(world.id(SessionId::from_bytes))).await, []);
    }

    async fn an_unknown_job_is_not_found(world) {
        let (job, at) = (world.id(JobId::from_bytes), world.now());
        let lost = world.refusal(move |tx| jobs::complete(tx, job, &World::job_end(JobState::Lost, &json!(null)), at)).await;
        assert!(matches!(lost, StoreError::NotFound { thing: "job", .. }), "{lost:?}");
    }

    async fn how_a_job_ended_is_there_in_words_and_for_programs(world) {
        let (job, _) = orders(world, "ada").await;
        starts(world, job).await;
        assert_eq!(world.read(move |tx| jobs::end_of(tx, job)).await, None, "it has not");
        let (end, at) = (World::job_end(JobState::Failed, &json!({ "code": 2 })), world.now());
        let told = end.clone();
        world.write(move |tx| jobs::complete(tx, job, &told, at)).await;
        assert_eq!(world.read(move |tx| jobs::end_of(tx, job)).await, Some(end));
    }

    async fn that_a_result_was_taken_is_remembered_from_the_first_time(world) {
        let (job, _) = orders(world, "ada").await;
        assert!(!world.read(move |tx| jobs::is_consumed(tx, job)).await);
        let at = world.now();
        for _ in 0..2 {
            world.write(move |tx| jobs::consume(tx, job, at)).await;
            assert!(world.read(move |tx| jobs::is_consumed(tx, job)).await);
        }
        let unknown = world.id(JobId::from_bytes);
        let lost = world.refusal(move |tx| jobs::consume(tx, unknown, at)).await;
        assert!(matches!(lost, StoreError::NotFound { thing: "job", .. }), "{lost:?}");
    }

    async fn a_node_finds_its_own_processes_again_and_nobody_elses(world) {
        let (job, session) = orders(world, "ada").await;
        let other = Order {
            id: world.id(JobId::from_bytes),
            run: None,
            kind: JobKind::Delegation,
            return_to: World::way_back("ada", session),
            work: json!({}),
            promise: Promise::Wake,
            node: "north".into(),
            at: world.now(),
        };
        world.write(move |tx| jobs::record(tx, &other)).await;
        let found = world.read(|tx| jobs::open_processes(tx, &"north".into())).await;
        assert_eq!(found.iter().map(|found| found.id).collect::<Vec<_>>(), [job]);
        assert_eq!(world.read(|tx| jobs::open_processes(tx, &"south".into())).await, []);
        assert_eq!(world.read(move |tx| jobs::count_open(tx, session)).await, 2);
        let recent = world.read(move |tx| jobs::recent(tx, session, 1)).await;
        assert_eq!(recent[0].kind, JobKind::Delegation, "the newest first");
    }

    async fn what_is_pinned_to_a_session_stays_there_when_its_chat_moves_on(world) {
        let (_, session) = world.says("ada", "hello").await;
        let fresh = world.opening("ada");
        let fresh = world.write(move |tx| sessions::reset(tx, &fresh, "new")).await;
        assert_ne!(fresh, session);
        let event = Event {
            id: world.id(EventId::from_bytes),
            dedupe: jobs::end_key(world.id(JobId::from_bytes)),
            ..world.said("ada", "it ended")
        };
        let (again, pinned) = (event.clone(), event.clone());
        let recorded = world.write(move |tx| inbox::record_pinned(tx, &pinned, session)).await;
        assert!(matches!(recorded, Recorded::Accepted { session: at, .. } if at == session), "{recorded:?}");
        let again = Event { id: world.id(EventId::from_bytes), ..again };
        let recorded = world.write(move |tx| inbox::record_pinned(tx, &again, session)).await;
        assert_eq!(recorded, Recorded::Duplicate { first: event.id });
    }

    async fn a_session_apart_is_nobodys_conversation(world) {
        let (_, parent) = world.says("ada", "do it").await;
        let (apart, owner, at) = (world.id(SessionId::from_bytes), person("ada").key(), world.now());
        let opened = Apart { session: apart, parent, owner, at };
        world.write(move |tx| sessions::open_apart(tx, &opened)).await;
        let listed = world.read(move |tx| sessions::list(tx, owner, None, 10)).await;
        assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), [parent]);
        let refused = world.ledger.read(move |tx| sessions::get_owned(tx, owner, apart)).await;
        assert!(matches!(refused, Err(StoreError::NotFound { .. })), "{refused:?}");
        let (own, parents) = world
            .read(move |tx| Ok((keys::origin_of(tx, apart)?, keys::origin_of(tx, parent)?)))
            .await;
        assert_eq!(own, parents, "it belongs to the same profile and place");
        let current = world.read(move |tx| keys::current(tx, parents.id())).await;
        assert_eq!(current, Some(parent), "the chat stays where it is");
    }
}
