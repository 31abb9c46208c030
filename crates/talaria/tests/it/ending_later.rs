//! What ends while the gateway is down is told when it is back: once, in the conversation that asked. The real binary,
//! a real process, kill -9.

use std::path::Path;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::Value;

use crate::program::{Home, PATIENCE};
use crate::starting::started;

/// A pipe with a name: whoever reads waits for whoever writes.
fn pipe(home: &Home, name: &str) -> String {
    let path = home.file(name);
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    path.to_str().unwrap().to_owned()
}

async fn write_to(path: &str) {
    let writing = tokio::fs::write(Path::new(path).to_owned(), "go\n");
    tokio::time::timeout(PATIENCE, writing)
        .await
        .unwrap()
        .unwrap();
}

async fn read_from(path: &str) {
    let reading = tokio::fs::read(Path::new(path).to_owned());
    tokio::time::timeout(PATIENCE, reading)
        .await
        .unwrap()
        .unwrap();
}

/// What was said in the only conversation, as soon as the agent has said so many things.
async fn said(home: &Home, answers: usize) -> Vec<(String, String)> {
    let looking = async {
        loop {
            let listed = home.run(&["sessions", "list", "--json"]).await.json();
            let id = listed["data"][0]["id"].as_str().unwrap().to_owned();
            let shown = home.run(&["sessions", "show", &id, "--json"]).await.json();
            let said = entries(&shown);
            if said.iter().filter(|(who, _)| who == "assistant").count() >= answers {
                return said;
            }
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.unwrap()
}

fn entries(shown: &Value) -> Vec<(String, String)> {
    let entries = shown["messages"].as_array().unwrap();
    let text = |entry: &Value, field: &str| entry[field].as_str().unwrap_or_default().to_owned();
    entries
        .iter()
        .map(|entry| (text(entry, "speaker"), text(entry, "text")))
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

#[tokio::test]
async fn what_ends_while_the_gateway_is_down_is_told_once_when_it_is_back() {
    let home = Home::empty();
    let (begin, over) = (pipe(&home, "begin"), pipe(&home, "over"));
    let (mut gateway, _log) = started(&home).await;
    let order = format!("background: cat {begin}; echo late''news; echo x > {over}; exit 3\n");
    let done = home.run_with(&["chat"], &[], &order).await;
    done.shows(&["notify_on_complete"]);
    gateway.kill().await.unwrap();
    write_to(&begin).await;
    read_from(&over).await;

    let (mut gateway, _log) = started(&home).await;
    let said = said(&home, 2).await;
    let news: Vec<_> = said
        .iter()
        .filter(|(who, text)| who == "user" && text.contains("latenews"))
        .collect();
    assert_eq!(news.len(), 1, "{said:?}");
    let jobs = home.run(&["jobs", "list", "--json"]).await.json();
    assert_eq!(jobs["data"].as_array().map(Vec::len), Some(1), "{jobs}");
    assert!(jobs.to_string().contains("failed"), "{jobs}");
    gateway.kill().await.unwrap();

    // And not again at the next start.
    let (mut gateway, _log) = started(&home).await;
    home.run_with(&["chat"], &[], "hello\n")
        .await
        .shows(&["demo"]);
    let told = home.run(&["jobs", "list"]).await;
    told.shows(&["failed"]);
    gateway.kill().await.unwrap();
}
