//! A runner that does what the message says, so that a test can read what will happen:
//!
//! | word in the message | what the run does |
//! |---|---|
//! | (none) | answers `re: ` and the message, in two deltas |
//! | `at once` | answers the same in one piece |
//! | `think 5` | yields a delta, waits five seconds, answers |
//! | `tool 5` | uses a tool that takes five seconds and is seen in [`Script::effects`], then answers |
//! | `hang` | never ends |
//! | `deaf` | never ends and does not listen when it is told to stop |
//! | `panic` | panics |
//! | `fail` | fails |
//! | `silent` | answers nothing |
//! | `long 9000` | answers with that many characters |
//! | `give …`, `job 5 x`, ... | see `script/later.rs` |
//! | `ask 600 …`, `may 600`, ... | see `script/asking.rs` |
//! | `count 30 x` | answers like without a word, then counts to thirty: `x.1 x.2` ... |

mod asking;
mod later;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use talaria_domain::adapter::Pending;
use talaria_domain::authority::{Authority, ResourceKind};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::effects::{Refusal, RefusalCode};
use talaria_domain::event::Event;
use talaria_domain::ids::{JobId, RunId};
use talaria_domain::run::{FailureCode, RunEvent, RunOutcome, ToolResult, Usage};
use talaria_domain::runner::{Host, Runner, Said, Stopped, Turn};

use crate::machine::Machine;
use crate::trace::Trace;

/// What runs did, for those who check. Outlives the gateway.
#[derive(Default)]
pub struct Script {
    window: Option<usize>,
    machine: Option<Arc<Machine>>,
    /// What was given away last.
    given: Mutex<Option<JobId>>,
    trace: Option<Arc<Trace>>,
    effects: Mutex<Vec<(RunId, String)>>,
    /// Whether the host is asked before the lever is pulled.
    is_checking: bool,
    /// Whether it does without what is remembered.
    is_forgetful: bool,
    /// Who lost the lever, and how many effects there were before.
    lost: Mutex<Vec<(RunId, usize)>>,
    seen: Mutex<Vec<Seen>>,
}

/// What a run was shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The run.
    pub run: RunId,
    /// What it may use.
    pub authority: Authority,
    /// How many delegations it is away from a person.
    pub depth: u32,
    /// For how long its conversation can be reached.
    pub window: DeliveryWindow,
    /// What it is told about itself.
    pub instructions: String,
    /// What is asked of the model.
    pub options: BTreeMap<String, Value>,
    /// What was said before.
    pub history: Vec<Said>,
    /// What is said now.
    pub prompt: String,
    /// The same, with its envelopes.
    pub input: Vec<Event>,
}

impl Script {
    /// With a window of so many tokens.
    pub fn with_window(window: usize) -> Self {
        Self {
            window: Some(window),
            ..Self::default()
        }
    }

    /// Writes down what runs do.
    #[must_use]
    pub fn traced(mut self, trace: &Arc<Trace>) -> Self {
        self.trace = Some(Arc::clone(trace));
        self
    }

    /// With a machine to start processes on.
    #[must_use]
    pub fn using(mut self, machine: &Arc<Machine>) -> Self {
        self.machine = Some(Arc::clone(machine));
        self
    }

    /// Asks the host before each use of the tool, as runners do; a run that may not goes on without it.
    #[must_use]
    pub fn checking(mut self) -> Self {
        self.is_checking = true;
        self
    }

    /// Does not want to be given what is remembered.
    #[must_use]
    pub fn forgetful(mut self) -> Self {
        self.is_forgetful = true;
        self
    }

    /// The lever was taken away from a run: from now on it is not pulled in its name.
    pub fn lose(&self, run: RunId) {
        let effects = lock(&self.effects);
        lock(&self.lost).push((run, effects.len()));
    }

    /// Who lost the lever, and how many effects there were before.
    pub fn lost(&self) -> Vec<(RunId, usize)> {
        lock(&self.lost).clone()
    }

    fn note(&self, what: impl FnOnce() -> String) {
        if let Some(trace) = &self.trace {
            trace.note(&what());
        }
    }

    fn may_pull(&self, host: &dyn Host) -> Result<(), Refusal> {
        if !self.is_checking {
            return Ok(());
        }
        let checked = host.effects().check(ResourceKind::Tool, LEVER, "call");
        checked.map(drop)
    }

    /// What tools did, by which run, with what they were told.
    pub fn effects(&self) -> Vec<(RunId, String)> {
        lock(&self.effects).clone()
    }

    /// What runs were shown.
    pub fn seen(&self) -> Vec<Seen> {
        lock(&self.seen).clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The only tool here.
pub(crate) const LEVER: &str = "lever";

/// How the news of a task begins.
const NEWS: &str = "The task ";

/// The runner.
#[derive(Clone)]
pub struct ScriptedRunner(pub Arc<Script>);

/// The number after a word.
fn number_after(prompt: &str, word: &str) -> Option<u64> {
    let mut words = prompt.split_whitespace();
    words.find(|found| *found == word)?;
    words.next()?.parse().ok()
}

impl ScriptedRunner {
    async fn play(&self, turn: &Turn, host: &dyn Host) -> Result<RunOutcome, Stopped> {
        let (run, known) = (turn.run, turn.history.len());
        self.0
            .note(|| format!("run {run} knows {known} and is told {:?}", turn.prompt));
        lock(&self.0.seen).push(Seen {
            run: turn.run,
            authority: turn.authority.authority().clone(),
            depth: turn.depth,
            window: turn.window,
            instructions: turn.profile.instructions.clone(),
            options: turn.options.clone(),
            history: turn.history.clone(),
            prompt: turn.prompt.clone(),
            input: turn.input.to_vec(),
        });
        if turn.prompt.starts_with(NEWS) {
            // The words in it were another run's.
            return tell(host, format!("re: {}", turn.prompt)).await;
        }
        if let Some(said) = self.instead(turn, host).await? {
            return tell(host, said).await;
        }
        let mut prompt = turn.prompt.clone();
        if let Some(seconds) = number_after(&prompt, "think") {
            delta(host, "hm… ").await?;
            pause(host, Duration::from_secs(seconds)).await?;
        }
        if let Some(seconds) = number_after(&prompt, "tool") {
            self.use_tool(turn, host, Duration::from_secs(seconds))
                .await?;
        }
        if let Some(pieces) = number_after(&prompt, "trickle") {
            return trickle(host, pieces).await;
        }
        if let Some(outcome) = misbehave(host, &prompt).await? {
            return Ok(outcome);
        }
        later::take(&self.0, turn, host).await;
        for steered in host.steered().await? {
            prompt = format!("{prompt} + {steered}");
        }
        answer(host, &prompt).await?;
        Ok(completed())
    }

    /// What is answered instead of the usual, if anything.
    async fn instead(&self, turn: &Turn, host: &dyn Host) -> Result<Option<String>, Stopped> {
        match asking::play(&self.0, turn, host).await? {
            Some(said) => Ok(Some(said)),
            None => later::play(&self.0, turn, host).await,
        }
    }

    async fn use_tool(&self, turn: &Turn, host: &dyn Host, time: Duration) -> Result<(), Stopped> {
        let call = "call-1".to_owned();
        let started = RunEvent::ToolStarted {
            call: call.clone(),
            tool: LEVER.to_owned(),
            arguments: json!({ "seconds": time.as_secs() }),
        };
        host.journal(started).await?;
        let (output, result) = match self.0.may_pull(host) {
            Ok(()) => {
                self.0.note(|| format!("run {} pulls the lever", turn.run));
                lock(&self.0.effects).push((turn.run, turn.prompt.clone()));
                pause(host, time).await?;
                ("pulled".to_owned(), ToolResult::Done)
            }
            Err(refusal) if refusal.code == RefusalCode::RunEnded => return Err(Stopped),
            Err(refusal) => {
                self.0
                    .note(|| format!("run {} may not pull the lever: {refusal}", turn.run));
                (refusal.reason, ToolResult::Refused)
            }
        };
        let completed = RunEvent::ToolCompleted {
            call,
            output,
            result,
        };
        host.journal(completed).await
    }
}

const fn completed() -> RunOutcome {
    RunOutcome::completed(Usage {
        input_tokens: 0,
        output_tokens: 0,
    })
}

/// Answers with this and nothing else.
async fn tell(host: &dyn Host, text: String) -> Result<RunOutcome, Stopped> {
    host.journal(RunEvent::MessageCompleted { text }).await?;
    Ok(completed())
}

/// Ends badly, or not at all, if it is told to.
async fn misbehave(host: &dyn Host, prompt: &str) -> Result<Option<RunOutcome>, Stopped> {
    if prompt.contains("hang") {
        host.stopped().await;
        return Err(Stopped);
    }
    if prompt.contains("deaf") {
        std::future::pending::<()>().await;
    }
    if prompt.contains("panic") {
        // As a panic is, without the noise of one that nobody expected.
        std::panic::resume_unwind(Box::new("told to"));
    }
    let failed = || RunOutcome::failed(FailureCode::Other, "told to");
    Ok(prompt.contains("fail").then(failed))
}

/// The rest of an answer that counts.
fn counted(prompt: &str) -> String {
    let mut words = prompt
        .split_whitespace()
        .skip_while(|word| *word != "count");
    let numbers = words.nth(1).and_then(|number| number.parse::<u32>().ok());
    let (Some(most), Some(name)) = (numbers, words.next()) else {
        return String::new();
    };
    let numbers: Vec<String> = (1..=most)
        .map(|number| format!("{name}.{number}"))
        .collect();
    format!(" {}", numbers.join(" "))
}

async fn pause(host: &dyn Host, time: Duration) -> Result<(), Stopped> {
    tokio::select! {
        biased;
        () = host.stopped() => Err(Stopped),
        () = tokio::time::sleep(time) => Ok(()),
    }
}

async fn delta(host: &dyn Host, text: &str) -> Result<(), Stopped> {
    let text = text.to_owned();
    host.journal(RunEvent::MessageDelta { text }).await
}

/// Says so many pieces, one after the other, fifty a second.
async fn trickle(host: &dyn Host, pieces: u64) -> Result<RunOutcome, Stopped> {
    let mut all = String::new();
    for number in 1..=pieces {
        let piece = format!("p{number} ");
        delta(host, &piece).await?;
        all.push_str(&piece);
        pause(host, Duration::from_millis(20)).await?;
    }
    tell(host, all).await
}

async fn answer(host: &dyn Host, prompt: &str) -> Result<(), Stopped> {
    if prompt.contains("silent") {
        return Ok(());
    }
    let text = match number_after(prompt, "long") {
        Some(length) => "long answer "
            .chars()
            .cycle()
            .take(usize::try_from(length).unwrap_or(0))
            .collect(),
        None => format!("re: {prompt}{}", counted(prompt)),
    };
    if prompt.contains("at once") {
        return host.journal(RunEvent::MessageCompleted { text }).await;
    }
    let middle = text
        .char_indices()
        .nth(text.chars().count() / 2)
        .map_or(0, |(at, _)| at);
    delta(host, &text[..middle]).await?;
    delta(host, &text[middle..]).await?;
    host.journal(RunEvent::MessageCompleted { text }).await
}

impl Runner for ScriptedRunner {
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome> {
        Box::pin(async move { self.play(turn, host).await.unwrap_or(RunOutcome::Cancelled) })
    }

    fn window(&self) -> usize {
        self.0.window.unwrap_or(1_000_000)
    }

    fn wants_state(&self) -> bool {
        !self.0.is_forgetful
    }

    fn thinks_first(&self) -> bool {
        true
    }

    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, String>> {
        let summary = format!("{} things were said", said.len());
        Box::pin(std::future::ready(Ok(summary)))
    }
}
