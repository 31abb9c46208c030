//! What the demo says to what. A line that starts with one of its words asks for a tool; one line in a table each.
//!
//! Pure: request in, answer out.

#[cfg(test)]
mod tests;

use serde_json::{Value, json};
use talaria_domain::runner::{Said, Speaker, ToolCall};

use crate::models::draft::clip;
use crate::models::{Answer, Calls, NEWS, Request};

/// A word that asks for a tool.
struct Word {
    /// What a line starts with.
    start: &'static str,
    /// The tool that it means.
    tool: &'static str,
    /// What it is given, from the rest of the line.
    arguments: fn(&str) -> Value,
}

const WORDS: [Word; 7] = [
    Word {
        start: "run:",
        tool: "terminal",
        arguments: |rest| json!({ "command": rest }),
    },
    Word {
        start: "background:",
        tool: "terminal",
        arguments: |rest| json!({ "command": rest, "background": true, "notify_on_complete": true }),
    },
    Word {
        start: "delegate:",
        tool: "delegate_task",
        arguments: |rest| json!({ "goal": rest, "background": true }),
    },
    Word {
        start: "file:",
        tool: "send_message",
        arguments: |rest| json!({ "file": rest }),
    },
    Word {
        start: "ask:",
        tool: "ask_user",
        arguments: question,
    },
    Word {
        start: "task:",
        tool: "kanban_create",
        arguments: |rest| json!({ "title": rest }),
    },
    Word {
        start: "remind:",
        tool: "schedule",
        arguments: |rest| {
            let (when, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            json!({ "when": when, "text": text.trim_start() })
        },
    },
];

/// `which colour? red | blue`: what comes after the question mark are the choices, if there are several.
fn question(rest: &str) -> Value {
    let after = rest.rfind('?').map_or(0, |at| at + 1);
    let (question, choices) = rest.split_at_checked(after).unwrap_or(("", rest));
    let choices: Vec<&str> = choices.split('|').map(str::trim).collect();
    if question.is_empty() || choices.len() < 2 || choices.contains(&"") {
        return json!({ "question": rest });
    }
    json!({ "question": question, "choices": choices })
}

const MOST_OF_A_QUOTE: usize = 200;

const WHAT_THIS_IS: &str = "I am Talaria's demo model: a short script, not a language model. \
    I cannot understand what you write, but everything around me is real.";

const WHAT_TO_CONFIGURE: &str = "For real answers, put a model into `talaria.toml` and restart:\n\n\
    ```toml\n\
    [model.main]\n\
    provider = \"openai\"    # any OpenAI-compatible server; or \"anthropic\"\n\
    base_url = \"http://127.0.0.1:11434/v1\"\n\
    model    = \"the-name-of-your-model\"\n\
    ```";

/// What can be tried, if the tool is there.
const HINTS: [(&str, &str); 4] = [
    (
        "terminal",
        "Write `run: echo hello`, and I use the real `terminal` tool and show you what it answers; \
            `background: sleep 5; echo done` tells you later.",
    ),
    (
        "ask_user",
        "Write `ask: which colour? red | blue`, and I ask you back with the real `ask_user` tool.",
    ),
    (
        "schedule",
        "Write `remind: 10m stand up`, and you hear of it then by the real `schedule` tool.",
    ),
    (
        "send_message",
        "Write `file: README.md`, and I send you that file with the real `send_message` tool, where files can be sent.",
    ),
];

/// What the demo answers.
pub(super) fn answer(request: &Request<'_>) -> Answer {
    let said: Vec<_> = request.all().collect();
    let last = said
        .iter()
        .rposition(|said| said.speaker == Speaker::Assistant);
    let (before, fresh) = said.split_at(last.map_or(0, |at| at + 1));
    let called = before.last().map_or(&[][..], |said| &said.calls);
    let results = of(fresh, Speaker::Tool).map(|said| quoted_result(called, said));
    let heard = of(fresh, Speaker::User).map(|said| said.text.as_str());
    let (news, asked): (Vec<_>, Vec<_>) = heard.partition(|text| text.starts_with(NEWS));
    let asked = asked.join("\n");
    let asks = asks(&asked);

    let mut paragraphs: Vec<String> = results.chain(news.into_iter().map(quoted_news)).collect();
    let mut calls = Vec::new();
    for (word, rest) in &asks {
        match call(request, word, rest, calls.len()) {
            Ok(call) => calls.push(call),
            Err(refusal) => paragraphs.push(refusal),
        }
    }
    let pictures = pictures(fresh);
    if paragraphs.is_empty() && asks.is_empty() {
        paragraphs = introduction(request, &asked, pictures);
    } else {
        paragraphs.extend(pictures);
    }
    Answer {
        text: paragraphs.join("\n\n"),
        calls,
        ..Answer::default()
    }
}

fn of<'a>(said: &[&'a Said], speaker: Speaker) -> impl Iterator<Item = &'a Said> {
    let said = said.iter().copied();
    said.filter(move |said| said.speaker == speaker)
}

/// What is asked for: a word at the start of a line, with everything up to the next one. What stands in a block is
/// quoted and asks for nothing.
fn asks(text: &str) -> Vec<(&'static Word, String)> {
    let mut asks: Vec<(&Word, String)> = Vec::new();
    let mut block: Option<&str> = None;
    for line in text.lines() {
        let is_quoted = block.is_some() || line.starts_with("```");
        block = within_block(block, line);
        let word = |word: &'static Word| Some((word, after(line, word.start)?));
        let start = WORDS.iter().filter(|_| !is_quoted).find_map(word);
        match (start, asks.last_mut()) {
            (Some((word, rest)), _) => asks.push((word, rest.to_owned())),
            (None, Some((_, rest))) => {
                rest.push('\n');
                rest.push_str(line);
            }
            (None, None) => {}
        }
    }
    for (_, rest) in &mut asks {
        *rest = rest.trim().to_owned();
    }
    asks
}

/// The row of backticks that a line leaves open.
fn within_block<'a>(block: Option<&'a str>, line: &'a str) -> Option<&'a str> {
    let rest = line.trim_start_matches('`');
    let row = line.get(..line.len() - rest.len()).unwrap_or_default();
    match block {
        Some(open) => (!rest.is_empty() || row.len() < open.len()).then_some(open),
        None => (row.len() >= 3).then_some(row),
    }
}

/// A line without the name of whoever said it, which stands before it where several people meet.
fn unsigned(line: &str) -> &str {
    let signed = line
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    signed.map_or(line, |(_, said)| said.trim_start())
}

fn after<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    let line = unsigned(line.trim_start());
    let head = line.get(..start.len())?;
    head.eq_ignore_ascii_case(start)
        .then(|| &line[start.len()..])
}

/// The call that a word means, or why there is none.
fn call(request: &Request<'_>, word: &Word, rest: &str, number: usize) -> Result<ToolCall, String> {
    let Word { start, tool, .. } = word;
    if rest.is_empty() {
        return Err(format!(
            "Write something after `{start}`, for instance `run: echo hello`."
        ));
    }
    let arguments = (word.arguments)(rest);
    if request.calls == Calls::Forbidden || !is_offered(request, tool, &arguments) {
        let asked = quoted(rest);
        return Err(format!(
            "I cannot do {asked}: `{start}` needs the tool `{tool}`, which is not there yet, or not for this profile."
        ));
    }
    Ok(ToolCall {
        id: format!("demo_{}_{number}", request.all().count()),
        tool: (*tool).to_owned(),
        arguments,
    })
}

/// Whether the tool is there and takes what it would be given.
fn is_offered(request: &Request<'_>, tool: &str, arguments: &Value) -> bool {
    let Some(spec) = request.tools.iter().find(|spec| spec.name == tool) else {
        return false;
    };
    let Some(properties) = spec.parameters.get("properties").and_then(Value::as_object) else {
        return true;
    };
    let mut names = arguments
        .as_object()
        .into_iter()
        .flat_map(|object| object.keys());
    names.all(|name| properties.contains_key(name))
}

/// How many pictures were shown.
fn pictures(fresh: &[&Said]) -> Option<String> {
    let shown = of(fresh, Speaker::User).map(|said| said.images.len()).sum();
    let them = match shown {
        0 => return None,
        1 => "1 picture. I cannot see it".to_owned(),
        number => format!("{number} pictures. I cannot see them"),
    };
    Some(format!("You showed me {them}: that takes a real model."))
}

fn introduction(request: &Request<'_>, asked: &str, pictures: Option<String>) -> Vec<String> {
    let mut paragraphs = vec![WHAT_THIS_IS.to_owned()];
    if !asked.trim().is_empty() {
        paragraphs.push(format!("You wrote: {}", quoted(asked)));
    }
    paragraphs.extend(pictures);
    let can = |(tool, _): &&(&str, &str)| request.tools.iter().any(|spec| spec.name == *tool);
    let shown = HINTS.iter().filter(|_| request.calls == Calls::Allowed);
    paragraphs.extend(shown.filter(can).map(|(_, hint)| (*hint).to_owned()));
    paragraphs.push(WHAT_TO_CONFIGURE.to_owned());
    paragraphs
}

fn quoted(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    format!("“{}”", clip(&words.join(" "), MOST_OF_A_QUOTE))
}

/// A tool's result, word for word.
fn quoted_result(called: &[ToolCall], said: &Said) -> String {
    let id = said.answers.as_deref();
    let call = called.iter().find(|call| Some(call.id.as_str()) == id);
    let tool = call.map_or("tool", |call| call.tool.as_str());
    format!("`{tool}` answered:\n\n{}", block(&said.text))
}

/// What nobody wrote, word for word.
fn quoted_news(text: &str) -> String {
    let text = text
        .strip_prefix(NEWS)
        .unwrap_or(text)
        .trim_start_matches('\n');
    format!("I was told:\n\n{}", block(text))
}

fn block(text: &str) -> String {
    let fence = fence(text);
    let break_line = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{break_line}{fence}")
}

/// Longer than any row of backticks in the text, so that nothing in it ends the block.
fn fence(text: &str) -> String {
    let rows = text.split(|letter| letter != '`').map(str::len);
    "`".repeat(rows.max().unwrap_or(0).max(2) + 1)
}
