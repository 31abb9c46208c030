//! What an operator takes away reaches a native turn that is under way: its next tool is refused, its next question to
//! the model is not asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use talaria_agents::models::{Answer, Heard, Model, ModelError, Request};
use talaria_agents::native::NativeRunner;
use talaria_agents::tools::{Tool, ToolContext, ToolOutput};
use talaria_domain::adapter::Pending;
use talaria_domain::authority::{Authority, Grant, ResourceKind, Revocation, Right};
use talaria_domain::binding::{Binding, BindingScope, EventPattern, Policy, ResourcePolicy};
use talaria_domain::descriptor::Descriptor;
use talaria_domain::runner::{Said, ToolCall};
use talaria_gateway::binding::{Bindings, Bound, Thinker};
use tokio::sync::Notify;

use crate::world::{Setup, World};

/// A model that wants the lever to be pulled once, when it is told to go on, and then says what came of it.
#[derive(Default)]
struct Puller {
    go: Notify,
    asked: AtomicUsize,
}

impl Model for Puller {
    fn name(&self) -> &'static str {
        "puller"
    }

    fn window(&self) -> usize {
        1_000_000
    }

    fn answer<'a>(
        &'a self,
        request: &'a Request,
        _: &'a dyn Heard,
    ) -> Pending<'a, Result<Answer, ModelError>> {
        Box::pin(async move {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let last = request.said.last().unwrap();
            if last.answers.is_some() {
                let text = format!("it said: {}", last.text);
                return Ok(Answer {
                    text,
                    ..Answer::default()
                });
            }
            self.go.notified().await;
            let call = ToolCall {
                id: String::new(),
                tool: "lever".to_owned(),
                arguments: json!({}),
            };
            Ok(Answer {
                calls: vec![call],
                ..Answer::default()
            })
        })
    }

    fn summarise<'a>(&'a self, _: &'a [Said]) -> Pending<'a, Result<String, ModelError>> {
        Box::pin(std::future::ready(Ok(String::new())))
    }
}

/// A lever that counts, and lets go when it is told to.
#[derive(Default)]
struct Lever {
    pulled: Mutex<usize>,
    up: Notify,
}

impl Tool for Lever {
    fn name(&self) -> &'static str {
        "lever"
    }

    fn description(&self) -> &'static str {
        "pulls the lever"
    }

    fn parameters(&self) -> Value {
        json!({ "type": "object" })
    }

    fn is_parallel(&self, _: &Value) -> bool {
        false
    }

    fn call<'a>(&'a self, _: &'a Value, _: &'a ToolContext<'a>) -> Pending<'a, ToolOutput> {
        Box::pin(async {
            *self.pulled.lock().unwrap() += 1;
            self.up.notified().await;
            ToolOutput::done("pulled")
        })
    }
}

async fn world() -> (Arc<Puller>, Arc<Lever>, World) {
    let (model, lever) = (Arc::new(Puller::default()), Arc::new(Lever::default()));
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::<Lever>::clone(&lever)];
    let native = Descriptor::native();
    let bound = Bound {
        binding: Binding {
            id: "own".into(),
            scope: BindingScope::Profile("assistant".into()),
            events: vec![EventPattern::any()],
            runner: native.name.id(),
            config: Map::new(),
            policy: Policy {
                resources: ResourcePolicy {
                    tools: ["lever".to_owned()].into(),
                    models: ["main".to_owned()].into(),
                    ..ResourcePolicy::default()
                },
                ..Policy::default()
            },
        },
        thinker: Thinker::Other {
            descriptor: Arc::new(native),
            runner: Arc::new(NativeRunner::new(Arc::<Puller>::clone(&model), tools)),
        },
    };
    let authority = Authority {
        rights: Right::ALL.into(),
        ..Authority::default()
    };
    let setup = Setup {
        authority: authority
            .with(ResourceKind::Tool, "lever", Grant::of(["call"]))
            .with(ResourceKind::Model, "main", Grant::of(["stream"])),
        bindings: Bindings::of(vec![bound]).unwrap(),
        ..Setup::default()
    };
    (model, lever, World::begin(setup).await)
}

fn revoke(world: &World, kind: ResourceKind, name: &str) {
    let runs = world.gateway.active_runs();
    let revoked = runs.revoke(&Revocation::Resource {
        kind,
        name: name.to_owned(),
        operation: None,
    });
    assert_eq!(revoked, 1, "the turn is under way");
}

#[tokio::test(start_paused = true)]
async fn a_revoked_tool_is_not_started_in_a_native_turn_under_way() {
    let (model, lever, world) = world().await;
    lever.up.notify_one();
    world.says("ada", "go");
    world.passes(Duration::from_secs(1)).await;
    revoke(&world, ResourceKind::Tool, "lever");
    model.go.notify_one();
    world.passes(Duration::from_secs(1)).await;
    assert_eq!(*lever.pulled.lock().unwrap(), 0);
    let refusal = "it said: tool \"lever\" is not allowed for this run: call";
    assert_eq!(world.sees("ada"), [refusal]);
    world.says("ada", "again");
    model.go.notify_one();
    world.passes(Duration::from_secs(1)).await;
    assert_eq!(*lever.pulled.lock().unwrap(), 1, "the next run has its own");
    assert_eq!(world.sees("ada"), [refusal, "it said: pulled"]);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_revoked_model_is_not_asked_again_in_a_native_turn_under_way() {
    let (model, lever, world) = world().await;
    world.says("ada", "go");
    model.go.notify_one();
    world.passes(Duration::from_secs(1)).await;
    assert_eq!(*lever.pulled.lock().unwrap(), 1);
    revoke(&world, ResourceKind::Model, "main");
    lever.up.notify_one();
    world.passes(Duration::from_secs(1)).await;
    assert_eq!(
        model.asked.load(Ordering::SeqCst),
        1,
        "it is not asked again"
    );
    let answers = world.sees("ada");
    assert!(
        answers[0].contains("model \"main\" is not allowed for this run: stream"),
        "{answers:?}"
    );
    world.ends().await;
}
