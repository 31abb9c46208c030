//! `talaria trace`: the whole life of a message on one screen, by our id or the platform's.

mod view;

use super::client::Gateway;
use super::{Context, Failure};
use crate::output::{self, Look};

/// The whole life of a message, run, reply or part on one screen
#[derive(Debug, clap::Args)]
#[command(after_help = "Takes our ids and the platform's message ids.

Example:
  talaria trace 0198c0de-0000-7000-8000-000000000001")]
pub(crate) struct Trace {
    /// The id of an event, run, reply or part, or the platform's id of a message
    id: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Trace {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let gateway = Gateway::find(context)?;
        let trace = gateway.get(&["api", "trace", &self.id]).await?;
        if self.json {
            output::json(&trace);
            return Ok(());
        }
        let lines = view::lines(&trace);
        let width = lines.iter().map(|line| line.when.chars().count()).max();
        let width = width.unwrap_or(0);
        for line in lines {
            let when = format!("{:>width$}", line.when);
            let when = context.style.paint(Look::Dim, &when);
            let text = format!("{}{}", "  ".repeat(line.depth), line.text);
            let text = line
                .look
                .map_or_else(|| text.clone(), |look| context.style.paint(look, &text));
            output::line(format!("{when}  {text}").trim_end());
        }
        Ok(())
    }
}
