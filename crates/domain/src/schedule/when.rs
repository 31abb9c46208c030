//! Rules that say when, and the next time by each of them. Wall clock rules follow their zone: a time that a clock jumps
//! over comes right after the jump, one that it shows twice comes the first time. Periods are real time and know no zone.

use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use serde::{Deserialize, Serialize};

use super::Zone;
use crate::clock::Timestamp;

/// Years between two leap days, at most.
const YEARS: i16 = 8;

/// A rule that says when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "when", rename_all = "snake_case")]
pub enum When {
    /// Once.
    Once {
        /// At this time.
        at: Timestamp,
    },
    /// Again and again, at the same distance.
    Every {
        /// So far apart.
        period: Duration,
        /// Counted from here.
        from: Timestamp,
    },
    /// Whenever the clock shows this.
    Cron {
        /// Minute, hour, day, month, day of the week.
        expression: String,
    },
}

impl When {
    /// The first time after `after`; none if there is none.
    pub fn next_after(&self, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Once { at } => Some(*at).filter(|at| *at > after),
            Self::Every { period, from } => every(*period, *from, after),
            Self::Cron { expression } => by_the_clock(expression, zone, after),
        }
    }

    /// Whether it comes again.
    pub const fn is_recurring(&self) -> bool {
        !matches!(self, Self::Once { .. })
    }

    /// In words, for people.
    pub fn show(&self, zone: &Zone) -> String {
        match self {
            Self::Once { at } => format!("once, {}", zone.show(*at)),
            Self::Every { period, .. } => format!("every {}", spoken(*period)),
            Self::Cron { expression } => format!("{expression} ({zone})"),
        }
    }
}

/// An expression of five fields, or what is wrong with it.
pub(super) fn cron(expression: &str) -> Result<Cron, String> {
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    parser.parse(expression).map_err(|error| error.to_string())
}

fn every(period: Duration, from: Timestamp, after: Timestamp) -> Option<Timestamp> {
    let step = i64::try_from(period.as_millis())
        .ok()
        .filter(|it| *it > 0)?;
    let passed = after.as_millis().checked_sub(from.as_millis())?;
    let times = passed.div_euclid(step).checked_add(1)?.max(1);
    let next = from.as_millis().checked_add(times.checked_mul(step)?)?;
    Some(Timestamp::from_millis(next))
}

fn by_the_clock(expression: &str, zone: &Zone, after: Timestamp) -> Option<Timestamp> {
    let after_it = jiff::Timestamp::from_millisecond(after.as_millis()).ok()?;
    let after_it = after_it.to_zoned(zone.rules());
    let cron = within_years(expression, after_it.year()).or_else(|| cron(expression).ok())?;
    let next = cron.find_next_occurrence(&after_it, false);
    let next = Timestamp::from_millis(next.ok()?.timestamp().as_millisecond());
    // Whoever follows the times would never get on.
    Some(next).filter(|next| *next > after)
}

/// The same from this year on, as far as a leap day can be away: what never comes is not looked for until the end of time.
fn within_years(expression: &str, from: i16) -> Option<Cron> {
    let parser = CronParser::builder()
        .seconds(Seconds::Required)
        .year(Year::Required)
        .build();
    let whole = format!("0 {expression} {from}-{}", from.checked_add(YEARS)?);
    parser.parse(&whole).ok()
}

fn spoken(period: Duration) -> String {
    let seconds = period.as_secs();
    let units = [(604_800, "w"), (86_400, "d"), (3_600, "h"), (60, "m")];
    let whole = units
        .iter()
        .find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit));
    match whole {
        Some((unit, name)) => format!("{}{name}", seconds / unit),
        None => format!("{seconds}s"),
    }
}
