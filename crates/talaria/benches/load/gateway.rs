//! The real binary with its real store, and conversations through its front door: each message is posted, and its
//! answer awaited on the conversation's own stream of events.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use reqwest::Client;
use serde_json::{Value, json};

use crate::direct::{QUESTION, TURNS, client};
use crate::sample::Sample;

/// Conversations that one of the people opens before they talk.
const AT_ONCE: usize = 8;

/// A gateway under way.
pub(crate) struct Process {
    child: Child,
    /// Lives as long as the gateway.
    home: Option<tempfile::TempDir>,
    pub(crate) base: String,
    pub(crate) key: String,
    client: Client,
    /// From exec to ready.
    pub(crate) ready_after: Duration,
}

impl Process {
    /// Starts one on an empty store.
    pub(crate) async fn start(model: &str, durability: &str) -> Self {
        let home = tempfile::tempdir_in("/var/tmp").unwrap();
        let mut process = Self::start_at(home.path(), model, durability).await;
        process.home = Some(home);
        process
    }

    /// Starts one on this store.
    pub(crate) async fn start_at(home: &Path, model: &str, durability: &str) -> Self {
        let config = home.join("talaria.toml");
        std::fs::write(&config, configuration(model, durability)).unwrap();
        let port = free_port();
        let client = client();
        let base = format!("http://127.0.0.1:{port}");
        let start = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_talaria"))
            .arg("up")
            .env("TALARIA_HOME", home)
            .env("TALARIA_LISTEN", format!("127.0.0.1:{port}"))
            .env("TALARIA_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let ready_after = loop {
            let answer = client.get(format!("{base}/readyz")).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                break start.elapsed();
            }
            assert!(
                start.elapsed() < Duration::from_mins(1),
                "it does not start"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        let key = std::fs::read_to_string(home.join("operator.key")).unwrap();
        Self {
            child,
            home: None,
            base,
            key: key.trim().to_owned(),
            client,
            ready_after,
        }
    }

    /// Asks it to stop, and waits.
    pub(crate) async fn stop(mut self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        tokio::task::spawn_blocking(move || self.child.wait().unwrap())
            .await
            .unwrap();
        drop(self.home);
    }

    /// What it has used of the processors so far.
    pub(crate) fn time_used(&self) -> Duration {
        let path = PathBuf::from(format!("/proc/{}/stat", self.child.id()));
        let stat = std::fs::read_to_string(path).unwrap();
        // After the name, which may hold anything: user and system time are the twelfth and thirteenth.
        let (_, rest) = stat.rsplit_once(") ").unwrap();
        let fields = rest.split(' ').skip(11).take(2);
        let ticks: u64 = fields.map(|field| field.parse::<u64>().unwrap()).sum();
        Duration::from_millis(1_000 * ticks / rustix::param::clock_ticks_per_second())
    }

    /// Resident kilobytes.
    pub(crate) fn memory(&self) -> u64 {
        let path = PathBuf::from(format!("/proc/{}/status", self.child.id()));
        let status = std::fs::read_to_string(path).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// So many people talk for a while, each as long in one conversation as those who ask the model directly, then in
    /// the next. Opening conversations is not part of the time.
    pub(crate) async fn measure(&self, people: usize, time: Duration) -> Sample {
        let mut sample = Sample::default();
        while sample.time < time {
            let mut talks = Vec::new();
            for _ in 0..people * AT_ONCE {
                talks.push(self.talk().await);
            }
            let before = self.time_used();
            let start = Instant::now();
            let talked: tokio::task::JoinSet<Vec<Duration>> = (0..people)
                .map(|_| go_on(talks.split_off(talks.len() - AT_ONCE)))
                .collect();
            let waits = talked.join_all().await.into_iter().flatten().collect();
            sample.add(Sample {
                waits,
                time: start.elapsed(),
                used: self.time_used().saturating_sub(before),
            });
        }
        sample
    }

    /// One turn in each of so many conversations.
    pub(crate) async fn talk_once(&self, sessions: usize) {
        for _ in 0..sessions.div_ceil(50) {
            let mut talks = Vec::new();
            for _ in 0..50 {
                talks.push(self.talk().await);
            }
            let asking = talks
                .into_iter()
                .map(|mut talk| async move { talk.ask().await });
            futures::future::join_all(asking).await;
        }
    }

    async fn talk(&self) -> Talk {
        let made = self
            .client
            .post(format!("{}/api/sessions", self.base))
            .bearer_auth(&self.key)
            .json(&json!({}))
            .send()
            .await
            .unwrap();
        let made: Value = made.json().await.unwrap();
        let session = format!(
            "{}/api/sessions/{}",
            self.base,
            made["id"].as_str().unwrap()
        );
        let events = self
            .client
            .get(format!("{session}/events"))
            .bearer_auth(&self.key)
            .send()
            .await
            .unwrap();
        let mut talk = Talk {
            client: self.client.clone(),
            key: self.key.clone(),
            messages: format!("{session}/messages"),
            events: events.bytes_stream().boxed(),
            heard: Vec::new(),
        };
        talk.hear(b": watching").await;
        talk
    }
}

fn configuration(model: &str, durability: &str) -> String {
    format!(
        "[store]\nurl = \"sqlite\"\ndurability = \"{durability}\"\n\
         [model.main]\nprovider = \"openai\"\nbase_url = \"{model}\"\nmodel = \"simulated\"\n\
         [profile.assistant]\nmodel = \"main\"\ninstructions = \"\"\ntools = []\n\
         [gateway]\nmax_turns = 4096\n"
    )
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A conversation.
struct Talk {
    client: Client,
    key: String,
    messages: String,
    events: futures::stream::BoxStream<'static, reqwest::Result<Bytes>>,
    heard: Vec<u8>,
}

type Bytes = axum::body::Bytes;

/// One conversation after the other.
async fn go_on(talks: Vec<Talk>) -> Vec<Duration> {
    let mut waits = Vec::new();
    for mut talk in talks {
        for _ in 0..TURNS {
            let start = Instant::now();
            talk.ask().await;
            waits.push(start.elapsed());
        }
    }
    waits
}

impl Talk {
    /// One message, until its answer is there.
    async fn ask(&mut self) {
        let posted = self
            .client
            .post(&self.messages)
            .bearer_auth(&self.key)
            .json(&json!({ "text": QUESTION }))
            .send()
            .await
            .unwrap();
        assert_eq!(posted.status().as_u16(), 202);
        self.hear(b"event: said").await;
    }

    /// Waits for a line that begins like this.
    async fn hear(&mut self, wanted: &[u8]) {
        loop {
            if let Some(at) = find(&self.heard, wanted) {
                self.heard.drain(..at + wanted.len());
                return;
            }
            // What was looked at cannot begin what is waited for, but for its last bytes.
            let keep = self.heard.len().min(wanted.len());
            self.heard.drain(..self.heard.len() - keep);
            let chunk = self.events.next().await.unwrap().unwrap();
            self.heard.extend_from_slice(&chunk);
        }
    }
}

fn find(heard: &[u8], wanted: &[u8]) -> Option<usize> {
    heard.windows(wanted.len()).position(|part| part == wanted)
}
