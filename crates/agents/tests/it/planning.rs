//! What a model plans is what was asked for; what makes no sense is answered in words.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Digest;
use talaria_domain::effects::{Refusal, RefusalCode};
use talaria_domain::ids::ScheduleId;
use talaria_domain::machine::ScheduleState;
use talaria_domain::run::ToolResult;
use talaria_domain::schedule::{Schedule, ScheduleOrder, ScheduleRequest, What, When, Zone};
use talaria_domain::session_key::SessionKeyId;

use crate::desk::Desk;

fn planned(desk: &Desk) -> Schedule {
    let at = Timestamp::from_millis(1_800_000_000_000);
    Schedule {
        id: ScheduleId::from_bytes([7; 16]),
        name: "stand up".to_owned(),
        when: When::Once { at },
        zone: Zone::parse("Europe/Berlin").unwrap(),
        what: What::Say("stand up".to_owned()),
        return_to: desk.turn.return_to.clone(),
        key: SessionKeyId(Digest::from_bytes([3; 32])),
        state: ScheduleState::Active,
        next_at: Some(at),
        created_at: Timestamp::ZERO,
    }
}

fn order(when: &str, what: What) -> ScheduleOrder {
    ScheduleOrder {
        name: None,
        when: when.to_owned(),
        zone: None,
        what,
    }
}

#[tokio::test]
async fn what_is_wanted_reaches_the_host() {
    let desk = Desk::new();
    let say = order("30m", What::Say("stand up".to_owned()));
    let ask = ScheduleOrder {
        name: Some("morning".to_owned()),
        zone: Some("Asia/Tokyo".to_owned()),
        ..order("0 9 * * *", What::Ask("what is new?".to_owned()))
    };
    let table = [
        (
            json!({"when": "30m", "text": "stand up"}),
            ScheduleRequest::Create(say),
        ),
        (
            json!({"action": "create", "when": "0 9 * * *", "prompt": "what is new?", "name": "morning", "zone": "Asia/Tokyo"}),
            ScheduleRequest::Create(ask),
        ),
        (json!({"action": "list"}), ScheduleRequest::List),
        (
            json!({"action": "pause", "id": "morning"}),
            ScheduleRequest::Pause("morning".to_owned()),
        ),
        (
            json!({"action": "resume", "id": "morning"}),
            ScheduleRequest::Resume("morning".to_owned()),
        ),
        (
            json!({"action": "remove", "id": "morning"}),
            ScheduleRequest::Remove("morning".to_owned()),
        ),
    ];
    for (arguments, expected) in table {
        *desk.host.person.schedules.lock().unwrap() = Some(Ok(vec![planned(&desk)]));
        let (text, result) = desk.call_as(&desk.turn, "schedule", arguments).await;
        assert_eq!(result, ToolResult::Done, "{text}");
        let told: Value = serde_json::from_str(&text).unwrap();
        let told = &told["schedules"][0];
        assert_eq!(told["next"], "2027-01-15 09:00 Europe/Berlin");
        assert_eq!(
            (&told["state"], &told["what"]),
            (&json!("active"), &json!("say"))
        );
        let wanted = desk.host.person.planned.lock().unwrap().pop();
        assert_eq!(wanted, Some(expected));
    }
}

#[tokio::test]
async fn what_makes_no_sense_is_answered_in_words() {
    let desk = Desk::new();
    let table = [
        (json!({}), "expected `text`, or `prompt`"),
        (json!({"when": "30m"}), "expected `text`, or `prompt`"),
        (
            json!({"when": "30m", "text": "a", "prompt": "b"}),
            "not both",
        ),
        (json!({"action": "pause"}), "`id` is missing"),
        (json!({"action": "remove", "id": " "}), "`id` is missing"),
        (json!({"action": "dance"}), "unknown variant"),
        (json!({"every": "30m", "text": "a"}), "unknown field"),
    ];
    for (arguments, expected) in table {
        let why = desk.refusal("schedule", arguments).await;
        assert!(why.contains(expected), "{why}");
    }
    assert!(desk.host.person.planned.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_refusal_is_passed_on_and_a_stop_is_one() {
    let desk = Desk::new();
    let arguments = || json!({"when": "30m", "text": "stand up"});
    let refusal = |code, reason: &str| Some(Err(Refusal::new(code, reason)));
    *desk.host.person.schedules.lock().unwrap() = refusal(
        RefusalCode::Invalid,
        "this conversation cannot be reached later",
    );
    let why = desk.refusal("schedule", arguments()).await;
    assert_eq!(why, "this conversation cannot be reached later");
    *desk.host.person.schedules.lock().unwrap() = refusal(RefusalCode::RunEnded, "it was stopped");
    let (text, result) = desk.call_as(&desk.turn, "schedule", arguments()).await;
    assert_eq!(result, ToolResult::Cancelled, "{text}");
}
