//! A person at a keyboard: a real terminal, made by `script`, with somebody on the other side who answers what a
//! terminal is asked.

use std::process::Stdio;

use talaria_domain::live::Happening;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::fake::{Fake, SESSION};
use crate::program::PATIENCE;

const ENTER: &str = "\r";
const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
/// "Where is the cursor?"
const QUESTION: &str = "\u{1b}[6n";

struct Terminal {
    child: Child,
    keys: ChildStdin,
    screen: ChildStdout,
    /// Everything that was ever written on it.
    seen: String,
    /// How much of that was looked at.
    read: usize,
    answered: usize,
}

impl Terminal {
    fn open(fake: &Fake, variables: &[(&str, &str)]) -> Self {
        let binary = env!("CARGO_BIN_EXE_talaria");
        let mut child = Command::new("script")
            .args([
                "-qefc",
                &format!("stty cols 100 rows 30; exec '{binary}' chat"),
                "/dev/null",
            ])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("SHELL", "/bin/sh")
            .env("TERM", "xterm")
            .env("TALARIA_HOME", fake.home.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        Self {
            keys: child.stdin.take().unwrap(),
            screen: child.stdout.take().unwrap(),
            child,
            seen: String::new(),
            read: 0,
            answered: 0,
        }
    }

    async fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).await.unwrap();
        self.keys.flush().await.unwrap();
    }

    async fn say(&mut self, text: &str) {
        self.sees("> ").await;
        self.press(&format!("{text}{ENTER}")).await;
    }

    /// Waits until this is on the screen, after everything that was waited for before.
    async fn sees(&mut self, text: &str) {
        let waited = tokio::time::timeout(PATIENCE, self.watch(text)).await;
        assert!(
            waited.is_ok(),
            "{text:?} does not appear after {:?} in {:?}",
            self.read,
            self.seen
        );
    }

    async fn watch(&mut self, text: &str) {
        let mut bytes = [0; 4096];
        loop {
            if let Some(at) = self.seen[self.read..].find(text) {
                self.read += at + text.len();
                return;
            }
            let count = self.screen.read(&mut bytes).await.unwrap();
            assert!(
                count > 0,
                "it is closed before {text:?} appears in {:?}",
                self.seen
            );
            self.seen
                .push_str(&String::from_utf8_lossy(&bytes[..count]));
            while self.seen.matches(QUESTION).count() > self.answered {
                self.answered += 1;
                self.press("\u{1b}[1;1R").await;
            }
        }
    }

    /// Leaves, and gives how that went.
    async fn leave(mut self) -> Option<i32> {
        self.sees("> ").await;
        self.press(CTRL_D).await;
        self.sees(&format!("talaria chat --session {SESSION}"))
            .await;
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        ended.unwrap().unwrap().code()
    }
}

#[tokio::test]
async fn answers_are_streamed_and_ctrl_d_ends() {
    let fake = Fake::start().await;
    let mut terminal = Terminal::open(&fake, &[]);
    terminal.say("tool").await;
    terminal.sees("→ terminal {\"command\":\"ls\"}").await;
    terminal.sees("notes.txt").await;
    terminal.sees("One file.").await;
    assert_eq!(
        terminal.seen.matches("One file.").count(),
        1,
        "what was streamed is not said again"
    );
    assert_eq!(terminal.leave().await, Some(0));
}

#[tokio::test]
async fn ctrl_c_stops_the_turn_and_not_the_program() {
    let fake = Fake::start().await;
    let mut terminal = Terminal::open(&fake, &[]);
    terminal.say("wait").await;
    terminal.sees("first half,").await;
    terminal.press(CTRL_C).await;
    terminal.sees("stopping").await;
    terminal.sees("Stopped.").await;
    terminal.say("one").await;
    terminal.sees("You said one.").await;
    let posted = fake.bodies(&format!("POST /api/sessions/{SESSION}/messages"));
    let texts: Vec<_> = posted
        .iter()
        .map(|body| body["text"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["wait", "/stop", "one"]);
    assert_eq!(terminal.leave().await, Some(0));
}

#[tokio::test]
async fn ctrl_c_at_an_empty_prompt_hints_at_the_way_out() {
    let fake = Fake::start().await;
    let mut terminal = Terminal::open(&fake, &[]);
    terminal.sees("> ").await;
    terminal.press(CTRL_C).await;
    terminal.sees("Ctrl-D leaves").await;
    assert_eq!(terminal.leave().await, Some(0));
}

#[tokio::test]
async fn what_is_said_while_somebody_types_appears_above_the_line() {
    let fake = Fake::start().await;
    let mut terminal = Terminal::open(&fake, &[]);
    terminal.sees("> ").await;
    terminal.press("half a li").await;
    terminal.sees("half a li").await;
    let late = serde_json::json!({
        "happening": "said", "reply": "0198c0de-0000-7000-8000-000000000777", "kind": "notice", "run": null,
        "text": "The job has ended.",
    });
    let late: Happening = serde_json::from_value(late).unwrap();
    fake.say(late);
    terminal.sees("The job has ended.").await;
    terminal.press(&format!("ne{ENTER}")).await;
    terminal.sees("You said half a line.").await;
    assert_eq!(terminal.leave().await, Some(0));
}

#[tokio::test]
async fn colours_are_left_out_where_they_are_not_wanted() {
    let fake = Fake::start().await;
    let dim = "\u{1b}[2m→ terminal";
    let mut coloured = Terminal::open(&fake, &[]);
    coloured.say("tool").await;
    coloured.sees(dim).await;
    coloured.sees("One file.").await;
    assert_eq!(coloured.leave().await, Some(0));
    let mut plain = Terminal::open(&fake, &[("NO_COLOR", "1")]);
    plain.say("tool").await;
    plain.sees("One file.").await;
    assert!(plain.seen.contains("→ terminal") && !plain.seen.contains(dim));
    assert_eq!(plain.leave().await, Some(0));
}
