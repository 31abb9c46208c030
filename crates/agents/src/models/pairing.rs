//! A conversation as servers insist on it: nobody speaks twice in a row, every tool call is followed by its result, and
//! no two calls share an id. Histories are not like that: runs are stopped between a call and its result, people
//! talk while tools run, windows are cut.
//!
//! Pure: what was said in, what is sent out. What the system said is not part of it.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;

use talaria_domain::runner::{Said, Speaker, ToolCall};

/// What a call without a result is answered with.
const MISSING: &str = "no result was recorded: the run ended before the tool answered";

/// One turn of the conversation.
#[derive(Debug, PartialEq)]
pub(super) enum Spoken<'a> {
    /// A person's.
    User {
        /// Their words.
        text: Cow<'a, str>,
        /// The addresses of the pictures that they show.
        images: Vec<&'a str>,
    },
    /// The agent's, with its calls and their results.
    Assistant {
        /// Its words.
        text: Cow<'a, str>,
        /// What it called.
        calls: Vec<Answered<'a>>,
    },
}

/// A call with its result.
#[derive(Debug, PartialEq)]
pub(super) struct Answered<'a> {
    /// An id that no other call has.
    pub(super) id: String,
    /// The call.
    pub(super) call: &'a ToolCall,
    /// What the tool answered.
    pub(super) output: Option<&'a str>,
}

impl Answered<'_> {
    /// What the tool answered, or that nobody knows.
    pub(super) fn result(&self) -> &str {
        self.output.unwrap_or(MISSING)
    }
}

/// The conversation as it is sent. A result whose call is not there any more is left out: the window was cut between.
pub(super) fn pair<'a>(said: impl IntoIterator<Item = &'a Said>) -> Vec<Spoken<'a>> {
    let mut spoken = Vec::new();
    let mut ids = HashSet::new();
    for one in said {
        match one.speaker {
            Speaker::System => {}
            Speaker::User => hear_user(&mut spoken, one),
            Speaker::Assistant => hear_assistant(&mut spoken, &mut ids, one),
            Speaker::Tool => hear_tool(&mut spoken, one),
        }
    }
    spoken
}

fn hear_user<'a>(spoken: &mut Vec<Spoken<'a>>, said: &'a Said) {
    let shown = said.images.iter().map(String::as_str);
    match spoken.last_mut() {
        Some(Spoken::User { text, images }) => {
            append(text, &said.text);
            images.extend(shown);
        }
        _ => spoken.push(Spoken::User {
            text: Cow::Borrowed(&said.text),
            images: shown.collect(),
        }),
    }
}

fn hear_assistant<'a>(spoken: &mut Vec<Spoken<'a>>, ids: &mut HashSet<String>, said: &'a Said) {
    let answered = |call: &'a ToolCall| Answered {
        id: unique(ids, &call.id),
        call,
        output: None,
    };
    let calls: Vec<_> = said.calls.iter().map(answered).collect();
    if said.text.trim().is_empty() && calls.is_empty() {
        return;
    }
    match spoken.last_mut() {
        Some(Spoken::Assistant {
            text,
            calls: before,
        }) if before.is_empty() => {
            append(text, &said.text);
            before.extend(calls);
        }
        _ => spoken.push(Spoken::Assistant {
            text: Cow::Borrowed(&said.text),
            calls,
        }),
    }
}

fn hear_tool<'a>(spoken: &mut [Spoken<'a>], said: &'a Said) {
    let calls = spoken.iter_mut().rev().filter_map(|one| match one {
        Spoken::Assistant { calls, .. } => Some(calls),
        Spoken::User { .. } => None,
    });
    let id = said.answers.as_deref();
    let open = calls
        .flatten()
        .find(|call| call.output.is_none() && Some(call.call.id.as_str()) == id);
    if let Some(call) = open {
        call.output = Some(&said.text);
    }
}

fn append(before: &mut Cow<'_, str>, text: &str) {
    let is_between = !before.trim().is_empty() && !text.trim().is_empty();
    let before = before.to_mut();
    if is_between {
        before.push_str("\n\n");
    }
    before.push_str(text);
}

fn unique(ids: &mut HashSet<String>, id: &str) -> String {
    let wanted = if id.is_empty() { "call" } else { id };
    let further = (2..).map(|number| format!("{wanted}_{number}"));
    let mut candidates = std::iter::once(wanted.to_owned()).chain(further);
    let free = candidates.find(|candidate| ids.insert(candidate.clone()));
    free.unwrap_or_default()
}
