//! `talaria schedule`: what happens at a time, whoever planned it: list it, plan it, pause it, end it.

use serde_json::{Value, json};
use talaria_domain::clock::Timestamp;

use super::client::Gateway;
use super::table::Table;
use super::text::{date, field, one_line, time};
use super::{Context, Failure};
use crate::output;

const WIDEST_TEXT: usize = 50;
const WIDEST_NAME: usize = 30;

/// Schedules: what is said or asked at a time
#[derive(Debug, clap::Args)]
#[command(
    after_help = "WHEN is 30m, \"in 2h\", \"every 2h\", five fields such as \"0 9 * * 1-5\", or 2027-01-31T18:00.

Example:
  talaria schedule add PLATFORM:12345 \"0 9 * * 1-5\" --say \"stand up\" --zone Europe/Berlin"
)]
pub(crate) struct Schedule {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// What is planned
    #[command(after_help = "Example:
  talaria schedule list")]
    List {
        /// How many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Also those that have ended
        #[arg(long)]
        all: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// One schedule, and what came of its last times
    #[command(after_help = "Example:
  talaria schedule show 0198c0de-0000-7000-8000-000000000001")]
    Show {
        /// The schedule's id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let something happen at a time
    #[command(after_help = "Examples:
  talaria schedule add PLATFORM:12345:42 \"in 30m\" --say \"stand up\"
  talaria schedule add PLATFORM:12345 \"0 9 * * 1-5\" --ask \"what is new?\"")]
    Add {
        /// Where: `PLATFORM[:CHAT[:THREAD]]`
        to: String,
        /// When
        when: String,
        #[command(flatten)]
        what: Words,
        /// The time zone of WHEN, such as Europe/Berlin
        #[arg(long)]
        zone: Option<String>,
        /// What it is called
        #[arg(long)]
        name: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let nothing of it happen for now
    #[command(after_help = "Example:
  talaria schedule pause 0198c0de-0000-7000-8000-000000000001")]
    Pause(One),
    /// Put it in force again
    #[command(after_help = "Example:
  talaria schedule resume 0198c0de-0000-7000-8000-000000000001")]
    Resume(One),
    /// End it; what came of it stays
    #[command(after_help = "Example:
  talaria schedule remove 0198c0de-0000-7000-8000-000000000001")]
    Remove(One),
    /// Let it happen now, beside its times
    #[command(after_help = "Example:
  talaria schedule run 0198c0de-0000-7000-8000-000000000001")]
    Run(One),
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Words {
    /// Post this, as it is
    #[arg(long)]
    say: Option<String>,
    /// Ask the agent this, in the conversation there
    #[arg(long)]
    ask: Option<String>,
}

#[derive(Debug, clap::Args)]
struct One {
    /// The schedule's id
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Schedule {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        match &self.what {
            What::List { limit, all, json } => {
                let mut listed = Vec::new();
                for state in ["active", "paused", "done"] {
                    if state != "done" || *all {
                        let (path, query) = (["api", "schedules"], [("state", state)]);
                        listed.extend(gateway.list_with(&path, &query, *limit).await?);
                    }
                }
                listed.truncate(*limit);
                list(context, &listed, *json);
            }
            What::Show { id, json } => {
                let shown = gateway.get(&["api", "schedules", id]).await?;
                show(context, &shown, *json);
            }
            What::Add { json, .. } => {
                let made = gateway.post(&["api", "schedules"], &self.body()).await?;
                told(context, &made, "planned", *json);
            }
            What::Pause(one) => one.change(context, &gateway, "pause").await?,
            What::Resume(one) => one.change(context, &gateway, "resume").await?,
            What::Run(one) => one.change(context, &gateway, "run").await?,
            What::Remove(one) => {
                let gone = gateway.delete(&["api", "schedules", &one.id]).await?;
                told(context, &gone, "removed", one.json);
            }
        }
        Ok(())
    }

    /// What is asked for, as the gateway takes it.
    fn body(&self) -> Value {
        let What::Add {
            to,
            when,
            what,
            zone,
            name,
            ..
        } = &self.what
        else {
            return Value::Null;
        };
        let (deed, text) = match (&what.say, &what.ask) {
            (_, Some(text)) => ("ask", text.as_str()),
            (say, None) => ("say", say.as_deref().unwrap_or_default()),
        };
        json!({ "to": to, "when": when, "zone": zone, "name": name, "what": deed, "text": text })
    }
}

impl One {
    async fn change(
        &self,
        context: &Context,
        gateway: &Gateway,
        verb: &str,
    ) -> Result<(), Failure> {
        let path = ["api", "schedules", &self.id, verb];
        let changed = gateway.post(&path, &json!({})).await?;
        let done = match verb {
            "pause" => "paused",
            "resume" => "in force again",
            _ => "done",
        };
        told(context, &changed, done, self.json);
        Ok(())
    }
}

fn at(row: &Value, name: &str) -> String {
    let utc = |at: Timestamp| format!("{} UTC", date(at));
    time(row, name).map(utc).unwrap_or_default()
}

fn told(context: &Context, schedule: &Value, done: &str, is_json: bool) {
    if is_json {
        output::json(schedule);
        return;
    }
    context.facts(&[
        (done, field(schedule, "id")),
        ("name", field(schedule, "name")),
        ("when", field(schedule, "when")),
        ("next", at(schedule, "next_at")),
    ]);
}

fn list(context: &Context, schedules: &[Value], is_json: bool) {
    if is_json {
        output::json(&json!({ "data": schedules }));
        return;
    }
    if schedules.is_empty() {
        output::line("nothing is planned");
        return;
    }
    let mut table = Table::with_headings(&["id", "name", "state", "when", "next", "what"]);
    for row in schedules {
        let what = format!("{} {}", field(row, "what"), field(row, "text"));
        table.row([
            field(row, "id"),
            one_line(&field(row, "name"), WIDEST_NAME),
            field(row, "state"),
            field(row, "when"),
            at(row, "next_at"),
            one_line(&what, WIDEST_TEXT),
        ]);
    }
    context.table(&table);
}

fn show(context: &Context, schedule: &Value, is_json: bool) {
    if is_json {
        output::json(schedule);
        return;
    }
    let to = &schedule["to"];
    let place = ["platform", "account", "chat", "thread"].map(|name| field(to, name));
    let place = place.into_iter().filter(|name| !name.is_empty());
    context.facts(&[
        ("schedule", field(schedule, "id")),
        ("name", field(schedule, "name")),
        ("state", field(schedule, "state")),
        ("when", field(schedule, "when")),
        ("zone", field(schedule, "zone")),
        ("next", at(schedule, "next_at")),
        (
            "what",
            format!("{} {}", field(schedule, "what"), field(schedule, "text")),
        ),
        ("where", place.collect::<Vec<_>>().join("/")),
        ("owner", field(&schedule["owner"], "user")),
    ]);
    let times = schedule["occurrences"].as_array().into_iter().flatten();
    let mut table = Table::with_headings(&["due", "state", "became"]);
    let mut is_empty = true;
    for row in times {
        is_empty = false;
        let became = ["event_id", "reply_id", "reason"].map(|name| field(row, name));
        let became = became.into_iter().find(|text| !text.is_empty());
        table.row([
            at(row, "due_at"),
            field(row, "state"),
            became.unwrap_or_default(),
        ]);
    }
    if !is_empty {
        output::line("");
        context.table(&table);
    }
}
