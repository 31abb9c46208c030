//! What a runner is told of a turn, and what it is not.

use std::sync::Arc;

use std::collections::BTreeMap;

use talaria_domain::address::{ChatKind, ReturnAddress};
use talaria_domain::authority::{Authority, Grant};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::event::{
    AttachmentKind, Content, DedupeKey, MembershipChange, MembershipSubject,
};
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::{BusyPolicy, Profile};
use talaria_domain::runner::{Said, Speaker};
use talaria_domain::scope::{Snapshot, StatePolicy, StateScope};
use talaria_domain::session_key::Sharing;

use super::*;

fn event(locators: &[&str]) -> Event {
    let address = Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Direct,
        chat: "chat".into(),
        thread: None,
        reply_to: None,
    };
    let principal = Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: "ada".into(),
        alternate: None,
        display_name: Some("Ada".to_owned()),
        role: Role::Member,
    };
    let attachment = |locator: &&str| Attachment {
        kind: AttachmentKind::Image,
        locator: (*locator).to_owned(),
        file_name: Some("cat.png".to_owned()),
        media_type: None,
        size_bytes: Some(7),
        kept: None,
    };
    Event {
        id: EventId::from_bytes([1; 16]),
        dedupe: DedupeKey::derive(&address.platform, &address.account, "1"),
        address,
        principal,
        message: Some("m1".into()),
        kind: EventKind::Message(Content {
            text: "hello".to_owned(),
            attachments: locators.iter().map(attachment).collect(),
            ..Content::default()
        }),
        sent_at: None,
        received_at: Timestamp::from_millis(5),
    }
}

fn turn(locators: &[&str]) -> Turn {
    let event = event(locators);
    Turn {
        run: RunId::from_bytes([7; 16]),
        profile: Profile {
            name: "assistant".into(),
            runner: "native".into(),
            instructions: "be kind".to_owned(),
            busy: BusyPolicy::default(),
            sharing: Sharing::default(),
            state: StatePolicy::default(),
        },
        authority: Arc::new(Authority::default().freeze()),
        return_to: ReturnAddress {
            address: event.address.clone(),
            requester: event.principal.clone(),
            profile: "assistant".into(),
            session: SessionId::from_bytes([8; 16]),
        },
        session_key: "key".to_owned(),
        window: DeliveryWindow::InTurnOnly,
        state: Snapshot::default(),
        config: Map::new(),
        options: BTreeMap::new(),
        depth: 0,
        history: Vec::new(),
        input: [event].into(),
        prompt: "hello".to_owned(),
    }
}

fn told(turn: &Turn, capabilities: &[&str]) -> Value {
    let runner = Introduction {
        capabilities: capabilities.iter().map(|it| (*it).to_owned()).collect(),
        ..Introduction::default()
    };
    serde_json::to_value(order(turn, &runner, &[])).unwrap()
}

fn fields(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

#[test]
fn an_order_has_these_fields_and_pushes_no_history() {
    let turn = turn(&["x"]);
    let told = told(&turn, &[]);
    let expected = [
        "config",
        "delivery",
        "event",
        "input",
        "instructions",
        "is_state_whole",
        "methods",
        "options",
        "resources",
        "run",
        "scopes",
        "state",
    ];
    let mut found = fields(&told);
    found.sort_unstable();
    assert_eq!(found, expected);
    let mut input = fields(&told["input"]);
    input.sort_unstable();
    assert_eq!(input, ["events", "text"]);
}

#[test]
fn an_event_is_told_without_what_only_the_gateway_needs() {
    let told = told(&turn(&["x"]), &[]);
    let mut found = fields(&told["event"]);
    found.sort_unstable();
    let expected = [
        "attachments",
        "id",
        "kind",
        "message",
        "place",
        "received_at",
        "sender",
        "sender_name",
        "text",
    ];
    assert_eq!(found, expected, "no dedupe key, no locator, no role");
    let mut place = fields(&told["event"]["place"]);
    place.sort_unstable();
    assert_eq!(
        place,
        ["account", "chat", "chat_kind", "platform", "thread"]
    );
}

#[test]
fn an_event_without_words_is_told_without_any() {
    let mut turn = turn(&[]);
    Arc::make_mut(&mut turn.input)[0].kind = EventKind::Membership {
        change: MembershipChange::Joined,
        about: MembershipSubject::Other,
    };
    Arc::make_mut(&mut turn.input)[0].message = None;
    turn.prompt = String::new();
    let told = told(&turn, &[]);
    assert_eq!(told["event"]["kind"], "membership");
    assert_eq!(
        (&told["event"]["text"], &told["input"]["text"]),
        (&json!(""), &json!(""))
    );
    assert_eq!(told["event"]["sender"], "ada", "and who it was is there");
    turn.input = Arc::default();
    let told = self::told(&turn, &[]);
    assert_eq!(told["event"], Value::Null);
    assert_eq!(told["input"]["events"], json!([]));
}

#[test]
fn resources_are_what_may_be_used_and_nothing_of_what_is_remembered() {
    let mut turn = turn(&[]);
    let everything = Grant::of(["invoke", "call", "get", "read", "retrieve"]);
    let granted = ResourceKind::ALL
        .into_iter()
        .fold(Authority::default(), |all, kind| {
            all.with(kind, "it", everything.clone().pinned_to("secret place"))
        });
    turn.authority = Arc::new(granted.freeze());
    turn.state.open = StateScope::ALL.into();
    let told = told(&turn, &[]);
    let resources = told["resources"].as_array().unwrap();
    assert_eq!(
        resources.len(),
        4,
        "a file that nobody sent is none: {resources:?}"
    );
    for resource in resources {
        let mut found = fields(resource);
        found.sort_unstable();
        assert_eq!(
            found,
            ["kind", "name", "operations"],
            "no parameters, no keys of memory"
        );
    }
    assert!(!told.to_string().contains("secret place"));
}

#[test]
fn the_scopes_that_are_open_are_told_and_so_is_what_can_be_asked_for() {
    let mut turn = turn(&[]);
    turn.state.open = [StateScope::Actor, StateScope::Runner].into();
    let told = told(&turn, &[]);
    assert_eq!(told["scopes"], json!(["actor", "runner"]));
    assert_eq!(
        told["methods"],
        json!([
            "log",
            "state.delete",
            "state.get",
            "state.list",
            "state.set"
        ])
    );
}

#[test]
fn where_answers_go_is_fixed_and_told() {
    let mut turn = turn(&[]);
    turn.return_to.address.thread = Some("42".into());
    turn.window = DeliveryWindow::Always;
    let delivery = &told(&turn, &[])["delivery"];
    assert_eq!(
        *delivery,
        json!({
            "place": {"platform": "example", "account": "bot", "chat_kind": "direct", "chat": "chat", "thread": "42"},
            "profile": "assistant",
            "session": turn.return_to.session.to_string(),
            "is_reachable_later": true,
        })
    );
}

#[test]
fn a_turn_is_told_with_all_that_belongs_to_it() {
    let mut turn = turn(&[]);
    turn.config.insert("tone".to_owned(), json!("dry"));
    let actor = turn.state.scopes.get_mut(&StateScope::Actor).unwrap();
    actor.insert("name".to_owned(), json!("Ada"));
    let granted = Authority::default().with(
        ResourceKind::Tool,
        "terminal",
        Grant::of(["call"]).pinned_to("built in: terminal"),
    );
    turn.authority = Arc::new(granted.freeze());
    let told = told(&turn, &[]);
    assert_eq!(told["run"], turn.run.to_string());
    assert_eq!(told["input"]["text"], "hello");
    assert_eq!(told["event"]["sender"], "ada");
    assert_eq!(told["event"]["place"]["chat"], "chat");
    assert_eq!(told["config"], json!({"tone": "dry"}));
    assert_eq!(
        told["state"],
        json!({"conversation": {}, "actor": {"name": "Ada"}, "subject": {}, "runner": {}})
    );
    assert_eq!(
        told["resources"],
        json!([{"kind": "tool", "name": "terminal", "operations": ["call"]}])
    );
    assert_eq!(told["delivery"]["is_reachable_later"], false);
    assert_eq!(told.get("history"), None, "it did not ask for it");
}

#[test]
fn where_a_file_is_kept_is_nobody_s_business() {
    let secret = "https://files.example/token-s3cret/cat.png";
    let mut turn = turn(&[secret, "other"]);
    let grant = Grant::of(["read"]);
    let granted = Authority::default().with(ResourceKind::File, secret, grant);
    turn.authority = Arc::new(granted.freeze());
    let told = told(&turn, &[]);
    assert!(!told.to_string().contains("s3cret"), "{told}");
    let name = format!("{}/0", turn.input[0].id);
    assert_eq!(told["event"]["attachments"][0]["file"], json!(name));
    assert_eq!(
        told["resources"],
        json!([{"kind": "file", "name": name, "operations": ["read"]}])
    );
    let found = find_file(&turn, &name).unwrap();
    assert_eq!(found.locator, secret);
    assert_eq!(find_file(&turn, secret), None);
    assert_eq!(find_file(&turn, &format!("{}/2", turn.input[0].id)), None);
}

#[test]
fn history_is_told_to_those_who_want_it_the_newest_of_it() {
    let mut turn = turn(&[]);
    let long = "x".repeat(400_000);
    turn.history = vec![
        Said::plain(Speaker::User, &long),
        Said {
            answers: Some("call".to_owned()),
            ..Said::plain(Speaker::Tool, &long)
        },
        Said::plain(Speaker::Assistant, &long),
    ];
    let told = told(&turn, &["history"]);
    let said = told["history"].as_array().unwrap();
    let speakers: Vec<_> = said.iter().map(|it| &it["speaker"]).collect();
    assert_eq!(speakers, ["assistant"], "not a result without its call");
}
