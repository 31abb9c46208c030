//! `talaria sessions`: conversations, as they were.

use serde_json::{Value, json};
use talaria_domain::clock::{Clock as _, SystemClock};

use super::client::Gateway;
use super::table::Table;
use super::text::{ago, date, field, one_line, time};
use super::{Context, Failure};
use crate::output::{self, Look};

const WIDEST_TITLE: usize = 50;

/// Conversations: list them, read one, take one along
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  talaria sessions list --limit 10")]
pub(crate) struct Sessions {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The latest conversations, newest first
    #[command(after_help = "Example:
  talaria sessions list --limit 10")]
    List {
        /// How many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// One conversation and what was last said in it
    #[command(after_help = "Example:
  talaria sessions show 0198c0de-0000-7000-8000-000000000001 --last 5")]
    Show {
        /// Its id
        id: String,
        /// How much of it
        #[arg(long, default_value_t = 20)]
        last: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// All of a conversation, as Markdown or JSON
    #[command(after_help = "Example:
  talaria sessions export 0198c0de-0000-7000-8000-000000000001 > conversation.md")]
    Export {
        /// Its id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Sessions {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        match &self.what {
            What::List { limit, json } => {
                let sessions = gateway.list(&["api", "sessions"], *limit).await?;
                list(context, &sessions, *json);
            }
            What::Show { id, last, json } => {
                let (session, mut messages) = whole(&gateway, id).await?;
                let earlier = messages.len().saturating_sub(*last);
                messages.drain(..earlier);
                if *json {
                    output::json(&json!({ "session": session, "messages": messages }));
                } else {
                    show(context, &session, &messages, earlier);
                }
            }
            What::Export { id, json } => {
                let (session, messages) = whole(&gateway, id).await?;
                if *json {
                    output::json(&json!({ "session": session, "messages": messages }));
                } else {
                    export(&session, &messages);
                }
            }
        }
        Ok(())
    }
}

async fn whole(gateway: &Gateway, id: &str) -> Result<(Value, Vec<Value>), Failure> {
    let session = gateway.get(&["api", "sessions", id]).await?;
    let messages = gateway
        .list(&["api", "sessions", id, "messages"], usize::MAX)
        .await?;
    Ok((session, messages))
}

fn list(context: &Context, sessions: &[Value], is_json: bool) {
    if is_json {
        output::json(&json!({ "data": sessions }));
        return;
    }
    let now = SystemClock.now();
    let mut table = Table::with_headings(&["id", "title", "state", "last change"]);
    for session in sessions {
        table.row([
            field(session, "id"),
            one_line(&field(session, "title"), WIDEST_TITLE),
            field(session, "state"),
            time(session, "updated_at").map_or(String::new(), |at| ago(at, now)),
        ]);
    }
    context.table(&table);
}

fn show(context: &Context, session: &Value, messages: &[Value], earlier: usize) {
    let when = |name| time(session, name).map(date).unwrap_or_default();
    context.facts(&[
        ("session", field(session, "id")),
        ("title", field(session, "title")),
        ("state", field(session, "state")),
        ("began", when("created_at")),
        ("last change", when("updated_at")),
        ("generation", field(session, "generation")),
        ("parent", field(session, "parent")),
    ]);
    if earlier > 0 {
        let line = format!("\n… {earlier} earlier; `talaria sessions export` has all of it");
        output::line(&context.style.paint(Look::Dim, &line));
    }
    for message in messages {
        let when = time(message, "at").map(date).unwrap_or_default();
        let head = format!("\n{}  {when}", field(message, "speaker"));
        output::line(&context.style.paint(Look::Dim, &head));
        output::line(&words(message));
    }
}

fn export(session: &Value, messages: &[Value]) {
    let title = field(session, "title");
    let title = if title.is_empty() {
        "Conversation".to_owned()
    } else {
        title
    };
    output::line(&format!("# {}\n", one_line(&title, 200)));
    output::line(&format!("Session {}", field(session, "id")));
    for message in messages {
        let when = time(message, "at").map(date).unwrap_or_default();
        output::line(&format!("\n## {}, {when}\n", field(message, "speaker")));
        output::line(&words(message));
    }
}

/// What was said, or the tools that were called without a word.
fn words(message: &Value) -> String {
    let text = field(message, "text");
    let calls = message["detail"]["calls"].as_array();
    let call = |call: &Value| format!("→ {} {}", field(call, "tool"), field(call, "arguments"));
    let calls = calls.into_iter().flatten().map(call);
    let said = Some(text.trim_end().to_owned()).filter(|text| !text.is_empty());
    said.into_iter().chain(calls).collect::<Vec<_>>().join("\n")
}
