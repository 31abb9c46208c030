//! What people read.

use super::*;

fn which(choices: &[&str]) -> Action {
    Action::Question {
        text: "Which colour?".to_owned(),
        choices: choices.iter().map(|choice| (*choice).to_owned()).collect(),
    }
}

#[test]
fn a_question_says_how_to_answer_it() {
    let minutes = Duration::from_mins(10);
    assert_eq!(
        prompt(&which(&["red", "blue"]), "K7QF", minutes),
        "Which colour?\n\n1. red\n2. blue\n\nAnswer with a number or a name, or `/answer K7QF NUMBER`. I wait for 10 minutes."
    );
    assert_eq!(
        prompt(&which(&[]), "K7QF", Duration::from_secs(30)),
        "Which colour?\n\nYour next message is the answer, or `/answer K7QF TEXT`. I wait for 30 seconds."
    );
    let effect = "a ``` b".to_owned();
    assert_eq!(
        prompt(
            &Action::Approval { effect },
            "K7QF",
            Duration::from_hours(3)
        ),
        "May I do this?\n\n````\na ``` b\n````\n\nAnswer yes or no, or `/approve K7QF`, `/deny K7QF`. I wait for 3 hours."
    );
}

#[test]
fn a_code_is_short_and_differs() {
    let ids = [[1; 16], [2; 16]].map(QuestionId::from_bytes);
    let codes = [code(ids[0], 0), code(ids[0], 1), code(ids[1], 0)];
    for code in &codes {
        assert_eq!(code.len(), 4, "{code}");
        assert!(
            code.bytes().all(|letter| LETTERS.contains(&letter)),
            "{code}"
        );
    }
    assert!(
        codes[0] != codes[1] && codes[0] != codes[2] && codes[1] != codes[2],
        "{codes:?}"
    );
    assert_eq!(code(ids[0], 0), codes[0], "the same for the same");
}
