//! `talaria runs`: executions of runners, and taking something away from one that is under way.

use serde_json::{Value, json};
use talaria_domain::clock::{Clock as _, SystemClock};

use super::client::Gateway;
use super::table::Table;
use super::text::{ago, field, time};
use super::{Context, Failure};
use crate::output;

/// Runs: what thinks, and what it may use
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  talaria runs list")]
pub(crate) struct Runs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The last runs
    #[command(after_help = "Example:
  talaria runs list --json")]
    List {
        /// How many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take something away from a run that is under way, for good
    #[command(after_help = "Examples:
  talaria runs revoke 0198c0de-0000-7000-8000-000000000001 tool terminal
  talaria runs revoke 0198c0de-0000-7000-8000-000000000001 storage plugin --operation set
  talaria runs revoke 0198c0de-0000-7000-8000-000000000001 right history_page
  talaria runs revoke 0198c0de-0000-7000-8000-000000000001 state

It counts from the next effect on, for the tasks that the run gave away, and for every further attempt.")]
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
struct Revoke {
    /// The run's id
    run: String,
    /// What kind of thing
    #[arg(value_parser = ["model", "tool", "knowledge_base", "file", "storage", "right", "state"])]
    kind: String,
    /// Which one; not for `state`
    name: Option<String>,
    /// Only this operation on it
    #[arg(long)]
    operation: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Runs {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        match &self.what {
            What::List { limit, json } => {
                let runs = gateway.list(&["api", "runs"], *limit).await?;
                list(context, &runs, *json);
            }
            What::Revoke(what) => revoke(&gateway, what).await?,
        }
        Ok(())
    }
}

async fn revoke(gateway: &Gateway, what: &Revoke) -> Result<(), Failure> {
    let mut body = json!({ "kind": what.kind });
    for (name, value) in [("name", &what.name), ("operation", &what.operation)] {
        if let Some(value) = value {
            body[name] = json!(value);
        }
    }
    let path = ["api", "runs", what.run.as_str(), "revoke"];
    let answer = gateway.post(&path, &body).await?;
    if what.json {
        output::json(&answer);
        return Ok(());
    }
    let words = [
        Some(&what.kind),
        what.name.as_ref(),
        what.operation.as_ref(),
    ];
    let words: Vec<&str> = words.into_iter().flatten().map(String::as_str).collect();
    for run in answer["runs"].as_array().into_iter().flatten() {
        let run = run.as_str().unwrap_or_default();
        output::line(&format!("revoked {} from {run}", words.join(" ")));
    }
    Ok(())
}

fn list(context: &Context, runs: &[Value], is_json: bool) {
    if is_json {
        output::json(&json!({ "data": runs }));
        return;
    }
    if runs.is_empty() {
        output::line("no runs");
        return;
    }
    let now = SystemClock.now();
    let mut table = Table::with_headings(&["id", "profile", "runner", "state", "since"]);
    for run in runs {
        table.row([
            field(run, "id"),
            field(run, "profile"),
            field(run, "runner"),
            field(run, "state"),
            time(run, "created_at").map_or(String::new(), |at| ago(at, now)),
        ]);
    }
    context.table(&table);
}
