//! Log lines: to standard error, filtered as the operator says. A terminal is for people, so it gets warnings only.

use tracing_subscriber::EnvFilter;

use crate::output::{self, Style};

/// Starts logging.
pub(super) fn start(filter: Option<&str>, style: Style) -> anyhow::Result<()> {
    let usual = if output::is_for_people() {
        "warn"
    } else {
        "info"
    };
    let filter = EnvFilter::try_new(filter.unwrap_or(usual))
        .map_err(|error| anyhow::anyhow!("TALARIA_LOG is not a filter: {error}"))?;
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(style.is_coloured())
        .try_init();
    // Somebody else logs already: a test, another gateway in this process.
    drop(started);
    Ok(())
}
