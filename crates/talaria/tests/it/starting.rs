//! The real gateway, started by the real binary, and a conversation with it.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr};

use crate::program::{Home, PATIENCE};

/// A gateway that runs until it is dropped.
pub(crate) async fn started(home: &Home) -> (Child, Lines<BufReader<ChildStderr>>) {
    let mut command = home.command(&["up"]);
    command
        .env("TALARIA_LISTEN", "127.0.0.1:0")
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let ready = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains("ready") {
                return (child, lines);
            }
        }
        panic!("it ends before it is ready");
    };
    tokio::time::timeout(PATIENCE, ready).await.unwrap()
}

#[tokio::test]
async fn the_real_gateway_is_found_and_talked_to() {
    let home = Home::empty();
    // Whoever closes its log would stop it.
    let (mut gateway, _log) = started(&home).await;
    home.run(&["status"]).await.shows(&["assistant", "demo"]);
    let done = home
        .run_with(&["chat"], &[], "run: echo o''k\n/help\n")
        .await;
    done.shows(&["ok", "/stop"]);
    assert_eq!(done.err, "");
    let listed = home.run(&["sessions", "list", "--json"]).await.json();
    let id = listed["data"][0]["id"].as_str().unwrap();
    home.run(&["sessions", "show", id])
        .await
        .shows(&["run: echo"]);
    home.run(&["dead", "list"])
        .await
        .shows(&["no dead letters"]);
    home.run(&["doctor"]).await.shows(&["a gateway runs here"]);
    gateway.kill().await.unwrap();
    home.run(&["status"]).await.fails(69, &["`talaria up`"]);
}
