//! How the life of a process is put into words: its end, and what is worth a word before. Each text is complete in
//! itself, as it may be read long afterwards.
//!
//! Pure: what happened in, words out.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;
use talaria_domain::ids::JobId;
use talaria_domain::job::JobEnd;
use talaria_domain::machine::JobState;

use super::breaker::SILENCE;
use super::watch::Notice;

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ending {
    /// Its exit code; a signal counts as 128 and its number, as in a shell.
    pub(crate) code: Option<i32>,
    /// Why it ended.
    pub(crate) cause: Cause,
    /// How long it ran, if that was seen.
    pub(crate) after: Option<Duration>,
}

/// Why a process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    /// By itself, or by somebody whom we do not know.
    Itself,
    /// The agent ended it.
    Killed,
    /// Somebody else ended its job.
    Cancelled,
    /// It printed more than is kept.
    TooMuchOutput,
    /// It could not be started, and why.
    NotStarted(String),
    /// It could not be found again, and why.
    Lost(String),
}

impl Ending {
    /// An end without a code.
    pub(crate) const fn of(cause: Cause) -> Self {
        Self {
            code: None,
            cause,
            after: None,
        }
    }

    /// The state that the job ends in.
    pub(crate) const fn state(&self) -> JobState {
        match (&self.cause, self.code) {
            (Cause::Itself, Some(0)) => JobState::Completed,
            (Cause::Itself | Cause::TooMuchOutput | Cause::NotStarted(_), _) => JobState::Failed,
            (Cause::Killed | Cause::Cancelled, _) => JobState::Cancelled,
            (Cause::Lost(_), _) => JobState::Lost,
        }
    }

    /// What became of it, as the end of a sentence that starts with the process.
    pub(crate) fn words(&self) -> String {
        let after = self
            .after
            .map_or_else(String::new, |after| format!(" after {} s", after.as_secs()));
        match &self.cause {
            Cause::Itself => format!("ended{}{after}", code(self.code)),
            Cause::Killed => format!("was killed{after}"),
            Cause::Cancelled => format!("was cancelled{after}"),
            Cause::TooMuchOutput => {
                format!(
                    "was ended{after}: it printed more than {} MiB",
                    super::MOST_OUTPUT >> 20
                )
            }
            Cause::NotStarted(why) => format!("could not be started: {why}"),
            Cause::Lost(why) => format!("is lost: {why}"),
        }
    }
}

fn code(code: Option<i32>) -> String {
    match code {
        Some(code) if code > 128 => format!(" with exit code {code} (signal {})", code - 128),
        Some(code) => format!(" with exit code {code}"),
        None => " without an exit code: something killed it".to_owned(),
    }
}

/// The end of a process, for its job.
pub(super) fn end(job: JobId, command: &str, ending: &Ending, tail: &str) -> JobEnd {
    let mut text = format!(
        "[Background process {job} {}.]\nCommand:\n{}",
        ending.words(),
        fenced(command)
    );
    if !tail.is_empty() {
        text.push_str("\nThe last of its output:\n");
        text.push_str(&fenced(tail));
    }
    JobEnd {
        state: ending.state(),
        text,
        result: json!({
            "command": command,
            "exit_code": ending.code,
            "ended": ending.words(),
            "output": tail,
        }),
    }
}

/// Lines that matched, or that nothing is looked for any more.
pub(super) fn notice(job: JobId, command: &str, notice: &Notice) -> String {
    let which = format!("background process {job}");
    match notice {
        Notice::Matched {
            lines,
            count,
            suppressed,
        } => {
            let shown = lines.len();
            let mut head = format!("[Output of {which} matches: {count} lines");
            if *count > shown as u64 {
                // Writing to a string cannot fail.
                write!(head, ", the first {shown} of them here").unwrap_or_default();
            }
            if *suppressed > 0 {
                write!(head, "; {suppressed} more were not told before").unwrap_or_default();
            }
            format!(
                "{head}.]\nCommand:\n{}\n{}",
                fenced(command),
                fenced(&lines.join("\n"))
            )
        }
        Notice::Disabled { suppressed } => format!(
            "[Output of {which} matches too often: {suppressed} lines were not told, and its `watch_patterns` are \
             switched off. You will be told when it ends.]\nCommand:\n{}",
            fenced(command)
        ),
    }
}

/// All processes together talk too much.
pub(super) fn silence(job: JobId) -> String {
    format!(
        "[Output of background process {job} matches, but background processes say too much at once: for {} s nothing \
         more is told of what matches. process(action=\"log\") shows what was printed.]",
        SILENCE.as_secs()
    )
}

/// A block that nothing in it can end.
fn fenced(text: &str) -> String {
    let rows = text.split(|letter| letter != '`').map(str::len);
    let fence = "`".repeat(rows.max().unwrap_or(0).max(2) + 1);
    let text = text.trim_end_matches('\n');
    format!("{fence}\n{text}\n{fence}")
}
