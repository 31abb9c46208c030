//! `talaria status`: how the running gateway is, on one screen.

use serde_json::{Value, json};
use talaria_domain::clock::{Clock as _, SystemClock, Timestamp};

use super::client::Gateway;
use super::table::Table;
use super::text::{ago, field, span, time};
use super::{Context, Failure};
use crate::output::{self, Look};

/// How the gateway is: adapters, lanes, queues, dead letters
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Also prints a fresh link for the web page; it works once.

Example:
  talaria status --json"
)]
pub(crate) struct Status {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Status {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        let status = gateway.get(&["api", "status"]).await?;
        if self.json {
            output::json(&status);
            return Ok(());
        }
        let now = SystemClock.now();
        let login = gateway.post(&["api", "login"], &json!({})).await.ok();
        let link = login.map(|login| field(&login, "url"));
        let link = link.and_then(|path| gateway.root().join(&path).ok());
        let up = time(&status, "started_at")
            .map(|at| span(now.as_millis().saturating_sub(at.as_millis())));
        context.facts(&[
            ("talaria", field(&status, "version")),
            ("up for", up.unwrap_or_default()),
            ("profile", field(&status, "profile")),
            ("model", field(&status, "model")),
            ("store", field(&status, "store")),
            ("api", gateway.root().to_string()),
            (
                "web",
                link.map(|link| format!("{link}  (works once)"))
                    .unwrap_or_default(),
            ),
            ("lanes", counts(&status["lanes"])),
            ("inbox", counts(&status["inbox"])),
            ("outbox", outbox(&status["outbox"], now)),
            ("dead letters", field(&status, "dead")),
        ]);
        output::line("");
        parts(context, &status["parts"], now);
        Ok(())
    }
}

fn parts(context: &Context, parts: &Value, now: Timestamp) {
    let mut table = Table::with_headings(&["part", "state", "last receive", "last send", "detail"]);
    let when = |part: &Value, name| time(part, name).map_or("-".to_owned(), |at| ago(at, now));
    for part in parts.as_array().into_iter().flatten() {
        table.row([
            field(part, "name"),
            field(part, "state"),
            when(part, "last_receive"),
            when(part, "last_send"),
            field(part, "detail"),
        ]);
    }
    context.table(&table);
    let is_well = |part: &&Value| part["state"] == "connected";
    let all = parts.as_array().map_or(0, Vec::len);
    let well = parts
        .as_array()
        .into_iter()
        .flatten()
        .filter(is_well)
        .count();
    if well < all {
        let line = format!("{} of {all} parts are not well", all - well);
        output::line(&context.style.paint(Look::Doubtful, &line));
    }
}

/// `3 open, 1 running`.
fn counts(object: &Value) -> String {
    let counts = object.as_object().into_iter().flatten();
    let counts = counts.filter(|(name, _)| *name != "oldest_undelivered");
    let each: Vec<_> = counts
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    each.join(", ")
}

fn outbox(object: &Value, now: Timestamp) -> String {
    let oldest = time(object, "oldest_undelivered");
    let oldest = oldest.map(|at| format!("; the oldest undelivered is from {}", ago(at, now)));
    format!("{}{}", counts(object), oldest.unwrap_or_default())
}
