//! Who may answer, and what is never shown.

use super::*;

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

#[test]
fn whoever_asked_and_whoever_runs_the_account_may_answer() {
    let approvers = Approvers::of(&person("ada", Role::Member));
    let elsewhere = Principal {
        account: "other-bot".into(),
        ..person("boss", Role::Owner)
    };
    let table = [
        (person("ada", Role::Member), true),
        (person("ada", Role::Guest), true),
        (person("bob", Role::Member), false),
        (person("bob", Role::Guest), false),
        (person("boss", Role::Admin), true),
        (person("boss", Role::Owner), true),
        (elsewhere, false),
    ];
    for (who, may) in table {
        assert_eq!(approvers.may_answer(&who), may, "{who:?}");
    }
}

#[test]
fn nobody_known_answers_for_nobody_known() {
    let nobody = person("", Role::Guest);
    assert!(!Approvers::of(&nobody).may_answer(&nobody));
}

#[test]
fn a_token_is_not_shown() {
    let token = PressToken::from_random([0xab; 16]);
    let prompt = Prompt {
        token: token.clone(),
        buttons: Button::all(&Action::Approval {
            effect: "x".to_owned(),
        }),
    };
    assert_eq!(token.expose(), "ab".repeat(16));
    assert!(!format!("{prompt:?}").contains(token.expose()));
    assert_eq!(TokenHash::of(token.expose()), token.hash());
    assert_ne!(TokenHash::of("other"), token.hash());
}

#[test]
fn choices_are_buttons_and_free_text_has_none() {
    let question = |choices: &[&str]| Action::Question {
        text: "which?".to_owned(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
    };
    let labels = |action: &Action| -> Vec<String> {
        Button::all(action)
            .into_iter()
            .map(|button| button.label)
            .collect()
    };
    assert_eq!(labels(&question(&["red", "blue"])), ["red", "blue"]);
    assert_eq!(labels(&question(&[])), [""; 0]);
    let approval = Action::Approval {
        effect: "x".to_owned(),
    };
    assert_eq!(labels(&approval), ["Approve", "Deny"]);
}
