//! What is said about schedules, to agents and to people. Pure. Each text is complete in itself.

use std::time::Duration;

use talaria_domain::clock::Timestamp;
use talaria_domain::machine::{Machine as _, ScheduleState};
use talaria_domain::schedule::Schedule;

use super::due::lateness;

/// How much of a text is quoted.
const QUOTED: usize = 80;

/// What is posted at a time: the words as they are, and that they are late if they are.
pub fn said(schedule: &Schedule, due: Timestamp, now: Timestamp) -> String {
    let text = schedule.what.text().trim();
    match lateness(due, now) {
        None => text.to_owned(),
        Some(late) => {
            let (late, due) = (spoken(late), schedule.zone.show(due));
            format!("{text}\n\n({late} late: I was not running when this was due, {due}.)")
        }
    }
}

/// What the agent is asked at a time. It is told that nobody has just written.
pub fn asked(schedule: &Schedule, due: Timestamp, now: Timestamp) -> String {
    let late = lateness(due, now).map_or_else(String::new, |late| {
        format!(
            " It is {} late, because the gateway was not running: say so in your answer.",
            spoken(late)
        )
    });
    format!(
        "[It is time for the schedule {:?}, due {}. Nobody has just written.{late}]\n{}",
        schedule.name,
        schedule.zone.show(due),
        schedule.what.text().trim()
    )
}

/// One line about a schedule.
pub fn line(schedule: &Schedule) -> String {
    let next = match (schedule.state, schedule.next_at) {
        (ScheduleState::Active, Some(next)) => format!("next {}", schedule.zone.show(next)),
        (state, _) => state.as_str().to_owned(),
    };
    format!(
        "- **{}** (`{}`), {}: {}, {} {:?}",
        schedule.name,
        schedule.id,
        next,
        schedule.when.show(&schedule.zone),
        schedule.what.as_str(),
        in_short(schedule.what.text())
    )
}

/// The first line, and not too much of it.
fn in_short(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(QUOTED).collect();
    if short.len() < text.trim().len() {
        short.push('…');
    }
    short
}

fn spoken(time: Duration) -> String {
    match time.as_secs() / 60 {
        0..=1 => "1 minute".to_owned(),
        minutes @ 2..120 => format!("{minutes} minutes"),
        minutes @ 120..2_880 => format!("{} hours", minutes / 60),
        minutes => format!("{} days", minutes / 1_440),
    }
}

#[cfg(test)]
mod tests;
