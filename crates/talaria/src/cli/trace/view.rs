//! Pure: a trace as lines: what arrived, the runs that worked on it, what was said, what was sent and what was given up,
//! each with the time since the start. Fields that are not there are left out, so a newer gateway can be read, too.

use serde_json::Value;
use talaria_domain::clock::Timestamp;

use crate::cli::text::{date, field, first_field, first_lines, offset, one_line, time};
use crate::output::Look;

const WIDEST: usize = 100;
const TOOL_LINES: usize = 3;

/// A line of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// When it happened; empty where that is the line above.
    pub(super) when: String,
    /// How far to the right.
    pub(super) depth: usize,
    /// What happened.
    pub(super) text: String,
    /// How it looks.
    pub(super) look: Option<Look>,
}

/// All of it.
pub(super) fn lines(trace: &Value) -> Vec<Line> {
    let mut view = View {
        start: start(trace),
        lines: Vec::new(),
    };
    view.job(&trace["job"]);
    view.occurrence(&trace["occurrence"]);
    view.event(&trace["event"]);
    for run in items(trace, "runs") {
        view.run(run);
    }
    for reply in items(trace, "replies") {
        view.reply(reply);
    }
    for letter in items(trace, "dead") {
        let what = format!(
            "dead letter {} ({}): {}",
            field(letter, "id"),
            field(letter, "state"),
            field(letter, "reason")
        );
        view.add(time(letter, "at"), 0, &what, Some(Look::Bad));
    }
    view.lines
}

struct View {
    start: Option<Timestamp>,
    lines: Vec<Line>,
}

impl View {
    fn add(&mut self, at: Option<Timestamp>, depth: usize, text: &str, look: Option<Look>) {
        let when = match (at, self.start) {
            (Some(at), Some(start)) => offset(at, start),
            _ => String::new(),
        };
        self.lines.push(Line {
            when,
            depth,
            text: one_line(text, WIDEST),
            look,
        });
    }

    fn job(&mut self, job: &Value) {
        if job.is_null() {
            return;
        }
        let (id, kind, state) = (field(job, "id"), field(job, "kind"), field(job, "state"));
        let head = format!("job {id}: {kind}, {state}");
        self.add(time(job, "created_at"), 0, &head, look_of(&state));
        let work = first_field(&job["work"], &["command", "goal"]);
        self.note(&work, &work);
        let run = field(job, "run_id");
        self.note(&run, &format!("asked for by run {run}"));
        let told = field(job, "told");
        if !told.is_empty() {
            let ended = time(job, "ended_at");
            self.add(ended, 1, &format!("told: {told}"), None);
        }
    }

    fn occurrence(&mut self, occurrence: &Value) {
        if occurrence.is_null() {
            return;
        }
        let (name, id) = (
            field(occurrence, "schedule"),
            field(occurrence, "schedule_id"),
        );
        let state = field(occurrence, "state");
        let head = format!("schedule {name:?} {id}: {state}{}", because(occurrence));
        self.add(time(occurrence, "at"), 0, &head, look_of(&state));
        let when = field(occurrence, "when");
        let due = time(occurrence, "due_at").map(date).unwrap_or_default();
        self.note(&when, &format!("{when}, due {due} UTC"));
    }

    fn event(&mut self, event: &Value) {
        if event.is_null() {
            return;
        }
        let at = time(event, "received_at");
        if let Some(at) = at {
            self.add(None, 0, &format!("{} UTC", date(at)), Some(Look::Dim));
        }
        let (id, kind) = (field(event, "id"), field(event, "kind"));
        self.add(at, 0, &format!("arrived: {kind} {id}"), Some(Look::Bold));
        let address = address(event);
        let who = first_field(&event["principal"], &["display_name", "user"]);
        let who = if who.is_empty() {
            String::new()
        } else {
            format!(" from {who}")
        };
        self.note(&address, &format!("at {address}{who}"));
        let text = words(event);
        self.note(&text, &format!("\u{201c}{text}\u{201d}"));
        let session = first_field(event, &["session_id", "session"]);
        self.note(&session, &format!("session {session}"));
        let state = field(event, "state");
        let reason = because(event);
        if !state.is_empty() {
            let look = look_of(&state);
            self.add(
                time(event, "ended_at"),
                1,
                &format!("{state}{reason}"),
                look,
            );
        }
    }

    /// A line below the last heading, unless there is nothing to say.
    fn note(&mut self, subject: &str, text: &str) {
        if !subject.is_empty() {
            self.add(None, 1, text, None);
        }
    }

    fn run(&mut self, run: &Value) {
        let (id, runner) = (field(run, "id"), field(run, "runner"));
        let attempt = field(run, "attempt");
        let head = format!("run {id}: attempt {attempt}, {runner}");
        self.add(time(run, "created_at"), 0, &head, Some(Look::Bold));
        self.journal(items(run, "journal"));
        let state = field(run, "state");
        let outcome = &run["outcome"];
        let reason = field(outcome, "reason");
        let usage = &outcome["usage"];
        let cost = if usage.is_object() {
            let (read, written) = (field(usage, "input_tokens"), field(usage, "output_tokens"));
            format!(", {read} tokens read, {written} written")
        } else {
            String::new()
        };
        let reason = if reason.is_empty() {
            String::new()
        } else {
            format!(": {reason}")
        };
        let at = time(run, "ended_at").or_else(|| time(run, "active_at"));
        let look = look_of(&state);
        self.add(at, 1, &format!("{state}{reason}{cost}"), look);
    }

    /// The journal in short: a stream of pieces is one line.
    fn journal<'v>(&mut self, entries: impl Iterator<Item = &'v Value>) {
        let mut pieces = Pieces::default();
        for entry in entries {
            let (at, event) = (time(entry, "at"), inner(entry, "event"));
            if first_field(event, &["event"]) == "message_delta" {
                pieces.add(at, &field(event, "text"));
                continue;
            }
            pieces.flush(self);
            if let Some(text) = told(event) {
                self.add(at, 1, &text, None);
            }
            if first_field(event, &["event"]) == "tool_completed" {
                self.output(&field(event, "output"));
            }
        }
        pieces.flush(self);
    }

    fn output(&mut self, output: &str) {
        let (shown, more) = first_lines(output, TOOL_LINES);
        for line in shown {
            self.add(None, 2, &line, Some(Look::Dim));
        }
        if more > 0 {
            self.add(None, 2, &format!("… {more} more lines"), Some(Look::Dim));
        }
    }

    fn reply(&mut self, reply: &Value) {
        let (id, kind, state) = (
            field(reply, "id"),
            field(reply, "kind"),
            field(reply, "state"),
        );
        let head = format!("reply {id}: {kind}, {state}");
        let look = look_of(&state).or(Some(Look::Bold));
        self.add(time(reply, "created_at"), 0, &head, look);
        let text = field(reply, "text");
        self.note(&text, &format!("\u{201c}{text}\u{201d}"));
        for part in items(reply, "parts") {
            self.part(part);
        }
    }

    fn part(&mut self, part: &Value) {
        let (id, state) = (field(part, "id"), field(part, "state"));
        let ordinal = part["ordinal"].as_i64().unwrap_or(0) + 1;
        let head = format!("part {ordinal} {id}: {state}{}", file(part));
        self.add(time(part, "created_at"), 1, &head, look_of(&state));
        for (index, attempt) in items(part, "attempts").enumerate() {
            let number = attempt["attempt"].as_u64().map_or(index + 1, |number| {
                usize::try_from(number).unwrap_or(usize::MAX)
            });
            let outcome = inner(attempt, "outcome");
            let (name, detail) = (field(outcome, "outcome"), field(outcome, "detail"));
            let detail = if detail.is_empty() {
                String::new()
            } else {
                format!(": {detail}")
            };
            let look = look_of(&name);
            self.add(
                time(attempt, "at"),
                2,
                &format!("attempt {number}: {name}{detail}"),
                look,
            );
        }
        for receipt in items(part, "receipts") {
            let text = format!("receipt {}", field(receipt, "message"));
            self.add(time(receipt, "at"), 2, &text, None);
        }
    }
}

/// The file that a part shows, if it shows one.
fn file(part: &Value) -> String {
    let attachment = &part["body"]["attachment"];
    let Some(name) = attachment["file_name"].as_str() else {
        return String::new();
    };
    let size = attachment["size_bytes"].as_u64();
    let size = size.map_or_else(String::new, |size| format!(", {size} bytes"));
    format!(", file {name:?}{size}")
}

/// Pieces of an answer that came one after the other.
#[derive(Default)]
struct Pieces {
    since: Option<Timestamp>,
    count: usize,
    text: String,
}

impl Pieces {
    fn add(&mut self, at: Option<Timestamp>, text: &str) {
        if self.count == 0 {
            self.since = at;
        }
        self.count += 1;
        self.text.push_str(text);
    }

    fn flush(&mut self, view: &mut View) {
        if self.count > 0 {
            let text = format!("answered in {} pieces: {}", self.count, self.text);
            view.add(self.since, 1, &text, None);
        }
        *self = Self::default();
    }
}

/// A journal's entry in words; none where there is nothing to tell.
fn told(event: &Value) -> Option<String> {
    let name = first_field(event, &["event", "kind"]);
    Some(match name.as_str() {
        "message_completed" => format!("said: {}", field(event, "text")),
        "reasoning" => format!("thought: {}", field(event, "text")),
        "tool_started" => {
            let (tool, arguments) = (field(event, "tool"), field(event, "arguments"));
            format!("tool {tool} {arguments}")
        }
        "tool_completed" => format!("tool {}", field(event, "result")),
        "steered" => format!("was told meanwhile: {}", field(event, "text")),
        "state_updated" => format!(
            "remembers {} ({})",
            field(event, "key"),
            field(event, "scope")
        ),
        "action_requested" => format!(
            "asked: {}",
            first_field(&event["action"], &["text", "effect"])
        ),
        "log" => format!("log: {}", field(event, "text")),
        // The run's own line says how it ended.
        "ended" | "" => return None,
        other => other.to_owned(),
    })
}

/// A thing in its envelope, or the envelope itself where both are one.
fn inner<'v>(envelope: &'v Value, name: &str) -> &'v Value {
    if envelope[name].is_object() {
        &envelope[name]
    } else {
        envelope
    }
}

fn items<'v>(object: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    object[name].as_array().into_iter().flatten()
}

/// What an event says, in words.
fn words(event: &Value) -> String {
    let content = inner(event, "content");
    match field(content, "text").as_str() {
        "" if content["name"].is_string() => {
            let (name, arguments) = (field(content, "name"), field(content, "arguments"));
            format!("/{name} {arguments}").trim_end().to_owned()
        }
        text => text.to_owned(),
    }
}

/// `platform/account chat thread`.
fn address(event: &Value) -> String {
    let place = inner(event, "address");
    let names = ["platform", "account", "chat", "thread"];
    let present = names.iter().map(|name| field(place, name));
    let present: Vec<_> = present.filter(|text| !text.is_empty()).collect();
    present.join(" / ")
}

fn because(object: &Value) -> String {
    match field(object, "reason").as_str() {
        "" => String::new(),
        reason => format!(": {reason}"),
    }
}

fn look_of(state: &str) -> Option<Look> {
    match state {
        "completed" | "delivered" => Some(Look::Good),
        "failed" | "dead" | "rejected" => Some(Look::Bad),
        "retry" | "unknown" | "doubted" | "not_sent" | "discarded" | "cancelled"
        | "interrupted" => Some(Look::Doubtful),
        _ => None,
    }
}

/// The earliest time that is known.
fn start(trace: &Value) -> Option<Timestamp> {
    let event = time(&trace["event"], "received_at");
    let runs = items(trace, "runs").filter_map(|run| time(run, "created_at"));
    let replies = items(trace, "replies").filter_map(|reply| time(reply, "created_at"));
    let dead = items(trace, "dead").filter_map(|letter| time(letter, "at"));
    let job = time(&trace["job"], "created_at");
    let occurrence = time(&trace["occurrence"], "at");
    event
        .into_iter()
        .chain(job)
        .chain(occurrence)
        .chain(runs)
        .chain(replies)
        .chain(dead)
        .min()
}

#[cfg(test)]
mod tests;
