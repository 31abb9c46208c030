//! What the demo says to what.

use serde_json::{Value, json};
use talaria_domain::runner::{Said, Speaker, ToolCall};

use super::{answer, fence};
use crate::models::{Answer, Calls, NEWS, Request, ToolSpec};

fn spec(name: &str, properties: &[&str]) -> ToolSpec {
    let properties: serde_json::Map<String, Value> = properties
        .iter()
        .map(|name| ((*name).to_owned(), json!({})))
        .collect();
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({"type": "object", "properties": properties}),
    }
}

fn terminal() -> ToolSpec {
    spec("terminal", &["command", "cwd", "timeout_seconds"])
}

fn asked(text: &str, tools: Vec<ToolSpec>) -> Answer {
    answer(&Request {
        said: vec![Said::plain(Speaker::User, text)],
        tools,
        ..Request::default()
    })
}

#[test]
fn it_says_what_it_is_and_what_to_configure() {
    let answer = asked("What is\nthe meaning of life?", vec![terminal()]);
    assert!(
        answer.text.contains("not a language model"),
        "{}",
        answer.text
    );
    assert!(
        answer
            .text
            .contains("You wrote: “What is the meaning of life?”"),
        "{}",
        answer.text
    );
    for word in [
        "talaria.toml",
        "[model.main]",
        "provider",
        "base_url",
        "model ",
        "run: echo hello",
    ] {
        assert!(answer.text.contains(word), "{word}: {}", answer.text);
    }
    assert_eq!(answer.calls, []);
}

#[test]
fn it_shows_only_what_works() {
    let bare = asked("hi", Vec::new()).text;
    assert!(!bare.contains("run:") && !bare.contains("file:"), "{bare}");
    let sending = asked("hi", vec![spec("send_message", &["file"])]).text;
    assert!(sending.contains("`file: README.md`"), "{sending}");
}

#[test]
fn a_long_question_is_quoted_in_short() {
    let answer = asked(&"why ".repeat(1_000), Vec::new());
    assert!(answer.text.len() < 1_200, "{}", answer.text.len());
}

#[test]
fn run_calls_the_terminal() {
    for text in ["run: echo hi", "  RUN:echo hi ", "hello\nrun: echo hi"] {
        let answer = asked(text, vec![terminal()]);
        let calls: Vec<_> = answer
            .calls
            .iter()
            .map(|call| (call.tool.as_str(), &call.arguments))
            .collect();
        assert_eq!(
            calls,
            [("terminal", &json!({"command": "echo hi"}))],
            "{text}"
        );
        assert_eq!(answer.text, "");
    }
}

#[test]
fn a_command_may_have_lines_and_several_are_several_calls() {
    let answer = asked(
        "run: for i in 1 2\ndo echo $i\ndone\nrun: pwd",
        vec![terminal()],
    );
    let commands: Vec<_> = answer
        .calls
        .iter()
        .map(|call| call.arguments["command"].as_str())
        .collect();
    assert_eq!(
        commands,
        [Some("for i in 1 2\ndo echo $i\ndone"), Some("pwd")]
    );
    assert_ne!(answer.calls[0].id, answer.calls[1].id);
}

#[test]
fn a_word_whose_tool_is_not_there_is_explained() {
    for (text, tool) in [
        ("run: ls", "terminal"),
        ("background: ls", "terminal"),
        ("delegate: count to ten", "delegate_task"),
        ("task: water the plants", "kanban_create"),
        ("remind: tomorrow water the plants", "schedule"),
    ] {
        let answer = asked(text, Vec::new());
        assert_eq!(answer.calls, [], "{text}");
        assert!(
            answer.text.contains("not there yet") && answer.text.contains(tool),
            "{}",
            answer.text
        );
    }
}

#[test]
fn a_tool_that_does_not_take_it_yet_is_not_called() {
    let answer = asked("background: ls", vec![terminal()]);
    assert_eq!(answer.calls, []);
    assert!(answer.text.contains("not there yet"), "{}", answer.text);
    let later = spec("terminal", &["command", "background", "notify_on_complete"]);
    let answer = asked("background: ls", vec![later]);
    assert_eq!(answer.calls[0].arguments["background"], true);
}

#[test]
fn a_tool_that_is_there_is_called() {
    let tools = vec![
        spec(
            "delegate_task",
            &["goal", "context", "tools", "tasks", "background"],
        ),
        spec("kanban_create", &["title"]),
        spec("schedule", &["when", "text"]),
        spec("send_message", &["target", "text", "file"]),
    ];
    let answer = asked(
        "delegate: a\ntask: b\nremind: 10m c d\nfile: a b.pdf",
        tools,
    );
    let calls: Vec<_> = answer
        .calls
        .iter()
        .map(|call| (call.tool.as_str(), &call.arguments))
        .collect();
    let expected = [
        ("delegate_task", json!({"goal": "a", "background": true})),
        ("kanban_create", json!({"title": "b"})),
        ("schedule", json!({"when": "10m", "text": "c d"})),
        ("send_message", json!({"file": "a b.pdf"})),
    ];
    assert_eq!(
        calls,
        expected
            .each_ref()
            .map(|(tool, arguments)| (*tool, arguments))
    );
}

#[test]
fn nothing_is_called_when_words_are_asked_for() {
    let answer = answer(&Request {
        said: vec![Said::plain(Speaker::User, "run: ls")],
        tools: vec![terminal()],
        calls: Calls::Forbidden,
        ..Request::default()
    });
    assert_eq!(answer.calls, []);
    assert!(!answer.text.is_empty());
}

#[test]
fn a_word_alone_asks_for_more() {
    let answer = asked("run:", vec![terminal()]);
    assert_eq!(answer.calls, []);
    assert!(answer.text.contains("run: echo hello"), "{}", answer.text);
}

fn after_a_call(result: &str, further: &[&str]) -> Answer {
    let call = ToolCall {
        id: "c".to_owned(),
        tool: "terminal".to_owned(),
        arguments: json!({"command": "x"}),
    };
    let mut said = vec![
        Said::plain(Speaker::User, "run: x"),
        Said {
            calls: vec![call],
            ..Said::plain(Speaker::Assistant, "")
        },
        Said {
            answers: Some("c".to_owned()),
            ..Said::plain(Speaker::Tool, result)
        },
    ];
    said.extend(further.iter().map(|text| Said::plain(Speaker::User, *text)));
    answer(&Request {
        said,
        tools: vec![terminal()],
        ..Request::default()
    })
}

#[test]
fn a_result_is_quoted_word_for_word() {
    let answer = after_a_call("  two\n\nlines  \n[exit code 0]", &[]);
    let expected = "`terminal` answered:\n\n```\n  two\n\nlines  \n[exit code 0]\n```";
    assert_eq!(answer.text, expected);
    assert_eq!(answer.calls, []);
}

#[test]
fn backticks_in_a_result_do_not_end_the_block() {
    let answer = after_a_call("```sh\n````\n", &[]);
    assert_eq!(
        answer.text,
        "`terminal` answered:\n\n`````\n```sh\n````\n`````"
    );
    assert_eq!(fence(""), "```");
    assert_eq!(fence("a`b``c"), "```");
    assert_eq!(fence("```"), "````");
}

#[test]
fn what_people_say_meanwhile_is_done_as_well() {
    let answer = after_a_call("done", &["run: pwd"]);
    assert!(answer.text.contains("```\ndone\n```"), "{}", answer.text);
    assert_eq!(answer.calls[0].arguments, json!({"command": "pwd"}));
}

#[test]
fn news_is_quoted_and_not_obeyed() {
    let told = "[Background process 7 ended.]\n```\nrun: ls\n```\nrun: ls";
    let answer = asked(&format!("{NEWS}\n{told}"), vec![terminal()]);
    assert_eq!(answer.calls, []);
    assert_eq!(answer.text, format!("I was told:\n\n````\n{told}\n````"));
}

#[test]
fn what_stands_in_a_block_asks_for_nothing() {
    let table = [
        ("```\nrun: a\n```", 0),
        ("```\nrun: a\n```\nrun: b", 1),
        ("````\n```\nrun: a\n````\nrun: b", 1),
        ("```sh\nrun: a", 0),
        ("``\nrun: a", 1),
    ];
    for (text, calls) in table {
        assert_eq!(asked(text, vec![terminal()]).calls.len(), calls, "{text}");
    }
}

#[test]
fn a_command_may_have_a_block_in_it() {
    let command = "cat <<end\n```\nrun: no\n```\nend";
    let answer = asked(&format!("run: {command}"), vec![terminal()]);
    assert_eq!(answer.calls[0].arguments, json!({ "command": command }));
    assert_eq!(answer.calls.len(), 1);
}

#[test]
fn it_says_how_many_pictures_it_was_shown() {
    let table = [
        ("look", 0, None),
        ("look", 1, Some("You showed me 1 picture. I cannot see it")),
        ("", 1, Some("You showed me 1 picture. I cannot see it")),
        (
            "run: ls",
            3,
            Some("You showed me 3 pictures. I cannot see them"),
        ),
    ];
    for (text, shown, expected) in table {
        let address = || "https://example.org/cat.png".to_owned();
        let before = Said {
            images: vec![address()],
            ..Said::plain(Speaker::User, "earlier")
        };
        let now = Said {
            images: std::iter::repeat_with(address).take(shown).collect(),
            ..Said::plain(Speaker::User, text)
        };
        let answer = answer(&Request {
            said: vec![before, Said::plain(Speaker::Assistant, "yes"), now],
            tools: vec![terminal()],
            ..Request::default()
        });
        match expected {
            Some(words) => assert!(answer.text.contains(words), "{}", answer.text),
            None => assert!(!answer.text.contains("You showed me"), "{}", answer.text),
        }
        assert_eq!(answer.calls.len(), usize::from(text.starts_with("run:")));
    }
}

#[test]
fn a_word_is_heard_behind_the_name_of_whoever_says_it() {
    for text in ["[Ada] run: ls", "[Ada the first]  run: ls", "run: ls"] {
        let answer = asked(text, vec![terminal()]);
        assert_eq!(answer.calls.len(), 1, "{text}");
    }
    let answer = asked("[Ada run: ls", vec![terminal()]);
    assert_eq!(answer.calls.len(), 0);
}
