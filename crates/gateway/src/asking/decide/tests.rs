//! A table of people, questions and what they say.

use std::time::Duration;

use talaria_domain::address::TargetKey;
use talaria_domain::digest::Digest;
use talaria_domain::ids::{EventId, QuestionId, ReplyId, RunId, SessionId};
use talaria_domain::principal::Role;
use talaria_domain::question::{Approvers, TokenHash};
use talaria_store::questions::Asked;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);

fn person(user: &str, role: Role) -> Principal {
    Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: user.into(),
        alternate: None,
        display_name: None,
        role,
    }
}

fn ada() -> Principal {
    person("ada", Role::Member)
}

fn question(action: Action, state: QuestionState) -> Question {
    Question {
        asked: Asked {
            id: QuestionId::from_bytes([1; 16]),
            session: SessionId::from_bytes([2; 16]),
            run: RunId::from_bytes([3; 16]),
            event: EventId::from_bytes([4; 16]),
            reply: ReplyId::from_bytes([5; 16]),
            target: TargetKey(Digest::from_bytes([6; 32])),
            token: TokenHash::of("token"),
            code: "K7QF".to_owned(),
            action,
            approvers: Approvers::of(&ada()),
            asked_at: NOW.minus(Duration::from_mins(1)),
            expires_at: NOW.plus(Duration::from_mins(1)),
        },
        state,
        answer: None,
        answered_by: None,
        answer_event: None,
    }
}

fn approval() -> Question {
    let effect = "terminal rm -rf build".to_owned();
    question(Action::Approval { effect }, QuestionState::Open)
}

fn which(choices: &[&str]) -> Question {
    let action = Action::Question {
        text: "which?".to_owned(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
    };
    question(action, QuestionState::Open)
}

fn said(text: &str) -> Choice {
    let text = text.to_owned();
    Choice::Answer { text }
}

fn words(text: &str) -> Answer {
    let text = text.to_owned();
    Answer::Said { text }
}

#[test]
fn a_yes_is_a_yes_and_everything_else_is_not() {
    let table = [
        (Choice::Approve, Ok(Answer::Approved)),
        (Choice::Deny, Ok(Answer::Denied)),
        (said("yes"), Ok(Answer::Approved)),
        (said(" YES! "), Ok(Answer::Approved)),
        (said("approve"), Ok(Answer::Approved)),
        (said("no"), Ok(Answer::Denied)),
        (said("deny"), Ok(Answer::Denied)),
        (said("yes please"), Err(Refused::NotYesOrNo)),
        (said("not yet"), Err(Refused::NotYesOrNo)),
        (said("1"), Err(Refused::NotYesOrNo)),
        (said(""), Err(Refused::NotYesOrNo)),
    ];
    for (choice, expected) in table {
        assert_eq!(
            decide(&approval(), &ada(), &choice, NOW),
            expected,
            "{choice:?}"
        );
    }
}

#[test]
fn a_choice_is_known_by_its_name_or_its_number() {
    let colours = ["red", "Blue", "2"];
    let none = || Err(Refused::NotAChoice(colours.map(str::to_owned).to_vec()));
    let table = [
        ("red", Ok(words("red"))),
        ("RED", Ok(words("red"))),
        (" blue ", Ok(words("Blue"))),
        ("1", Ok(words("red"))),
        ("1.", Ok(words("red"))),
        ("2", Ok(words("2"))),
        ("3", Ok(words("2"))),
        ("0", none()),
        ("4", none()),
        ("-1", none()),
        ("green", none()),
        ("99999999999999999999", none()),
    ];
    for (text, expected) in table {
        let decided = decide(&which(&colours), &ada(), &said(text), NOW);
        assert_eq!(decided, expected, "{text:?}");
    }
}

#[test]
fn where_nothing_is_to_choose_anything_but_nothing_is_an_answer() {
    let table = [
        (said(" in May "), Ok(words("in May"))),
        (said("1"), Ok(words("1"))),
        (said("  "), Err(Refused::NotWords)),
        (Choice::Approve, Err(Refused::NotWords)),
        (Choice::Deny, Ok(Answer::Denied)),
    ];
    for (choice, expected) in table {
        assert_eq!(
            decide(&which(&[]), &ada(), &choice, NOW),
            expected,
            "{choice:?}"
        );
    }
}

#[test]
fn only_whoever_it_is_done_for_and_who_is_in_charge_may_answer() {
    let table = [
        (ada(), true),
        (person("bob", Role::Member), false),
        (person("bob", Role::Guest), false),
        (person("boss", Role::Admin), true),
        (person("boss", Role::Owner), true),
    ];
    for (who, may) in table {
        let decided = decide(&approval(), &who, &Choice::Approve, NOW);
        let expected = if may {
            Ok(Answer::Approved)
        } else {
            Err(Refused::Foreign)
        };
        assert_eq!(decided, expected, "{who:?}");
    }
}

#[test]
fn what_has_ended_says_how_but_not_to_strangers() {
    let table = [
        (QuestionState::Answered, Refused::Answered),
        (QuestionState::Expired, Refused::Expired),
        (QuestionState::Withdrawn, Refused::Withdrawn),
    ];
    for (state, refused) in table {
        let ended = Question {
            state,
            ..approval()
        };
        assert_eq!(
            decide(&ended, &ada(), &Choice::Approve, NOW),
            Err(refused.clone())
        );
        assert!(!refused.told().is_empty());
        let bob = person("bob", Role::Member);
        assert_eq!(
            decide(&ended, &bob, &Choice::Approve, NOW),
            Err(Refused::Foreign)
        );
    }
}

#[test]
fn it_is_too_late_at_the_end_of_its_time_even_if_nobody_has_noticed() {
    let mut late = approval();
    late.asked.expires_at = NOW;
    let decided = decide(&late, &ada(), &Choice::Approve, NOW);
    assert_eq!(decided, Err(Refused::Expired));
}
