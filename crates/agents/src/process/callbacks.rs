//! Does what a runner asks for. Every callback is checked against its run's authority at the moment it is done, whatever
//! was true when the run began; a name is used only for what it stood for when the run was admitted.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use serde_json::Value;
use talaria_domain::adapter::Pending;
use talaria_domain::authority::ResourceKind;
use talaria_domain::descriptor::{
    Capability, FileOperation, KnowledgeOperation, ModelOperation, ToolOperation,
};
use talaria_domain::effects::{Question, Refusal, RefusalCode};
use talaria_domain::event::Kept;
use talaria_domain::run::{Action, RunEvent};
use talaria_domain::runner::{Said, Stopped, ToolCall};

use super::inbox::{Callback, Step, Wanted};
use super::running::{Running, readable};
use super::wire::{self, Answer, Asked, Fault, Offered, Order, Prompt};
use super::{ModelOffer, ToolOffer, memory, order};
use crate::models::{Calls, Delta, Heard, Manner, Request, ToolSpec};
use crate::native::approval::{self, Consent};
use crate::tools::{Tool, ToolContext, ToolOutput};

/// How long a person is waited for if nobody says how long.
const USUAL_PATIENCE: Duration = Duration::from_mins(10);
const MOST_PATIENCE: Duration = Duration::from_hours(24);

/// Something that is being done.
type Work<'w> = BoxFuture<'w, ()>;

impl Running<'_> {
    /// Does what is asked for, until nothing more is.
    pub(super) async fn serve(&self) {
        let is_steering = AtomicBool::new(false);
        let can_steer = self
            .seat
            .connection
            .introduction()
            .has(Capability::Steering.as_str());
        let mut under_way: FuturesUnordered<Work<'_>> = FuturesUnordered::new();
        loop {
            let wanted = tokio::select! {
                biased;
                wanted = self.seat.inbox.wanted() => wanted,
                Some(()) = under_way.next(), if !under_way.is_empty() => continue,
            };
            let Some(wanted) = wanted else {
                break;
            };
            let wanted = wanted.into_iter().map(|it| self.answer(it).boxed());
            under_way.extend(wanted);
            if can_steer && !is_steering.swap(true, Ordering::AcqRel) {
                under_way.push(self.steer(&is_steering).boxed());
            }
        }
        while under_way.next().await.is_some() {}
    }

    /// Tells the runner what people said meanwhile, if they did, and waits until it takes that up.
    async fn steer(&self, is_steering: &AtomicBool) {
        if let Ok(texts) = self.host.steered().await
            && !texts.is_empty()
        {
            self.tally().tell(&texts);
            let (run, told) = (self.turn.run, texts.clone());
            let order = Order::Steer { run, texts: told };
            if self.seat.connection.ask(&order).await.is_ok() {
                self.tally().hear(&texts);
            }
        }
        is_steering.store(false, Ordering::Release);
    }

    async fn answer(&self, callback: Callback) {
        let Callback { id, wanted, bytes } = callback;
        let answer = match wanted {
            Wanted::Asked(asked) => self.perform(&id, asked).await,
            Wanted::Begun(call) => self.call(call).await,
            Wanted::Judge(call) => {
                // A host that stopped says so elsewhere.
                if let Ok(consent) = approval::ask(self.host, &call).await {
                    let wanted = Wanted::Begun(call);
                    let callback = Callback { id, wanted, bytes };
                    self.seat.inbox.tell(Step::Judged(callback, consent), 0);
                }
                return;
            }
        };
        self.reply(&id, bytes, answer).await;
    }

    async fn reply(&self, id: &Value, bytes: usize, answer: Result<Answer, Fault>) {
        let line = wire::answer(Some(id), answer.as_ref());
        // A process that is gone is told nothing, and its run hears of that elsewhere.
        let _ = self.seat.connection.send(line).await;
        self.seat.inbox.answered(id, bytes);
    }

    async fn perform(&self, id: &Value, asked: Asked) -> Result<Answer, Fault> {
        let effects = self.host.effects();
        if let Some((memory, request)) = memory::request(&asked) {
            let answer = effects.remember(memory, request).await?;
            return Ok(memory::told(answer));
        }
        let own = self.turn.input.last().map(|event| event.id);
        if let Some(request) = memory::past(&asked, own) {
            let answer = effects.look_back(request?).await?;
            return Ok(memory::told_of(answer));
        }
        match asked {
            Asked::ModelInvoke(prompt) => self.think(prompt, None).await,
            Asked::ModelStream(prompt) => self.think(prompt, Some(id)).await,
            Asked::ToolList {} => Ok(self.offered()),
            Asked::KbQuery { knowledge_base, .. } => {
                let operation = KnowledgeOperation::Retrieve.as_str();
                effects.check(ResourceKind::KnowledgeBase, &knowledge_base, operation)?;
                Err(missing("there are no knowledge bases here").into())
            }
            Asked::FileRead { file } => self.read(&file).await,
            Asked::Ask {
                approval,
                question,
                choices,
                timeout_seconds,
            } => {
                let action = action(approval, question, choices)?;
                let patience = timeout_seconds.map_or(USUAL_PATIENCE, Duration::from_secs);
                let patience = patience.min(MOST_PATIENCE);
                let answer = effects.ask(Question { action, patience }).await?;
                Ok(Answer::Person(answer))
            }
            // Those above were all; a tool call has a way of its own.
            _ => Err(missing("there is no such thing here").into()),
        }
    }

    /// A tool is to be called. Its start is recorded in its place among the reports, after a person agreed where one has
    /// to; it is done beside them.
    pub(super) async fn begin_call(&self, callback: Callback) -> Result<(), Stopped> {
        let Callback { id, wanted, bytes } = callback;
        let Wanted::Asked(Asked::ToolCall {
            tool,
            arguments,
            call,
        }) = wanted
        else {
            return Ok(());
        };
        if let Err(refusal) = self.tool(&tool, ToolOperation::Call) {
            self.reply(&id, bytes, Err(refusal.into())).await;
            return Ok(());
        }
        let call = ToolCall {
            id: self.tally().call_id(self.turn.run, call),
            tool,
            arguments,
        };
        if self.resources.approve.contains(&call.tool) {
            let wanted = Wanted::Judge(call);
            self.seat.inbox.hand_on(Callback { id, wanted, bytes });
            return Ok(());
        }
        let wanted = Wanted::Begun(call);
        self.go_on(Callback { id, wanted, bytes }, Consent::Given)
            .await
    }

    /// A tool is called, unless a person does not want that.
    pub(super) async fn go_on(&self, callback: Callback, consent: Consent) -> Result<(), Stopped> {
        let Wanted::Begun(call) = &callback.wanted else {
            return Ok(());
        };
        self.start_call(call).await?;
        match consent {
            Consent::Given => self.seat.inbox.hand_on(callback),
            Consent::Withheld(words) => {
                let answer = self.end_call(call, ToolOutput::refused(words)).await?;
                self.reply(&callback.id, callback.bytes, Ok(answer)).await;
            }
        }
        Ok(())
    }

    /// Calls a tool whose start is recorded.
    async fn call(&self, call: ToolCall) -> Result<Answer, Fault> {
        let context = ToolContext {
            turn: self.turn,
            host: self.host,
        };
        // Once more: it may have been taken away since.
        let output = match self.tool(&call.tool, ToolOperation::Call) {
            Ok(tool) => tool.call(&call.arguments, &context).await,
            Err(refusal) => ToolOutput::refused(refusal.to_string()),
        };
        let ended = self.end_call(&call, output).await;
        ended.map_err(|Stopped| Fault::no_such_run())
    }

    /// Records the end of a call.
    async fn end_call(&self, call: &ToolCall, output: ToolOutput) -> Result<Answer, Stopped> {
        let (output, result) = (readable(output.text), output.result);
        let completed = RunEvent::ToolCompleted {
            call: call.id.clone(),
            output: output.clone(),
            result,
        };
        self.journal(completed).await?;
        Ok(Answer::Called {
            call: call.id.clone(),
            output,
            result,
        })
    }

    /// The tool of this name, if the run may do this with it. Whether there is one is not told to those who may not.
    fn tool(&self, name: &str, operation: ToolOperation) -> Result<&Arc<dyn Tool>, Refusal> {
        let effects = self.host.effects();
        let grant = effects.check(ResourceKind::Tool, name, operation.as_str())?;
        let tools = self.resources.tools.iter();
        let is_meant =
            |offer: &&ToolOffer| offer.tool.name() == name && grant.is_for(&offer.implementation);
        let mut meant = tools.filter(is_meant);
        let offer = meant.next();
        offer
            .map(|offer| &offer.tool)
            .ok_or_else(|| missing(&format!("the tool {name:?} is not there any more")))
    }

    fn offered(&self) -> Answer {
        let names = self.resources.tools.iter().map(|offer| offer.tool.name());
        let tools = names.filter_map(|name| self.tool(name, ToolOperation::Detail).ok());
        Answer::Tools {
            tools: tools
                .map(|tool| Offered {
                    name: tool.name().to_owned(),
                    description: tool.description().to_owned(),
                    parameters: tool.parameters(),
                })
                .collect(),
        }
    }

    /// Asks a model; whoever streams hears it talk.
    async fn think(&self, prompt: Prompt, streams: Option<&Value>) -> Result<Answer, Fault> {
        let (operation, manner) = match streams {
            Some(_) => (ModelOperation::Stream, Manner::Streamed),
            None => (ModelOperation::Invoke, Manner::Whole),
        };
        let offer = self.model(prompt.model.as_deref(), operation)?;
        let specs = prompt.tools.iter().map(|name| {
            let tool = self.tool(name, ToolOperation::Detail)?;
            Ok(ToolSpec {
                name: name.clone(),
                description: tool.description().to_owned(),
                parameters: tool.parameters(),
            })
        });
        let request = Request {
            system: prompt.system,
            history: &[],
            said: prompt.said.into_iter().map(Said::from).collect(),
            tools: specs.collect::<Result<_, Refusal>>()?,
            calls: Calls::Allowed,
            manner,
            options: prompt.options,
        };
        let listener = Listener {
            running: self,
            request: streams,
        };
        let answer = offer.model.answer(&request, &listener).await;
        let answer =
            answer.map_err(|error| Refusal::new(RefusalCode::Unavailable, error.to_string()))?;
        self.tally().spend(answer.usage);
        Ok(Answer::Model {
            text: answer.text,
            reasoning: answer.reasoning,
            calls: answer.calls,
            usage: answer.usage,
            finish: answer.finish,
        })
    }

    /// The model of this name, or the first that the run may use for this.
    fn model(&self, name: Option<&str>, operation: ModelOperation) -> Result<&ModelOffer, Refusal> {
        let effects = self.host.effects();
        let check = |name: &str| effects.check(ResourceKind::Model, name, operation.as_str());
        let models = &self.resources.models;
        let found = match name {
            Some(name) => {
                let grant = check(name)?;
                let is_meant =
                    |offer: &&ModelOffer| offer.name == name && grant.is_for(&offer.implementation);
                models.iter().find(is_meant)
            }
            None => models.iter().find(|offer| {
                check(&offer.name).is_ok_and(|grant| grant.is_for(&offer.implementation))
            }),
        };
        found.ok_or_else(|| match name {
            Some(name) => missing(&format!("the model {name:?} is not there any more")),
            None => Refusal::new(RefusalCode::NotAllowed, "this run may not use any model"),
        })
    }

    /// Reads a file that came with what the run answers.
    async fn read(&self, file: &str) -> Result<Answer, Fault> {
        let no_file = || missing("there is no such file in this run");
        let attachment = order::find_file(self.turn, file).ok_or_else(no_file)?;
        let (effects, locator) = (self.host.effects(), attachment.locator.as_str());
        let operation = FileOperation::Read.as_str();
        // Its place is the gateway's to know: a refusal says what the runner called it.
        let granted = effects.check(ResourceKind::File, locator, operation);
        granted.map_err(|refusal| {
            Refusal::new(refusal.code, format!("this run may not read {file:?}"))
        })?;
        let media_type = attachment.media_type.clone();
        if locator.starts_with("https:") {
            return Ok(Answer::File {
                base64: None,
                url: Some(locator.to_owned()),
                media_type,
            });
        }
        match &attachment.kept {
            Some(Kept::At(path)) => {
                return Ok(Answer::File {
                    base64: Some(self.read_kept(path).await?),
                    url: None,
                    media_type,
                });
            }
            Some(Kept::Missing(reason)) => {
                let reason = format!("this file could not be fetched: {reason}");
                return Err(Refusal::new(RefusalCode::Unavailable, reason).into());
            }
            None => {}
        }
        let inline = locator.strip_prefix("data:");
        let inline = inline.and_then(|rest| rest.split_once(";base64,"));
        let Some((declared, base64)) = inline else {
            let reason = "this file can only be fetched by its platform";
            return Err(Refusal::new(RefusalCode::Unavailable, reason).into());
        };
        Ok(Answer::File {
            base64: Some(base64.to_owned()),
            url: None,
            media_type: media_type.or_else(|| Some(declared.to_owned())),
        })
    }
}

impl Running<'_> {
    /// A file that is kept here, if it fits into a line.
    async fn read_kept(&self, path: &Path) -> Result<String, Refusal> {
        let unavailable = |reason: String| Refusal::new(RefusalCode::Unavailable, reason);
        let gone = |error: std::io::Error| unavailable(format!("it cannot be read: {error}"));
        let bytes = tokio::fs::metadata(path).await.map_err(gone)?.len();
        let frame = self.seat.connection.limits.frame_bytes as u64;
        // Four letters for three bytes, and the rest of the line.
        let most = frame.saturating_sub(1024) / 4 * 3;
        if bytes > most {
            let reason = format!("it has {bytes} bytes, and at most {most} fit into a line");
            return Err(unavailable(reason));
        }
        let read = tokio::fs::read(path).await.map_err(gone)?;
        Ok(STANDARD.encode(read))
    }
}

fn action(
    approval: Option<String>,
    question: Option<String>,
    choices: Vec<String>,
) -> Result<Action, Fault> {
    match (approval, question) {
        (Some(effect), None) => Ok(Action::Approval { effect }),
        (None, Some(text)) => Ok(Action::Question { text, choices }),
        _ => Err(Fault::wrong_parameters(
            "one of `approval` and `question` has to be given",
        )),
    }
}

fn missing(reason: &str) -> Refusal {
    Refusal::new(RefusalCode::NotFound, reason)
}

/// Who hears a model talk.
struct Listener<'r> {
    running: &'r Running<'r>,
    /// The id of the request that it talks for; without it nobody listens.
    request: Option<&'r Value>,
}

impl Heard for Listener<'_> {
    fn hear(&self, delta: Delta) -> Pending<'_, Result<(), Stopped>> {
        Box::pin(async move {
            let Some(request) = self.request else {
                return Ok(());
            };
            let (text, reasoning) = match delta {
                Delta::Text(text) => (Some(text), None),
                Delta::Reasoning(text) => (None, Some(text)),
            };
            let order = Order::ModelDelta {
                run: self.running.turn.run,
                request: request.clone(),
                text,
                reasoning,
            };
            let line = wire::order(None, &order);
            let sent = self.running.seat.connection.send(line).await;
            sent.map_err(|_| Stopped)
        })
    }
}
