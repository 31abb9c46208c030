//! Texts that stand for themselves.

use serde_json::json;
use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::ids::SessionId;
use talaria_domain::job::{JobKind, Promise};
use talaria_domain::principal::{Principal, Role};

use super::*;

const JOB: JobId = JobId::from_bytes([1; 16]);

#[test]
fn an_end_says_what_ended_how_and_with_what() {
    let done = ended(
        JOB,
        "count the stars\nall of them",
        JobState::Completed,
        "12\n",
    );
    assert_eq!(
        done,
        format!("The task \"count the stars…\" is done (job {JOB}):\n\n12")
    );
    let failed = ended(JOB, "count", JobState::Failed, "it is cloudy");
    assert_eq!(
        failed,
        format!("The task \"count\" is not done (job {JOB}, failed): it is cloudy")
    );
    let silent = ended(JOB, "count", JobState::Completed, " ");
    assert!(silent.ends_with("(it said nothing)"), "{silent}");
}

fn job(work: Json) -> Job {
    let principal = Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: "7".into(),
        alternate: None,
        display_name: None,
        role: Role::Member,
    };
    let address = Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Direct,
        chat: "7".into(),
        thread: None,
        reply_to: None,
    };
    Job {
        id: JOB,
        run: None,
        kind: JobKind::Process,
        state: JobState::Running,
        return_to: ReturnAddress {
            address,
            requester: principal,
            profile: "assistant".into(),
            session: SessionId::from_bytes([2; 16]),
        },
        work,
        promise: Promise::Wake,
        handle: None,
        result: None,
        created_at: Timestamp::from_millis(0),
    }
}

#[test]
fn a_line_shows_what_is_done_for_how_long() {
    let table = [
        (
            json!({ "command": "make all" }),
            5,
            "5 seconds ago: make all",
        ),
        (
            json!({ "command": ["make", "all"] }),
            600,
            "10 minutes ago: make all",
        ),
        (
            json!({ "goal": "count\nstars" }),
            7_200,
            "2 hours ago: count…",
        ),
        (json!({ "odd": 1 }), 0, "0 seconds ago: {\"odd\":1}"),
    ];
    for (work, seconds, expected) in table {
        let line = line(&job(work), Timestamp::from_millis(seconds * 1_000));
        assert_eq!(line, format!("- `{JOB}` process running, {expected}"));
    }
}
