//! Conversations through the gateway's front door: each message is posted, and its answer awaited on the conversation's
//! own stream of events.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use reqwest::Client;
use serde_json::{Value, json};

use crate::direct::{QUESTION, TURNS};
use crate::process::Process;
use crate::sample::Sample;

/// Conversations that one of the people opens before they talk.
const AT_ONCE: usize = 8;

impl Process {
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
