//! How a turn goes: ask, call, ask again. Everything is told to the host first; a host that says [`Stopped`] ends it
//! there, and nothing is started any more.

use std::time::Duration;

use futures::future::try_join_all;
use talaria_domain::effects::{Refusal, RefusalCode};
use talaria_domain::event::{Event, Hearing};
use talaria_domain::run::{Failure, FailureCode, RunEvent, RunOutcome, Usage};
use talaria_domain::runner::{Host, Said, Speaker, Stopped, ToolCall, Turn};
use tokio::time;

use super::NativeRunner;
use super::approval::{self, Consent};
use super::calls::{CallIds, batches, decide, offered};
use super::deltas::Deltas;
use super::images::images;
use super::prompt::prompt;
use super::rights;
use crate::models::{Answer, Calls, Finish, Manner, ModelError, Request};
use crate::tools::{ToolContext, ToolOutput};

/// What a tool gets to end by itself when the run is stopped; afterwards its future is dropped, which ends it.
const TOOL_GRACE: Duration = Duration::from_secs(3);

/// What a tool answers that was not let to.
const STOPPED: &str = "[stopped: the run was stopped]";

/// Why a turn ended without being completed.
enum End {
    Stopped,
    Failed(Failure),
}

impl End {
    fn failed(code: FailureCode, reason: impl Into<String>) -> Self {
        Self::Failed(Failure::of(code, reason))
    }
}

impl From<Stopped> for End {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<ModelError> for End {
    fn from(error: ModelError) -> Self {
        match error {
            ModelError::Stopped => Self::Stopped,
            error => Self::Failed(error.failure()),
        }
    }
}

impl From<Refusal> for End {
    fn from(refusal: Refusal) -> Self {
        match refusal.code {
            RefusalCode::RunEnded => Self::Stopped,
            _ => Self::failed(FailureCode::Other, refusal.reason),
        }
    }
}

/// When all those hear of the turn who asked; where they do not agree, it is as if they had left.
fn hears(turn: &Turn) -> Hearing {
    let mut all = turn.input.iter().map(Event::hearing);
    let first = all.next().unwrap_or_default();
    if all.all(|other| other == first) {
        first
    } else {
        Hearing::Left
    }
}

/// An answer that everybody waits for the end of need not come in pieces.
fn manner(turn: &Turn) -> Manner {
    if hears(turn) == Hearing::AtItsEnd {
        Manner::Whole
    } else {
        Manner::Streamed
    }
}

/// One turn.
pub(super) struct Turning<'a> {
    runner: &'a NativeRunner,
    turn: &'a Turn,
    host: &'a dyn Host,
    request: Request<'a>,
    ids: CallIds,
    usage: Usage,
}

impl<'a> Turning<'a> {
    pub(super) async fn begin(
        runner: &'a NativeRunner,
        turn: &'a Turn,
        host: &'a dyn Host,
    ) -> Self {
        let asked = Said {
            images: images(turn).await,
            ..Said::plain(Speaker::User, prompt(turn))
        };
        Self {
            runner,
            turn,
            host,
            ids: CallIds::after(turn.history.iter().flat_map(|said| &said.calls)),
            request: Request {
                system: turn.profile.instructions.clone(),
                history: &turn.history,
                said: vec![asked],
                tools: offered(&runner.tools, turn.authority.authority()),
                calls: Calls::Allowed,
                manner: manner(turn),
                options: turn.options.clone(),
            },
            usage: Usage::default(),
        }
    }

    pub(super) async fn run(mut self) -> RunOutcome {
        match self.rounds().await {
            Ok(finish) => RunOutcome::Completed {
                usage: self.usage,
                finish,
            },
            Err(End::Stopped) => RunOutcome::Cancelled,
            Err(End::Failed(failure)) => RunOutcome::Failed(failure),
        }
    }

    async fn rounds(&mut self) -> Result<Finish, End> {
        for _ in 0..self.runner.rounds {
            self.hear_people().await?;
            let answer = self.ask().await?;
            if answer.calls.is_empty() {
                return self.conclude(answer).await;
            }
            self.call_all(answer).await?;
        }
        self.finish_without_tools().await
    }

    /// What people said since the model was asked.
    async fn hear_people(&mut self) -> Result<(), End> {
        let texts = self.host.steered().await?;
        let said = texts
            .into_iter()
            .map(|text| Said::plain(Speaker::User, text));
        self.request.said.extend(said);
        Ok(())
    }

    /// Asks the model, and journals what it says while it says it.
    async fn ask(&mut self) -> Result<Answer, End> {
        rights::may_ask(self.turn, self.host)?;
        let deltas = Deltas::default();
        let mut journal = std::pin::pin!(deltas.journal(self.host));
        let answered = tokio::select! {
            biased;
            () = self.host.stopped() => return Err(End::Stopped),
            // Before the journal: what is there at once is journalled at once.
            answered = self.runner.model.answer(&self.request, &deltas) => answered,
            // It ends by itself only when the host does not want to hear more.
            _ = &mut journal => return Err(End::Stopped),
        };
        // Whoever hears it grow hears the words first, and the end when it is written down.
        if answered.is_ok() && hears(self.turn) != Hearing::AsItGrows {
            deltas.leave_the_rest();
        }
        deltas.close();
        // What was said before it went wrong was said.
        journal.await?;
        let answer = answered?;
        self.usage.input_tokens += answer.usage.input_tokens;
        self.usage.output_tokens += answer.usage.output_tokens;
        Ok(answer)
    }

    /// The answer is the last word.
    async fn conclude(&mut self, answer: Answer) -> Result<Finish, End> {
        let is_silent = answer.text.trim().is_empty();
        match answer.finish {
            Finish::Length if is_silent => Err(End::failed(
                FailureCode::OutputLimit,
                "the model used up all it may say before it came to an answer: ask for less at once",
            )),
            Finish::ContentFilter if is_silent => Err(End::failed(
                FailureCode::Withheld,
                "the model's provider withheld the answer: put the question differently",
            )),
            finish => {
                self.complete_message(answer.text).await?;
                self.note(finish).await?;
                Ok(finish)
            }
        }
    }

    async fn note(&self, finish: Finish) -> Result<(), End> {
        let text = match finish {
            Finish::Stop => return Ok(()),
            Finish::Length => "the answer is cut: the model reached the most it may say",
            Finish::ContentFilter => "the answer is cut: the model's provider withheld the rest",
        };
        let text = text.to_owned();
        Ok(self.host.journal(RunEvent::Log { text }).await?)
    }

    async fn complete_message(&self, text: String) -> Result<(), Stopped> {
        if text.trim().is_empty() {
            return Ok(());
        }
        self.host.journal(RunEvent::MessageCompleted { text }).await
    }

    async fn call_all(&mut self, answer: Answer) -> Result<(), End> {
        self.complete_message(answer.text.clone()).await?;
        let mut calls = answer.calls;
        for call in &mut calls {
            self.ids.settle(self.turn.run, call);
        }
        self.request.said.push(Said {
            calls: calls.clone(),
            ..Said::plain(Speaker::Assistant, answer.text)
        });
        for batch in batches(&self.runner.tools, &calls) {
            let outputs = self.call_together(batch).await?;
            let results = batch.iter().zip(outputs).map(|(call, output)| Said {
                answers: Some(call.id.clone()),
                ..Said::plain(Speaker::Tool, output)
            });
            self.request.said.extend(results);
        }
        Ok(())
    }

    /// Runs tools beside each other, and answers in the order of their calls. The starts are recorded before any of
    /// them, each end as it comes.
    async fn call_together(&self, calls: &[ToolCall]) -> Result<Vec<String>, End> {
        let mut consents = Vec::with_capacity(calls.len());
        for call in calls {
            consents.push(self.consent(call).await?);
            let started = RunEvent::ToolStarted {
                call: call.id.clone(),
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
            };
            self.host.journal(started).await?;
        }
        // A host that does not want to hear of one end does not want to hear of the others: they are dropped.
        let called = try_join_all(
            calls
                .iter()
                .zip(consents)
                .map(|(call, consent)| self.call(call, consent)),
        )
        .await?;
        if called.iter().any(|(_, is_stopped)| *is_stopped) {
            return Err(End::Stopped);
        }
        Ok(called.into_iter().map(|(output, _)| output).collect())
    }

    /// A person's yes, where one is needed and the tool may be called at all.
    async fn consent(&self, call: &ToolCall) -> Result<Consent, Stopped> {
        let (tools, authority) = (&self.runner.tools, self.turn.authority.authority());
        let is_possible = decide(tools, authority, &call.tool).is_ok();
        if !is_possible || !self.runner.approve.contains(&call.tool) {
            return Ok(Consent::Given);
        }
        approval::ask(self.host, call).await
    }

    /// Runs one tool and records its end. Answers also whether the run was stopped meanwhile.
    async fn call(&self, call: &ToolCall, consent: Consent) -> Result<(String, bool), Stopped> {
        let (output, is_stopped) = match consent {
            Consent::Given => self.perform(call).await,
            Consent::Withheld(words) => (ToolOutput::refused(words), false),
        };
        let completed = RunEvent::ToolCompleted {
            call: call.id.clone(),
            output: output.text.clone(),
            result: output.result,
        };
        self.host.journal(completed).await?;
        Ok((output.text, is_stopped))
    }

    /// What the tool answers, and whether the run was stopped meanwhile.
    async fn perform(&self, call: &ToolCall) -> (ToolOutput, bool) {
        let tool = match decide(
            &self.runner.tools,
            self.turn.authority.authority(),
            &call.tool,
        ) {
            Ok(tool) => tool,
            Err(refusal) => return (ToolOutput::refused(refusal), false),
        };
        // Only now: a person may have taken their time to say yes.
        match rights::may_call(self.host, &call.tool) {
            Ok(()) => {}
            Err(refusal) if refusal.code == RefusalCode::RunEnded => {
                return (ToolOutput::cancelled(STOPPED), true);
            }
            Err(refusal) => return (ToolOutput::refused(refusal.reason), false),
        }
        let context = ToolContext {
            turn: self.turn,
            host: self.host,
        };
        let mut performing = tool.call(&call.arguments, &context);
        tokio::select! {
            biased;
            () = self.host.stopped() => {}
            output = &mut performing => return (output, false),
        }
        let ended = time::timeout(TOOL_GRACE, performing).await;
        let output = ended.unwrap_or_else(|_| ToolOutput::cancelled(STOPPED));
        (output, true)
    }

    /// The rounds are used up: one last word is asked for.
    async fn finish_without_tools(&mut self) -> Result<Finish, End> {
        let rounds = self.runner.rounds;
        self.hear_people().await?;
        self.request.calls = Calls::Forbidden;
        self.request.said.push(Said::plain(
            Speaker::User,
            format!("You have called tools for {rounds} rounds, and no further call is possible in this turn. \
                     Answer now with what you have, and say what is still open."),
        ));
        let unfinished = format!("no answer after {rounds} rounds of tools");
        match self.ask().await {
            Ok(answer) if answer.text.trim().is_empty() => Err(End::failed(
                FailureCode::ToolLoop,
                format!(
                    "{unfinished}, and none when the model was asked to finish: ask for a smaller step"
                ),
            )),
            Ok(answer) => self.conclude(answer).await,
            Err(End::Failed(failure)) => Err(End::Failed(Failure {
                reason: format!("{unfinished}, and then {}", failure.reason),
                ..failure
            })),
            Err(End::Stopped) => Err(End::Stopped),
        }
    }
}
