//! A conversation at a terminal. Ctrl-C stops the turn, never the program; Ctrl-D ends it. What is said while somebody
//! is typing appears above their line.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::editor::{Editor, Line};
use super::screen::Screen;
use super::talk::{Step, Talk};
use crate::cli::{Context, Failure};
use crate::config;

const HISTORY: &str = "chat_history";
const LOST: &str = "the connection to the gateway is lost, trying again";
/// Somebody waits at the keyboard, and can try again.
const TRIES: u32 = 5;
const BACK: &str = "the gateway is back";

/// Talks until somebody ends it.
pub(super) async fn run(context: &Context, mut talk: Talk<'_>) -> Result<(), Failure> {
    let home = config::home(&context.environment)
        .map_err(|problem| Failure::Configuration(vec![problem]))?;
    let coloured = context.style.is_coloured();
    let mut editor = Editor::start(home.join(HISTORY), coloured).context("cannot edit lines")?;
    let mut interrupts = signal(SignalKind::interrupt()).context("cannot hear of Ctrl-C")?;
    let mut screen = Screen::of(context.style);
    screen.remark(&format!(
        "session {}; /help for commands, Ctrl-D to leave",
        talk.session()
    ));
    loop {
        match typed(&mut editor, &mut talk, &screen).await {
            Line::End => break,
            Line::Interrupt => screen.remark("Ctrl-D leaves"),
            Line::Text(text) if text.trim().is_empty() => {}
            Line::Text(text) => match talk.say(&text, TRIES).await {
                Ok(()) => answer(&mut talk, &mut screen, &mut interrupts).await,
                // Whatever went wrong, the words are in the history and can be sent again.
                Err(failure) => screen.remark(&format!("not sent: {failure}")),
            },
        }
    }
    screen.remark(&format!(
        "go on with: talaria chat --session {}",
        talk.session()
    ));
    Ok(())
}

/// A line from the keyboard; meanwhile, whatever is said is shown above it.
async fn typed(editor: &mut Editor, talk: &mut Talk<'_>, screen: &Screen) -> Line {
    editor.ask();
    loop {
        let step = tokio::select! {
            biased;
            line = editor.line() => return line,
            step = talk.step() => step,
        };
        let lines = match step {
            Step::Show(shows) | Step::Over(shows) => {
                shows.iter().flat_map(|show| screen.lines(show)).collect()
            }
            Step::Lost => vec![LOST.to_owned()],
            Step::Back => vec![BACK.to_owned()],
        };
        if !lines.is_empty() {
            editor.aside(lines.join("\n"));
        }
    }
}

/// The answer, as it comes.
async fn answer(talk: &mut Talk<'_>, screen: &mut Screen, interrupts: &mut Signal) {
    let mut stops = 0;
    loop {
        let step = tokio::select! {
            biased;
            Some(()) = interrupts.recv() => {
                stops += 1;
                if stops > 1 || !talk.is_attached() {
                    screen.remark("not waiting any longer; what is still said will be shown here");
                    talk.leave();
                    return;
                }
                stop(talk, screen).await;
                continue;
            }
            step = talk.step() => step,
        };
        match step {
            Step::Show(shows) => screen.show_all(shows),
            Step::Over(shows) => {
                screen.show_all(shows);
                return screen.end();
            }
            Step::Lost => screen.remark(LOST),
            Step::Back => screen.remark(BACK),
        }
    }
}

async fn stop(talk: &Talk<'_>, screen: &mut Screen) {
    screen.remark("stopping");
    if let Err(failure) = talk.stop().await {
        screen.remark(&format!("cannot stop it: {failure}"));
    }
}
