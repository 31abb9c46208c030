//! `talaria jobs`: work that outlives its turn: what runs, what came of it, and where that was told.

use serde_json::{Value, json};
use talaria_domain::clock::{Clock as _, SystemClock};

use super::client::Gateway;
use super::table::Table;
use super::text::{ago, date, field, first_field, one_line, time};
use super::{Context, Failure};
use crate::output;

const WIDEST_WORK: usize = 60;

/// Jobs: processes and delegations that outlive their turn
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  talaria jobs list")]
pub(crate) struct Jobs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// The last jobs
    #[command(after_help = "Example:
  talaria jobs list --json")]
    List {
        /// How many
        #[arg(long, default_value_t = 50)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// One job
    #[command(after_help = "Example:
  talaria jobs show 0198c0de-0000-7000-8000-000000000001")]
    Show {
        /// The job's id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Jobs {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        match &self.what {
            What::List { limit, json } => {
                let jobs = gateway.list(&["api", "jobs"], *limit).await?;
                list(context, &jobs, *json);
            }
            What::Show { id, json } => {
                let job = gateway.get(&["api", "jobs", id]).await?;
                show(context, &job, *json);
            }
        }
        Ok(())
    }
}

fn list(context: &Context, jobs: &[Value], is_json: bool) {
    if is_json {
        output::json(&json!({ "data": jobs }));
        return;
    }
    if jobs.is_empty() {
        output::line("no jobs");
        return;
    }
    let now = SystemClock.now();
    let mut table = Table::with_headings(&["id", "kind", "state", "since", "what"]);
    for job in jobs {
        table.row([
            field(job, "id"),
            field(job, "kind"),
            field(job, "state"),
            time(job, "created_at").map_or(String::new(), |at| ago(at, now)),
            one_line(&work(job), WIDEST_WORK),
        ]);
    }
    context.table(&table);
}

fn work(job: &Value) -> String {
    let work = &job["work"];
    let said = first_field(work, &["command", "goal"]);
    if said.is_empty() {
        field(job, "work")
    } else {
        said
    }
}

fn show(context: &Context, job: &Value, is_json: bool) {
    if is_json {
        output::json(job);
        return;
    }
    let at = |name| time(job, name).map(date).unwrap_or_default();
    let to = &job["to"];
    let place = ["platform", "account", "chat", "thread"]
        .map(|name| field(to, name))
        .into_iter()
        .filter(|name| !name.is_empty());
    context.facts(&[
        ("job", field(job, "id")),
        ("kind", field(job, "kind")),
        ("state", field(job, "state")),
        ("what", work(job)),
        ("promise", field(job, "promise")),
        ("asked in", field(job, "session_id")),
        ("told at", place.collect::<Vec<_>>().join("/")),
        ("since", at("created_at")),
        ("ended", at("ended_at")),
        ("taken", at("consumed_at")),
        ("told", field(job, "told")),
        ("look at", format!("talaria trace {}", field(job, "id"))),
    ]);
}
