//! `talaria doctor`: the validator of the start-up and a look around: is what the gateway needs there? It reads and
//! asks, and never changes anything.

mod checks;

use serde_json::{Value, json};

use super::{Context, Failure};
use crate::config::{self, Effective, Problem};
use crate::output::{self, Look};

/// Look whether everything that the gateway needs is there
#[derive(Debug, clap::Args)]
#[command(after_help = "Needs no gateway, and changes nothing.

Example:
  talaria doctor --json")]
pub(crate) struct Doctor {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What was found.
struct Finding {
    name: String,
    health: Health,
    detail: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Good,
    Doubtful,
    Bad,
}

impl Doctor {
    pub(crate) async fn run(&self, context: &Context) -> Result<(), Failure> {
        let effective = match config::read(&context.environment) {
            Ok(effective) => effective,
            Err(problems) => return Err(self.broken(problems)),
        };
        let findings = examine(&effective).await;
        let is_healthy = findings.iter().all(|finding| finding.health != Health::Bad);
        self.tell(context, &findings);
        if is_healthy {
            Ok(())
        } else {
            Err(Failure::Told)
        }
    }

    fn tell(&self, context: &Context, findings: &[Finding]) {
        if self.json {
            let is_healthy = findings.iter().all(|finding| finding.health != Health::Bad);
            let checks: Vec<_> = findings.iter().map(Finding::to_json).collect();
            output::json(&json!({ "ok": is_healthy, "checks": checks }));
            return;
        }
        let width = findings
            .iter()
            .map(|finding| finding.name.chars().count())
            .max();
        let width = width.unwrap_or(0);
        for finding in findings {
            let (look, mark) = match finding.health {
                Health::Good => (Look::Good, "ok     "),
                Health::Doubtful => (Look::Doubtful, "warning"),
                Health::Bad => (Look::Bad, "failed "),
            };
            let mark = context.style.paint(look, mark);
            let line = format!("{mark}  {:<width$}  {}", finding.name, finding.detail);
            output::line(&line);
        }
    }

    fn broken(&self, problems: Vec<Problem>) -> Failure {
        if self.json {
            let bad =
                |problem: &Problem| Finding::bad("configuration", problem.to_string()).to_json();
            let checks: Vec<_> = problems.iter().map(bad).collect();
            output::json(&json!({ "ok": false, "checks": checks }));
        }
        Failure::Configuration(problems)
    }
}

async fn examine(effective: &Effective) -> Vec<Finding> {
    let mut findings = vec![checks::configuration(effective)];
    let warnings = effective.warnings.iter();
    findings
        .extend(warnings.map(|warning| Finding::doubtful("configuration", warning.to_string())));
    findings.push(checks::home(&effective.home));
    findings.push(checks::operator_key(&effective.home));
    findings.push(checks::listen(effective).await);
    findings.push(checks::store(effective).await);
    for model in &effective.models {
        findings.push(checks::model(model).await);
    }
    findings
}

impl Finding {
    fn good(name: &str, detail: impl Into<String>) -> Self {
        Self::of(name, Health::Good, detail)
    }

    fn doubtful(name: &str, detail: impl Into<String>) -> Self {
        Self::of(name, Health::Doubtful, detail)
    }

    fn bad(name: &str, detail: impl Into<String>) -> Self {
        Self::of(name, Health::Bad, detail)
    }

    fn of(name: &str, health: Health, detail: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            health,
            detail: detail.into(),
        }
    }

    fn to_json(&self) -> Value {
        let state = match self.health {
            Health::Good => "ok",
            Health::Doubtful => "warning",
            Health::Bad => "failed",
        };
        json!({ "name": self.name, "state": state, "detail": self.detail })
    }
}
