//! The command line: one file per command. A command gets a [`Context`] and ends in nothing or in a [`Failure`], which
//! is also its exit code.

mod certify;
mod chat;
mod config;
mod dead;
mod doctor;
mod jobs;
mod key;
mod pair;
mod runs;
mod schedule;
mod send;
mod sessions;
mod status;
mod trace;
mod up;
mod why;

mod client;
mod failure;
mod table;
mod text;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use futures::future::LocalBoxFuture;

use crate::config::Environment;
use crate::output::{self, Look, Style};

pub(crate) use failure::Failure;

/// Talaria puts AI agents on every chat platform.
#[derive(Debug, Parser)]
#[command(
    name = "talaria",
    version,
    subcommand_required = false,
    after_help = "Without a command it runs the gateway.

Examples:
  talaria                    run the gateway on its defaults
  talaria chat               talk to it
  talaria status             see how it is

Exit codes: 0 done, 1 failed, 2 wrong usage, 69 gateway not reachable, 78 bad configuration."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Up(up::Up),
    Chat(chat::Chat),
    Status(status::Status),
    Doctor(doctor::Doctor),
    Config(config::Config),
    Trace(trace::Trace),
    Sessions(sessions::Sessions),
    Dead(dead::Dead),
    Jobs(jobs::Jobs),
    Runs(runs::Runs),
    Schedule(schedule::Schedule),
    Send(send::Send),
    Key(key::Key),
    Pair(pair::Pair),
    Why(why::Why),
    Certify(certify::Certify),
}

/// What every command is given.
pub(crate) struct Context {
    /// What the process was started with.
    pub(crate) environment: Environment,
    /// What its text may look like.
    pub(crate) style: Style,
}

/// Does what the command line says.
pub(crate) async fn run(context: Context) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => return explain(&refusal),
    };
    let command = cli.command.unwrap_or(Command::Up(up::Up {}));
    match obey(command, &context).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            for line in failure.lines() {
                output::remark(&line);
            }
            failure.exit_code()
        }
    }
}

fn obey(command: Command, context: &Context) -> LocalBoxFuture<'_, Result<(), Failure>> {
    match command {
        Command::Up(_) => Box::pin(up::run(context)),
        Command::Chat(chat) => Box::pin(async move { chat.run(context).await }),
        Command::Status(status) => Box::pin(async move { status.run(context).await }),
        Command::Doctor(doctor) => Box::pin(async move { doctor.run(context).await }),
        Command::Config(config) => Box::pin(async move { config.run(context) }),
        Command::Trace(trace) => Box::pin(async move { trace.run(context).await }),
        Command::Sessions(sessions) => Box::pin(async move { sessions.run(context).await }),
        Command::Dead(dead) => Box::pin(async move { dead.run(context).await }),
        Command::Jobs(jobs) => Box::pin(async move { jobs.run(context).await }),
        Command::Runs(runs) => Box::pin(async move { runs.run(context).await }),
        Command::Schedule(schedule) => Box::pin(async move { schedule.run(context).await }),
        Command::Send(send) => Box::pin(async move { send.run(context).await }),
        Command::Key(key) => Box::pin(async move { key.run(context).await }),
        Command::Pair(pair) => Box::pin(async move { pair.run(context).await }),
        Command::Why(why) => Box::pin(async move { why.run(context).await }),
        Command::Certify(certify) => Box::pin(async move { certify.run().await }),
    }
}

/// Help is an answer, everything else wrong usage; clap knows which stream each goes to.
fn explain(refusal: &clap::Error) -> ExitCode {
    drop(refusal.print());
    ExitCode::from(u8::try_from(refusal.exit_code()).unwrap_or(2))
}

impl Context {
    /// Prints a table whose first line is its headings.
    fn table(&self, table: &table::Table) {
        for (index, line) in table.lines().iter().enumerate() {
            let look = if index == 0 {
                self.style.paint(Look::Dim, line)
            } else {
                line.clone()
            };
            output::line(&look);
        }
    }

    /// Prints names and values below each other.
    fn facts(&self, facts: &[(&str, String)]) {
        let present = facts.iter().filter(|(_, value)| !value.is_empty());
        let width = present
            .clone()
            .map(|(name, _)| name.len())
            .max()
            .unwrap_or(0);
        for (name, value) in present {
            let name = self.style.paint(Look::Dim, &format!("{name:<width$}"));
            output::line(&format!("{name}  {value}"));
        }
    }
}
