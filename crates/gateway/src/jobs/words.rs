//! What is said about jobs, to agents and to people. Pure. Each text is complete in itself: it may be read long after
//! everything else of the job is forgotten.

use std::time::Duration;

use serde_json::Value as Json;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::JobId;
use talaria_domain::job::Job;
use talaria_domain::machine::{JobState, Machine as _};

/// How much of a task or a command is quoted.
const QUOTED: usize = 120;

/// How a delegation ended: with an answer, or with the reason why there is none.
pub fn ended(job: JobId, goal: &str, state: JobState, words: &str) -> String {
    let goal = in_short(goal);
    let words = match words.trim() {
        "" => "(it said nothing)",
        words => words,
    };
    match state {
        JobState::Completed => format!("The task {goal:?} is done (job {job}):\n\n{words}"),
        state => format!(
            "The task {goal:?} is not done (job {job}, {}): {words}",
            state.as_str()
        ),
    }
}

/// One line about a job.
pub fn line(job: &Job, now: Timestamp) -> String {
    format!(
        "- `{}` {} {}, {} ago: {}",
        job.id,
        job.kind.as_str(),
        job.state.as_str(),
        age(now.since(job.created_at)),
        in_short(&work(&job.work))
    )
}

/// What is to be done, as far as its own words are there.
fn work(work: &Json) -> String {
    let said = ["command", "goal"]
        .into_iter()
        .find_map(|key| work.get(key));
    match said {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
            words.join(" ")
        }
        Some(other) => other.to_string(),
        None => work.to_string(),
    }
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

fn age(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} seconds"),
        seconds @ 120..7_200 => format!("{} minutes", seconds / 60),
        seconds => format!("{} hours", seconds / 3_600),
    }
}

#[cfg(test)]
mod tests;
