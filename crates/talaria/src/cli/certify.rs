//! `talaria certify`: holds an adapter to what it claims, against its simulated vendor. The vendors are a program of
//! their own, so that a gateway that serves people carries none of them.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::Context as _;
use tokio::process::Command;

use super::Failure;

const PROGRAM: &str = "talaria-sim";

/// Hold an adapter to what it claims, against its simulated vendor
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Needs no gateway and no network: the vendor is simulated, in the program `talaria-sim` beside this one.

Example:
  talaria certify PLATFORM"
)]
pub(crate) struct Certify {
    /// The platform; all of them if none is named
    platform: Option<String>,
    /// Print the table as Markdown
    #[arg(long)]
    markdown: bool,
}

impl Certify {
    pub(crate) async fn run(&self) -> Result<(), Failure> {
        let program = beside()?;
        let mut command = Command::new(&program);
        command.arg("certify").args(&self.platform);
        if self.markdown {
            command.arg("--markdown");
        }
        let status = command
            .stdin(Stdio::null())
            .status()
            .await
            .with_context(|| {
                format!(
                    "cannot start {}: build it with `cargo build --release -p talaria-sim`",
                    program.display()
                )
            })?;
        if status.success() {
            Ok(())
        } else {
            Err(Failure::Told)
        }
    }
}

/// The program that has the vendors, beside this one.
fn beside() -> Result<PathBuf, anyhow::Error> {
    let own = std::env::current_exe().context("where this program is cannot be told")?;
    Ok(own.with_file_name(PROGRAM))
}
