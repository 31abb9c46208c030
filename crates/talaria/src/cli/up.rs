//! `talaria up`: the gateway in the foreground. What is wrong with the configuration is said here; everything after
//! that is the wiring's.

use super::{Context, Failure};
use crate::config::{self, key};
use crate::output;

/// Run the gateway in the foreground (what happens without a command)
#[derive(Debug, clap::Args)]
#[command(
    after_help = "SIGTERM lets running turns end, a second one stops at once.

Example:
  TALARIA_LISTEN=127.0.0.1:8080 talaria up"
)]
pub(crate) struct Up {}

pub(crate) async fn run(context: &Context) -> Result<(), Failure> {
    let effective = config::read(&context.environment).map_err(Failure::Configuration)?;
    for warning in &effective.warnings {
        output::remark(&format!("warning: {warning}"));
    }
    // A key that others can read stops us before anything is opened.
    key::read(&effective.home)?;
    crate::up::run(effective, &context.environment, context.style).await?;
    Ok(())
}
