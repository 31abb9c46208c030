//! `talaria pair`: who waits to be let in, and who was. A code is known to whoever got it and to nobody else, so none is
//! ever listed: whoever waits can be approved by their id as well.

use serde_json::{Value, json};
use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_domain::principal::Role;

use super::client::Gateway;
use super::table::Table;
use super::text::{ago, field, one_line, time};
use super::{Context, Failure};
use crate::output;

/// How much of a name is shown.
const NAME: usize = 40;

/// Who may talk: let strangers in who asked, send them away, take it back
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  talaria pair approve ABCD2345")]
pub(crate) struct Pair {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Who waits, and who was let in
    #[command(after_help = "Example:
  talaria pair list")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Let somebody in, by the code that they were given or by who they are
    #[command(after_help = "Examples:
  talaria pair approve ABCD2345
  talaria pair approve PLATFORM/main-bot/12345 --role guest")]
    Approve {
        /// The code, or PLATFORM/ACCOUNT/USER
        who: String,
        /// What they may do
        #[arg(long, value_enum, default_value_t = As::Member)]
        role: As,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Send somebody away who waits; they are not told
    #[command(after_help = "Example:
  talaria pair deny ABCD2345")]
    Deny {
        /// The code, or PLATFORM/ACCOUNT/USER
        who: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Take back what somebody was granted; counts from their next message on
    #[command(after_help = "Example:
  talaria pair revoke PLATFORM/main-bot/12345")]
    Revoke {
        /// PLATFORM/ACCOUNT/USER
        who: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum As {
    /// Everything
    Owner,
    /// Everything, and answer what others are asked
    Admin,
    /// Talk, and everyday commands
    Member,
    /// Talk
    Guest,
}

impl As {
    const fn role(self) -> Role {
        match self {
            Self::Owner => Role::Owner,
            Self::Admin => Role::Admin,
            Self::Member => Role::Member,
            Self::Guest => Role::Guest,
        }
    }
}

impl Pair {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        match &self.what {
            What::List { json } => {
                let listing = gateway.get(&["api", "pairing"]).await?;
                list(context, &listing, *json);
            }
            What::Approve { who, role, json } => {
                let body = json!({ "who": who, "role": role.role() });
                let grant = gateway.post(&["api", "pairing", "approve"], &body).await?;
                say(&grant, *json, |grant| {
                    let (who, role) = (field(grant, "principal"), field(grant, "role"));
                    format!("{who} may talk now, as {role}")
                });
            }
            What::Deny { who, json } => {
                let body = json!({ "who": who });
                let denied = gateway.post(&["api", "pairing", "deny"], &body).await?;
                say(&denied, *json, |denied| {
                    format!("{} was sent away", field(denied, "principal"))
                });
            }
            What::Revoke { who, json } => {
                let body = json!({ "who": who });
                gateway.post(&["api", "pairing", "revoke"], &body).await?;
                say(&json!({ "principal": who }), *json, |_| {
                    format!("{who} may not talk any more")
                });
            }
        }
        Ok(())
    }
}

fn say(told: &Value, is_json: bool, words: impl FnOnce(&Value) -> String) {
    if is_json {
        output::json(told);
    } else {
        output::line(&words(told));
    }
}

fn list(context: &Context, listing: &Value, is_json: bool) {
    if is_json {
        output::json(listing);
        return;
    }
    let now = SystemClock.now();
    let rows = |name: &str| listing[name].as_array().cloned().unwrap_or_default();
    let (pending, granted) = (rows("pending"), rows("granted"));
    if pending.is_empty() && granted.is_empty() {
        output::line("nobody waits, and nobody was let in by a code");
    }
    let when = |row: &Value, name: &str| time(row, name).map_or(String::new(), |at| ago(at, now));
    let mut table = Table::with_headings(&["who", "name", "state", "since", "until", "by"]);
    for row in &pending {
        table.row([
            field(row, "principal"),
            one_line(&field(row, "name"), NAME),
            "waits".to_owned(),
            when(row, "asked_at"),
            left(row, now),
            String::new(),
        ]);
    }
    for row in &granted {
        table.row([
            field(row, "principal"),
            one_line(&field(row, "name"), NAME),
            field(row, "role"),
            when(row, "approved_at"),
            String::new(),
            field(row, "approved_by"),
        ]);
    }
    if !(pending.is_empty() && granted.is_empty()) {
        context.table(&table);
    }
    if time(listing, "locked_until").is_some() {
        output::remark("too many codes were wrong: approve by who they are, or wait for an hour");
    }
}

/// How long a code is good for yet.
fn left(row: &Value, now: talaria_domain::clock::Timestamp) -> String {
    time(row, "expires_at").map_or(String::new(), |at| {
        format!("{} min", at.since(now).as_secs().div_ceil(60))
    })
}
