//! One run on a connection, from its order to its end. What the runner tells is journalled in order, before anybody sees
//! it; what it asks for is done beside that, and does not wait for it.
//!
//! **Invariant:** a run ends once, and truthfully: by its runner's word, by its host's, or because the runner broke off,
//! which its user is told. After that nothing of the runner counts.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use talaria_domain::effects::{Memory, MemoryRequest};
use talaria_domain::run::{FailureCode, RunEvent, RunOutcome, Usage};
use talaria_domain::runner::{Host, Stopped, ToolCall, Turn};
use talaria_domain::scope::StateScope;
use tokio::time;

use super::inbox::Step;
use super::order::order;
use super::seat::Seat;
use super::tally::Tally;
use super::wire::{self, Order, Report};
use super::{Limits, Resources};

/// Of a line for the operator.
const MOST_OF_A_LOG: usize = 8 * 1024;
/// Of a reason for the user.
const MOST_OF_A_REASON: usize = 2_000;

/// One run.
pub(super) struct Running<'a> {
    pub(super) seat: Seat,
    pub(super) turn: &'a Turn,
    pub(super) host: &'a dyn Host,
    pub(super) resources: &'a Resources,
    tally: Mutex<Tally>,
}

/// How a run comes to its end.
#[derive(Debug)]
enum End {
    /// The runner is done.
    Completed,
    /// The runner says why it is not.
    Failed(String),
    /// The runner did what it must not.
    Broken(String),
    /// The process is gone.
    Gone(String),
    /// The host does not want to hear more.
    Stopped,
}

impl From<Stopped> for End {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

impl<'a> Running<'a> {
    pub(super) fn of(
        seat: Seat,
        turn: &'a Turn,
        host: &'a dyn Host,
        resources: &'a Resources,
    ) -> Self {
        let calls = turn.history.iter().flat_map(|said| &said.calls);
        Self {
            seat,
            turn,
            host,
            resources,
            tally: Mutex::new(Tally::after(calls.map(|call| call.id.as_str()))),
        }
    }

    /// Runs it to its end.
    pub(super) async fn run(self) -> RunOutcome {
        let end = {
            let mut serving = pin!(self.serve());
            let end = tokio::select! {
                biased;
                () = self.host.stopped() => End::Stopped,
                end = self.follow() => end.unwrap_or_else(|end| end),
                // It ends only when the inbox is closed, which is done below.
                () = &mut serving => End::Stopped,
            };
            if matches!(end, End::Completed) {
                // What was asked for before the last word is done before the end.
                self.seat.inbox.close();
                let _ = time::timeout(self.limits().grace, serving).await;
            }
            end
        };
        match end {
            End::Completed => self.complete().await,
            End::Failed(reason) => {
                self.seat.note_told();
                self.failed(&clip(reason, MOST_OF_A_REASON))
            }
            End::Gone(why) => {
                self.seat.note_told();
                self.failed(&format!("the agent's process {why}"))
            }
            End::Broken(why) => {
                // Whatever it is up to, it is told, and gets no more runs; nobody waits for what it makes of that.
                self.seat.connection.retire();
                self.failed(&why)
            }
            End::Stopped => {
                self.call_off().await;
                RunOutcome::Cancelled
            }
        }
    }

    async fn follow(&self) -> Result<End, End> {
        let introduction = self.seat.connection.introduction();
        let order = order(self.turn, &introduction, &self.resources.models);
        let line = wire::order(None, &Order::Run(Box::new(order)));
        // A process that is gone says so in the inbox.
        let _ = self.seat.connection.send(line).await;
        loop {
            let step = self.seat.inbox.next().await;
            if let Some(end) = self.take(step).await? {
                return Ok(end);
            }
            self.seat.inbox.knock();
        }
    }

    async fn take(&self, step: Step) -> Result<Option<End>, Stopped> {
        match step {
            Step::Report(report) => return self.report(report).await,
            Step::Call(callback) => self.begin_call(callback).await?,
            Step::Judged(callback, consent) => self.go_on(callback, consent).await?,
            Step::Note(text) => self.log(text).await?,
            Step::Lost(text) => {
                self.tally().lose();
                self.log(text).await?;
            }
            Step::Broken(why) => return Ok(Some(End::Broken(why))),
            Step::Gone(why) => return Ok(Some(End::Gone(why))),
        }
        Ok(None)
    }

    async fn report(&self, report: Report) -> Result<Option<End>, Stopped> {
        match report {
            Report::MessageDelta { text } => {
                let text = readable(text);
                self.tally().grow(&text);
                self.journal(RunEvent::MessageDelta { text }).await?;
            }
            Report::MessageCompleted { text } => self.complete_message(text).await?,
            Report::Reasoning { text } => {
                let text = readable(text);
                self.journal(RunEvent::Reasoning { text }).await?;
            }
            Report::ToolStarted { call, .. } if !self.tally().start(&call) => {
                let why = "it sent a `tool.started` whose `call` is empty or was used before";
                return Ok(Some(End::Broken(why.to_owned())));
            }
            Report::ToolStarted {
                call,
                tool,
                arguments,
            } => {
                let id = call;
                let call = ToolCall {
                    id,
                    tool,
                    arguments,
                };
                self.start_call(&call).await?;
            }
            Report::ToolCompleted { call, .. } if !self.tally().end(&call) => {
                let why = "it sent a `tool.completed` for a call that is not open";
                return Ok(Some(End::Broken(why.to_owned())));
            }
            Report::ToolCompleted {
                call,
                output,
                result,
            } => {
                let output = readable(output);
                let completed = RunEvent::ToolCompleted {
                    call,
                    output,
                    result,
                };
                self.journal(completed).await?;
            }
            Report::StateUpdated { scope, key, value } => {
                self.remember(scope, key, value).await?;
            }
            Report::Log { text } => self.log(text).await?,
            Report::Completed { usage } => {
                self.tally().spend(usage);
                return Ok(Some(End::Completed));
            }
            Report::Failed { reason } => return Ok(Some(End::Failed(readable(reason)))),
        }
        Ok(None)
    }

    /// A message is whole. Several are several.
    async fn complete_message(&self, text: Option<String>) -> Result<(), Stopped> {
        let text = self.tally().complete(text.map(readable));
        match text {
            Some(text) => self.journal(RunEvent::MessageCompleted { text }).await,
            None => Ok(()),
        }
    }

    /// A tool is called, the runner's own or the host's. What was said before it is a message of its own.
    pub(super) async fn start_call(&self, call: &ToolCall) -> Result<(), Stopped> {
        self.complete_message(None).await?;
        let started = RunEvent::ToolStarted {
            call: call.id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
        };
        self.journal(started).await
    }

    async fn remember(
        &self,
        scope: StateScope,
        key: String,
        value: serde_json::Value,
    ) -> Result<(), Stopped> {
        let what = format!(
            "`state.updated` of {:?} was not done",
            clip(key.clone(), 100)
        );
        let request = if value.is_null() {
            MemoryRequest::Delete { key }
        } else {
            MemoryRequest::Set {
                key,
                value,
                expected: None,
            }
        };
        let effects = self.host.effects();
        match effects.remember(Memory::State(scope), request).await {
            Ok(_) => Ok(()),
            Err(refusal) => self.log(format!("{what}: {refusal}")).await,
        }
    }

    /// For the operator, who finds it in the run's journal and in the log.
    pub(super) async fn log(&self, text: String) -> Result<(), Stopped> {
        let text = clip(readable(text), MOST_OF_A_LOG);
        let runner = self.seat.connection.name.as_str();
        tracing::info!(runner, run = %self.turn.run, "{text}");
        self.journal(RunEvent::Log { text }).await
    }

    pub(super) async fn journal(&self, event: RunEvent) -> Result<(), Stopped> {
        self.host.journal(event).await
    }

    /// The runner is done: what it said last is a message, and nobody is left without an answer.
    async fn complete(&self) -> RunOutcome {
        self.seat.note_told();
        self.seat.connection.note_use();
        let said = self.complete_message(None).await;
        if said.is_err() {
            return RunOutcome::Cancelled;
        }
        if self.tally().is_speechless() {
            return self.failed("all that it said was too long to be taken: ask for less at once");
        }
        let regret = self.tally().regret();
        if let Some(text) = regret
            && self
                .journal(RunEvent::MessageCompleted { text })
                .await
                .is_err()
        {
            return RunOutcome::Cancelled;
        }
        let usage: Usage = self.tally().usage();
        RunOutcome::completed(usage)
    }

    /// Tells the runner that the run is over and gives it time to say so, too. One that does not gets no more runs.
    async fn call_off(&self) {
        let grace = self.limits().grace;
        let connection = &self.seat.connection;
        let parting = async {
            let _ = connection.send(self.seat.farewell()).await;
            self.seat.note_told();
            loop {
                match self.seat.inbox.next().await {
                    Step::Report(Report::Completed { .. } | Report::Failed { .. })
                    | Step::Gone(_) => return,
                    _ => {}
                }
            }
        };
        if time::timeout(grace, parting).await.is_err() {
            let runner = connection.name.as_str();
            tracing::warn!(runner, run = %self.turn.run, "the runner goes on with a run that was called off");
            connection.retire();
        }
    }

    fn failed(&self, why: &str) -> RunOutcome {
        let runner = &self.seat.connection.name;
        tracing::warn!(runner, run = %self.turn.run, why, "a run failed");
        RunOutcome::failed(FailureCode::Other, why)
    }

    fn limits(&self) -> &Limits {
        &self.seat.connection.limits
    }

    /// Nothing panics while it holds this lock.
    pub(super) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As every store keeps it.
pub(super) fn readable(text: String) -> String {
    if text.contains('\0') {
        return text.replace('\0', "\u{fffd}");
    }
    text
}

fn clip(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}
