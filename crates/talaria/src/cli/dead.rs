//! `talaria dead`: what was given up, in both directions, for somebody to try again or to let go.

use serde_json::{Value, json};
use talaria_domain::clock::{Clock as _, SystemClock};

use super::client::Gateway;
use super::table::Table;
use super::text::{ago, date, field, first_field, one_line, time};
use super::{Context, Failure};
use crate::output;

const WIDEST_REASON: usize = 60;

/// Dead letters: what was given up, to replay or to drop
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  talaria dead list")]
pub(crate) struct Dead {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// What was given up
    #[command(after_help = "Example:
  talaria dead list --json")]
    List {
        /// How many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// One dead letter
    #[command(after_help = "Example:
  talaria dead show 0198c0de-0000-7000-8000-000000000001")]
    Show(One),
    /// Try again
    #[command(after_help = "Example:
  talaria dead replay 0198c0de-0000-7000-8000-000000000001")]
    Replay(One),
    /// Let go
    #[command(after_help = "Example:
  talaria dead drop 0198c0de-0000-7000-8000-000000000001")]
    Drop(One),
}

#[derive(Debug, clap::Args)]
struct One {
    /// The dead letter's id
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Dead {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        match &self.what {
            What::List { limit, json } => {
                let letters = gateway.list(&["api", "dead"], *limit).await?;
                list(context, &letters, *json);
            }
            What::Show(one) => {
                let letter = gateway.get(&["api", "dead", &one.id]).await?;
                show(context, &letter, one.json);
            }
            What::Replay(one) => act(&gateway, one, "replay").await?,
            What::Drop(one) => act(&gateway, one, "drop").await?,
        }
        Ok(())
    }
}

async fn act(gateway: &Gateway, one: &One, verb: &'static str) -> Result<(), Failure> {
    let answer = gateway
        .post(&["api", "dead", &one.id, verb], &json!({}))
        .await?;
    if one.json {
        output::json(&answer);
    } else {
        let done = if verb == "replay" {
            "replayed"
        } else {
            "dropped"
        };
        output::line(&format!("{done} {}", one.id));
    }
    Ok(())
}

fn list(context: &Context, letters: &[Value], is_json: bool) {
    if is_json {
        output::json(&json!({ "data": letters }));
        return;
    }
    if letters.is_empty() {
        output::line("no dead letters");
        return;
    }
    let now = SystemClock.now();
    let mut table = Table::with_headings(&["id", "what", "state", "since", "why"]);
    for letter in letters {
        table.row([
            field(letter, "id"),
            field(letter, "thing"),
            field(letter, "state"),
            time(letter, "at").map_or(String::new(), |at| ago(at, now)),
            one_line(&field(letter, "reason"), WIDEST_REASON),
        ]);
    }
    context.table(&table);
}

fn show(context: &Context, letter: &Value, is_json: bool) {
    if is_json {
        output::json(letter);
        return;
    }
    let thing = first_field(letter, &["thing_id"]);
    context.facts(&[
        ("dead letter", field(letter, "id")),
        ("state", field(letter, "state")),
        ("what", format!("{} {thing}", field(letter, "thing"))),
        ("session", first_field(letter, &["session_id", "session"])),
        ("since", time(letter, "at").map(date).unwrap_or_default()),
        ("why", field(letter, "reason")),
        ("look at", format!("talaria trace {thing}")),
    ]);
}
