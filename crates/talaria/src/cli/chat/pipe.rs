//! A conversation over a pipe: each line is a message, and its answer is on standard output before the next one is
//! read. Nothing else is; what is said about it goes to standard error.

use std::io;
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::talk::{Step, Talk};
use super::turn::Show;
use crate::cli::Failure;
use crate::output;

/// Nobody is there to give up, so the pipe does it after this long without a gateway.
const PATIENCE: Duration = Duration::from_mins(1);

/// How often a message is posted: for about as long.
const TRIES: u32 = 30;

/// Talks until the input ends.
pub(super) async fn run(mut talk: Talk<'_>) -> Result<(), Failure> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        let line = lines
            .next_line()
            .await
            .context("cannot read standard input")?;
        let Some(line) = line else {
            return Ok(());
        };
        if line.trim().is_empty() {
            continue;
        }
        talk.say(&line, TRIES).await?;
        answer(&mut talk).await?;
    }
}

async fn answer(talk: &mut Talk<'_>) -> Result<(), Failure> {
    loop {
        let (shows, is_over) = match next(talk).await? {
            Step::Show(shows) => (shows, false),
            Step::Over(shows) => (shows, true),
            Step::Lost => {
                output::remark("talaria: the connection to the gateway is lost, trying again");
                continue;
            }
            Step::Back => {
                output::remark("talaria: the gateway is back");
                continue;
            }
        };
        for show in shows {
            // Whoever read the answers is gone: there is nobody left to ask for.
            tell(show).map_err(|_| Failure::Told)?;
        }
        if is_over {
            return Ok(());
        }
    }
}

/// The next step, as long as there is hope.
async fn next(talk: &mut Talk<'_>) -> Result<Step, Failure> {
    let patience = PATIENCE.saturating_sub(talk.lost_for());
    if talk.is_attached() {
        return Ok(talk.step().await);
    }
    tokio::time::timeout(patience, talk.step()).await.map_err(|_| {
        Failure::NotReachable(
            "the connection to the gateway is lost, and it did not come back: start it with `talaria up`".to_owned(),
        )
    })
}

fn tell(show: Show) -> io::Result<()> {
    match show {
        Show::Answer { whole: text, .. }
        | Show::Notice {
            text,
            is_answer: true,
        }
        | Show::Question(text) => output::piece(&format!("{}\n", text.trim_end())),
        Show::Notice {
            text,
            is_answer: false,
        } => {
            output::remark(&text);
            Ok(())
        }
        Show::More(_) | Show::Tool { .. } | Show::ToolOutput { .. } | Show::Again => Ok(()),
    }
}
