//! A gateway of its own for a check: the debug binary on a data directory and a port of its own, started at a terminal as
//! people start it, because the link to the page is printed only there.

mod terminal;

#[cfg(test)]
mod tests;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use tempfile::TempDir;

use self::terminal::Terminal;
use crate::command;
use crate::process::Running;

/// A gateway that runs. It ends before its directory goes.
pub(crate) struct Gateway {
    _running: Running,
    link: String,
    home: TempDir,
}

impl Gateway {
    /// Starts it with this configuration; an empty one is a newcomer's.
    pub(crate) fn start(configuration: &str) -> anyhow::Result<Self> {
        let home = tempfile::Builder::new().prefix("talaria-home-").tempdir()?;
        if !configuration.is_empty() {
            fs::write(home.path().join("talaria.toml"), configuration)?;
        }
        // With a keyboard, which it is ended by.
        let mut up = at_a_terminal("up", home.path());
        up.stdin(Stdio::piped());
        let (running, link) = Running::start(&mut up, login_link)?;
        Ok(Self {
            _running: running,
            link,
            home,
        })
    }

    /// The link that it printed: it works once.
    pub(crate) fn link(&self) -> &str {
        &self.link
    }

    /// Where it is: the link to the page without what logs in.
    pub(crate) fn address(&self) -> anyhow::Result<&str> {
        let (address, _) = self.link.split_once("/?").context("an odd link")?;
        Ok(address)
    }

    /// The operator's own key.
    pub(crate) fn key(&self) -> anyhow::Result<String> {
        let path = self.home.path().join("operator.key");
        let key = fs::read_to_string(path).context("the gateway made no key")?;
        Ok(key.trim().to_owned())
    }

    /// What one of our commands prints.
    pub(crate) fn ask(&self, arguments: &[&str]) -> anyhow::Result<String> {
        command::answer(self.command(arguments).stdin(Stdio::null()))
    }

    /// What `talaria chat` answers to these lines over a pipe.
    pub(crate) fn chat(&self, lines: &[&str]) -> anyhow::Result<String> {
        let mut chat = self.command(&["chat"]);
        chat.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut chat = chat.spawn().context("cannot start talaria chat")?;
        let mut stdin = chat.stdin.take().context("chat takes no words")?;
        // It is read line by line as answers come; a pipe holds that much.
        writeln!(stdin, "{}", lines.join("\n"))?;
        drop(stdin);
        let ended = chat.wait_with_output()?;
        ensure!(ended.status.success(), "chat ended with {}", ended.status);
        Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
    }

    /// `talaria chat` at a terminal.
    pub(crate) fn sit_down(&self) -> anyhow::Result<Terminal> {
        Terminal::open(&mut at_a_terminal("chat", self.home.path()))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        alone(&mut command, self.home.path()).args(arguments);
        command
    }
}

fn program() -> PathBuf {
    command::root().join("target/debug/talaria")
}

/// One of our commands with a terminal of its own.
fn at_a_terminal(what: &str, home: &Path) -> Command {
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--flush", "--command"]);
    let start = format!("stty cols 100 rows 30; exec \"$TALARIA_PROGRAM\" {what}");
    script.args([start.as_str(), "/dev/null"]);
    alone(&mut script, home).env("TALARIA_PROGRAM", program());
    script
}

/// Nothing of whoever runs the check reaches the gateway but where programs are.
fn alone<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    let path = std::env::join_paths(command::search_path()).unwrap_or_default();
    command.env_clear().env("PATH", path);
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    command.env("TALARIA_HOME", home);
    command.env("TALARIA_LISTEN", "127.0.0.1:0")
}

/// The link to the page in a line of the banner.
fn login_link(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    words.find(|word| word.starts_with("http://") && word.contains("login="))
}
