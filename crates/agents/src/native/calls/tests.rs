//! Which tools are shown and called, and ids of calls.

use std::sync::Arc;

use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::authority::{Authority, Grant, ResourceKind};
use talaria_domain::ids::RunId;
use talaria_domain::runner::ToolCall;

use super::{CallIds, batches, decide, offered};
use crate::tools::{Tool, ToolContext, ToolOutput};

struct Named(&'static str);

impl Tool for Named {
    fn name(&self) -> &'static str {
        self.0
    }

    fn description(&self) -> &'static str {
        "does things"
    }

    fn parameters(&self) -> Value {
        json!({"type": "object"})
    }

    fn is_parallel(&self, _: &Value) -> bool {
        self.0.starts_with("parallel")
    }

    fn call<'a>(&'a self, _: &'a Value, _: &'a ToolContext<'a>) -> Pending<'a, ToolOutput> {
        Box::pin(std::future::ready(ToolOutput::done("did")))
    }
}

fn tools() -> Vec<Arc<dyn Tool>> {
    vec![Arc::new(Named("one")), Arc::new(Named("two"))]
}

fn allowing(grants: &[(&str, &str)]) -> Authority {
    let mut authority = Authority::default();
    for (name, operation) in grants {
        let grant = Grant {
            operations: [(*operation).to_owned()].into(),
            pinned: None,
        };
        let tools = authority.grants.entry(ResourceKind::Tool).or_default();
        tools.insert((*name).to_owned(), grant);
    }
    authority
}

#[test]
fn only_what_is_allowed_is_shown() {
    let names = |authority| -> Vec<String> {
        let specs = offered(&tools(), &authority).into_iter();
        specs.map(|spec| spec.name).collect()
    };
    assert_eq!(names(Authority::default()), [""; 0]);
    assert_eq!(
        names(allowing(&[("two", "call"), ("three", "call")])),
        ["two"]
    );
    assert_eq!(names(allowing(&[("one", "configure")])), [""; 0]);
}

#[test]
fn only_what_is_there_and_allowed_is_called() {
    let tools = tools();
    let authority = allowing(&[("two", "call"), ("three", "call")]);
    let told = |name| decide(&tools, &authority, name).map(|tool| tool.name());
    assert_eq!(told("two"), Ok("two"));
    let refused = "the tool `one` is not allowed here: there is two".to_owned();
    assert_eq!(told("one"), Err(refused));
    assert_eq!(
        told("three"),
        Err("there is no tool `three`: there is two".to_owned())
    );
    let nothing = decide(&tools, &Authority::default(), "one").map(|tool| tool.name());
    let refused = "the tool `one` is not allowed here: there is none in this conversation";
    assert_eq!(nothing, Err(refused.to_owned()));
}

#[test]
fn a_call_gets_an_id_of_its_own() {
    let run = RunId::from_bytes([1; 16]);
    let call = |id: &str| ToolCall {
        id: id.to_owned(),
        tool: "one".to_owned(),
        arguments: json!({}),
    };
    let before = [call("a")];
    let mut ids = CallIds::after(before.iter());
    let mut settle = |id| {
        let mut call = call(id);
        ids.settle(run, &mut call);
        call.id
    };
    assert_eq!(settle("b"), "b");
    assert_eq!(settle("a"), format!("call_{run}_1"), "it was there before");
    assert_eq!(settle(""), format!("call_{run}_2"));
    assert_eq!(settle("b"), format!("call_{run}_3"));
}

#[test]
fn neighbours_that_may_be_under_way_together_are() {
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Named("serial")), Arc::new(Named("parallel"))];
    let call = |tool: &str| ToolCall {
        id: String::new(),
        tool: tool.to_owned(),
        arguments: json!({}),
    };
    let table: [(&[&str], &[usize]); 6] = [
        (&[], &[]),
        (&["serial", "serial"], &[1, 1]),
        (&["parallel", "parallel", "parallel"], &[3]),
        (&["parallel", "serial", "parallel"], &[1, 1, 1]),
        (&["serial", "parallel", "parallel", "serial"], &[1, 2, 1]),
        (&["unknown", "unknown"], &[1, 1]),
    ];
    for (names, expected) in table {
        let calls: Vec<_> = names.iter().map(|name| call(name)).collect();
        let batches = batches(&tools, &calls);
        let lengths: Vec<_> = batches.iter().map(|batch| batch.len()).collect();
        assert_eq!(lengths, expected, "{names:?}");
        assert_eq!(batches.concat(), calls, "in their order");
    }
}
