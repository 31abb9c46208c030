//! `talaria chat`: a conversation in the terminal, or over a pipe.
//!
//! The order is what makes it lossless: attach to the session's events first, then post. From then on [`turn`] decides
//! what is shown and when an answer is complete; whatever was missed is asked for in the ledger, so that nothing here
//! waits for something that already happened.

mod editor;
mod pipe;
mod screen;
mod sse;
mod talk;
mod terminal;
mod turn;
mod watch;

use std::io::IsTerminal as _;

use serde_json::json;
use talaria_domain::ids::SessionId;

use super::client::Gateway;
use super::text::field;
use super::{Context, Failure};
use talk::Talk;

/// Talk to the agent in the terminal
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Ctrl-C stops the running turn, Ctrl-D ends. Slash commands such as /help work here as everywhere.
Over a pipe each line is a message, and the answers go to standard output.

Examples:
  talaria chat
  echo \"what time is it?\" | talaria chat"
)]
pub(crate) struct Chat {
    /// Go on with this conversation
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

impl Chat {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        let session = if let Some(id) = &self.session {
            gateway.get(&["api", "sessions", id]).await?
        } else {
            let body = json!({ "surface": "terminal" });
            gateway.post(&["api", "sessions"], &body).await?
        };
        let session: SessionId = field(&session, "id").parse().map_err(anyhow::Error::from)?;
        let talk = Talk::attach(&gateway, session).await?;
        if std::io::stdin().is_terminal() && std::io::stdout().is_terminal() {
            terminal::run(context, talk).await
        } else {
            pipe::run(talk).await
        }
    }
}
