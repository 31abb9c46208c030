//! What people write about a time. Pure: words, a zone and the time now in; a rule, or a sentence that says what to
//! write instead, out.

use std::time::Duration;

use jiff::civil::DateTime;

use super::when::{When, cron};
use super::{What, Zone};
use crate::clock::Timestamp;

/// What recurs does so no more often.
pub const SHORTEST: Duration = Duration::from_mins(1);
/// Nobody is there for longer.
const LONGEST: Duration = Duration::from_hours(24 * 366 * 10);

const EXAMPLES: &str = "`30m` or `in 2h`, `every 2h`, five fields such as `0 9 * * 1-5` (minute hour day month weekday), \
     or `2027-01-31T18:00`";

/// Units by any of their names, in seconds.
const UNITS: [(&[&str], u64); 5] = [
    (&["s", "sec", "secs", "second", "seconds"], 1),
    (&["m", "min", "mins", "minute", "minutes"], 60),
    (&["h", "hr", "hrs", "hour", "hours"], 3_600),
    (&["d", "day", "days"], 86_400),
    (&["w", "week", "weeks"], 604_800),
];

/// Reads a time. A zone at its end counts before `zone`, which is the one where nothing is said.
pub fn parse(text: &str, zone: &Zone, now: Timestamp) -> Result<(When, Zone), String> {
    let mut words: Vec<&str> = text.split_whitespace().collect();
    let mut zone = zone.clone();
    if let [_, .., last] = words.as_slice()
        && last.starts_with(|letter: char| letter.is_ascii_uppercase())
        && let Ok(own) = Zone::parse(last)
    {
        zone = own;
        words.pop();
    }
    let first = words.first().map(|word| word.to_lowercase());
    let rest = words.get(1..).unwrap_or_default();
    let when = match first.as_deref() {
        None => return Err(format!("say when: {EXAMPLES}")),
        Some("every") => every(rest, text, now)?,
        Some("in") => after(span(rest), text, now)?,
        Some("at") => at(rest, &zone, text, now)?,
        Some(_) => match span(&words) {
            Some(span) => after(Some(span), text, now)?,
            None if is_table(&words) => table(&words)?,
            None => at(&words, &zone, text, now)?,
        },
    };
    Ok((when, zone))
}

/// `WHEN say TEXT` or `WHEN ask TEXT`: the words before the first `say` or `ask`, and what comes after it.
pub fn split(line: &str) -> Result<(&str, What), String> {
    let mut from = 0;
    while let Some(begin) = line[from..].find(|letter: char| !letter.is_whitespace()) {
        let begin = from + begin;
        let word = line[begin..].split(char::is_whitespace).next();
        let end = begin + word.map_or(0, str::len);
        let text = || line[end..].trim().to_owned();
        let what = What::of(&line[begin..end].to_lowercase(), text());
        if let Some(what) = what {
            return Ok((line[..begin].trim(), what));
        }
        from = end;
    }
    Err(
        "expected WHEN say TEXT, which is posted as it is, or WHEN ask TEXT, which I am asked then"
            .to_owned(),
    )
}

fn every(rest: &[&str], text: &str, now: Timestamp) -> Result<When, String> {
    let Some(period) = span(rest) else {
        return Err(format!(
            "expected a time after `every`, such as `every 30m`, `every 2h` or `every 1d`, found {text:?}; for a time of \
             the day write five fields such as `0 9 * * *`"
        ));
    };
    if period < SHORTEST {
        return Err(
            "nothing happens more often than once in a minute: write `every 1m` or more".to_owned(),
        );
    }
    if period > LONGEST {
        return Err(too_far(text));
    }
    Ok(When::Every { period, from: now })
}

fn after(span: Option<Duration>, text: &str, now: Timestamp) -> Result<When, String> {
    match span {
        None => Err(not_a_time(text)),
        Some(span) if span.is_zero() => Err(format!("{text:?} is now: write `in 1m` or more")),
        Some(span) if span > LONGEST => Err(too_far(text)),
        Some(span) => Ok(When::Once { at: now.plus(span) }),
    }
}

fn at(words: &[&str], zone: &Zone, text: &str, now: Timestamp) -> Result<When, String> {
    let written = words.join(" ");
    let at = if let Ok(at) = written.parse::<jiff::Timestamp>() {
        at
    } else {
        let civil: DateTime = written.parse().map_err(|_| not_a_time(text))?;
        let found = zone.rules().to_ambiguous_zoned(civil).compatible();
        found.map_err(|_| not_a_time(text))?.timestamp()
    };
    let at = Timestamp::from_millis(at.as_millisecond());
    if at <= now {
        return Err(format!(
            "{} is over: it is {} now",
            zone.show(at),
            zone.show(now)
        ));
    }
    if at.since(now) > LONGEST {
        return Err(too_far(text));
    }
    Ok(When::Once { at })
}

/// Whether these are meant to be five fields.
fn is_table(words: &[&str]) -> bool {
    let is_field = |word: &&str| {
        let mut letters = word.chars();
        letters.all(|letter| letter.is_ascii_alphanumeric() || "*/,-?#".contains(letter))
    };
    let has_digit = |word: &&str| word.contains('*') || word.chars().any(|it| it.is_ascii_digit());
    words.len() >= 5 && words.iter().all(is_field) && words.iter().any(has_digit)
}

fn table(words: &[&str]) -> Result<When, String> {
    let expression = words.join(" ");
    let wrong = |why: &str| {
        format!(
            "{expression:?} is not five fields (minute hour day month weekday), {why}: write for instance `0 9 * * 1-5`"
        )
    };
    if words.len() != 5 {
        return Err(wrong(&format!("there are {}", words.len())));
    }
    cron(&expression).map_err(|error| wrong(error.trim_end_matches('.')))?;
    Ok(When::Cron { expression })
}

/// A stretch of time: `30m`, `2 hours`, `1h30m`. None if it is something else.
fn span(words: &[&str]) -> Option<Duration> {
    let text = words.concat().to_lowercase();
    let mut rest = text.as_str();
    if rest.is_empty() {
        return None;
    }
    let mut seconds = 0_u64;
    while !rest.is_empty() {
        let digits = rest.len()
            - rest
                .trim_start_matches(|it: char| it.is_ascii_digit())
                .len();
        let number: u64 = rest.get(..digits)?.parse().ok()?;
        rest = rest.get(digits..)?;
        let letters = rest.len()
            - rest
                .trim_start_matches(|it: char| it.is_ascii_alphabetic())
                .len();
        let name = rest.get(..letters)?;
        rest = rest.get(letters..)?;
        let (_, unit) = UNITS.iter().find(|(names, _)| names.contains(&name))?;
        seconds = seconds.checked_add(number.checked_mul(*unit)?)?;
    }
    Some(Duration::from_secs(seconds))
}

fn not_a_time(text: &str) -> String {
    format!("expected a time such as {EXAMPLES}, found {text:?}")
}

fn too_far(text: &str) -> String {
    format!("{text:?} is more than ten years away: write an earlier time")
}
