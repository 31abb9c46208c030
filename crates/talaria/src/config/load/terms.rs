//! Pure: what everybody who comes to the listener is held to. An origin is exact; `*` would let every page of the web in,
//! and is refused.

use std::time::Duration;

use talaria_server::{Terms, TurnLimits};

use super::super::file::{ServerSection, TurnLimitsSection};
use super::Loading;

const KILO: usize = 1024;

impl Loading<'_> {
    /// What is said about it, and the usual where nothing is.
    pub(super) fn terms(&mut self, section: &ServerSection) -> Terms {
        let mut limit = |key, written, default, most| {
            let number = self.number(key, written, default, (1, most));
            usize::try_from(number).unwrap_or(usize::MAX)
        };
        let body = limit("server.body_limit_mb", section.body_limit_mb, 10, 1_024);
        let headers = limit("server.header_limit_kb", section.header_limit_kb, 64, 1_024);
        let header_time = limit(
            "server.header_timeout_seconds",
            section.header_timeout_seconds,
            30,
            3_600,
        );
        let body_time = limit(
            "server.body_timeout_seconds",
            section.body_timeout_seconds,
            120,
            3_600,
        );
        let connections = limit(
            "server.max_connections",
            section.max_connections,
            10_000,
            1_000_000,
        );
        let seconds = |number| Duration::from_secs(u64::try_from(number).unwrap_or(u64::MAX));
        Terms {
            body_limit: body * KILO * KILO,
            header_limit: headers * KILO,
            header_time: seconds(header_time),
            body_time: seconds(body_time),
            connections,
            turns: self.turn_limits(&section.limits),
            cors_origins: self.origins(&section.cors_origins),
        }
    }

    fn turn_limits(&mut self, section: &TurnLimitsSection) -> TurnLimits {
        let usual = TurnLimits::default();
        let mut limit = |key, written, default| self.number(key, written, default, (1, 1_000_000));
        let at_once = limit(
            "server.limits.turns_at_once",
            section.at_once,
            u32::try_from(usual.at_once).unwrap_or(u32::MAX),
        );
        TurnLimits {
            at_once: usize::try_from(at_once).unwrap_or(usize::MAX),
            in_a_row: limit(
                "server.limits.turns_in_a_row",
                section.in_a_row,
                usual.in_a_row,
            ),
            per_second: limit(
                "server.limits.turns_per_second",
                section.per_second,
                usual.per_second,
            ),
        }
    }

    fn origins(&mut self, written: &[String]) -> Vec<String> {
        let key = "server.cors_origins";
        let mut origins = Vec::new();
        for text in written {
            match origin(text) {
                Some(origin) => origins.push(origin),
                None if text == "*" => {
                    let what = "\"*\" would let every page of the web in: name each origin";
                    self.refuse(key, what.to_owned());
                }
                None => {
                    let what = format!(
                        "expected an origin such as https://app.example.org, found {text:?}"
                    );
                    self.refuse(key, what);
                }
            }
        }
        origins
    }
}

/// The origin as browsers write it, if it is one and nothing else.
fn origin(text: &str) -> Option<String> {
    let url = url::Url::parse(text).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_bare = url.path() == "/"
        && !text.ends_with('/')
        && url.query().is_none()
        && url.fragment().is_none()
        && url.username().is_empty()
        && url.password().is_none();
    (is_web && is_bare && !text.contains('*')).then(|| url.origin().ascii_serialization())
}
