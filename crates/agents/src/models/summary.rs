//! Summaries: by asking the model, and by a rule for the model that cannot be asked.
//!
//! What is to be summarised is shown as one text within the model's window, so that asking does not fail for the reason
//! that makes a summary necessary.

#[cfg(test)]
mod tests;

use talaria_domain::adapter::Pending;
use talaria_domain::run::FailureCode;
use talaria_domain::runner::{Said, Speaker, Stopped, ToolCall};

use super::draft::clip;
use super::{Calls, Delta, Heard, Model, ModelError, Request};

const INSTRUCTIONS: &str = "You are given a conversation between people and an assistant that uses tools. \
    Write a summary that will stand in its place: what was asked and by whom, what was found and decided, \
    names, numbers, paths and addresses that may be needed again, and what is still open. \
    Keep the conversation's language. Write the summary and nothing else.";

/// Tools say more than a summary needs.
const MOST_OF_A_TOOL: usize = 2_000;
/// Characters for one token of the window: half of what is usual, so that the answer has room as well.
const CHARACTERS_PER_TOKEN: usize = 2;
const MOST_LINES: usize = 20;
const MOST_OF_A_LINE: usize = 120;

/// Asks the model.
pub(super) async fn by_asking(model: &dyn Model, said: &[Said]) -> Result<String, ModelError> {
    let most = model.window().saturating_mul(CHARACTERS_PER_TOKEN);
    let request = Request {
        system: INSTRUCTIONS.to_owned(),
        said: vec![Said::plain(Speaker::User, transcript(said, most))],
        calls: Calls::Forbidden,
        ..Request::default()
    };
    let answer = model.answer(&request, &Nobody).await?;
    match answer.text.trim() {
        "" => Err(ModelError::BrokenOff {
            server: model.name().to_owned(),
            why: "the summary is empty".to_owned(),
            code: FailureCode::Other,
        }),
        text => Ok(text.to_owned()),
    }
}

/// The start of each of the last things that were said.
pub(super) fn by_rule(said: &[Said]) -> String {
    let lines = said.iter().filter(|said| !said.text.trim().is_empty());
    let lines = lines.filter(|said| said.speaker != Speaker::Tool);
    let lines: Vec<_> = lines.map(short_line).collect();
    let left_out = lines.len().saturating_sub(MOST_LINES);
    let mut summary = vec!["Shortened by rule, not by understanding:".to_owned()];
    if left_out > 0 {
        summary.push(format!("{left_out} earlier ones are left out"));
    }
    summary.extend(lines.into_iter().skip(left_out));
    summary.join("\n- ")
}

fn short_line(said: &Said) -> String {
    let words: Vec<_> = said.text.split_whitespace().collect();
    format!(
        "{}: {}",
        said.speaker.as_str(),
        clip(&words.join(" "), MOST_OF_A_LINE)
    )
}

/// A conversation as one text of at most about `most` characters: its start and its end.
fn transcript(said: &[Said], most: usize) -> String {
    let whole = said.iter().map(told).collect::<Vec<_>>().join("\n\n");
    let count = whole.chars().count();
    if count <= most {
        return whole;
    }
    let start: String = whole.chars().take(most / 4).collect();
    let end: String = whole
        .chars()
        .skip(count - most.saturating_sub(most / 4))
        .collect();
    format!("{start}\n\n[left out]\n\n{end}")
}

fn told(said: &Said) -> String {
    let text = match said.speaker {
        Speaker::Tool => clip(&said.text, MOST_OF_A_TOOL),
        _ => said.text.clone(),
    };
    let call = |call: &ToolCall| {
        let arguments = clip(&call.arguments.to_string(), MOST_OF_A_TOOL);
        format!("\n[calls {} with {arguments}]", call.tool)
    };
    let calls: String = said.calls.iter().map(call).collect();
    format!("{}: {text}{calls}", said.speaker.as_str())
}

/// Nobody listens to a summary while it is made.
struct Nobody;

impl Heard for Nobody {
    fn hear(&self, _: Delta) -> Pending<'_, Result<(), Stopped>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
