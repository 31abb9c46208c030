//! Asking the model without a gateway.

use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};

use crate::sample::Sample;

pub(crate) const QUESTION: &str = "Could you look at the build that failed last night?";

/// Turns in a conversation, with and without a gateway: the model is always told all that was said.
pub(crate) const TURNS: usize = 8;

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
        used: Duration::ZERO,
    }
}

async fn ask_until(end: Instant, client: Client, base_url: String) -> Vec<Duration> {
    let url = format!("{base_url}/chat/completions");
    let mut waits = Vec::new();
    loop {
        let mut said = Vec::new();
        for _ in 0..TURNS {
            let start = Instant::now();
            if start > end {
                return waits;
            }
            said.push(json!({ "role": "user", "content": QUESTION }));
            let answer = ask(&client, &url, &said).await;
            said.push(json!({ "role": "assistant", "content": answer }));
            waits.push(start.elapsed());
        }
    }
}

/// What the model answers to all that was said.
async fn ask(client: &Client, url: &str, said: &[Value]) -> String {
    let body = json!({
        "model": "simulated",
        "messages": said,
        "stream": true,
        "stream_options": { "include_usage": true },
    });
    let answer = client.post(url).json(&body).send().await.unwrap();
    let text = answer.text().await.unwrap();
    assert!(text.contains("[DONE]"), "{text}");
    text.lines().filter_map(said_in).collect()
}

fn said_in(line: &str) -> Option<String> {
    let event: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
    let text = event["choices"][0]["delta"]["content"].as_str()?;
    Some(text.to_owned())
}

pub(crate) fn client() -> Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().build().unwrap()
}
