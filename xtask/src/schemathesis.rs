//! Requests that nobody would think of, made from our own `OpenAPI` document by schemathesis, against the real gateway
//! with the demo model and no tools: whatever comes, the answer is one that the document promises, never a failure of the
//! server. Afterwards nothing is left running, and everything is ready.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::command;
use crate::gateway::Gateway;

const TOOL: &str = "schemathesis";

/// How long requests are made up, in seconds.
const SECONDS: &str = "60";

/// How often it is looked whether everything has ended: some seconds, as each look starts a program.
const LOOKS: usize = 400;

/// The same requests each time, so that a failure can be repeated.
const SEED: &str = "1";

/// All checks, but for:
///
/// - streams of events, which end when their conversation or their run does, not when a check would like it;
/// - `positive_data_acceptance` where a body that fits the document may still be refused, because no schema can say it:
///   that the last message is the user's, that a place to send to is there, that words name a time, that two fields only go together;
/// - `negative_data_rejection` for keys: a scope that is named twice is named.
const SETTINGS: &str = r#"
workers = 1
request-timeout = 20.0
continue-on-failure = true

[parameters]
"header.X-Talaria-Profile" = "assistant"

[[operations]]
include-path-regex = "/events$"
enabled = false

[[operations]]
include-path-regex = "^/(v1/(chat/completions|responses(/.id.)?|runs(/.id./approval)?)|api/(send|schedules|questions/.id.|runs/.id./revoke|pairing/[a-z]+))$"
checks.positive_data_acceptance.enabled = false

[[operations]]
include-path-regex = "^/api/keys$"
checks.negative_data_rejection.enabled = false
"#;

/// Without tools: what is made up here is not to be run.
const CONFIGURATION: &str = "[profile.assistant]\nmodel = \"demo\"\ntools = []\n";

/// As a step of the tests.
pub(crate) fn check() -> anyhow::Result<()> {
    command::succeed(&mut command::cargo(&["build", "-p", "talaria"]))?;
    let room = room()?;
    let gateway = Gateway::start(CONFIGURATION)?;
    let document = format!("{}/openapi.json", gateway.address()?);
    let mut tool = Command::new(room.join("v/bin").join(TOOL));
    tool.args(["--config-file", "settings.toml", "run", &document]);
    tool.args(["--max-time", SECONDS, "--seed", SEED]);
    // The operator's own key: it cannot be taken back by what is made up.
    tool.arg("--header");
    tool.arg(format!("Authorization: Bearer {}", gateway.key()?));
    command::succeed(tool.current_dir(&room))?;
    come_to_rest(&gateway)
}

/// The tool stops in the middle of what it asks for: what was under way gets the time to end.
fn come_to_rest(gateway: &Gateway) -> anyhow::Result<()> {
    for _ in 1..LOOKS {
        if is_at_rest(&gateway.ask(&["status", "--json"])?).is_ok() {
            return Ok(());
        }
    }
    is_at_rest(&gateway.ask(&["status", "--json"])?)
}

/// Nothing is under way and nothing was given up, and every part does its work.
fn is_at_rest(status: &str) -> anyhow::Result<()> {
    let bare: String = status.split_whitespace().collect();
    for expected in [r#""claimed":0"#, r#""running":0"#, r#""dead":0"#] {
        ensure!(bare.contains(expected), "no {expected} in {status}");
    }
    let mut parts = bare.split(r#""state":""#).skip(1);
    let is_well = |state: &str| state.starts_with("connected\"");
    ensure!(parts.all(is_well), "a part is unwell: {status}");
    Ok(())
}

/// Where the tool is, installed if it is not.
fn room() -> anyhow::Result<PathBuf> {
    let room = command::root().join("target").join(TOOL);
    fs::create_dir_all(&room).with_context(|| format!("make {}", room.display()))?;
    if !room.join("v/bin").join(TOOL).is_file() {
        install(&room)?;
    }
    fs::write(room.join("settings.toml"), SETTINGS)?;
    Ok(room)
}

fn install(room: &Path) -> anyhow::Result<()> {
    let mut venv = Command::new("python3");
    command::succeed(venv.args(["-m", "venv", "v"]).current_dir(room))?;
    let mut pip = Command::new("v/bin/pip");
    pip.args(["install", "--quiet", "--disable-pip-version-check", TOOL]);
    command::succeed(pip.current_dir(room))
}
