//! `GET /metrics`: the same counts for Prometheus. Written by hand: the text format is a line per number.

use std::fmt::Write as _;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use talaria_domain::clock::Timestamp;
use talaria_domain::machine::{InboxState, Machine, PartState, RunState};
use talaria_store::views::{self, Counts};

use super::probes;
use super::status::of;
use crate::access::guard::admit;
use crate::access::keys::Scope;
use crate::contract::{Operation, Routes};
use crate::error::ApiError;
use crate::health::{PartReport, TurnedAway};
use crate::shared::{About, App};

const FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(super) fn routes() -> Routes {
    Routes::new().get("/metrics", metrics, || {
        let operation = Operation::of("The same counts for Prometheus.");
        operation.gives_text("text/plain").refuses(&[401])
    })
}

async fn metrics(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    if !app.hosts.is_loopback() {
        admit(&app, &headers, Scope::Operator).await?;
    }
    let counts = app.shared.ledger.read(views::counts).await?;
    let report = app.shared.health.report();
    let seen = Seen {
        counts,
        parts: probes::parts(&app).await,
        lanes_running: report.lanes_running,
        turned_away: report.turned_away,
        now: app.now(),
    };
    let text = render(&app.shared.about, &seen);
    Ok(([(header::CONTENT_TYPE, FORMAT)], text))
}

/// What is written down.
struct Seen {
    counts: Counts,
    parts: Vec<PartReport>,
    lanes_running: usize,
    turned_away: TurnedAway,
    now: Timestamp,
}

fn render(about: &About, seen: &Seen) -> String {
    let Seen {
        counts,
        parts,
        lanes_running,
        turned_away,
        now,
    } = seen;
    let mut text = Text::default();
    text.gauge("build_info", "Which release this is.");
    text.line("build_info", &[("version", &about.version)], 1);
    text.gauge("uptime_seconds", "Since the gateway started.");
    text.line("uptime_seconds", &[], now.since(about.started_at).as_secs());
    text.gauge("inbox_events", "Open events.");
    text.states::<InboxState>("inbox_events", |state| of(&counts.inbox, state));
    text.gauge("lanes_open", "Lanes with an open event.");
    text.line("lanes_open", &[], counts.lanes);
    text.gauge("lanes_running", "Lanes with a turn under way.");
    text.line("lanes_running", &[], lanes_running);
    text.counter(
        "turned_away_total",
        "What was not for us, and what somebody did who may not.",
    );
    let TurnedAway { ignored, refused } = turned_away;
    text.line("turned_away_total", &[("why", "ignored")], ignored);
    text.line("turned_away_total", &[("why", "refused")], refused);
    text.gauge("runs", "Open runs.");
    text.states::<RunState>("runs", |state| of(&counts.runs, state));
    text.gauge("outbox_parts", "Open parts.");
    text.states::<PartState>("outbox_parts", |state| of(&counts.outbox, state));
    text.gauge(
        "outbox_oldest_seconds",
        "How long the oldest open part has been waiting.",
    );
    let oldest = counts
        .oldest_undelivered
        .map_or(0, |oldest| now.since(oldest).as_secs());
    text.line("outbox_oldest_seconds", &[], oldest);
    text.gauge("dead_letters", "Dead letters that nobody has looked at.");
    text.line("dead_letters", &[("state", "open")], counts.dead);
    text.gauge(
        "part_ready",
        "Whether messages get through a part of the gateway.",
    );
    for part in parts {
        text.line(
            "part_ready",
            &[("name", &part.name)],
            u8::from(part.state.is_ready()),
        );
    }
    text.0
}

#[derive(Default)]
struct Text(String);

impl Text {
    fn gauge(&mut self, name: &str, help: &str) {
        self.head(name, "gauge", help);
    }

    fn counter(&mut self, name: &str, help: &str) {
        self.head(name, "counter", help);
    }

    fn head(&mut self, name: &str, kind: &str, help: &str) {
        self.push(format_args!(
            "# HELP talaria_{name} {help}\n# TYPE talaria_{name} {kind}\n"
        ));
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let label = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escape(value));
        let labels: Vec<String> = labels.iter().map(label).collect();
        let labels = match labels.as_slice() {
            [] => String::new(),
            some => format!("{{{}}}", some.join(",")),
        };
        self.push(format_args!("talaria_{name}{labels} {value}\n"));
    }

    /// A line for every state that is not an end, also where nothing is in it.
    fn states<M: Machine>(&mut self, name: &str, count: impl Fn(M) -> i64) {
        for state in M::STATES.iter().filter(|state| !state.is_end()) {
            self.line(name, &[("state", state.as_str())], count(*state));
        }
    }

    fn push(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a text cannot fail.
        self.0.write_fmt(line).unwrap_or_default();
    }
}

fn escape(label: &str) -> String {
    label
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests;
