//! An agent in another language, through the front door: the real binary, a real process, a program that calls.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::killing_a_run::caller::{Caller, Told};
use crate::program::Home;
use crate::starting::started;

const COMPLETIONS: &str = "/v1/chat/completions";
const SESSION: &str = "x-talaria-session-id";

/// Where this machine has Python.
async fn python() -> String {
    let mut shell = tokio::process::Command::new("sh");
    let found = shell.args(["-c", "command -v python3"]).output().await;
    let found = String::from_utf8(found.unwrap().stdout).unwrap();
    assert!(!found.trim().is_empty(), "install python3");
    found.trim().to_owned()
}

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// A home whose agent is this script, with these tools.
async fn home_of(script: &Path, tools: &str) -> Home {
    let home = Home::empty();
    let configuration = format!(
        "[[runner]]\nid = \"plugin:acme/clerk/main\"\ncommand = {:?}\nargs = [{:?}]\n\
         permissions = {{ tools = [\"call\", \"detail\"] }}\n\
         [profile.assistant]\nrunner = \"process\"\ntools = {tools}\n",
        python().await,
        script.display().to_string()
    );
    home.write("talaria.toml", &configuration, 0o600);
    home
}

async fn clerk(tools: &str) -> Home {
    home_of(&beside("tests/it/thinking_outside/clerk.py"), tools).await
}

/// What a program is answered, and in which conversation.
async fn answer(caller: &Caller, text: &str, session: Option<&str>) -> (String, String) {
    let messages = json!([{ "role": "user", "content": text }]);
    let body = json!({ "model": "assistant", "messages": messages });
    let headers: Vec<(&str, &str)> = session
        .map(|session| (SESSION, session))
        .into_iter()
        .collect();
    let (status, headers, answer) = caller.posts(COMPLETIONS, &headers, &body).await;
    assert_eq!(status, 200, "{answer}");
    let said = answer["choices"][0]["message"]["content"].as_str().unwrap();
    let session = headers[SESSION].to_str().unwrap().to_owned();
    (said.trim().to_owned(), session)
}

async fn starts(caller: &Caller, input: &str) -> String {
    let (status, _, made) = caller
        .posts("/v1/runs", &[], &json!({ "input": input }))
        .await;
    assert_eq!(status, 202, "{made}");
    made["run_id"].as_str().unwrap().to_owned()
}

/// What a run says first.
async fn first_words(caller: &Caller, run: &str) -> String {
    let mut reader = caller.follows(run, "0").await;
    let told = reader.until(|told| told.body["text"].is_string()).await;
    told.body["text"].as_str().unwrap().to_owned()
}

/// How a run ends, and what is shown of it afterwards.
async fn end(caller: &Caller, run: &str) -> (Told, Value) {
    let end = caller.follows(run, "0").await.all().await.pop().unwrap();
    (end, caller.gets(&format!("/v1/runs/{run}")).await)
}

#[tokio::test]
async fn the_python_example_answers_and_remembers_across_messages_and_restarts() {
    let home = home_of(
        &beside("../../examples/runners/python/runner.py"),
        "[\"terminal\"]",
    )
    .await;
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let (first, session) = answer(&caller, "hello", None).await;
    assert!(
        first.starts_with("Message 1: you wrote 'hello', in the year 2"),
        "{first}"
    );
    let (second, same) = answer(&caller, "again", Some(&session)).await;
    assert!(
        second.starts_with("Message 2: you wrote 'again'"),
        "{second}"
    );
    assert_eq!(same, session);
    let (other, _) = answer(&caller, "hello", None).await;
    assert!(
        other.starts_with("Message 1: "),
        "another conversation's is another memory: {other}"
    );
    gateway.kill().await.unwrap();

    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let (third, _) = answer(&caller, "still there?", Some(&session)).await;
    assert!(third.starts_with("Message 3: "), "{third}");
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_runner_that_is_killed_in_mid_run_ends_it_truthfully_and_comes_back() {
    let home = clerk("[\"terminal\"]").await;
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let run = starts(&caller, "hang").await;
    let pid = first_words(&caller, &run).await;
    let pid = pid.strip_prefix("pid ").unwrap();
    let mut kill = tokio::process::Command::new("kill");
    assert!(kill.args(["-9", pid]).status().await.unwrap().success());
    let (end, shown) = end(&caller, &run).await;
    assert_eq!(end.name, "run_failed", "{end:?}");
    assert_eq!(shown["status"], "failed", "{shown}");
    let message = shown["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("process"),
        "it says what became of it: {message}"
    );
    let (next, _) = answer(&caller, "call", None).await;
    assert!(
        next.contains("done"),
        "the next run has a new process: {next}"
    );
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_tool_that_the_profile_does_not_have_is_refused_and_the_answer_still_comes() {
    let home = clerk("[]").await;
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let (said, _) = answer(&caller, "call", None).await;
    assert_eq!(
        said,
        "then not_allowed: tool \"terminal\" is not allowed for this run: call"
    );
    let (methods, _) = answer(&caller, "methods", None).await;
    let expected = "[\"log\", \"state.delete\", \"state.get\", \"state.list\", \"state.set\"]";
    assert_eq!(methods, expected, "and it is not announced");
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn what_the_operator_takes_away_is_gone_at_once_and_after_a_restart() {
    let home = clerk("[\"terminal\"]").await;
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let (go, never) = (home.file("go"), home.file("never"));
    let now = starts(&caller, &format!("wait {}", go.display())).await;
    let later = starts(&caller, &format!("wait {}", never.display())).await;
    let mut under_way = Vec::new();
    for turn in [&now, &later] {
        first_words(&caller, turn).await;
        under_way.push(run_of(&home, turn).await);
    }
    for run in &under_way {
        let done = home.run(&["runs", "revoke", run, "tool", "terminal"]).await;
        done.shows(&[&format!("revoked tool terminal from {run}")]);
    }
    home.write("go", "", 0o600);
    let (_, shown) = end(&caller, &now).await;
    let refused = "then not_allowed: tool \"terminal\" is not allowed for this run: call";
    assert_eq!(shown["output"], format!("ready; {refused}"), "{shown}");
    gateway.kill().await.unwrap();

    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    home.write("never", "", 0o600);
    let (_, shown) = end(&caller, &later).await;
    let output = shown["output"].as_str().unwrap();
    assert!(output.ends_with(refused), "{shown}");
    assert_ne!(
        run_of(&home, &later).await,
        under_way[1],
        "it was done again"
    );
    let (said, _) = answer(&caller, "call", None).await;
    assert!(
        said.contains("done"),
        "other runs have what is theirs: {said}"
    );
    let run = &under_way[0];
    home.run(&["runs", "revoke", run, "tool", "terminal"])
        .await
        .fails(1, &["409"]);
    gateway.kill().await.unwrap();
}

/// The run that does what a program asked for, as the operator knows it.
async fn run_of(home: &Home, asked: &str) -> String {
    let life = home.run(&["trace", asked, "--json"]).await.json();
    let runs = life["runs"].as_array().unwrap();
    runs.last().unwrap()["id"].as_str().unwrap().to_owned()
}
