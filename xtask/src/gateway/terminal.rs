//! `talaria chat` at a terminal, with somebody in front of it: who types when there is a prompt, and watches the answer
//! grow on the screen.

#[cfg(test)]
mod tests;

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};

/// "Where is the cursor?", which is asked once for each prompt.
const PROMPT: &[u8] = b"\x1b[6n";
const IN_THE_CORNER: &[u8] = b"\x1b[1;1R";
const CTRL_D: &[u8] = b"\x04";

/// A conversation at a terminal.
pub(crate) struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
}

/// What was seen between a question and the next prompt.
pub(crate) struct Seen {
    /// All that came on the screen, as a person reads it.
    pub(crate) text: String,
    /// In how many steps it came.
    pub(crate) steps: usize,
}

impl Terminal {
    /// Starts it, and waits for the prompt.
    pub(super) fn open(command: &mut Command) -> anyhow::Result<Self> {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("cannot start script")?;
        let keys = child.stdin.take().context("a terminal without keys")?;
        let screen = child.stdout.take().context("a terminal without a screen")?;
        let mut terminal = Self {
            child,
            keys,
            screen,
        };
        terminal.watch()?;
        Ok(terminal)
    }

    /// Types a line, and watches until it may type again.
    pub(crate) fn say(&mut self, line: &str) -> anyhow::Result<Seen> {
        write!(self.keys, "{line}\r")?;
        self.watch()
    }

    /// Leaves as people do.
    pub(crate) fn leave(mut self) -> anyhow::Result<()> {
        self.keys.write_all(CTRL_D)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "chat ended with {status}");
        Ok(())
    }

    fn watch(&mut self) -> anyhow::Result<Seen> {
        let (mut seen, mut steps) = (Vec::new(), 0);
        let mut buffer = [0; 4096];
        while !seen.windows(PROMPT.len()).any(|window| window == PROMPT) {
            let count = self.screen.read(&mut buffer)?;
            ensure!(count > 0, "chat ended by itself");
            seen.extend(buffer.iter().take(count));
            steps += 1;
        }
        self.keys.write_all(IN_THE_CORNER)?;
        let text = plain(&String::from_utf8_lossy(&seen));
        Ok(Seen { text, steps })
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It may have ended by itself.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The text without what moves the cursor or colours it.
fn plain(screen: &str) -> String {
    let mut text = String::new();
    let mut rest = screen.chars();
    while let Some(letter) = rest.next() {
        if letter != '\x1b' {
            text.push(letter);
        } else if rest.next() == Some('[') {
            rest.by_ref().find(char::is_ascii_alphabetic);
        }
    }
    text.replace('\r', "")
}
