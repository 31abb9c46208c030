//! The simulated model, and asking it without a gateway.

use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::json;

use talaria_sim::model::{Pace, Server};

use crate::sample::Sample;

pub(crate) const QUESTION: &str = "Could you look at the build that failed last night?";

/// A model whose answers come in so many pieces.
pub(crate) async fn model(chunks: usize) -> Server {
    let pace = Pace {
        pieces: chunks,
        ..Pace::default()
    };
    Server::start("127.0.0.1:0", pace).await.unwrap()
}

/// So many conversations ask the model for a while.
pub(crate) async fn measure(base_url: &str, sessions: usize, time: Duration) -> Sample {
    let client = client();
    let start = Instant::now();
    let end = start + time;
    let asking = (0..sessions).map(|_| ask_until(end, client.clone(), base_url.to_owned()));
    let asked: tokio::task::JoinSet<Vec<Duration>> = asking.collect();
    let waits = asked.join_all().await.into_iter().flatten().collect();
    Sample {
        waits,
        time: start.elapsed(),
    }
}

async fn ask_until(end: Instant, client: Client, base_url: String) -> Vec<Duration> {
    let url = format!("{base_url}/chat/completions");
    let body = json!({
        "model": "simulated",
        "messages": [{ "role": "user", "content": QUESTION }],
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    let mut waits = Vec::new();
    loop {
        let start = Instant::now();
        if start > end {
            return waits;
        }
        let answer = client.post(&url).json(&body).send().await.unwrap();
        let text = answer.text().await.unwrap();
        assert!(text.contains("[DONE]"), "{text}");
        waits.push(start.elapsed());
    }
}

pub(crate) fn client() -> Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().build().unwrap()
}
