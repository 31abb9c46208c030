//! The newcomer's path in a real browser, with nothing configured: the printed link, a question at the page, the same
//! gateway at a pipe, and the question's whole life. Then an answer that takes its time, which must be seen to grow.
//! Pictures are left in `target/page`.

#[cfg(test)]
mod tests;

use std::process::Command;

use anyhow::{Context as _, ensure};

use crate::browser::Browser;
use crate::gateway::Gateway;
use crate::process::Running;
use crate::{command, output};

/// What a trace of an answered message tells, in this order.
const LIFE: [&str; 3] = ["arrived: ", "run ", ": final, delivered"];

/// As a step of the tests.
pub(crate) fn check() -> anyhow::Result<()> {
    let build = ["build", "-p", "talaria", "-p", "talaria-sim"];
    command::succeed(&mut command::cargo(&build))?;
    let browser = Browser::find_or_install()?;
    meet(&browser)?;
    be_asked(&browser)?;
    watch_it_grow(&browser)
}

fn meet(browser: &Browser) -> anyhow::Result<()> {
    let gateway = Gateway::start("")?;
    let told = browser.play("newcomer.mjs", gateway.link(), &[])?;
    let asked = told.lines().find_map(|line| line.strip_prefix("event "));
    let asked = asked.context("the browser names no event")?;
    let said = gateway.chat(&["Who is at the pipe?"])?;
    ensure!(said.contains("demo model"), "the pipe answered {said:?}");
    let trace = gateway.ask(&["trace", asked])?;
    output::line(&trace);
    tells_a_life(&trace)
}

/// The agent asks back, and waits.
fn be_asked(browser: &Browser) -> anyhow::Result<()> {
    let gateway = Gateway::start("")?;
    let told = browser.play("asking.mjs", gateway.link(), &[])?;
    output::line(&told);
    Ok(())
}

fn tells_a_life(trace: &str) -> anyhow::Result<()> {
    let mut lines = trace.lines();
    for stage in LIFE {
        ensure!(
            lines.any(|line| line.contains(stage)),
            "the trace has no {stage:?} in its place:\n{trace}"
        );
    }
    Ok(())
}

fn watch_it_grow(browser: &Browser) -> anyhow::Result<()> {
    let mut model = Command::new(command::root().join("target/debug/talaria-sim"));
    model.args(["model", "--listen", "127.0.0.1:0"]);
    model.args(["--delay-ms", "100", "--chunks", "20"]);
    let (_model, url) =
        Running::start(&mut model, |line| line.starts_with("http").then_some(line))?;
    let gateway = Gateway::start(&format!(
        "[model.main]\nprovider = \"openai\"\nbase_url = \"{url}\"\nmodel = \"simulated\"\n\
         [profile.assistant]\nmodel = \"main\"\n"
    ))?;
    let told = browser.play(
        "conversation.mjs",
        gateway.link(),
        &["growing.png", "words 60"],
    )?;
    output::line(&told);
    Ok(())
}
