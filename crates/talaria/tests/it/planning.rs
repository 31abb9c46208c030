//! What happens at a time, by the real binary: also if it is killed around that time, it happens once.

use std::time::Duration;

use serde_json::json;
use talaria_sim::telegram::{self, Server};
use talaria_sim::vendor::Written;
use talaria_sim::vendor::venue::{Sight, Venue as _};

use crate::killing_a_run::caller::Caller;
use crate::program::Home;
use crate::starting::started;

/// A story that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(40);
const TOKEN: &str = "5001:a-token";
const PLACE: &str = "telegram:42";

async fn set_up() -> (Server, Home) {
    let server = telegram::start("127.0.0.1:0", telegram::Terms::of([TOKEN]));
    let server = server.await.unwrap();
    let home = Home::empty();
    let text = format!(
        "[[account]]\nplatform = \"telegram\"\ntoken = \"{TOKEN}\"\napi_base = \"{}\"\nallow = [\"42\"]\n",
        server.url()
    );
    home.write("talaria.toml", &text, 0o600);
    (server, home)
}

fn count(sight: &Sight, text: &str) -> usize {
    let ours = sight.ours().map(|(_, shown)| shown.text.as_str());
    ours.filter(|shown| shown.contains(text)).count()
}

async fn sees(server: &Server, text: &str) {
    let scene = server.stage();
    let is_there = |sight: &Sight| count(sight, text) > 0;
    let seen = tokio::time::timeout(PATIENCE, scene.until(&is_there)).await;
    assert!(seen.is_ok(), "{text}: {:#?}", scene.look().chats);
}

/// A bot cannot write to anybody who has not written to it.
async fn meet(server: &Server) {
    let hello = Written::to_chat("42", "direct", ("42", "hello"));
    server.vendor().write(&hello);
    sees(server, "demo model").await;
}

#[tokio::test]
async fn what_is_due_while_the_gateway_is_killed_is_said_once() {
    let (server, home) = set_up().await;
    let (mut gateway, _log) = started(&home).await;
    meet(&server).await;
    let plan = [
        "schedule",
        "add",
        PLACE,
        "in 2s",
        "--say",
        "once and for all",
    ];
    home.run(&plan)
        .await
        .shows(&["planned", "once and for all"]);
    gateway.kill().await.unwrap();
    // Killed before its time, and again as soon as it is back.
    let (mut gateway, _log) = started(&home).await;
    gateway.kill().await.unwrap();
    let (mut gateway, _log) = started(&home).await;
    sees(&server, "once and for all").await;
    // Killed as soon as people see it, whatever the ledger knows by then.
    gateway.kill().await.unwrap();
    let (mut gateway, _log) = started(&home).await;
    // What is sent to the same chat comes after whatever was still to be said there.
    let marked = home.run(&["send", PLACE, "that was all"]).await;
    assert_eq!(marked.code, 0, "{marked:?}");
    sees(&server, "that was all").await;
    assert_eq!(count(&server.stage().look(), "once and for all"), 1);
    let listed = home
        .run(&["schedule", "list", "--all", "--json"])
        .await
        .json();
    let schedule = &listed["data"][0];
    assert_eq!(schedule["state"], "done", "{listed}");
    let shown = home
        .run(&[
            "schedule",
            "show",
            schedule["id"].as_str().unwrap(),
            "--json",
        ])
        .await
        .json();
    let times = shown["occurrences"].as_array().unwrap();
    assert_eq!(
        (times.len(), &times[0]["state"]),
        (1, &"served".into()),
        "{shown}"
    );
    let reply = times[0]["reply_id"].as_str().unwrap();
    home.run(&["trace", reply])
        .await
        .shows(&["schedule \"once and for all\"", "served", "due"]);
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_gone_with_its_answer_is_promised_nothing() {
    let home = Home::empty();
    let (mut gateway, _log) = started(&home).await;
    let body = json!({
        "model": "assistant",
        "messages": [{ "role": "user", "content": "remind: 10m stand up" }],
    });
    let caller = Caller::of(&home);
    let (status, _, answer) = caller.posts("/v1/chat/completions", &[], &body).await;
    assert_eq!(status, 200, "{answer}");
    assert!(
        answer.to_string().contains("cannot be reached later"),
        "{answer}"
    );
    home.run(&["schedule", "list", "--all"])
        .await
        .shows(&["nothing is planned"]);
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn an_operator_plans_pauses_runs_and_ends() {
    let (server, home) = set_up().await;
    let (mut gateway, _log) = started(&home).await;
    meet(&server).await;
    home.run(&["schedule", "list"])
        .await
        .shows(&["nothing is planned"]);
    let plan = [
        "schedule",
        "add",
        PLACE,
        "0 9 * * 1-5",
        "--ask",
        "any news?",
        "--zone",
        "Europe/Berlin",
        "--name",
        "morning",
        "--json",
    ];
    let made = home.run(&plan).await.json();
    let id = made["id"].as_str().unwrap();
    home.run(&["schedule", "list"]).await.shows(&[
        "morning",
        "0 9 * * 1-5 (Europe/Berlin)",
        "active",
    ]);
    home.run(&["schedule", "pause", id])
        .await
        .shows(&["paused"]);
    home.run(&["schedule", "list"]).await.shows(&["paused"]);
    home.run(&["schedule", "resume", id])
        .await
        .shows(&["in force again"]);
    home.run(&["schedule", "run", id]).await.shows(&["done"]);
    sees(&server, "any news?").await;
    let shown = home.run(&["schedule", "show", id, "--json"]).await.json();
    let event = shown["occurrences"][0]["event_id"].as_str().unwrap();
    home.run(&["trace", event]).await.shows(&[
        "schedule \"morning\"",
        "It is time for",
        "delivered",
    ]);
    home.run(&["schedule", "remove", id])
        .await
        .shows(&["removed"]);
    home.run(&["schedule", "list"])
        .await
        .shows(&["nothing is planned"]);
    home.run(&["schedule", "run", id])
        .await
        .fails(1, &["has ended"]);
    let refused = home
        .run(&["schedule", "add", PLACE, "soon", "--say", "x"])
        .await;
    refused.fails(1, &["`30m`"]);
    let both = home
        .run(&["schedule", "add", PLACE, "30m", "--say", "x", "--ask", "y"])
        .await;
    assert_eq!(both.code, 2, "{both:?}");
    gateway.kill().await.unwrap();
}
