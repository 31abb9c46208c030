//! The real binary, in a data directory of its own and with nothing of this process's environment.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Far longer than anything here takes.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
/// As long as a real one.
pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A data directory.
pub(crate) struct Home {
    directory: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Home {
    pub(crate) fn empty() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str, mode: u32) {
        fs::write(self.file(name), text).unwrap();
        fs::set_permissions(self.file(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_talaria"));
        command
            .args(arguments)
            .env_clear()
            .env("TALARIA_HOME", self.path())
            .kill_on_drop(true);
        command
    }

    /// Runs a command to its end.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Done {
        self.run_with(arguments, &[], "").await
    }

    /// Runs a command with variables and an input.
    pub(crate) async fn run_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
        input: &str,
    ) -> Done {
        let mut command = self.command(arguments);
        command
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A command that does not read its input may be gone already.
        drop(stdin.write_all(input.as_bytes()).await);
        drop(stdin);
        let ended = tokio::time::timeout(PATIENCE, child.wait_with_output()).await;
        let ended = ended
            .unwrap_or_else(|_| panic!("{arguments:?} does not end"))
            .unwrap();
        Done {
            code: ended.status.code().unwrap_or(-1),
            out: String::from_utf8(ended.stdout).unwrap(),
            err: String::from_utf8(ended.stderr).unwrap(),
        }
    }
}

impl Done {
    /// What it printed as JSON, after it went well.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{self:?}");
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("not JSON: {}", self.out))
    }

    /// Checks that it went well and printed all of this.
    pub(crate) fn shows(&self, words: &[&str]) {
        assert_eq!(self.code, 0, "{self:?}");
        for word in words {
            assert!(self.out.contains(word), "{word:?} is not in\n{}", self.out);
        }
    }

    /// Checks that it failed with this code and said all of this.
    pub(crate) fn fails(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        for word in words {
            assert!(self.err.contains(word), "{word:?} is not in\n{}", self.err);
        }
    }
}
