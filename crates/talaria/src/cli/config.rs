//! `talaria config`: what holds, where it came from, and whether it is right. Needs no gateway.

use serde_json::{Value, json};

use super::table::Table;
use super::text::one_line;
use super::{Context, Failure};
use crate::config::{
    self, Effective, Origin, Problem, Setting, did_you_mean,
    keys::{self, KEYS, OUTSIDE},
    show,
};
use crate::output::{self, Look};

const WIDEST_VALUE: usize = 60;

/// The configuration: whether it is right, what holds, where it came from
#[derive(Debug, clap::Args)]
#[command(after_help = "Needs no gateway.

Example:
  talaria config explain server.listen")]
pub(crate) struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Say whether the gateway would start with it
    #[command(after_help = "Example:
  talaria config check && systemctl restart talaria")]
    Check(Format),
    /// Show every value and where it came from; secrets are not shown
    #[command(after_help = "Example:
  talaria config show --json")]
    Show(Format),
    /// Say what a key means, what it is set to, and where
    #[command(after_help = "Example:
  talaria config explain profile.assistant.tools")]
    Explain {
        /// The key, or a table of keys
        key: String,
        #[command(flatten)]
        format: Format,
    },
}

#[derive(Debug, clap::Args)]
struct Format {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Config {
    pub(crate) fn run(&self, context: &Context) -> Result<(), Failure> {
        let read = config::read(&context.environment);
        match &self.what {
            What::Check(format) => check(context, format, read),
            What::Show(format) => {
                let effective = read.map_err(Failure::Configuration)?;
                show_all(context, format, &effective);
                Ok(())
            }
            What::Explain { key, format } => {
                let effective = read.map_err(Failure::Configuration)?;
                explain(context, format, &effective, key)
            }
        }
    }
}

fn check(
    context: &Context,
    format: &Format,
    read: Result<Effective, Vec<Problem>>,
) -> Result<(), Failure> {
    let told = |problems: &[Problem]| problems.iter().map(Problem::to_json).collect::<Vec<_>>();
    if format.json {
        let (problems, warnings) = match &read {
            Ok(effective) => (Vec::new(), told(&effective.warnings)),
            Err(problems) => (told(problems), Vec::new()),
        };
        output::json(&json!({
            "ok": read.is_ok(),
            "problems": problems,
            "warnings": warnings,
        }));
    }
    let effective = read.map_err(Failure::Configuration)?;
    if format.json {
        return Ok(());
    }
    for warning in &effective.warnings {
        output::remark(&format!("warning: {warning}"));
    }
    let file = match &effective.file {
        Some(file) => file.display().to_string(),
        None => "no file, the defaults hold".to_owned(),
    };
    let good = context.style.paint(Look::Good, "ok");
    output::line(&format!("{good}: {file}"));
    Ok(())
}

fn show_all(context: &Context, format: &Format, effective: &Effective) {
    if format.json {
        let warnings: Vec<_> = effective.warnings.iter().map(Problem::to_json).collect();
        let settings: Vec<_> = effective
            .settings
            .iter()
            .map(|setting| for_programs(setting, effective))
            .collect();
        output::json(&json!({ "settings": settings, "warnings": warnings }));
        return;
    }
    let mut table = Table::with_headings(&["key", "value", "from"]);
    for setting in &effective.settings {
        table.row([
            setting.key.clone(),
            one_line(&show::plain(&setting.value), WIDEST_VALUE),
            origin(setting, effective),
        ]);
    }
    context.table(&table);
    for warning in &effective.warnings {
        output::remark(&format!("warning: {warning}"));
    }
}

fn explain(
    context: &Context,
    format: &Format,
    effective: &Effective,
    key: &str,
) -> Result<(), Failure> {
    let settings = show::below(&effective.settings, key);
    if settings.is_empty() {
        return Err(unknown(effective, key));
    }
    if format.json {
        let settings: Vec<_> = settings
            .iter()
            .map(|setting| for_programs(setting, effective))
            .collect();
        output::json(&Value::Array(settings));
        return Ok(());
    }
    for setting in settings {
        let name = context.style.paint(Look::Bold, &setting.key);
        let value = show::plain(&setting.value);
        output::line(&format!("{name} = {value}"));
        let meaning = keys::of(&setting.key).map_or("", |key| key.meaning);
        output::line(&format!("  {meaning}"));
        output::line(&format!("  from {}", origin(setting, effective)));
        if let Some(found) = secret_of(effective, &setting.key) {
            output::line(&format!("  the secret is in {found}"));
        }
    }
    Ok(())
}

fn unknown(effective: &Effective, key: &str) -> Failure {
    let hint = did_you_mean(
        key,
        effective
            .settings
            .iter()
            .map(|setting| setting.key.as_str()),
    );
    let known = KEYS
        .iter()
        .chain(OUTSIDE)
        .find(|known| known.pattern == key);
    let meaning = known.map(|known| format!(": {}", known.meaning));
    Failure::Usage(format!(
        "nothing is set under {key:?}{}{hint}",
        meaning.unwrap_or_default()
    ))
}

fn for_programs(setting: &Setting, effective: &Effective) -> Value {
    let file = effective
        .file
        .as_ref()
        .map(|file| file.display().to_string());
    let origin = match &setting.origin {
        Origin::Default => json!({ "from": "default" }),
        Origin::File { line } => json!({ "from": "file", "file": file, "line": line }),
        Origin::Environment { name } => json!({ "from": "environment", "name": name }),
    };
    json!({ "key": setting.key, "value": setting.value, "origin": origin })
}

fn origin(setting: &Setting, effective: &Effective) -> String {
    let file = effective
        .file
        .as_deref()
        .and_then(std::path::Path::file_name);
    match &setting.origin {
        Origin::Default => "default".to_owned(),
        Origin::File { line } => {
            let file = file.unwrap_or_default().to_string_lossy();
            format!("{file}:{line}")
        }
        Origin::Environment { name } => format!("environment {name}"),
    }
}

/// Where the secret of a key was found.
fn secret_of<'e>(effective: &'e Effective, key: &str) -> Option<&'e str> {
    let models = effective.models.iter().map(|model| {
        let key = keys::join(&keys::join("model", &model.name), "api_key");
        (key, model.api_key.as_ref())
    });
    let accounts = effective
        .accounts
        .iter()
        .enumerate()
        .map(|(index, account)| (format!("account[{index}].token"), account.token.as_ref()));
    let found = models.chain(accounts).find(|(known, _)| known == key);
    found.and_then(|(_, secret)| secret.map(|secret| secret.found_in.as_str()))
}
