//! Lines and what becomes of them.

use serde_json::json;
use talaria_domain::effects::RefusalCode;
use talaria_domain::run::{ToolResult, Usage};

use super::*;

const HERE: &str = "0198c0de-0000-7000-8000-000000000001";
const ELSEWHERE: &str = "0198c0de-0000-7000-8000-000000000002";

fn decide(line: &str) -> Admitted {
    let here: RunId = HERE.parse().unwrap();
    admit(line.as_bytes(), |run| run == here)
}

fn asked(method: &str, params: &Value) -> Admitted {
    decide(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string())
}

fn told(method: &str, params: &Value) -> Admitted {
    decide(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
}

fn fault(admitted: Admitted) -> Fault {
    match admitted {
        Admitted::Refused { fault, .. } | Admitted::Garbage(fault) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_run_of_its_own_every_method_gets_the_same_words() {
    let runs = [
        json!({}),
        json!([HERE]),
        json!(null),
        json!({"run": null}),
        json!({"run": 7}),
        json!({"run": ""}),
        json!({"run": "native"}),
        json!({"run": ELSEWHERE}),
        json!({"run": ELSEWHERE, "scope": "nonsense"}),
        json!({"runs": HERE}),
    ];
    for method in Asked::METHODS.into_iter().chain(Report::METHODS) {
        for params in &runs {
            let refused = Admitted::Refused {
                id: Some(json!(1)),
                fault: Fault::no_such_run(),
            };
            assert_eq!(asked(method, params), refused, "{method} {params}");
            let refused = Admitted::Refused {
                id: None,
                fault: Fault::no_such_run(),
            };
            assert_eq!(told(method, params), refused, "{method} {params}");
        }
    }
}

#[test]
fn what_a_run_asks_for_is_read() {
    let ask = |method: &str, params: Value| match asked(method, &params) {
        Admitted::Asked { id, asked, .. } => {
            assert_eq!(id, 1);
            asked
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(ask("tool.list", json!({"run": HERE})), Asked::ToolList {});
    let call = json!({"run": HERE, "tool": "terminal", "arguments": {"a": 1}, "later": true});
    assert_eq!(
        ask("tool.call", call),
        Asked::ToolCall {
            tool: "terminal".to_owned(),
            arguments: json!({"a": 1}),
            call: None
        },
        "what a later version adds does no harm"
    );
    let set = json!({"run": HERE, "scope": "actor", "key": "k", "value": null, "expected": 0});
    assert_eq!(
        ask("state.set", set),
        Asked::StateSet {
            scope: talaria_domain::scope::StateScope::Actor,
            key: "k".to_owned(),
            value: Value::Null,
            expected: Some(0)
        }
    );
}

#[test]
fn wrong_parameters_are_refused_with_a_sentence() {
    let cases = [
        ("state.get", json!({"run": HERE, "scope": "actor"}), "key"),
        (
            "state.get",
            json!({"run": HERE, "scope": "all", "key": "k"}),
            "all",
        ),
        (
            "state.set",
            json!({"run": HERE, "scope": "actor", "key": "k"}),
            "value",
        ),
        (
            "storage.get",
            json!({"run": HERE, "store": "host", "key": "k"}),
            "host",
        ),
        ("history.page", json!({"run": HERE, "limit": -1}), "-1"),
        ("tool.call", json!({"run": HERE, "tool": 1}), "string"),
    ];
    for (method, params, word) in cases {
        let fault = fault(asked(method, &params));
        assert_eq!(fault.refusal.code, RefusalCode::Invalid, "{method}");
        assert!(fault.refusal.reason.contains(word), "{method}: {fault:?}");
    }
}

#[test]
fn what_a_run_tells_is_read() {
    let tell = |method: &str, params: Value| match told(method, &params) {
        Admitted::Report {
            report, id: None, ..
        } => report,
        other => panic!("{other:?}"),
    };
    let delta = Report::MessageDelta {
        text: "hi".to_owned(),
    };
    let params = json!({"run": HERE, "text": "hi"});
    assert_eq!(tell("message.delta", params.clone()), Ok(delta.clone()));
    let usage = Usage::default();
    let completed = tell("completed", json!({"run": HERE}));
    assert_eq!(completed, Ok(Report::Completed { usage }));
    let output = json!({"run": HERE, "call": "c", "output": "o"});
    let result = ToolResult::Done;
    let (call, output) = ("c".to_owned(), tell("tool.completed", output));
    let done = Report::ToolCompleted {
        call,
        output: "o".to_owned(),
        result,
    };
    assert_eq!(output, Ok(done));
    let thanked = asked("message.delta", &params);
    assert!(
        matches!(&thanked, Admitted::Report { id: Some(id), report: Ok(it), .. } if *id == 1 && *it == delta),
        "{thanked:?}"
    );
}

#[test]
fn a_malformed_report_is_the_run_s_business() {
    for (method, params) in [
        ("message.completed", json!({"run": HERE, "text": 5})),
        ("failed", json!({"run": HERE})),
        ("completed", json!({"run": HERE, "usage": "much"})),
        (
            "tool.completed",
            json!({"run": HERE, "call": "a", "output": "b", "result": "perhaps"}),
        ),
    ] {
        let Admitted::Report { report, .. } = told(method, &params) else {
            panic!("{method}");
        };
        let why = report.unwrap_err();
        assert!(
            why.starts_with(&format!("a malformed `{method}`: ")),
            "{why}"
        );
    }
}

#[test]
fn unknown_tales_are_told_and_skipped() {
    let Admitted::Unknown { what, .. } = told("mood.changed", &json!({"run": HERE})) else {
        panic!();
    };
    assert!(what.contains("mood.changed"), "{what}");
    let Admitted::Unknown { what, .. } = told("state.set", &json!({"run": HERE})) else {
        panic!();
    };
    assert!(what.contains("without an id"), "{what}");
    let fault = fault(asked("mood.change", &json!({"run": HERE})));
    assert_eq!(fault, Fault::no_such_method("mood.change"));
}

#[test]
fn what_is_no_json_rpc_is_garbage() {
    let lines = [
        "hello",
        "{",
        "[]",
        "7",
        "{}",
        "{\"jsonrpc\":\"1.0\",\"method\":\"log\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"log\"}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"mine\",\"result\":1}",
        "\u{0}\u{1}",
    ];
    for line in lines {
        assert!(matches!(decide(line), Admitted::Garbage(_)), "{line}");
    }
}

#[test]
fn answers_are_told_apart() {
    let answer = |text: &str| match decide(text) {
        Admitted::Answer { id: 3, answer } => answer,
        other => panic!("{other:?}"),
    };
    let good = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"protocol\":1}}";
    assert_eq!(answer(good), Ok(json!({"protocol": 1})));
    let empty = "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":null}";
    assert_eq!(answer(empty), Ok(Value::Null));
    let bad = "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1,\"message\":\"no\"}}";
    assert_eq!(answer(bad), Err("no".to_owned()));
}
