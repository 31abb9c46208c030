//! Conversations through the gateway's doors. At one of them a message is a completion in its conversation, asked and
//! answered in one exchange, as a model is asked; at the other each message is posted, and its answer awaited on the
//! conversation's own stream of events.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use reqwest::Client;
use serde_json::{Value, json};

use crate::Door;
use crate::direct::{QUESTION, TURNS};
use crate::process::Process;
use crate::sample::Sample;

/// How an answer is asked for at the door where there is a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Whole,
    Stream,
}

impl Manner {
    /// As it comes from a model that makes so many pieces of it.
    pub(crate) const fn of(pieces: usize) -> Self {
        if pieces > 1 {
            Self::Stream
        } else {
            Self::Whole
        }
    }
}

/// Conversations that one of the people opens before they talk.
const AT_ONCE: usize = 8;

impl Process {
    /// So many people talk for a while, each as long in one conversation as those who ask the model directly, then in
    /// the next. Opening conversations is not part of the time.
    pub(crate) async fn measure(
        &self,
        way: (Door, Manner),
        people: usize,
        time: Duration,
    ) -> Sample {
        let mut sample = Sample::default();
        while sample.time < time {
            let mut talks = Vec::new();
            for _ in 0..people * AT_ONCE {
                talks.push(self.talk(way).await);
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
                talks.push(self.talk((Door::Page, Manner::Whole)).await);
            }
            let asking = talks
                .into_iter()
                .map(|mut talk| async move { talk.ask().await });
            futures::future::join_all(asking).await;
        }
    }

    async fn talk(&self, (door, manner): (Door, Manner)) -> Talk {
        let made = self
            .client
            .post(format!("{}/api/sessions", self.base))
            .bearer_auth(&self.key)
            .json(&json!({}))
            .send()
            .await
            .unwrap();
        let made: Value = made.json().await.unwrap();
        let id = made["id"].as_str().unwrap().to_owned();
        let events = match door {
            Door::Page => Some(self.events(&id).await),
            Door::Completions => None,
        };
        Talk {
            client: self.client.clone(),
            key: self.key.clone(),
            base: self.base.clone(),
            session: id,
            manner,
            events,
        }
    }

    async fn events(&self, session: &str) -> Events {
        let events = self
            .client
            .get(format!("{}/api/sessions/{session}/events", self.base))
            .bearer_auth(&self.key)
            .send()
            .await
            .unwrap();
        let mut events = Events {
            stream: events.bytes_stream().boxed(),
            heard: Vec::new(),
        };
        events.hear(b": watching").await;
        events
    }
}

/// A conversation.
struct Talk {
    client: Client,
    key: String,
    base: String,
    session: String,
    manner: Manner,
    /// Where its answers are heard, if not where they are asked for.
    events: Option<Events>,
}

/// What happens in a conversation.
struct Events {
    stream: futures::stream::BoxStream<'static, reqwest::Result<Bytes>>,
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
        match &mut self.events {
            None => self.ask_for_a_completion().await,
            Some(events) => {
                let messages = format!("{}/api/sessions/{}/messages", self.base, self.session);
                let posting = self.client.post(messages).bearer_auth(&self.key);
                let posted = posting.json(&json!({ "text": QUESTION })).send().await;
                assert_eq!(posted.unwrap().status().as_u16(), 202);
                events.hear(b"event: said").await;
            }
        }
    }

    async fn ask_for_a_completion(&mut self) {
        let body = json!({
            "model": "assistant",
            "messages": [{ "role": "user", "content": QUESTION }],
            "stream": self.manner == Manner::Stream,
        });
        let asking = self
            .client
            .post(format!("{}/v1/chat/completions", self.base))
            .bearer_auth(&self.key)
            .header("x-talaria-session-id", &self.session);
        let answer = asking.json(&body).send().await.unwrap();
        assert_eq!(answer.headers()["x-talaria-session-id"], self.session);
        let text = answer.text().await.unwrap();
        if self.manner == Manner::Stream {
            assert!(text.contains("[DONE]"), "{text}");
            return;
        }
        let answer: Value = serde_json::from_str(&text).unwrap();
        let words = answer["choices"][0]["message"]["content"].as_str();
        assert!(
            words.is_some_and(|words| words.contains(QUESTION)),
            "{answer}"
        );
    }
}

impl Events {
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
            let chunk = self.stream.next().await.unwrap().unwrap();
            self.heard.extend_from_slice(&chunk);
        }
    }
}

fn find(heard: &[u8], wanted: &[u8]) -> Option<usize> {
    heard.windows(wanted.len()).position(|part| part == wanted)
}
