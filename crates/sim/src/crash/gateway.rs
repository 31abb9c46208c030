//! The gateway's process: started, asked how it is, and killed.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::letters::Letter;

/// How long it may take to be ready.
const PATIENCE: Duration = Duration::from_secs(30);

/// A gateway at work.
pub(super) struct Gateway {
    child: Child,
    base: String,
    key: String,
    client: reqwest::Client,
}

impl Gateway {
    /// Starts it on this data directory, and waits until it is ready.
    pub(super) async fn start(binary: &Path, home: &Path) -> anyhow::Result<Self> {
        // The guard against loops would tell people instead of answering them: here it is not what is looked at.
        drop(std::fs::remove_file(home.join("starts.json")));
        let port = std::net::TcpListener::bind("127.0.0.1:0")?
            .local_addr()?
            .port();
        let child = Command::new(binary)
            .arg("up")
            .env("TALARIA_HOME", home)
            .env("TALARIA_LISTEN", format!("127.0.0.1:{port}"))
            .env("TALARIA_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let mut gateway = Self {
            child,
            base: format!("http://127.0.0.1:{port}"),
            key: String::new(),
            client: reqwest::Client::builder().build()?,
        };
        tokio::time::timeout(PATIENCE, gateway.is_up())
            .await
            .context("the gateway does not start")??;
        let key = std::fs::read_to_string(home.join("operator.key"))?;
        key.trim().clone_into(&mut gateway.key);
        Ok(gateway)
    }

    async fn is_up(&mut self) -> anyhow::Result<()> {
        let url = format!("{}/healthz", self.base);
        while self.client.get(&url).send().await.is_err() {
            let ended = self.child.try_wait()?;
            ensure!(ended.is_none(), "the gateway ended: {ended:?}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// Kills it without a word.
    pub(super) fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// The same, at the end.
    pub(super) fn stop(self) -> anyhow::Result<()> {
        self.kill()
    }

    /// Whether nothing is under way.
    pub(super) async fn is_idle(&self) -> anyhow::Result<bool> {
        let status = self.get("/api/status").await?;
        let is_none = |value: &Value| value.as_u64() == Some(0);
        let inbox = ["queued", "claimed"]
            .iter()
            .all(|state| is_none(&status["inbox"][state]));
        let outbox = ["queued", "sending", "retry", "doubted"]
            .iter()
            .all(|state| is_none(&status["outbox"][state]));
        Ok(inbox && outbox)
    }

    /// What is listed as given up, each with what it is about.
    pub(super) async fn letters(&self) -> anyhow::Result<Vec<Letter>> {
        let (mut letters, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.get(&format!("/api/dead?limit=200{after}")).await?;
            for row in page["data"].as_array().into_iter().flatten() {
                let thing = row["thing_id"].as_str().context("a letter about nothing")?;
                let trace = self.get(&format!("/api/trace/{thing}")).await?;
                let letter = Letter::about(thing, &trace);
                letters.push(letter.with_context(|| format!("{thing} is not in its trace"))?);
            }
            let Some(next) = page["next"].as_str() else {
                return Ok(letters);
            };
            after = format!("&after={next}");
        }
    }

    async fn get(&self, path: &str) -> anyhow::Result<Value> {
        let url = format!("{}{path}", self.base);
        let answer = self.client.get(url).bearer_auth(&self.key).send().await?;
        Ok(answer.error_for_status()?.json().await?)
    }
}
