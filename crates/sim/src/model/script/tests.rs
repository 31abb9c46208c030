//! The script, line by line.

use std::borrow::Cow;

use super::{Line, line};
use crate::model::conversation::Question;

fn question(said: &str) -> Question<'_> {
    Question {
        said: Cow::Borrowed(said),
        result: None,
        bytes: 0,
    }
}

#[test]
fn each_line_has_its_answer() {
    let say = |text: &'static str| Line::Say(Cow::Borrowed(text));
    for (said, expected) in [
        ("hello", say("re: hello")),
        ("", say("re: ")),
        ("words 3", say("w1 w2 w3")),
        ("words 0", say("")),
        ("words many", say("re: words many")),
        ("[Ada] words 2", say("w1 w2")),
        ("[in answer to: \"x\"]\nwords 1", say("w1")),
        ("tool: echo hi", Line::Call("echo hi")),
        ("tool:ls\n", Line::Call("ls")),
        ("hang", Line::Hang),
        ("hang on", say("re: hang on")),
        ("fail 500", Line::Fail(500)),
        ("fail 429", Line::Fail(429)),
        ("fail 200", say("re: fail 200")),
        ("fail 66000", say("re: fail 66000")),
    ] {
        assert_eq!(line(&question(said)), expected, "{said:?}");
    }
}

#[test]
fn a_tool_is_called_once_and_then_quoted() {
    let mut question = question("tool: ls");
    question.result = Some(Cow::Borrowed("a\nb"));
    let expected = Line::Say(Cow::Borrowed("the tool said: a\nb"));
    assert_eq!(line(&question), expected);
}
