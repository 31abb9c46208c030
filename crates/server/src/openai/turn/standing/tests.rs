//! What the ledger has, and how the turn stands.

use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::authority::Authority;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Content, DedupeKey, Event, EventKind};
use talaria_domain::ids::{EventId, RunId, SessionId};
use talaria_domain::principal::Principal;

use super::*;
use crate::surfaces;

fn principal() -> Principal {
    surfaces::operator()
}

fn address() -> Address {
    Address {
        chat_kind: ChatKind::Direct,
        ..surfaces::program("chat".into())
    }
}

fn row(state: InboxState, reason: Option<&str>) -> InboxRow {
    let address = address();
    InboxRow {
        event: Event {
            id: EventId::from_bytes([1; 16]),
            dedupe: DedupeKey::derive(&address.platform, &address.account, "1"),
            address,
            principal: principal(),
            message: None,
            kind: EventKind::Message(Content::default()),
            sent_at: None,
            received_at: Timestamp::ZERO,
        },
        session: SessionId::from_bytes([2; 16]),
        seq: 1,
        state,
        attempts: 1,
        epoch: 1,
        run: None,
        merged_into: None,
        reason: reason.map(ToOwned::to_owned),
        busy: None,
        not_before: Timestamp::ZERO,
    }
}

fn run(state: RunState, outcome: Option<RunOutcome>) -> Run {
    Run {
        id: RunId::from_bytes([3; 16]),
        session: SessionId::from_bytes([2; 16]),
        event: EventId::from_bytes([1; 16]),
        runner: "native".into(),
        state,
        epoch: 1,
        attempt: 1,
        authority: Authority::default(),
        return_to: ReturnAddress {
            address: address(),
            requester: principal(),
            profile: "assistant".into(),
            session: SessionId::from_bytes([2; 16]),
        },
        outcome,
        created_at: Timestamp::ZERO,
        active_at: Timestamp::ZERO,
    }
}

fn ended(outcome: RunOutcome) -> Run {
    run(RunState::Completed, Some(outcome))
}

#[test]
fn every_state_has_its_name() {
    let usage = Usage {
        input_tokens: 1,
        output_tokens: 2,
    };
    let failed = RunOutcome::failed(FailureCode::ModelAuth, "no model");
    let table = [
        (row(InboxState::Queued, None), None, "queued"),
        (
            row(InboxState::Queued, None),
            Some(ended(RunOutcome::Interrupted)),
            "queued",
        ),
        (
            row(InboxState::Claimed, None),
            Some(run(RunState::Running, None)),
            "running",
        ),
        (
            row(InboxState::Claimed, None),
            Some(run(RunState::Waiting, None)),
            "waiting",
        ),
        (
            row(InboxState::Completed, None),
            Some(ended(RunOutcome::completed(usage))),
            "completed",
        ),
        (row(InboxState::Completed, None), None, "completed"),
        (
            row(InboxState::Completed, None),
            Some(ended(failed)),
            "failed",
        ),
        (
            row(InboxState::Completed, None),
            Some(ended(RunOutcome::Interrupted)),
            "interrupted",
        ),
        (
            row(InboxState::Discarded, Some("stopped")),
            Some(ended(RunOutcome::Cancelled)),
            "cancelled",
        ),
        (row(InboxState::Discarded, None), None, "cancelled"),
        (
            row(InboxState::Dead, Some("it failed 3 times")),
            None,
            "failed",
        ),
    ];
    for (row, run, expected) in table {
        let standing = decide(&row, run.as_ref(), Some("words"));
        assert_eq!(standing.as_str(), expected, "{:?} {run:?}", row.state);
    }
}

#[test]
fn why_there_is_no_answer_is_told() {
    let said = "I was interrupted while I was using lever";
    let interrupted = ended(RunOutcome::Interrupted);
    let row_of = |state| row(state, Some("why"));
    let over = |standing| match standing {
        Standing::Over(over) => over,
        other => panic!("{other:?}"),
    };
    let told = over(decide(
        &row_of(InboxState::Completed),
        Some(&interrupted),
        Some(said),
    ));
    assert_eq!(told.reason, said);
    let told = over(decide(&row_of(InboxState::Dead), None, Some(said)));
    assert_eq!(told.reason, "why");
    let told = over(decide(&row_of(InboxState::Discarded), None, None));
    assert_eq!((told.reason.as_str(), told.text.as_str()), ("why", ""));
}
