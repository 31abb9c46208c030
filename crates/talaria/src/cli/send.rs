//! `talaria send`: a text to a chat, without an agent. It is durable once the gateway has it; the command waits for the
//! platform's receipt.

use std::time::Duration;

use anyhow::anyhow;
use serde_json::{Value, json};

use super::client::Gateway;
use super::text::{field, first_field};
use super::{Context, Failure};
use crate::output;

const FIRST_LOOK: Duration = Duration::from_millis(100);
const LATER_LOOK: Duration = Duration::from_secs(1);

/// Send a text to a chat, without an agent
#[derive(Debug, clap::Args)]
#[command(
    after_help = "PLATFORM alone means the account's home chat. The text is kept until it is delivered or given up.

Example:
  talaria send PLATFORM:12345:42 \"the backup is done\""
)]
pub(crate) struct Send {
    /// Where to: `PLATFORM[:CHAT[:THREAD]]`
    to: String,
    /// What
    text: String,
    /// How long to wait for the receipt, in seconds
    #[arg(long, default_value_t = 30)]
    wait: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What became of it so far.
enum Fate {
    UnderWay,
    Delivered(Vec<String>),
    GivenUp(String),
}

impl Send {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        let body = json!({ "to": self.to, "text": self.text });
        let answer = gateway.post(&["api", "send"], &body).await?;
        let reply = field(&answer, "reply_id");
        let waiting = Duration::from_secs(self.wait);
        let followed = tokio::time::timeout(waiting, follow(&gateway, &reply)).await;
        let (fate, trace) = match followed {
            Ok(followed) => followed?,
            Err(_) => (Fate::UnderWay, Value::Null),
        };
        if self.json {
            output::json(&json!({ "reply_id": reply, "trace": trace }));
        }
        match fate {
            Fate::Delivered(receipts) => {
                if !self.json {
                    let receipts = receipts.join(", ");
                    output::line(&format!("delivered as {receipts} (reply {reply})"));
                }
                Ok(())
            }
            Fate::GivenUp(why) => Err(Failure::Failed(anyhow!(
                "it was not delivered: {why}; look at `talaria trace {reply}`"
            ))),
            Fate::UnderWay => Err(Failure::Failed(anyhow!(
                "no receipt within {} s; it is recorded and still being tried: `talaria trace {reply}`",
                self.wait
            ))),
        }
    }
}

async fn follow(gateway: &Gateway, reply: &str) -> Result<(Fate, Value), Failure> {
    let mut pause = FIRST_LOOK;
    loop {
        let trace = gateway.get(&["api", "trace", reply]).await?;
        match fate(&trace, reply) {
            Fate::UnderWay => {}
            fate => return Ok((fate, trace)),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LATER_LOOK);
    }
}

fn fate(trace: &Value, reply: &str) -> Fate {
    let replies = trace["replies"].as_array().into_iter().flatten();
    let Some(found) = replies
        .into_iter()
        .find(|found| field(found, "id") == reply)
    else {
        return Fate::UnderWay;
    };
    let parts = || found["parts"].as_array().into_iter().flatten();
    match field(found, "state").as_str() {
        "delivered" => {
            let receipts =
                parts().flat_map(|part| part["receipts"].as_array().into_iter().flatten());
            Fate::Delivered(receipts.map(|receipt| field(receipt, "message")).collect())
        }
        "failed" | "discarded" => {
            let dead = trace["dead"].as_array().into_iter().flatten();
            let reasons = dead.map(|letter| field(letter, "reason"));
            let detail = |part: &Value| {
                let last = part["attempts"]
                    .as_array()
                    .and_then(|attempts| attempts.last());
                last.map(|attempt| first_field(attempt, &["detail", "outcome"]))
            };
            let reasons = reasons.chain(parts().filter_map(detail));
            let reason = reasons.into_iter().find(|reason| !reason.is_empty());
            Fate::GivenUp(reason.unwrap_or_else(|| "nobody said why".to_owned()))
        }
        _ if parts().any(|part| field(part, "state") == "unknown") => {
            Fate::GivenUp("nobody knows whether it arrived".to_owned())
        }
        _ => Fate::UnderWay,
    }
}
