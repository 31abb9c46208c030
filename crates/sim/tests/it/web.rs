//! Somebody who asks simulated servers over HTTP, and those servers as processes.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use reqwest::{Client, Method, Response};
use serde_json::Value;

use crate::SIM;

/// A client that waits as long as it takes.
pub(crate) fn client() -> Client {
    // Another test of this process may have been first.
    let provider = rustls::crypto::ring::default_provider();
    provider.install_default().unwrap_or_default();
    Client::builder().build().unwrap()
}

/// Asks; gives the status and the body.
pub(crate) async fn ask(method: Method, url: &str, body: &Value) -> (u16, Value) {
    let response = client().request(method, url).json(body).send().await;
    read(response.unwrap()).await
}

/// Asks for what is there.
pub(crate) async fn get(url: &str) -> Value {
    let response = client().get(url).send().await.unwrap();
    let (status, body) = read(response).await;
    assert_eq!(status, 200, "{url}: {body}");
    body
}

/// Tells something.
pub(crate) async fn post(url: &str, body: &Value) -> (u16, Value) {
    ask(Method::POST, url, body).await
}

async fn read(response: Response) -> (u16, Value) {
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::String(text));
    (status, body)
}

/// A simulated server in a process of its own. Dropped, it is killed.
pub(crate) struct Process {
    child: Child,
    /// Where it says it is.
    pub(crate) url: String,
}

impl Process {
    /// Starts it on a free port. Blocks until it says where it is.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(SIM)
            .args(arguments)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
