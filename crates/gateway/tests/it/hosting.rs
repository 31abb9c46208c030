//! A runner from outside, through the front door: what it may is frozen when its run begins, checked at every effect,
//! and over when the run is. It does what people write to it, and answers with what came of it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::authority::{Authority, Grant, ResourceKind, Revocation, Right};
use talaria_domain::binding::{Binding, BindingScope, EventPattern, Policy, ResourcePolicy};
use talaria_domain::descriptor::{
    Descriptor, HistoryOperation, Permissions, RunnerName, StoreName, ToolOperation,
};
use talaria_domain::effects::{
    Effects, Memory, MemoryAnswer, MemoryRequest, PastAnswer, PastRequest, Refusal, RefusalCode,
};
use talaria_domain::event::Event;
use talaria_domain::machine::RunState;
use talaria_domain::run::{FailureCode, RunEvent, RunOutcome, Usage};
use talaria_domain::runner::{Host, Runner, Said, Turn};
use talaria_domain::scope::StateScope;
use talaria_gateway::binding::{Bindings, Bound, Thinker};
use talaria_gateway::settings::Limits;
use talaria_store::runs;
use tokio::sync::Notify;

use crate::world::{Setup, World};

/// A runner that does what it is told.
#[derive(Default)]
struct Clerk {
    /// It goes on when it is told to.
    go: Notify,
    turns: Mutex<Vec<Turn>>,
}

impl Clerk {
    async fn obey(&self, turn: &Turn, host: &dyn Host) -> String {
        let words: Vec<&str> = turn.prompt.split(' ').collect();
        let effects = host.effects();
        match words.as_slice() {
            ["state"] => json!(turn.state.scopes).to_string(),
            ["update", scope, key, value] => {
                let updated = RunEvent::StateUpdated {
                    scope: StateScope::parse(scope).unwrap(),
                    key: (*key).to_owned(),
                    value: json!(value),
                };
                format!("{:?}", host.journal(updated).await)
            }
            ["set" | "get", memory, ..] => {
                let request = memory_request(&words);
                remembered(effects.remember(memory_of(memory), request).await)
            }
            ["call", tool] => called(effects, tool),
            ["wait", "call", tool] => {
                self.go.notified().await;
                called(effects, tool)
            }
            ["past" | "find" | "event", _] => past(effects, past_request(&words)).await,
            ["hang"] => std::future::pending().await,
            _ => format!("re: {}", turn.prompt),
        }
    }
}

fn memory_request(words: &[&str]) -> MemoryRequest {
    match words {
        ["set", _, key, value] => MemoryRequest::Set {
            key: (*key).to_owned(),
            value: json!(value),
            expected: None,
        },
        _ => MemoryRequest::Get {
            key: words.last().unwrap().to_string(),
        },
    }
}

fn past_request(words: &[&str]) -> PastRequest {
    match words {
        ["past", count] => PastRequest::Page {
            before: None,
            limit: count.parse().unwrap(),
        },
        ["event", id] => PastRequest::Event {
            id: id.parse().unwrap(),
        },
        _ => PastRequest::Search {
            words: words.last().unwrap().to_string(),
            limit: 10,
        },
    }
}

fn memory_of(name: &str) -> Memory {
    match name {
        "plugin" => Memory::Plugin,
        "workspace" => Memory::Workspace,
        scope => Memory::State(StateScope::parse(scope).unwrap()),
    }
}

fn refused(refusal: &Refusal) -> String {
    let code = json!(refusal.code);
    format!("{}: {}", code.as_str().unwrap(), refusal.reason)
}

fn remembered(answer: Result<MemoryAnswer, Refusal>) -> String {
    match answer {
        Ok(MemoryAnswer::Found(found)) => {
            found.map_or_else(|| "nothing".to_owned(), |kept| kept.value.to_string())
        }
        Ok(other) => format!("{other:?}"),
        Err(refusal) => refused(&refusal),
    }
}

fn called(effects: &dyn Effects, tool: &str) -> String {
    match effects.check(ResourceKind::Tool, tool, "call") {
        Ok(grant) => format!("called {}", grant.pinned.as_deref().unwrap_or_default()),
        Err(refusal) => refused(&refusal),
    }
}

async fn past(effects: &dyn Effects, request: PastRequest) -> String {
    match effects.look_back(request).await {
        Ok(PastAnswer::Said { lines, has_more }) => {
            let lines: Vec<String> = lines.into_iter().map(|line| line.said.text).collect();
            format!("{} more={has_more}", lines.join("|"))
        }
        Ok(PastAnswer::Event(event)) => format!("from {}", event.principal.user),
        Err(refusal) => refused(&refusal),
    }
}

impl Runner for Clerk {
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome> {
        Box::pin(async move {
            self.turns.lock().unwrap().push(turn.clone());
            let text = self.obey(turn, host).await;
            if host
                .journal(RunEvent::MessageCompleted { text })
                .await
                .is_err()
            {
                return RunOutcome::Cancelled;
            }
            RunOutcome::completed(Usage::default())
        })
    }

    fn window(&self) -> usize {
        1_000_000
    }

    fn summarise<'a>(&'a self, _: &'a [Said]) -> Pending<'a, Result<String, String>> {
        Box::pin(std::future::ready(Ok(String::new())))
    }
}

fn permissions() -> Permissions {
    Permissions {
        tools: [ToolOperation::Call].into(),
        storage: [StoreName::Plugin].into(),
        history: HistoryOperation::ALL.into(),
        ..Permissions::default()
    }
}

fn policy() -> Policy {
    Policy {
        resources: ResourcePolicy {
            tools: ["lever".to_owned()].into(),
            storage: StoreName::ALL.into(),
            ..ResourcePolicy::default()
        },
        ..Policy::default()
    }
}

/// A clerk at the desk of the assistant, and the world around them.
async fn world(permissions: Permissions, policy: Policy, limits: Limits) -> (Arc<Clerk>, World) {
    let clerk = Arc::new(Clerk::default());
    let descriptor = Descriptor {
        name: RunnerName::parse("plugin:acme/clerk/main").unwrap(),
        version: None,
        capabilities: [].into(),
        permissions,
    };
    let scope = BindingScope::Profile("assistant".into());
    let config = json!({ "desk": 4 });
    let bound = Bound {
        binding: Binding {
            id: "desk".into(),
            scope,
            events: vec![EventPattern::any()],
            runner: descriptor.name.id(),
            config: config.as_object().unwrap().clone(),
            policy,
        },
        thinker: Thinker::Other {
            descriptor: Arc::new(descriptor),
            runner: Arc::<Clerk>::clone(&clerk),
        },
    };
    let pinned = Grant::of(["call", "detail"]).pinned_to("the red one");
    let authority = Authority {
        rights: Right::ALL.into(),
        ..Authority::default()
    };
    let setup = Setup {
        authority: authority
            .with(ResourceKind::Tool, "lever", pinned.clone())
            .with(ResourceKind::Tool, "button", pinned),
        bindings: Bindings::of(vec![bound]).unwrap(),
        limits,
        ..Setup::default()
    };
    (clerk, World::begin(setup).await)
}

async fn usual() -> (Arc<Clerk>, World) {
    world(permissions(), policy(), Limits::default()).await
}

/// What `who` is answered when they write `text`.
async fn answer(world: &World, who: &str, text: &str) -> String {
    let before = world.sees(who).len();
    world.says(who, text);
    world.passes(Duration::from_secs(5)).await;
    let answers = world.sees(who);
    assert_eq!(
        answers.len(),
        before + 1,
        "one answer to {text:?}: {answers:?}"
    );
    answers.last().unwrap().clone()
}

async fn run_of(world: &World, event: &Event) -> runs::Run {
    let id = event.id;
    let mut found = world.read(move |tx| runs::for_event(tx, id)).await;
    found.pop().unwrap()
}

async fn journal(world: &World, event: &Event) -> Vec<RunEvent> {
    let run = run_of(world, event).await.id;
    let journal = world.read(move |tx| runs::journal(tx, run, 0, 100)).await;
    journal.into_iter().map(|(_, event)| event).collect()
}

#[tokio::test(start_paused = true)]
async fn what_a_run_may_is_stored_with_it_when_it_is_admitted() {
    let (clerk, world) = usual().await;
    let event = world.says("ada", "call lever");
    world.passes(Duration::from_secs(5)).await;
    assert_eq!(world.sees("ada"), ["called the red one"]);
    let run = run_of(&world, &event).await;
    assert_eq!(run.runner.as_str(), "plugin:acme/clerk/main");
    let authority = &run.authority;
    assert!(authority.allows(ResourceKind::Tool, "lever", "call"));
    assert!(
        !authority.allows(ResourceKind::Tool, "lever", "detail"),
        "not permitted"
    );
    assert!(
        !authority.allows(ResourceKind::Tool, "button", "call"),
        "not named"
    );
    assert!(authority.allows(ResourceKind::Storage, "plugin", "set"));
    assert!(
        !authority.allows(ResourceKind::Storage, "workspace", "get"),
        "not permitted"
    );
    assert_eq!(
        authority.rights,
        [Right::HistoryPage, Right::HistorySearch].into()
    );
    let given = clerk.turns.lock().unwrap().pop().unwrap();
    assert_eq!(
        *given.authority.authority(),
        *authority,
        "and the runner is told the same"
    );
    assert_eq!(given.config["desk"], 4);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_not_granted_is_refused_with_a_code_and_a_sentence() {
    let (_, world) = usual().await;
    let table = [
        (
            "call button",
            "not_allowed: tool \"button\" is not allowed for this run: call",
        ),
        (
            "get workspace x",
            "not_allowed: storage \"workspace\" is not allowed for this run: get",
        ),
        (
            "get runner x",
            "disabled: the scope runner is not enabled for this binding, which has: conversation, actor",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(answer(&world, "ada", text).await, expected);
    }
    assert_eq!(
        answer(&world, "ada", "set plugin x 1").await,
        "Stored { version: 1 }"
    );
    assert_eq!(answer(&world, "bob", "get plugin x").await, "\"1\"");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_revocation_counts_at_the_next_effect() {
    let (clerk, world) = usual().await;
    world.says("ada", "wait call lever");
    world.passes(Duration::from_secs(1)).await;
    let active = world.gateway.active_runs().list();
    assert_eq!(active.len(), 1);
    assert!(active[0].check(ResourceKind::Tool, "lever", "call").is_ok());
    world.gateway.active_runs().revoke(&Revocation::Resource {
        kind: ResourceKind::Tool,
        name: "lever".to_owned(),
        operation: None,
    });
    clerk.go.notify_one();
    world.passes(Duration::from_secs(1)).await;
    let answers = world.sees("ada");
    assert!(
        answers[0].starts_with("not_allowed: tool \"lever\""),
        "{answers:?}"
    );
    assert_eq!(
        answer(&world, "ada", "call lever").await,
        "called the red one",
        "the next run has its own"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_is_active_from_its_beginning_to_its_end() {
    let (clerk, world) = usual().await;
    let event = world.says("ada", "wait call lever");
    world.passes(Duration::from_secs(1)).await;
    let run = run_of(&world, &event).await;
    let active = world.gateway.active_runs().get(run.id).unwrap();
    let with = active.registration();
    assert_eq!(with.runner.as_str(), "plugin:acme/clerk/main");
    assert_eq!(with.binding.as_str(), "desk");
    assert_eq!(
        (with.session, with.authority.authority()),
        (run.session, &run.authority)
    );
    clerk.go.notify_one();
    world.passes(Duration::from_secs(1)).await;
    assert!(world.gateway.active_runs().get(run.id).is_none());
    assert!(world.gateway.active_runs().is_empty());
    let late = active
        .check(ResourceKind::Tool, "lever", "call")
        .unwrap_err();
    assert_eq!(
        late.code,
        RefusalCode::RunEnded,
        "whoever still has it has nothing"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_that_does_nothing_for_an_hour_is_closed_and_the_person_is_told() {
    let limits = Limits {
        turn_time: Duration::from_hours(10),
        no_progress: Duration::from_hours(10),
        ..Limits::default()
    };
    let (_, world) = world(permissions(), policy(), limits).await;
    let event = world.says("ada", "hang");
    world.passes(Duration::from_mins(59)).await;
    let run = run_of(&world, &event).await;
    assert_eq!(run.state, RunState::Running);
    assert!(world.gateway.active_runs().get(run.id).is_some());
    world.passes(Duration::from_mins(2)).await;
    assert!(world.gateway.active_runs().is_empty());
    let run = run_of(&world, &event).await;
    let Some(RunOutcome::Failed(failure)) = &run.outcome else {
        panic!("{run:?}");
    };
    assert_eq!(failure.code, FailureCode::NoProgress);
    assert_eq!(
        world.sees("ada"),
        ["I could not finish this: nothing happened for 60 minutes."]
    );
    assert_eq!(
        answer(&world, "ada", "call lever").await,
        "called the red one"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_restart_no_run_of_the_dead_process_is_active_and_its_state_is_there() {
    let (clerk, mut world) = usual().await;
    assert_eq!(
        answer(&world, "ada", "set actor tea green").await,
        "Stored { version: 1 }"
    );
    let event = world.says("ada", "wait call lever");
    world.passes(Duration::from_secs(1)).await;
    let before = run_of(&world, &event).await;
    world.crash().await;
    world.passes(Duration::from_secs(1)).await;
    let now = run_of(&world, &event).await;
    assert_ne!(now.id, before.id, "it was done again, as another run");
    let id = before.id;
    let old = world.read(move |tx| runs::get(tx, id)).await;
    assert_eq!(old.state, RunState::Interrupted);
    assert!(world.gateway.active_runs().get(before.id).is_none());
    assert!(world.gateway.active_runs().get(now.id).is_some());
    // The one that was dropped with its process took no notice.
    clerk.go.notify_waiters();
    clerk.go.notify_one();
    world.passes(Duration::from_secs(1)).await;
    assert_eq!(answer(&world, "ada", "get actor tea").await, "\"green\"");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_given_what_was_remembered_before_it_began() {
    let (_, world) = usual().await;
    answer(&world, "ada", "set actor tea green").await;
    answer(&world, "ada", "set conversation plan long").await;
    let seen: Value = serde_json::from_str(&answer(&world, "ada", "state").await).unwrap();
    assert_eq!(seen["actor"], json!({ "tea": "green" }));
    assert_eq!(seen["conversation"]["plan"], "long");
    assert!(seen["conversation"]["external.conversation_id"].is_string());
    assert_eq!(
        (&seen["subject"], &seen["runner"]),
        (&json!({}), &json!({}))
    );
    let seen: Value = serde_json::from_str(&answer(&world, "bob", "state").await).unwrap();
    assert_eq!(seen["actor"], json!({}), "another person's is another one");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_reset_starts_a_new_generation_and_leaves_the_other_scopes_alone() {
    let (_, world) = usual().await;
    answer(&world, "ada", "set actor tea green").await;
    answer(&world, "ada", "set conversation plan long").await;
    let before: Value = serde_json::from_str(&answer(&world, "ada", "state").await).unwrap();
    answer(&world, "ada", "/new").await;
    let after: Value = serde_json::from_str(&answer(&world, "ada", "state").await).unwrap();
    assert_eq!(after["actor"], json!({ "tea": "green" }));
    assert_eq!(after["conversation"].get("plan"), None);
    let id = "external.conversation_id";
    assert_ne!(before["conversation"][id], after["conversation"][id]);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn every_change_of_state_is_journalled_with_it() {
    let (_, world) = usual().await;
    let event = world.says("ada", "set conversation conversation_id theirs");
    world.passes(Duration::from_secs(1)).await;
    let updated = RunEvent::StateUpdated {
        scope: StateScope::Conversation,
        key: "external.conversation_id".to_owned(),
        value: json!("theirs"),
    };
    assert!(journal(&world, &event).await.contains(&updated));
    let event = world.says("ada", "update actor tea black");
    world.passes(Duration::from_secs(1)).await;
    let updated = RunEvent::StateUpdated {
        scope: StateScope::Actor,
        key: "tea".to_owned(),
        value: json!("black"),
    };
    assert!(journal(&world, &event).await.contains(&updated));
    assert_eq!(
        answer(&world, "ada", "get actor tea").await,
        "\"black\"",
        "and it is remembered"
    );
    let event = world.says("ada", "update runner tea black");
    world.passes(Duration::from_secs(1)).await;
    let told = journal(&world, &event).await;
    let is_told =
        |event: &RunEvent| matches!(event, RunEvent::Log { text } if text.contains("not enabled"));
    assert!(told.iter().any(is_told), "a refusal is told: {told:?}");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_changes_nothing_any_more() {
    let (clerk, world) = usual().await;
    world.says("ada", "wait call lever");
    world.passes(Duration::from_secs(1)).await;
    let active = world.gateway.active_runs().list().pop().unwrap();
    world.says("ada", "/stop");
    world.passes(Duration::from_secs(5)).await;
    clerk.go.notify_one();
    assert!(active.check(ResourceKind::Tool, "lever", "call").is_err());
    assert!(active.may_remember().is_err());
    assert!(
        world
            .sees("ada")
            .iter()
            .all(|text| !text.contains("called"))
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_looks_back_into_its_own_conversation_and_no_other() {
    let (_, world) = usual().await;
    let own = world.says("ada", "apples");
    world.passes(Duration::from_secs(1)).await;
    let foreign = world.says("bob", "apples too");
    world.passes(Duration::from_secs(1)).await;
    answer(&world, "ada", "pears").await;
    assert_eq!(
        answer(&world, "ada", "past 2").await,
        "pears|re: pears more=true"
    );
    assert_eq!(
        answer(&world, "ada", "find apples").await,
        "apples|re: apples more=false"
    );
    let words = answer(&world, "ada", &format!("event {}", own.id)).await;
    assert_eq!(words, "not_allowed: this run may not read events");
    let everything = Permissions {
        events: talaria_domain::descriptor::EventOperation::ALL.into(),
        ..permissions()
    };
    let (_, other) = self::world(everything, policy(), Limits::default()).await;
    let mine = other.says("ada", "hello");
    other.passes(Duration::from_secs(1)).await;
    let theirs = other.says("bob", "hello");
    other.passes(Duration::from_secs(1)).await;
    assert_eq!(
        answer(&other, "ada", &format!("event {}", mine.id)).await,
        "from ada"
    );
    for unknown in [theirs.id, foreign.id] {
        let words = answer(&other, "ada", &format!("event {unknown}")).await;
        let expected = format!("not_found: there is no event {unknown} in this conversation");
        assert_eq!(words, expected, "told in the same words");
    }
    world.ends().await;
    other.ends().await;
}

#[tokio::test(start_paused = true)]
async fn without_the_permission_nobody_looks_back() {
    let (_, world) = world(Permissions::default(), policy(), Limits::default()).await;
    answer(&world, "ada", "apples").await;
    assert_eq!(
        answer(&world, "ada", "past 5").await,
        "not_allowed: this run may not read what was said before"
    );
    assert_eq!(
        answer(&world, "ada", "find apples").await,
        "not_allowed: this run may not search what was said before"
    );
    world.ends().await;
}
