//! Callbacks as requests, and answers.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;
use talaria_domain::scope::StateScope;

use super::*;

fn list(limit: Option<u32>) -> usize {
    let (prefix, after) = (String::new(), None);
    let scope = StateScope::Actor;
    let asked = Asked::StateList {
        scope,
        prefix,
        after,
        limit,
    };
    match request(&asked) {
        Some((Memory::State(StateScope::Actor), MemoryRequest::List { limit, .. })) => limit,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_are_bounded() {
    let limits = [None, Some(0), Some(7), Some(100), Some(u32::MAX)];
    assert_eq!(limits.map(list), [50, 1, 7, 100, 100]);
}

#[test]
fn each_store_is_its_own() {
    let key = "k".to_owned();
    for (store, meant) in [
        (StoreName::Plugin, Memory::Plugin),
        (StoreName::Workspace, Memory::Workspace),
    ] {
        let asked = Asked::StorageGet {
            store,
            key: key.clone(),
        };
        let get = MemoryRequest::Get { key: key.clone() };
        assert_eq!(request(&asked), Some((meant, get)));
    }
    assert_eq!(request(&Asked::ToolList {}), None);
}

#[test]
fn null_and_nothing_are_told_apart() {
    let written = |answer| serde_json::to_value(told(answer)).unwrap();
    let null = Kept {
        value: Value::Null,
        version: 3,
        created_at: Timestamp::from_millis(1),
        updated_at: Timestamp::from_millis(2),
    };
    assert_eq!(
        written(MemoryAnswer::Found(Some(null))),
        json!({"found": true, "value": null, "version": 3, "created_at": 1, "updated_at": 2})
    );
    assert_eq!(
        written(MemoryAnswer::Found(None)),
        json!({"found": false, "value": null, "version": 0})
    );
}

#[test]
fn an_event_is_the_run_s_own_unless_another_is_named() {
    let own = EventId::from_bytes([1; 16]);
    let other = EventId::from_bytes([2; 16]);
    let find = |event: Option<&str>, own| {
        let event = event.map(str::to_owned);
        past(&Asked::EventGet { event }, own).unwrap()
    };
    assert_eq!(find(None, Some(own)), Ok(PastRequest::Event { id: own }));
    let named = find(Some(&other.to_string()), Some(own));
    assert_eq!(named, Ok(PastRequest::Event { id: other }));
    for (event, own) in [(None, None), (Some("nonsense"), Some(own))] {
        let refusal = find(event, own).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::NotFound);
    }
}
