//! Calls of the Events API, for bots that are called instead of being told over a socket. A call that was not answered with
//! a success is made again, and says how often.

use std::convert::Infallible;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::Client;
use serde_json::Value;
use sha2::Sha256;
use tokio::time::sleep;

use super::Vendor;
use super::world::Letter;
use crate::vendor::stage::now;

/// Slack waits for so long, and no longer.
const PATIENCE: Duration = Duration::from_secs(3);
/// Slack takes its time between two calls, minutes in the end; nobody wants to wait for that here.
const AGAIN: Duration = Duration::from_millis(50);

/// Who is called, where, and what it is signed with.
#[derive(Debug, Clone)]
pub struct Target {
    /// The bot, by its user id.
    pub bot: String,
    /// Where it is called.
    pub url: String,
    /// The signing secret.
    pub secret: String,
}

/// Calls a bot for everything that it is to hear, for as long as it is waited for.
pub async fn call(vendor: &Vendor, target: &Target) -> Infallible {
    // A client without TLS roots is enough for loopback, and cannot fail.
    let client = Client::builder().build().unwrap_or_default();
    let bot = vendor.see(|world| world.bot_of(&target.bot));
    let Some(bot) = bot else {
        return std::future::pending().await;
    };
    let mut way = vendor.with(|world| world.open_way(bot));
    loop {
        vendor.until(|world| world.has_letter(way)).await;
        let Some(letter) = vendor.with(|world| world.next_letter(way)) else {
            continue;
        };
        if deliver(&client, target, &letter).await {
            vendor.with(|world| world.taken(&letter));
            continue;
        }
        // Not polling: the bot does not tell when it will take it.
        sleep(AGAIN).await;
        way = vendor.with(|world| {
            world.close_way(way);
            world.open_way(bot)
        });
    }
}

async fn deliver(client: &Client, target: &Target, letter: &Letter) -> bool {
    let (media_type, body) = body(letter);
    let stamp = (now().as_millis() / 1_000).to_string();
    let mut request = client
        .post(&target.url)
        .timeout(PATIENCE)
        .header("content-type", media_type)
        .header(
            "x-slack-signature",
            signature(&target.secret, &stamp, &body),
        )
        .header("x-slack-request-timestamp", stamp);
    if letter.tries > 1 {
        request = request
            .header("x-slack-retry-num", letter.tries - 1)
            .header("x-slack-retry-reason", "http_error");
    }
    let answer = request.body(body).send().await;
    answer.is_ok_and(|answer| answer.status().is_success())
}

fn body(letter: &Letter) -> (&'static str, String) {
    let form = "application/x-www-form-urlencoded";
    let pairs: Vec<(String, String)> = match letter.kind {
        "interactive" => vec![("payload".to_owned(), letter.payload.to_string())],
        "slash_commands" => {
            let fields = letter.payload.as_object().into_iter().flatten();
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            fields
                .map(|(name, value)| (name.clone(), text(value)))
                .collect()
        }
        _ => return ("application/json", letter.payload.to_string()),
    };
    let Ok(mut url) = reqwest::Url::parse("http://simulated/") else {
        return (form, String::new());
    };
    url.query_pairs_mut().extend_pairs(pairs);
    (form, url.query().unwrap_or_default().to_owned())
}

/// "Verifying requests from Slack".
pub fn signature(secret: &str, stamp: &str, body: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes());
    let Ok(mut mac) = mac else {
        return String::new();
    };
    mac.update(format!("v0:{stamp}:{body}").as_bytes());
    let bytes = mac.finalize().into_bytes();
    let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
    format!("v0={}", digits.collect::<String>())
}
