//! The schema of the protocol is what the types are: the file beside the documentation is compared with it. The words
//! of the domain stand here once more, because its types know nothing of schemas; they are compared as well.

use std::collections::BTreeSet;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Answer, Asked, Introduction, Order, PROTOCOL, Report};

const FILE: &str = include_str!("../../../../../docs/runner-protocol.schema.json");

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($item:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Serialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub(super) enum $name {
            $($item,)*
        }

        impl $name {
            fn words() -> BTreeSet<String> {
                let word = |item: Self| match serde_json::to_value(item) {
                    Ok(Value::String(word)) => word,
                    other => panic!("{other:?}"),
                };
                [$(word(Self::$item),)*].into()
            }
        }
    )*};
}

words! {
    /// Whose memory it is.
    StateScope { Conversation, Actor, Subject, Runner, }
    /// Whether a tool did what was asked.
    ToolResult { Done, Refused, Cancelled, }
    /// Who said something.
    Speaker { System, User, Assistant, Tool, }
    /// A kind of resource.
    ResourceKind { Model, Tool, KnowledgeBase, File, Storage, }
    /// Why an answer ends where it does.
    Finish { Stop, Length, ContentFilter, }
    /// What a runner may be able to do.
    Capability { Streaming, ToolCalling, Knowledge, Interrupt, Steering, Interactions, History, }
    /// Why something was not done, for programs.
    RefusalCode {
        NotAllowed,
        Disabled,
        NotFound,
        Invalid,
        TooLarge,
        Conflict,
        Expired,
        RunEnded,
        Unavailable,
    }
}

/// An id.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
#[schemars(transparent)]
pub(super) struct Id(String);

/// What something cost.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
pub(super) struct Usage {
    /// Tokens read.
    input_tokens: u64,
    /// Tokens written.
    output_tokens: u64,
}

/// A tool that an agent called.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
pub(super) struct ToolCall {
    /// The call's id.
    id: String,
    /// The tool.
    tool: String,
    /// What it was given.
    arguments: Value,
}

/// What a person answered.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
#[serde(tag = "answer", rename_all = "snake_case")]
pub(super) enum Answered {
    /// Yes.
    Approved,
    /// No.
    Denied,
    /// In words, or one of the choices.
    Said {
        /// To the letter.
        text: String,
    },
}

/// Why a request is not done.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct Error {
    /// JSON-RPC's number; -32000 for a refusal.
    code: i32,
    /// For people.
    message: String,
    /// For programs.
    data: ErrorCode,
}

/// Why a request is not done, for programs.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema counts")]
struct ErrorCode {
    /// One of these.
    code: RefusalCode,
}

/// The whole schema.
fn schema() -> Value {
    let mut generator = SchemaGenerator::default();
    let order = generator.subschema_for::<Order>();
    let report = generator.subschema_for::<Report>();
    let asked = generator.subschema_for::<Asked>();
    let answer = generator.subschema_for::<Answer>();
    let introduction = generator.subschema_for::<Introduction>();
    let error = generator.subschema_for::<Error>();
    let mut definitions = Value::Object(generator.take_definitions(true));
    for told in ["Report", "Asked"] {
        name_the_run(&mut definitions[told]);
    }
    let id = json!({"type": ["string", "integer"]});
    let anybody = json!({"type": ["string", "integer", "null"]});
    let said = |id: &Value, required: &[&str]| {
        let properties = json!({"jsonrpc": {"const": "2.0"}, "id": id});
        json!({"type": "object", "properties": properties, "required": required})
    };
    let answered = |id: &Value, what: &str, with: Value| {
        let properties =
            json!({"jsonrpc": {"const": "2.0"}, "id": id, what: with, "method": false});
        json!({"type": "object", "properties": properties, "required": ["jsonrpc", "id", what]})
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("The runner protocol of Talaria, version {PROTOCOL}"),
        "description": "JSON-RPC 2.0, one object a line. The gateway writes to the runner's standard input, the runner to its standard output.",
        "anyOf": [
            {"title": "What the gateway says", "allOf": [said(&id, &["jsonrpc"]), order]},
            {"title": "What a runner tells", "allOf": [said(&id, &["jsonrpc"]), report]},
            {"title": "What a runner asks for", "allOf": [said(&id, &["jsonrpc", "id"]), asked]},
            {"title": "What the gateway answers", "allOf": [answered(&id, "result", json!({"anyOf": [answer, {"type": "null"}]}))]},
            {"title": "Why the gateway does not do something", "allOf": [answered(&anybody, "error", json!(error))]},
            {"title": "What a runner answers to `initialize`", "allOf": [answered(&id, "result", json!(introduction))]},
            {"title": "What a runner answers to `steer`", "allOf": [answered(&id, "result", json!(true))]},
        ],
        "$defs": definitions,
    })
}

/// The parameters of everything that a runner says name the run.
fn name_the_run(methods: &mut Value) {
    let run = json!({"type": "string", "description": "The run that it is about."});
    for method in methods["oneOf"].as_array_mut().unwrap() {
        let params = &mut method["properties"]["params"];
        if params.get("$ref").is_some() {
            let named = json!({"type": "object", "properties": {"run": run}, "required": ["run"]});
            *params = json!({"allOf": [params.take(), named]});
            continue;
        }
        params["properties"]["run"] = run.clone();
        let mut required = vec![json!("run")];
        required.extend(params["required"].as_array().into_iter().flatten().cloned());
        params["required"] = Value::Array(required);
    }
}

fn methods(name: &str) -> BTreeSet<String> {
    let schema = schema();
    let all = schema["$defs"][name]["oneOf"].as_array().unwrap();
    let method = |it: &Value| {
        it["properties"]["method"]["const"]
            .as_str()
            .map(str::to_owned)
    };
    all.iter().map(|it| method(it).unwrap()).collect()
}

#[test]
fn the_schema_beside_the_documentation_is_that_of_the_types() {
    let schema = schema();
    let written: Result<Value, _> = serde_json::from_str(FILE);
    if written.ok().as_ref() != Some(&schema) {
        let made = std::env::temp_dir().join("runner-protocol.schema.json");
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        std::fs::write(&made, text).unwrap();
        panic!(
            "docs/runner-protocol.schema.json is not what the types say: what they say is in {}",
            made.display()
        );
    }
}

#[test]
fn what_is_written_fits_the_schema() {
    use talaria_domain::effects::Answer as Said;
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let run = talaria_domain::ids::RunId::from_bytes([7; 16]);
    let orders = [
        super::order(
            Some(1),
            &Order::Steer {
                run,
                texts: Vec::new(),
            },
        ),
        super::order(None, &Order::Cancel { run }),
        super::order(None, &Order::Shutdown {}),
    ];
    let id = json!("a");
    let answers = [
        Answer::Stored { version: 1 },
        Answer::Person(Said::Approved),
        Answer::Found {
            found: true,
            value: Value::Null,
            version: 2,
            created_at: Some(1),
            updated_at: Some(2),
        },
    ];
    let answers = answers.map(|answer| super::answer(Some(&id), Ok(&answer)));
    let faults = [super::Fault::unreadable(), super::Fault::no_such_run()];
    let faults = faults.map(|fault| super::answer::<Value>(None, Err(&fault)));
    for line in orders.iter().chain(&answers).chain(&faults) {
        let line: Value = serde_json::from_slice(line).unwrap();
        assert!(schema.is_valid(&line), "{line}");
    }
}

#[test]
fn what_a_runner_may_not_say_does_not_fit_the_schema() {
    let schema = jsonschema::validator_for(&schema()).unwrap();
    let line = |method: &str, params: Value| json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let good = json!({"run": "r", "scope": "actor", "key": "k"});
    assert!(schema.is_valid(&line("state.get", good)));
    for bad in [
        line("state.get", json!({"scope": "actor", "key": "k"})),
        line("state.get", json!({"run": "r", "scope": "all", "key": "k"})),
        line(
            "state.set",
            json!({"run": "r", "scope": "actor", "key": "k"}),
        ),
        line("no.such", json!({"run": "r"})),
        json!({"jsonrpc": "1.0", "method": "completed", "params": {"run": "r"}}),
    ] {
        assert!(!schema.is_valid(&bad), "{bad}");
    }
}

#[test]
fn the_lists_of_methods_are_complete() {
    let listed = |methods: &[&str]| methods.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(methods("Report"), listed(&Report::METHODS));
    assert_eq!(methods("Asked"), listed(&Asked::METHODS));
}

#[test]
fn the_words_are_those_of_the_domain() {
    use talaria_domain::{authority, descriptor, runner, scope};
    let scopes = scope::StateScope::ALL.map(|it| it.as_str().to_owned());
    assert_eq!(StateScope::words(), scopes.into());
    let kinds = authority::ResourceKind::ALL.map(|it| it.as_str().to_owned());
    assert_eq!(ResourceKind::words(), kinds.into());
    let capabilities = descriptor::Capability::ALL.map(|it| it.as_str().to_owned());
    let mut capabilities = BTreeSet::from(capabilities);
    capabilities.insert(super::HISTORY.to_owned());
    assert_eq!(Capability::words(), capabilities);
    for word in Speaker::words() {
        assert!(runner::Speaker::parse(&word).is_some(), "{word}");
    }
    for word in ToolResult::words() {
        let known: Result<talaria_domain::run::ToolResult, _> = serde_json::from_value(json!(word));
        assert!(known.is_ok(), "{word}");
    }
    for word in Finish::words() {
        let known: Result<talaria_domain::run::Finish, _> = serde_json::from_value(json!(word));
        assert!(known.is_ok(), "{word}");
    }
    for word in RefusalCode::words() {
        let known: Result<talaria_domain::effects::RefusalCode, _> =
            serde_json::from_value(json!(word));
        assert!(known.is_ok(), "{word}");
    }
}
