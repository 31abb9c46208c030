//! `talaria key`: API keys, named and scoped. A key is shown once, when it is made.

use serde_json::{Value, json};
use talaria_domain::clock::{Clock as _, SystemClock};

use super::client::Gateway;
use super::table::Table;
use super::text::{ago, field, shown, time};
use super::{Context, Failure};
use crate::output;

/// API keys: make one, list them, take one back
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  talaria key create dashboard --scope operator")]
pub(crate) struct Key {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Make a key; it is shown once
    #[command(after_help = "Example:
  talaria key create laptop --scope chat")]
    Create {
        /// What to call it
        name: String,
        /// What it may do
        #[arg(long = "scope", value_enum, default_values_t = [Scope::Chat])]
        scopes: Vec<Scope>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// The keys there are, without what is secret in them
    #[command(after_help = "Example:
  talaria key list")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a key back
    #[command(after_help = "Example:
  talaria key revoke 0198c0de-0000-7000-8000-000000000001")]
    Revoke {
        /// Its id
        id: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Scope {
    /// Talk
    Chat,
    /// Everything
    Operator,
}

impl Key {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        match &self.what {
            What::Create { name, scopes, json } => {
                let scopes: Vec<_> = scopes.iter().map(|scope| scope.as_str()).collect();
                let body = json!({ "name": name, "scopes": scopes });
                let key = gateway.post(&["api", "keys"], &body).await?;
                created(context, &key, *json);
            }
            What::List { json } => {
                let keys = gateway.list(&["api", "keys"], usize::MAX).await?;
                list(context, &keys, *json);
            }
            What::Revoke { id } => {
                gateway.delete(&["api", "keys", id]).await?;
                output::line(&format!("revoked {id}"));
            }
        }
        Ok(())
    }
}

impl Scope {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Operator => "operator",
        }
    }
}

fn created(context: &Context, key: &Value, is_json: bool) {
    if is_json {
        output::json(key);
        return;
    }
    context.facts(&[
        ("id", field(key, "id")),
        ("name", field(key, "name")),
        ("scopes", scopes(key)),
        ("key", field(key, "key")),
    ]);
    output::remark("keep it now: it is not shown again");
}

fn list(context: &Context, keys: &[Value], is_json: bool) {
    if is_json {
        output::json(&json!({ "data": keys }));
        return;
    }
    let now = SystemClock.now();
    let mut table = Table::with_headings(&["id", "name", "scopes", "made", "last used"]);
    for key in keys {
        table.row([
            field(key, "id"),
            field(key, "name"),
            scopes(key),
            time(key, "created_at").map_or(String::new(), |at| ago(at, now)),
            time(key, "last_used_at").map_or("never".to_owned(), |at| ago(at, now)),
        ]);
    }
    context.table(&table);
}

fn scopes(key: &Value) -> String {
    let scopes = key["scopes"].as_array().into_iter().flatten();
    scopes.map(shown).collect::<Vec<_>>().join(", ")
}
