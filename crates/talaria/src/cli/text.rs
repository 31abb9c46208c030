//! Pure: texts for a terminal. What strangers wrote is shown without anything that could move the cursor, and times are
//! shown as people read them.

use serde_json::Value;
use talaria_domain::clock::Timestamp;

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A text without control characters but for line ends and tabs.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .collect()
}

/// A text on one line of at most this many letters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let cleaned = clean(text);
    let line = cleaned.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let cut: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// The first lines of a text, and how many more there are.
pub(crate) fn first_lines(text: &str, most: usize) -> (Vec<String>, usize) {
    let cleaned = clean(text);
    let lines: Vec<&str> = cleaned.trim_end().lines().collect();
    let shown = lines.iter().take(most).map(|line| (*line).to_owned());
    (shown.collect(), lines.len().saturating_sub(most))
}

/// A field of a JSON object as a text; empty where there is none.
pub(crate) fn field(object: &Value, name: &str) -> String {
    shown(&object[name])
}

/// The first of several fields that is there.
pub(crate) fn first_field(object: &Value, names: &[&str]) -> String {
    let present = names.iter().map(|name| field(object, name));
    present
        .into_iter()
        .find(|text| !text.is_empty())
        .unwrap_or_default()
}

/// A JSON value as a text on one line.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => clean(text),
        other => clean(&other.to_string()),
    }
}

/// A field that is a time.
pub(crate) fn time(object: &Value, name: &str) -> Option<Timestamp> {
    object[name].as_i64().map(Timestamp::from_millis)
}

/// A point in time, in UTC: `2026-11-16 09:30:05`.
pub(crate) fn date(at: Timestamp) -> String {
    let millis = at.as_millis();
    let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (rest / HOUR, rest % HOUR / MINUTE, rest % MINUTE / SECOND);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// How long ago something was.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    let millis = now.as_millis().saturating_sub(at.as_millis());
    match millis {
        ..SECOND => "now".to_owned(),
        _ => format!("{} ago", span(millis)),
    }
}

/// How long something took, in the largest unit that fits.
pub(crate) fn span(millis: i64) -> String {
    match millis {
        ..SECOND => format!("{millis} ms"),
        SECOND..MINUTE => format!("{} s", millis / SECOND),
        MINUTE..HOUR => format!("{} min", millis / MINUTE),
        HOUR..DAY => format!("{} h", millis / HOUR),
        _ => format!("{} d", millis / DAY),
    }
}

/// The time since the start of something, to the millisecond: `+1.250 s`.
pub(crate) fn offset(at: Timestamp, start: Timestamp) -> String {
    let millis = at.as_millis().saturating_sub(start.as_millis());
    let sign = if millis < 0 { '-' } else { '+' };
    let millis = millis.unsigned_abs();
    format!("{sign}{}.{:03} s", millis / 1_000, millis % 1_000)
}

/// Year, month and day of a day counted from the first of January 1970, in the Gregorian calendar.
fn civil(days: i64) -> (i64, i64, i64) {
    // Years start in March here, so that the leap day is a year's last; 400 of them are an era.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests;
