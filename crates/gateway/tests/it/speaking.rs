//! What becomes of what a run says: all of it is remembered, in order, and what it cost is on record.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, json};
use talaria_domain::adapter::Pending;
use talaria_domain::binding::{Binding, BindingScope, EventPattern, Policy};
use talaria_domain::descriptor::Descriptor;
use talaria_domain::event::Event;
use talaria_domain::machine::RunState;
use talaria_domain::run::{RunEvent, RunOutcome, ToolResult, Usage};
use talaria_domain::runner::{Host, Runner, Said, Speaker, Turn};
use talaria_gateway::binding::{Bindings, Bound, Thinker};
use talaria_store::runs::{self, Run};
use talaria_store::transcripts;

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(5);
const COST: Usage = Usage {
    input_tokens: 12,
    output_tokens: 34,
};

/// Says several things, with a tool between them.
struct Talker;

fn events() -> Vec<RunEvent> {
    let text = |text: &str| text.to_owned();
    vec![
        RunEvent::MessageDelta { text: text("fir") },
        RunEvent::MessageDelta { text: text("st") },
        RunEvent::MessageCompleted {
            text: text("first"),
        },
        RunEvent::ToolStarted {
            call: text("c1"),
            tool: text("abacus"),
            arguments: json!({ "n": 2 }),
        },
        RunEvent::ToolCompleted {
            call: text("c1"),
            output: text("4"),
            result: ToolResult::Done,
        },
        RunEvent::MessageCompleted {
            text: text("second"),
        },
        RunEvent::MessageCompleted {
            text: text("third"),
        },
    ]
}

impl Runner for Talker {
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome> {
        Box::pin(async move {
            let text = format!("{} before", turn.history.len());
            let all = match turn.prompt.as_str() {
                "count" => vec![RunEvent::MessageCompleted { text }],
                _ => events(),
            };
            for event in all {
                if host.journal(event).await.is_err() {
                    return RunOutcome::Cancelled;
                }
            }
            RunOutcome::completed(COST)
        })
    }

    fn window(&self) -> usize {
        1_000_000
    }

    fn summarise<'a>(&'a self, _: &'a [Said]) -> Pending<'a, Result<String, String>> {
        Box::pin(std::future::ready(Ok(String::new())))
    }
}

async fn world() -> World {
    let native = Descriptor::native();
    let bound = Bound {
        binding: Binding {
            id: "talk".into(),
            scope: BindingScope::Global,
            events: vec![EventPattern::any()],
            runner: native.name.id(),
            config: Map::new(),
            policy: Policy::default(),
        },
        thinker: Thinker::Other {
            descriptor: Arc::new(native),
            runner: Arc::new(Talker),
        },
    };
    World::begin(Setup {
        bindings: Bindings::of(vec![bound]).unwrap(),
        ..Setup::default()
    })
    .await
}

async fn run_of(world: &World, event: &Event) -> Run {
    let id = event.id;
    let found = world.read(move |tx| runs::for_event(tx, id)).await;
    assert_eq!(found.len(), 1);
    found.into_iter().next().unwrap()
}

#[tokio::test(start_paused = true)]
async fn every_message_of_a_run_is_remembered_and_told() {
    let world = world().await;
    let event = world.says("ada", "talk");
    world.passes(SOON).await;
    assert_eq!(
        world.sees("ada"),
        ["second\n\nthird"],
        "what was said after the tool"
    );
    let session = run_of(&world, &event).await.session;
    let said = world
        .read(move |tx| transcripts::page(tx, session, 0, 100))
        .await;
    let said: Vec<(Speaker, String)> = said
        .into_iter()
        .map(|entry| (entry.speaker, entry.text))
        .collect();
    let own: Vec<&str> = said
        .iter()
        .filter(|(speaker, _)| *speaker == Speaker::Assistant)
        .map(|(_, text)| text.as_str())
        .collect();
    let all = own.join("\n");
    for word in ["first", "second", "third"] {
        assert_eq!(
            all.matches(word).count(),
            1,
            "none is lost and none is double: {said:?}"
        );
    }
    assert!(said.contains(&(Speaker::Tool, "4".to_owned())), "{said:?}");
    world.says("ada", "count");
    world.passes(SOON).await;
    let told = world.sees("ada").pop().unwrap();
    assert_eq!(
        told,
        format!("{} before", said.len()),
        "and the next run is shown all of it"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_run_is_on_record_with_its_numbers_its_end_and_its_cost() {
    let world = world().await;
    let event = world.says("ada", "talk");
    world.passes(SOON).await;
    let run = run_of(&world, &event).await;
    assert_eq!(run.state, RunState::Completed);
    assert_eq!(run.outcome, Some(RunOutcome::completed(COST)));
    let id = run.id;
    let journal = world.read(move |tx| runs::journal(tx, id, 0, 100)).await;
    let numbers: Vec<i64> = journal.iter().map(|(number, _)| *number).collect();
    let count = i64::try_from(journal.len()).unwrap();
    assert_eq!(
        numbers,
        (1..=count).collect::<Vec<_>>(),
        "from one, without a gap"
    );
    let written: Vec<RunEvent> = journal.into_iter().map(|(_, event)| event).collect();
    let mut expected = events();
    expected.push(RunEvent::Ended(RunOutcome::completed(COST)));
    assert_eq!(written, expected, "in the order in which it was said");
    world.ends().await;
}
