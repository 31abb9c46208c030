//! What an operator takes away from a run is taken for good: it is in the ledger, it counts from the next effect on, and
//! neither a crash, nor another attempt, nor a task that is given to somebody else brings it back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Map;
use talaria_domain::adapter::Pending;
use talaria_domain::authority::{Authority, Grant, ResourceKind, Revocation, Right};
use talaria_domain::binding::{Binding, BindingScope, EventPattern, Policy, ResourcePolicy};
use talaria_domain::descriptor::Descriptor;
use talaria_domain::event::Event;
use talaria_domain::ids::RunId;
use talaria_domain::run::{RunEvent, RunOutcome, Usage};
use talaria_domain::runner::{Host, Runner, Said, Task, Turn};
use talaria_gateway::binding::{Bindings, Bound, Thinker};
use talaria_store::{StoreError, runs};
use tokio::sync::Semaphore;

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);
const ALLOWED: &str = "may pull";
const REFUSED: &str = "tool \"lever\" is not allowed for this run: call";

/// Waits where it is told to, gives away what it is told to, and says whether it may pull the lever.
struct Foreman {
    go: Semaphore,
    seen: Mutex<Vec<Turn>>,
}

impl Foreman {
    async fn obey(&self, turn: &Turn, host: &dyn Host) -> String {
        self.seen.lock().unwrap().push(turn.clone());
        let goal = turn.prompt.split("\n\n").next().unwrap();
        let (first, rest) = goal.split_once(' ').unwrap_or((goal, ""));
        if first == "wait" {
            self.go.acquire().await.unwrap().forget();
        }
        if let Some(goal) = rest.strip_prefix("give ") {
            let task = Task {
                goal: goal.to_owned(),
                context: String::new(),
                tools: None,
                is_background: false,
            };
            let job = host.reach().delegate(task).await.unwrap();
            return host.reach().outcome(job).await.unwrap().text;
        }
        let checked = host.effects().check(ResourceKind::Tool, "lever", "call");
        checked.map_or_else(|refusal| refusal.reason, |_| ALLOWED.to_owned())
    }

    fn seen(&self) -> Vec<Turn> {
        self.seen.lock().unwrap().clone()
    }
}

impl Runner for Foreman {
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome> {
        Box::pin(async move {
            let text = self.obey(turn, host).await;
            match host.journal(RunEvent::MessageCompleted { text }).await {
                Ok(()) => RunOutcome::completed(Usage::default()),
                Err(_) => RunOutcome::Cancelled,
            }
        })
    }

    fn window(&self) -> usize {
        1_000_000
    }

    fn summarise<'a>(&'a self, _: &'a [Said]) -> Pending<'a, Result<String, String>> {
        Box::pin(std::future::ready(Ok(String::new())))
    }
}

async fn world() -> (Arc<Foreman>, World) {
    let foreman = Arc::new(Foreman {
        go: Semaphore::new(0),
        seen: Mutex::default(),
    });
    let native = Descriptor::native();
    let bound = Bound {
        binding: Binding {
            id: "site".into(),
            scope: BindingScope::Profile("assistant".into()),
            events: vec![EventPattern::any()],
            runner: native.name.id(),
            config: Map::new(),
            policy: Policy {
                resources: ResourcePolicy {
                    tools: ["lever".to_owned(), "bell".to_owned()].into(),
                    ..ResourcePolicy::default()
                },
                ..Policy::default()
            },
        },
        thinker: Thinker::Other {
            descriptor: Arc::new(native),
            runner: Arc::<Foreman>::clone(&foreman),
        },
    };
    let authority = Authority {
        rights: Right::ALL.into(),
        ..Authority::default()
    };
    let setup = Setup {
        authority: authority
            .with(ResourceKind::Tool, "lever", Grant::of(["call"]))
            .with(ResourceKind::Tool, "bell", Grant::of(["call"])),
        bindings: Bindings::of(vec![bound]).unwrap(),
        ..Setup::default()
    };
    (foreman, World::begin(setup).await)
}

fn lever() -> Revocation {
    Revocation::Resource {
        kind: ResourceKind::Tool,
        name: "lever".to_owned(),
        operation: None,
    }
}

async fn runs_of(world: &World, event: &Event) -> Vec<RunId> {
    let id = event.id;
    let found = world.read(move |tx| runs::for_event(tx, id)).await;
    found.into_iter().map(|run| run.id).collect()
}

async fn last_run(world: &World, event: &Event) -> RunId {
    runs_of(world, event).await.pop().unwrap()
}

/// What a run was told that it may.
fn may_pull(turn: &Turn) -> bool {
    turn.authority.allows(ResourceKind::Tool, "lever", "call")
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_away_is_journalled_and_counts_when_it_is_answered() {
    let (foreman, world) = world().await;
    let event = world.says("ada", "wait here");
    world.passes(SOON).await;
    let run = last_run(&world, &event).await;
    let taken = world.gateway.revoke(run, lever()).await;
    assert_eq!(taken, Ok(vec![run]));
    foreman.go.add_permits(1);
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), [REFUSED]);
    let journal = world.read(move |tx| runs::journal(tx, run, 0, 10)).await;
    let what = lever();
    assert_eq!(journal[0], (1, RunEvent::Revoked { what }));
    let numbers: Vec<i64> = journal.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 2, 3], "what the run says comes after it");
    let admitted = world.read(move |tx| runs::get(tx, run)).await.authority;
    assert!(
        admitted.allows(ResourceKind::Tool, "lever", "call"),
        "what it began with stays on record"
    );
    world.says("ada", "again");
    world.passes(SOON).await;
    assert_eq!(
        world.sees("ada"),
        [REFUSED, ALLOWED],
        "the next run has its own"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_taken_away_stays_away_after_every_crash() {
    let (foreman, mut world) = world().await;
    let event = world.says("ada", "wait here");
    world.passes(SOON).await;
    let run = last_run(&world, &event).await;
    world.gateway.revoke(run, lever()).await.unwrap();
    for _ in 0..2 {
        world.crash().await;
        world.passes(SOON).await;
    }
    assert_eq!(runs_of(&world, &event).await.len(), 3, "it was done again");
    let told: Vec<bool> = foreman.seen().iter().map(may_pull).collect();
    assert_eq!(told, [true, false, false]);
    let seen = foreman.seen();
    let last = &seen.last().unwrap().authority;
    assert!(
        last.allows(ResourceKind::Tool, "bell", "call"),
        "and nothing else is"
    );
    foreman.go.add_permits(1);
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), [REFUSED]);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_given_afterwards_does_not_have_what_was_taken_away() {
    let (foreman, world) = world().await;
    let event = world.says("ada", "wait give pull");
    world.passes(SOON).await;
    let run = last_run(&world, &event).await;
    world.gateway.revoke(run, lever()).await.unwrap();
    foreman.go.add_permits(1);
    world.passes(SOON * 5).await;
    let told: Vec<bool> = foreman.seen().iter().map(may_pull).collect();
    assert_eq!(told, [true, false], "no way round by somebody else's hands");
    assert!(
        world.sees("ada")[0].contains(REFUSED),
        "{:?}",
        world.sees("ada")
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_under_way_loses_what_its_giver_loses() {
    let (foreman, world) = world().await;
    let event = world.says("ada", "now give wait give wait pull");
    world.passes(SOON).await;
    foreman.go.add_permits(1);
    world.passes(SOON).await;
    assert_eq!(foreman.seen().len(), 3, "a task of a task");
    let run = last_run(&world, &event).await;
    let taken = world.gateway.revoke(run, lever()).await.unwrap();
    let all: Vec<RunId> = foreman.seen().iter().map(|turn| turn.run).collect();
    assert_eq!(taken, all);
    foreman.go.add_permits(1);
    world.passes(SOON * 5).await;
    assert!(
        world.sees("ada")[0].contains(REFUSED),
        "{:?}",
        world.sees("ada")
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_over_or_nobodys_has_nothing_to_lose() {
    let (_, world) = world().await;
    let event = world.says("ada", "hello");
    world.passes(SOON).await;
    let run = last_run(&world, &event).await;
    let over = world.gateway.revoke(run, lever()).await;
    assert!(matches!(over, Err(StoreError::Conflict(_))), "{over:?}");
    let journal = world.read(move |tx| runs::journal(tx, run, 0, 10)).await;
    let is_taken = |event: &RunEvent| matches!(event, RunEvent::Revoked { .. });
    assert!(
        !journal.iter().any(|(_, event)| is_taken(event)),
        "{journal:?}"
    );
    let nobody = world
        .gateway
        .revoke(RunId::from_bytes([9; 16]), lever())
        .await;
    assert!(
        matches!(nobody, Err(StoreError::NotFound { .. })),
        "{nobody:?}"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_another_node_takes_away_counts_here() {
    let (foreman, world) = world().await;
    let event = world.says("ada", "wait here");
    world.passes(SOON).await;
    let (run, now) = (last_run(&world, &event).await, world.now());
    // As another node does it: in the ledger, and this one only hears that something happened.
    let taken = world
        .ledger
        .write(move |tx| runs::revoke(tx, run, &lever(), now));
    taken.await.unwrap();
    world.passes(SOON).await;
    foreman.go.add_permits(1);
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), [REFUSED]);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_right_and_what_is_remembered_can_be_taken_away_too() {
    let (foreman, mut world) = world().await;
    let event = world.says("ada", "wait here");
    world.passes(SOON).await;
    let run = last_run(&world, &event).await;
    for what in [Revocation::Right(Right::HistoryPage), Revocation::State] {
        world.gateway.revoke(run, what).await.unwrap();
    }
    let active = world.gateway.active_runs().get(run).unwrap();
    assert!(active.may(Right::HistoryPage).is_err() && active.may(Right::EventGet).is_ok());
    assert!(active.may_remember().is_err());
    world.crash().await;
    world.passes(SOON).await;
    let again = foreman.seen().pop().unwrap();
    assert!(
        !again
            .authority
            .authority()
            .rights
            .contains(&Right::HistoryPage)
    );
    assert!(
        again
            .authority
            .authority()
            .rights
            .contains(&Right::EventGet)
    );
    assert!(again.state.open.is_empty() && !again.authority.authority().state.is_usable());
    foreman.go.add_permits(1);
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), [ALLOWED]);
    world.ends().await;
}
