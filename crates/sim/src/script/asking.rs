//! What scripted runs ask people. The message says it in its first line:
//!
//! | words | what the run does |
//! |---|---|
//! | `ask 600 red\|blue` | asks which, waits for at most ten minutes, and answers with what it is told |
//! | `ask 600` | the same, with nothing to choose from |
//! | `query 600 red\|blue` | the same, by a tool |
//! | `may 600` | asks whether it may, and pulls the lever if so |
//! | `both 600 red\|blue` | asks the same twice at once |
//! | `leave 600 red\|blue` | asks, and goes on after a second without waiting |

use std::time::Duration;

use serde_json::Value;
use talaria_domain::effects::{Answer, Question, Refusal};
use talaria_domain::run::Action;
use talaria_domain::runner::{Host, Stopped, Turn};

use super::later::used;
use super::{Script, lock};

/// What is answered instead of the usual, if anything.
pub(super) async fn play(
    script: &Script,
    turn: &Turn,
    host: &dyn Host,
) -> Result<Option<String>, Stopped> {
    let first = turn.prompt.lines().next().unwrap_or_default();
    // Where several people meet, it says first who speaks.
    let first = first
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "))
        .map_or(first, |(_, said)| said);
    let mut words = first.split(' ');
    let word = words.next().unwrap_or_default();
    let Some(seconds) = words.next().and_then(|text| text.parse().ok()) else {
        return Ok(None);
    };
    let patience = Duration::from_secs(seconds);
    let choices = words.next().map_or_else(Vec::new, |choices| {
        choices.split('|').map(ToOwned::to_owned).collect()
    });
    let which = |text: &str| Question {
        action: Action::Question {
            text: text.to_owned(),
            choices: choices.clone(),
        },
        patience,
    };
    let said = match word {
        "ask" => asked(host, which("Which one?")).await,
        "query" => used(host, asked(host, which("Which one?"))).await?,
        "both" => {
            let (first, second) = futures::future::join(
                asked(host, which("Which first?")),
                asked(host, which("Which second?")),
            )
            .await;
            format!("{first}, {second}")
        }
        "leave" => {
            let asking = asked(host, which("Which one?"));
            let left = tokio::time::timeout(Duration::from_secs(1), asking).await;
            left.unwrap_or_else(|_| "went on".to_owned())
        }
        "may" => may(script, turn, host, patience).await,
        _ => return Ok(None),
    };
    let is_over = tokio::time::timeout(Duration::ZERO, host.stopped());
    if is_over.await.is_ok() {
        return Err(Stopped);
    }
    Ok(Some(said))
}

async fn may(script: &Script, turn: &Turn, host: &dyn Host, patience: Duration) -> String {
    let question = Question {
        action: Action::Approval {
            effect: "pull the lever".to_owned(),
        },
        patience,
    };
    let answered = host.effects().ask(question).await;
    if answered == Ok(Answer::Approved) {
        lock(&script.effects).push((turn.run, turn.prompt.clone()));
    }
    told(answered)
}

async fn asked(host: &dyn Host, question: Question) -> String {
    told(host.effects().ask(question).await)
}

fn told(answered: Result<Answer, Refusal>) -> String {
    match answered {
        Ok(Answer::Approved) => "told yes".to_owned(),
        Ok(Answer::Denied) => "told no".to_owned(),
        Ok(Answer::Said { text }) => format!("told {text}"),
        Err(refusal) => {
            let code = serde_json::to_value(refusal.code).unwrap_or(Value::Null);
            format!("not told: {}", code.as_str().unwrap_or_default())
        }
    }
}
