//! What people are told when the gateway starts and stops. With a terminal attached it is for people, without one it
//! is a log line; a login link is never logged.

use std::net::SocketAddr;

use talaria_gateway::settings::ResumePolicy;

use super::rooms;
use crate::config::{Effective, key, running};
use crate::output::{self, Look, Style};

/// The gateway is ready.
pub(super) fn show(
    effective: &Effective,
    listen: SocketAddr,
    link: &str,
    policy: ResumePolicy,
    style: Style,
) {
    let model = rooms::model_name(effective);
    let (profile, store) = (&effective.default_profile, &effective.store.url.shown);
    if policy == ResumePolicy::Tell {
        tracing::warn!(
            "the gateway stopped early several times: interrupted turns are told, not done again"
        );
    }
    if !output::is_for_people() {
        tracing::info!(%listen, profile = profile.as_str(), model, store, "ready");
        return;
    }
    let base = format!("http://{}", running::reached_at(listen));
    let rows = [
        ("chat", format!("{base}{link}")),
        (
            "",
            "open it once in a browser, or run `talaria chat`".to_owned(),
        ),
        ("API", format!("{base}/api")),
        ("key", key::path(&effective.home).display().to_string()),
        ("profile", profile.to_string()),
        ("model", with_hint(model)),
        ("store", store.clone()),
    ];
    output::line(&style.paint(Look::Bold, "Talaria is ready."));
    for (name, value) in rows {
        output::line(&format!("  {name:<8} {value}"));
    }
    output::line(&style.paint(
        Look::Dim,
        "Ctrl-C lets running turns end; twice stops at once.",
    ));
}

/// The demo model needs nothing, and says what would be better.
fn with_hint(model: String) -> String {
    if model == "demo" {
        return format!(
            "{model} (needs nothing; put a [model.main] into talaria.toml for a real one)"
        );
    }
    model
}

/// The gateway was asked to stop.
pub(super) fn stopping(style: Style) {
    if output::is_for_people() {
        let text = "Stopping: running turns may end. Once more stops at once.";
        output::line(&style.paint(Look::Dim, text));
    } else {
        tracing::info!("stopping: running turns may end");
    }
}
