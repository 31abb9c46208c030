//! The terminal with real processes: what it tells, and that nothing survives it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use serde_json::json;
use talaria_domain::run::ToolResult;
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::world::{Recorder, terminal, within};

/// Knows when a command has begun, and when it and everything that it started is gone: all of them hold the same pipe.
struct Witness {
    _directory: TempDir,
    pipe: PathBuf,
    begun: Option<oneshot::Receiver<()>>,
    gone: oneshot::Receiver<()>,
}

impl Witness {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let (tell_begun, begun) = oneshot::channel();
        let (tell_gone, gone) = oneshot::channel();
        let path = pipe.clone();
        thread::spawn(move || watch(&path, tell_begun, tell_gone));
        Self {
            _directory: directory,
            pipe,
            begun: Some(begun),
            gone,
        }
    }

    /// A command that can be seen, and that says `begin` when it is under way.
    fn command(&self, command: &str) -> String {
        format!(
            "exec 9>{}; begin() {{ echo begun >&9; }}; {command}",
            self.pipe.display()
        )
    }

    async fn sees_it_begin(&mut self) {
        within(self.begun.take().unwrap()).await.unwrap();
    }

    async fn sees_it_gone(self) {
        within(self.gone).await.unwrap();
    }
}

fn watch(pipe: &Path, tell_begun: oneshot::Sender<()>, tell_gone: oneshot::Sender<()>) {
    let mut reader = BufReader::new(File::open(pipe).unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let _ = tell_begun.send(());
    reader.read_to_string(&mut line).unwrap();
    let _ = tell_gone.send(());
}

/// Neither it nor its child listens to a polite request.
const STUBBORN: &str = "trap '' TERM; sleep 1000 & begin; wait";

async fn output(command: &str) -> (String, ToolResult) {
    terminal(&json!({ "command": command }), &Recorder::new()).await
}

#[tokio::test]
async fn a_command_tells_what_it_printed_and_how_it_ended() {
    let table = [
        ("echo hello", "hello\n[exit code 0]"),
        ("printf hello", "hello\n[exit code 0]"),
        (
            "echo one; echo two >&2; echo three",
            "one\ntwo\nthree\n[exit code 0]",
        ),
        ("exit 7", "[exit code 7]"),
        ("kill -9 $$", "[ended by signal 9]"),
        ("cat", "[exit code 0]"),
        ("printf 'a\\000b\\377'", "a\u{fffd}b\u{fffd}\n[exit code 0]"),
    ];
    for (command, expected) in table {
        assert_eq!(
            output(command).await,
            (expected.to_owned(), ToolResult::Done),
            "{command}"
        );
    }
    let (text, _) = output("no-such-program-here").await;
    assert!(text.ends_with("[exit code 127]"), "{text}");
}

#[tokio::test]
async fn a_command_runs_where_it_is_told_to() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().canonicalize().unwrap();
    let arguments = json!({"command": "pwd -P", "cwd": path});
    let (text, _) = terminal(&arguments, &Recorder::new()).await;
    assert_eq!(text, format!("{}\n[exit code 0]", path.display()));
    let (text, _) = terminal(&json!({"command": "pwd", "cwd": "~"}), &Recorder::new()).await;
    assert_eq!(text, "/\n[exit code 0]");
}

#[tokio::test]
async fn a_command_gets_the_environment_that_was_handed_in_and_no_more() {
    let (text, _) = output("env | cut -d= -f1 | sort").await;
    let set: Vec<_> = text
        .lines()
        .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
        .collect();
    assert_eq!(set, ["HOME", "PATH", "[exit code 0]"]);
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_gone_with_its_children() {
    let witness = Witness::new();
    let command = witness.command(&format!("echo before; {STUBBORN}"));
    let arguments = json!({"command": command, "timeout_seconds": 1});
    let (text, result) = terminal(&arguments, &Recorder::new()).await;
    assert_eq!(result, ToolResult::Refused);
    assert_eq!(
        text,
        "before\n[ended after 1 s: it took longer than `timeout_seconds`]"
    );
    witness.sees_it_gone().await;
}

#[tokio::test]
async fn a_command_that_is_stopped_is_gone_with_its_children() {
    let mut witness = Witness::new();
    let arguments = json!({ "command": witness.command(STUBBORN) });
    let host = Recorder::new();
    let stop = async {
        witness.sees_it_begin().await;
        host.stop();
    };
    let ((text, result), ()) = tokio::join!(terminal(&arguments, &host), stop);
    assert_eq!(result, ToolResult::Cancelled);
    assert_eq!(text, "[stopped: the run was stopped]");
    witness.sees_it_gone().await;
}

#[tokio::test]
async fn a_command_that_listens_can_clean_up() {
    let mut witness = Witness::new();
    let command = witness.command("trap 'echo cleaned up; exit' TERM; sleep 1000 & begin; wait");
    let arguments = json!({ "command": command });
    let host = Recorder::new();
    let stop = async {
        witness.sees_it_begin().await;
        host.stop();
    };
    let ((text, _), ()) = tokio::join!(terminal(&arguments, &host), stop);
    assert_eq!(text, "cleaned up\n[stopped: the run was stopped]");
    witness.sees_it_gone().await;
}

#[tokio::test]
async fn a_command_that_nobody_waits_for_is_gone_with_its_children() {
    let mut witness = Witness::new();
    let arguments = json!({ "command": witness.command(STUBBORN) });
    let host = Recorder::new();
    tokio::select! {
        biased;
        () = witness.sees_it_begin() => {}
        ended = terminal(&arguments, &host) => panic!("it should not end: {ended:?}"),
    }
    witness.sees_it_gone().await;
}

#[tokio::test]
async fn what_is_left_in_the_background_neither_holds_up_nor_survives() {
    for (left, told) in [
        (
            "sleep 1000 &",
            "[what it left in the background was ended]\n",
        ),
        (
            "sleep 1000 >/dev/null 2>&1 &",
            "[what it left in the background was ended]\n",
        ),
        (
            "(trap '' TERM HUP; sleep 1000) &",
            "[what it left in the background was ended]\n",
        ),
    ] {
        let witness = Witness::new();
        let (text, result) = output(&witness.command(&format!("{left} begin; echo done"))).await;
        assert_eq!(result, ToolResult::Done, "{left}");
        assert_eq!(text, format!("done\n{told}[exit code 0]"), "{left}");
        witness.sees_it_gone().await;
    }
}

#[tokio::test]
async fn what_leaves_the_group_is_told() {
    let directory = tempfile::tempdir().unwrap();
    // The shell ends only when the other one has left; that one ends by itself, after the terminal has given up on it.
    let command = "mkfifo left; setsid sh -c 'echo done >left; exec sleep 3' & cat left";
    let arguments = json!({"command": command, "cwd": directory.path()});
    let (text, result) = terminal(&arguments, &Recorder::new()).await;
    assert_eq!(result, ToolResult::Done);
    assert!(
        text.contains("left its process group and may still run"),
        "{text}"
    );
    assert!(text.ends_with("[exit code 0]"), "{text}");
}

#[tokio::test]
async fn output_without_an_end_is_shortened() {
    let arguments = json!({"command": "yes", "timeout_seconds": 1});
    let (text, result) = terminal(&arguments, &Recorder::new()).await;
    assert_eq!(result, ToolResult::Refused);
    assert!(text.starts_with("y\ny\n") && text.contains(" bytes are left out here]\n"));
    assert!(text.len() < 51_000, "{}", text.len());
}

#[tokio::test]
async fn a_command_that_cannot_be_started_is_told() {
    let (text, result) = output("echo \0").await;
    assert_eq!(result, ToolResult::Refused);
    assert!(
        text.starts_with("the shell could not be started: "),
        "{text}"
    );
}
