//! One suite for all adapters, each against its simulated vendor over real sockets: what an adapter says it can do it
//! does, what was acknowledged was recorded, what may have arrived is never called lost, and every kind of send stays in
//! its thread. A check that does not apply says why; it is not a pass.

mod abilities;
mod candidates;
mod desk;
mod failing;
mod forging;
mod receiving;
mod report;
mod sending;
mod trial;

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Context as _, ensure};

pub use candidates::{Calls, Candidate, Forgery, Places, Several, Starting};
pub use report::{Finding, Verdict};
pub use trial::Trial;

/// What to certify.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The platform; all of them if none is named.
    platform: Option<String>,
    /// As Markdown, for the documentation.
    #[arg(long)]
    markdown: bool,
}

impl Arguments {
    /// Certifies, and prints the table. An error if anything does not hold.
    pub async fn certify(self, mut out: impl Write) -> anyhow::Result<()> {
        // One provider for every connection of the process; that it is there already is fine.
        drop(rustls::crypto::ring::default_provider().install_default());
        let all = crate::candidates();
        let names: BTreeSet<&str> = all.iter().map(|candidate| candidate.platform).collect();
        let is_wanted = |candidate: &Candidate| {
            let wanted = self.platform.as_deref();
            wanted.is_none_or(|wanted| wanted == candidate.platform)
        };
        let chosen: Vec<Candidate> = all.into_iter().filter(is_wanted).collect();
        let wanted = self.platform.as_deref().unwrap_or_default();
        ensure!(
            !chosen.is_empty(),
            "there is no platform {wanted:?}: expected one of {names:?}"
        );
        let mut failed = 0;
        let all = futures::future::try_join_all(chosen.iter().map(certify)).await?;
        for (candidate, findings) in chosen.iter().zip(all) {
            failed += findings
                .iter()
                .filter(|finding| finding.has_failed())
                .count();
            report::print(&mut out, &candidate.title(), &findings, self.markdown)?;
        }
        ensure!(failed == 0, "{failed} checks do not hold");
        Ok(())
    }
}

/// All findings about one adapter, in the order of the suite. Checks run beside each other, each in a world of its own.
pub async fn certify(candidate: &Candidate) -> anyhow::Result<Vec<Finding>> {
    let checks = checks();
    let running = checks.into_iter().map(|(name, check)| async move {
        let trial = Trial::begin(candidate)
            .await
            .context("the vendor does not start")?;
        let verdict = trial.hold(check).await;
        anyhow::Ok(Finding { name, verdict })
    });
    futures::future::try_join_all(running).await
}

/// A check: what it is called, and what it does.
type Check = (&'static str, trial::Examine);

fn checks() -> Vec<Check> {
    let all = [
        receiving::CHECKS,
        abilities::CHECKS,
        sending::CHECKS,
        failing::CHECKS,
        forging::CHECKS,
    ];
    all.concat()
}
