//! Where a clock hangs: a zone of the IANA database, known by its name. The database is part of the program, so that
//! every machine computes the same times.

use std::fmt;

use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;

/// A time zone that there is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(String);

impl Default for Zone {
    fn default() -> Self {
        Self("UTC".to_owned())
    }
}

impl Zone {
    /// The zone of this name, in whatever case, or what to write instead.
    pub fn parse(name: &str) -> Result<Self, String> {
        let found = TimeZoneDatabase::bundled().get(name.trim());
        let known = found.ok().and_then(|zone| {
            let name = zone.iana_name()?.to_owned();
            Some(Self(name))
        });
        known.ok_or_else(|| {
            format!(
                "{name:?} is no time zone: write one such as Europe/Berlin, America/New_York or UTC"
            )
        })
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A time as its clock shows it: `2026-11-16 09:30 Europe/Berlin`, with seconds where there are any.
    pub fn show(&self, at: Timestamp) -> String {
        let Ok(time) = jiff::Timestamp::from_millisecond(at.as_millis()) else {
            return format!("{} ms", at.as_millis());
        };
        let time = time.to_zoned(self.rules());
        let format = if time.second() == 0 {
            "%Y-%m-%d %H:%M"
        } else {
            "%Y-%m-%d %H:%M:%S"
        };
        format!("{} {}", time.strftime(format), self.0)
    }

    /// Its rules. A name that is here was looked up when it was made.
    pub(super) fn rules(&self) -> TimeZone {
        let found = TimeZoneDatabase::bundled().get(&self.0);
        found.unwrap_or(TimeZone::UTC)
    }
}

impl TryFrom<String> for Zone {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::parse(&name)
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.0
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
