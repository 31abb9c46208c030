//! Pure: what a person sees of a conversation, and when a turn of it is over.
//!
//! A turn is over when its run has ended **and** has answered. Everything else is only a reason to look into the ledger,
//! which knows whether the message was dealt with: a run may end in silence, fail and be tried again, be merged into
//! another, or end while nobody was connected. A command has no run; its answer is a notice. What was said once is not
//! shown again, wherever it is heard of.

use std::collections::BTreeSet;

use serde_json::Value;
use talaria_domain::delivery::ReplyKind;
use talaria_domain::ids::{EventId, ReplyId, RunId};
use talaria_domain::live::Happening;
use talaria_domain::run::{RunEvent, RunOutcome, ToolResult};

use super::super::text::field;

/// How often the ledger may say "dealt with" without any words before that is believed.
const QUIET_LOOKS: u32 = 3;

/// What a person sees.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Show {
    /// The answer grew.
    More(String),
    /// An answer is complete.
    Answer {
        /// All of it.
        whole: String,
        /// What of it was not shown yet.
        unseen: String,
    },
    /// The gateway says something.
    Notice {
        /// What.
        text: String,
        /// Whether it is the answer.
        is_answer: bool,
    },
    /// A tool was called.
    Tool {
        /// Which.
        tool: String,
        /// With what.
        arguments: String,
    },
    /// A tool answered.
    ToolOutput {
        /// What.
        output: String,
        /// Whether it did what was asked.
        result: ToolResult,
    },
    /// What was shown of the answer so far is void: the run is tried again.
    Again,
    /// The run asks the person.
    Question(String),
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Listen.
    Listen,
    /// Look into the ledger soon.
    Look,
    /// It is over.
    Over,
}

/// A conversation, as one person sees it.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    said: BTreeSet<ReplyId>,
    turn: Option<Turn>,
}

/// A turn, as far as it is known.
#[derive(Debug)]
struct Turn {
    /// The message.
    message: EventId,
    /// The event that is answered: another one if the message became part of it, as an answer to its run does.
    event: EventId,
    is_command: bool,
    run: Option<RunId>,
    /// What was shown of the answer's present segment.
    shown: String,
    /// What was shown of the answer before.
    before: String,
    /// How its last run ended.
    ended: Option<RunOutcome>,
    has_answer: bool,
    has_notice: bool,
    quiet_looks: u32,
}

/// Something that was said.
struct Said<'t> {
    reply: ReplyId,
    kind: ReplyKind,
    text: &'t str,
    is_own: bool,
}

impl Conversation {
    /// A message was accepted under this id: its turn begins.
    pub(super) fn begin(&mut self, event: EventId, text: &str) {
        self.turn = Some(Turn {
            message: event,
            event,
            is_command: text.trim_start().starts_with('/'),
            run: None,
            shown: String::new(),
            before: String::new(),
            ended: None,
            has_answer: false,
            has_notice: false,
            quiet_looks: 0,
        });
    }

    /// Nobody waits for the turn any more.
    pub(super) fn leave(&mut self) {
        self.turn = None;
    }

    /// The event whose life the ledger is to be asked for.
    pub(super) fn event(&self) -> Option<EventId> {
        self.turn.as_ref().map(|turn| turn.event)
    }

    /// Hears of something.
    pub(super) fn hear(&mut self, happening: Happening) -> (Vec<Show>, Next) {
        match (happening, &mut self.turn) {
            (
                Happening::Said {
                    reply,
                    kind,
                    run,
                    text,
                },
                turn,
            ) => {
                let own = turn.as_ref().and_then(|turn| turn.run);
                let is_own = run.is_some() && run == own;
                let said = Said {
                    reply,
                    kind,
                    text: &text,
                    is_own,
                };
                let show = self.say(&said);
                let next = self
                    .turn
                    .as_ref()
                    .map_or(Next::Listen, |turn| turn.after(&said, run));
                (show.into_iter().collect(), next)
            }
            (Happening::Started { run, event }, Some(turn)) if event == turn.event => {
                (turn.start(run).into_iter().collect(), Next::Listen)
            }
            (Happening::Yielded { run, what, .. }, Some(turn)) if turn.run == Some(run) => {
                turn.yielded(what)
            }
            (Happening::Missed, Some(_)) => (Vec::new(), Next::Look),
            _ => (Vec::new(), Next::Listen),
        }
    }

    /// Learns from the ledger what became of the message.
    pub(super) fn learn(&mut self, trace: &Value) -> (Vec<Show>, Next) {
        let mut shows = self.missed(trace);
        let Some(turn) = &mut self.turn else {
            return (shows, Next::Over);
        };
        let event = &trace["event"];
        let state = field(event, "state");
        let next = match state.as_str() {
            "merged" => turn.follow(&field(event, "merged_into")),
            "completed" | "discarded" | "dead" if last_run_is(trace, "cancelled") => Next::Over,
            "completed" | "discarded" | "dead" => turn.dealt_with(),
            _ if last_run_is(trace, "waiting") && turn.event == turn.message => Next::Over,
            _ => Next::Listen,
        };
        let is_given_up = matches!(state.as_str(), "discarded" | "dead");
        let is_unexplained = !turn.has_words() && !last_run_is(trace, "cancelled");
        if next == Next::Over && is_given_up && is_unexplained {
            shows.push(unexplained(event));
        }
        (shows, next)
    }

    /// The ledger does not know the message.
    pub(super) fn learn_nothing(&self) -> Next {
        match &self.turn {
            Some(turn) if !turn.has_words() && turn.ended.is_none() => Next::Listen,
            _ => Next::Over,
        }
    }

    /// What was said while nobody listened.
    fn missed(&mut self, trace: &Value) -> Vec<Show> {
        let last = items(trace, "runs").last();
        let last = last.and_then(|run| field(run, "id").parse().ok());
        let again = match (&mut self.turn, last) {
            (Some(turn), Some(run)) if turn.run != Some(run) => turn.start(run),
            _ => None,
        };
        let mut shows: Vec<_> = again.into_iter().collect();
        for reply in items(trace, "replies").filter(|reply| field(reply, "state") != "open") {
            let (id, kind) = (field(reply, "id").parse(), field(reply, "kind"));
            let (Ok(reply_id), Some(kind)) = (id, ReplyKind::parse(&kind)) else {
                continue;
            };
            let text = reply["text"].as_str().unwrap_or_default();
            shows.extend(self.say(&Said {
                reply: reply_id,
                kind,
                text,
                is_own: true,
            }));
        }
        shows
    }

    fn say(&mut self, said: &Said<'_>) -> Option<Show> {
        if said.kind == ReplyKind::Progress {
            return None;
        }
        let is_final = said.kind == ReplyKind::Final;
        let is_question = said.kind == ReplyKind::Prompt;
        if let Some(turn) = &mut self.turn {
            turn.has_answer |= said.is_own && is_final;
            turn.has_notice |= said.is_own && !is_final && !is_question;
        }
        if !self.said.insert(said.reply) {
            return None;
        }
        if is_question {
            return Some(Show::Question(said.text.to_owned()));
        }
        let whole = said.text.to_owned();
        let turn = self.turn.as_ref();
        Some(if is_final {
            let unseen = turn.filter(|_| said.is_own).map(|turn| turn.unseen(&whole));
            let unseen = unseen.unwrap_or_else(|| whole.clone());
            Show::Answer { whole, unseen }
        } else {
            let is_answer = said.is_own || turn.is_some_and(|turn| turn.is_command);
            Show::Notice {
                text: whole,
                is_answer,
            }
        })
    }
}

impl Turn {
    fn start(&mut self, run: RunId) -> Option<Show> {
        let is_again = self.run.is_some_and(|earlier| earlier != run);
        self.run = Some(run);
        self.ended = None;
        self.shown.clear();
        self.before.clear();
        is_again.then_some(Show::Again)
    }

    fn yielded(&mut self, what: RunEvent) -> (Vec<Show>, Next) {
        let show = match what {
            RunEvent::MessageDelta { text } => {
                self.shown.push_str(&text);
                Show::More(text)
            }
            RunEvent::MessageCompleted { text } => {
                let unseen = self.unseen(&text);
                self.before.push_str(&text);
                self.shown.clear();
                // The reply says the whole of it; this only fills in what was not streamed.
                Show::More(unseen)
            }
            RunEvent::ToolStarted {
                tool, arguments, ..
            } => Show::Tool {
                tool,
                arguments: arguments.to_string(),
            },
            RunEvent::ToolCompleted { output, result, .. } => Show::ToolOutput { output, result },
            RunEvent::Ended(outcome) => return (Vec::new(), self.end(outcome)),
            _ => return (Vec::new(), Next::Listen),
        };
        (vec![show], Next::Listen)
    }

    fn end(&mut self, outcome: RunOutcome) -> Next {
        self.ended = Some(outcome);
        if self.has_answer {
            Next::Over
        } else {
            // It may be tried again, or its words are still on their way.
            Next::Look
        }
    }

    /// What to do after something was said.
    fn after(&self, said: &Said<'_>, run: Option<RunId>) -> Next {
        match (&self.ended, said.kind) {
            // Whoever is asked has to be able to answer.
            (Some(_), ReplyKind::Final) | (_, ReplyKind::Prompt) if said.is_own => Next::Over,
            _ if said.is_own || run.is_none() => Next::Look,
            _ => Next::Listen,
        }
    }

    /// What of a complete text was not shown yet.
    fn unseen(&self, whole: &str) -> String {
        let seen = format!("{}{}", self.before, self.shown);
        if seen.trim_end().ends_with(whole.trim_end()) {
            return String::new();
        }
        let rest = |seen: &str| whole.strip_prefix(seen).filter(|_| !seen.is_empty());
        let rest = rest(&seen).or_else(|| rest(&self.shown));
        rest.unwrap_or(whole).to_owned()
    }

    /// The message became part of another one: that one's answer is ours.
    fn follow(&mut self, into: &str) -> Next {
        match into.parse() {
            Ok(event) if event != self.event => {
                self.event = event;
                Next::Look
            }
            _ => self.dealt_with(),
        }
    }

    fn dealt_with(&mut self) -> Next {
        self.quiet_looks += 1;
        if self.has_words() || self.quiet_looks >= QUIET_LOOKS {
            Next::Over
        } else {
            Next::Look
        }
    }

    const fn has_words(&self) -> bool {
        self.has_answer || self.has_notice
    }
}

fn last_run_is(trace: &Value, state: &str) -> bool {
    items(trace, "runs")
        .last()
        .is_some_and(|run| field(run, "state") == state)
}

/// For a message that was given up without a word.
fn unexplained(event: &Value) -> Show {
    let (state, reason) = (field(event, "state"), field(event, "reason"));
    let text = match reason.as_str() {
        "" => format!("the message is {state}"),
        reason => format!("the message is {state}: {reason}"),
    };
    Show::Notice {
        text,
        is_answer: true,
    }
}

fn items<'v>(object: &'v Value, name: &str) -> impl DoubleEndedIterator<Item = &'v Value> {
    object[name].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests;
