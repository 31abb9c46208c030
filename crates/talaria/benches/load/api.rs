//! Programs at the OpenAI-compatible door: how many completions a second, how much later the first word comes, and what
//! streams cost that stay open. The same requests go to the model and to the gateway in front of it.

use std::time::{Duration, Instant};

use futures::StreamExt as _;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::direct::{QUESTION, client};
use crate::model::Model;
use crate::process::{Process, READY, configuration};
use crate::sample::Sample;
use crate::{Plan, ROUNDS, line};

/// Where completions are asked for.
#[derive(Clone)]
struct Door {
    client: Client,
    url: String,
    key: String,
    model: &'static str,
}

impl Door {
    fn of_model(base_url: &str) -> Self {
        Self {
            client: client(),
            url: format!("{base_url}/chat/completions"),
            key: String::new(),
            model: "simulated",
        }
    }

    fn of_gateway(process: &Process) -> Self {
        Self {
            client: client(),
            url: format!("{}/v1/chat/completions", process.base),
            key: process.key.clone(),
            model: "assistant",
        }
    }

    fn request(&self, text: &str, is_stream: bool) -> RequestBuilder {
        let body = json!({
            "model": self.model,
            "messages": [{ "role": "user", "content": text }],
            "stream": is_stream,
        });
        self.client
            .post(&self.url)
            .bearer_auth(&self.key)
            .json(&body)
    }

    fn get(&self, url: &str) -> RequestBuilder {
        self.client.get(url).bearer_auth(&self.key)
    }

    /// Where the events of a run are told that never ends by itself.
    async fn silent_run(&self, base: &str) -> String {
        let asked = self.client.post(format!("{base}/v1/runs"));
        let asked = asked
            .bearer_auth(&self.key)
            .json(&json!({ "input": "hang" }));
        let made: Value = asked.send().await.unwrap().json().await.unwrap();
        format!("{base}/v1/runs/{}/events", made["run_id"].as_str().unwrap())
    }

    /// How long a whole answer takes.
    async fn ask(&self) -> Duration {
        let start = Instant::now();
        let answer = self.request(QUESTION, false).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        let text = answer["choices"][0]["message"]["content"].as_str();
        assert!(text.is_some_and(|text| !text.is_empty()), "{answer}");
        start.elapsed()
    }

    /// How long the first word takes. The rest is heard to its end.
    async fn hear(&self) -> Duration {
        let start = Instant::now();
        let answer = self.request(QUESTION, true).send().await.unwrap();
        let mut pieces = answer.bytes_stream();
        let (mut heard, mut first) = (Vec::new(), None);
        while let Some(piece) = pieces.next().await {
            heard.extend_from_slice(&piece.unwrap());
            if first.is_none() && has_words(&heard) {
                first = Some(start.elapsed());
            }
        }
        first.unwrap()
    }
}

/// Whether a word is in what was heard; the first piece has a role and no words.
fn has_words(heard: &[u8]) -> bool {
    String::from_utf8_lossy(heard).lines().any(|line| {
        let event: Option<Value> = line
            .strip_prefix("data: ")
            .and_then(|event| serde_json::from_str(event).ok());
        event.is_some_and(|event| {
            event["choices"][0]["delta"]["content"]
                .as_str()
                .is_some_and(|text| !text.is_empty())
        })
    })
}

/// What is asked of a door, over and over.
#[derive(Clone, Copy)]
enum What {
    Whole,
    FirstWord,
}

async fn measure(door: &Door, what: What, connections: usize, time: Duration) -> Sample {
    let start = Instant::now();
    let end = start + time;
    let asking = (0..connections).map(|_| {
        let door = door.clone();
        async move {
            let mut waits = Vec::new();
            while Instant::now() < end {
                waits.push(match what {
                    What::Whole => door.ask().await,
                    What::FirstWord => door.hear().await,
                });
            }
            waits
        }
    });
    let asked: tokio::task::JoinSet<Vec<Duration>> = asking.collect();
    Sample {
        waits: asked.join_all().await.into_iter().flatten().collect(),
        time: start.elapsed(),
        used: Duration::ZERO,
    }
}

/// What is measured, what it is called, in how many pieces answers come, and on how many connections.
const ROWS: [(What, &str, usize, usize); 3] = [
    (What::Whole, "whole", 1, 64),
    (What::FirstWord, "first", 24, 1),
    (What::FirstWord, "first", 24, 64),
];

/// Measures the rows with this name, or all of them.
pub(crate) async fn run(plan: Plan, only: Option<&str>) {
    crate::heading();
    let is_wanted = |row: &&(What, &str, usize, usize)| only.is_none_or(|name| row.1 == name);
    for &(what, name, pieces, connections) in ROWS.iter().filter(is_wanted) {
        let model = Model::start(pieces).await;
        let process = Process::start(&configuration(&model.url(), "process"), READY).await;
        let doors = (Door::of_model(&model.url()), Door::of_gateway(&process));
        let (mut direct, mut through) = (Sample::default(), Sample::default());
        for _ in 0..ROUNDS {
            let time = plan.time / ROUNDS;
            direct.add(measure(&doors.0, what, connections, time).await);
            let before = process.time_used();
            through.add(measure(&doors.1, what, connections, time).await);
            through.used += process.time_used().saturating_sub(before);
        }
        process.stop().await;
        line(("process", name, "asked", connections), direct, through);
    }
    if plan.streams > 0 {
        memory(plan.streams).await;
    }
}

/// What streams cost that stay open: readers of one run's events, and callers whose answers do not come.
async fn memory(streams: usize) {
    let model = Model::start(1).await;
    let process = Process::start(&configuration(&model.url(), "process"), READY).await;
    let door = Door::of_gateway(&process);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let at_rest = process.memory();
    let events = door.silent_run(&process.base).await;
    let readers = open(streams, || door.get(&events)).await;
    let with_readers = process.memory();
    drop(readers);
    let callers = open(streams, || door.request("hang", true)).await;
    let with_callers = process.memory();
    drop(callers);
    process.stop().await;
    let more = |memory: u64| (memory.saturating_sub(at_rest)) as f64 / 1e3;
    println!(
        "\n{streams} open streams: {:.1} MB for readers of a run's events; {:.1} MB for completions, each with its turn, \
         its model call and what the readers left ({:.1} MB at rest)",
        more(with_readers),
        more(with_callers),
        at_rest as f64 / 1e3
    );
}

/// So many answers that begin and do not end.
async fn open(streams: usize, ask: impl Fn() -> RequestBuilder) -> Vec<Response> {
    let mut open = Vec::new();
    while open.len() < streams {
        let asking = (0..50).map(|_| ask().send());
        for answer in futures::future::join_all(asking).await {
            open.push(answer.unwrap().error_for_status().unwrap());
        }
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    open
}
