//! The contract between the gateway and what thinks. A [`Runner`] gets a [`Turn`] and a [`Host`]; everything it does
//! goes through the host, which journals it first. A host that says [`Stopped`] means it: whatever the runner does
//! after that is not part of the conversation any more.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::adapter::Pending;
use crate::address::ReturnAddress;
use crate::authority::Frozen;
use crate::capabilities::DeliveryWindow;
use crate::effects::Effects;
use crate::event::Event;
use crate::ids::{JobId, RunId};
use crate::job::{JobEnd, Jobs};
use crate::profile::Profile;
use crate::run::{RunEvent, RunOutcome};
use crate::scope::Snapshot;

/// What thinks.
pub trait Runner: Send + Sync {
    /// Thinks about one turn. Answers, tool calls and everything else are told to `host`; what is returned is how it
    /// ended. Dropping the future stops it for good, with every process that it started.
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome>;

    /// How much history it can be shown, in tokens.
    fn window(&self) -> usize;

    /// Whether it wants to be given what is remembered when a turn begins. One that asks for it later, or never, costs
    /// its turns nothing.
    fn wants_state(&self) -> bool {
        true
    }

    /// Whether it does nothing that anybody could notice until it has journalled something: it asks a model, and that is
    /// all. Such a runner begins while its turn is still being written down; what it journals waits for that.
    fn thinks_first(&self) -> bool {
        false
    }

    /// Says in short what was said, so that the summary can stand for it.
    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, String>>;
}

/// What a runner is given.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The run.
    pub run: RunId,
    /// Whose agent this is.
    pub profile: Profile,
    /// What it may use.
    pub authority: Arc<Frozen>,
    /// Where its answers go.
    pub return_to: ReturnAddress,
    /// The conversation's key, as one word.
    pub session_key: String,
    /// For how long the conversation can be reached: whether a late result may be promised.
    pub window: DeliveryWindow,
    /// What it remembers, as it was when the turn began.
    pub state: Snapshot,
    /// What its binding gives it, word for word.
    pub config: Map<String, Value>,
    /// What is asked of the model for this one turn: see [`crate::event::Wishes::options`].
    pub options: BTreeMap<String, Value>,
    /// How many delegations it is away from a person; 0 is a turn that somebody asked for.
    pub depth: u32,
    /// What was said before, in order.
    pub history: Vec<Said>,
    /// What is said now: one event, or several that were merged, each with its whole envelope.
    pub input: Arc<[Event]>,
    /// The same as one text for a model.
    pub prompt: String,
}

/// What a runner works for.
pub trait Host: Send + Sync {
    /// Records what the run yields, before anybody sees it. A tool is only started after its start was recorded.
    fn journal(&self, event: RunEvent) -> Pending<'_, Result<(), Stopped>>;

    /// Ends when the run is to stop.
    fn stopped(&self) -> Pending<'_, ()>;

    /// What people said since, to be told to the model before it goes on. Empty most of the time.
    fn steered(&self) -> Pending<'_, Result<Vec<String>, Stopped>>;

    /// What it can do beyond its own conversation.
    fn reach(&self) -> &dyn Reach;

    /// What it can do with what it was granted: use, remember, look back, ask.
    fn effects(&self) -> &dyn Effects;
}

/// What a run can do beyond its own conversation.
pub trait Reach: Send + Sync {
    /// The book of jobs. It outlives the run.
    fn jobs(&self) -> Arc<dyn Jobs>;

    /// Gives a task to an agent of its own, which may use at most what this run may. What it comes to is the end of
    /// the job; the conversation is woken with it if that is asked for.
    fn delegate(&self, task: Task) -> Pending<'_, Result<JobId, String>>;

    /// How a job of this conversation ended, as soon as it has. A job of another conversation is not found.
    fn outcome(&self, job: JobId) -> Pending<'_, Result<JobEnd, String>>;

    /// Stops a delegation of this conversation.
    fn cancel(&self, job: JobId) -> Pending<'_, Result<(), String>>;

    /// Sends a letter to where it says, or says why not. Never anywhere else.
    fn send(&self, letter: Letter) -> Pending<'_, Result<String, String>>;
}

/// Something that is sent beside the answer.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Where: `platform:chat[:thread]`. None is the run's own conversation, which only a file is sent to: words are the
    /// answer's.
    pub target: Option<String>,
    /// The words; with a file, those beside it.
    pub text: String,
    /// The file.
    pub file: Option<PathBuf>,
}

/// What an agent is given to do by another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// What is to come out of it.
    pub goal: String,
    /// All that its agent needs to know; it sees nothing of the conversation.
    pub context: String,
    /// The tools it may use; none means all that this run may use.
    pub tools: Option<Vec<String>>,
    /// Whether the conversation is woken with the result. Without it somebody waits for the outcome.
    pub is_background: bool,
}

/// The run is over: it was stopped, or somebody else has its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run was stopped")]
pub struct Stopped;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The profile's instructions, a summary.
    System,
    /// A person.
    User,
    /// The agent.
    Assistant,
    /// A tool.
    Tool,
}

impl Speaker {
    /// Their name in the ledger.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    /// The speaker that this name stands for.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::System, Self::User, Self::Assistant, Self::Tool]
            .into_iter()
            .find(|speaker| speaker.as_str() == name)
    }
}

/// One thing that was said, as a model is shown it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Who said it.
    pub speaker: Speaker,
    /// The words; a tool's output.
    pub text: String,
    /// The tools that the agent called with it.
    pub calls: Vec<ToolCall>,
    /// The call that a tool's output answers.
    pub answers: Option<String>,
    /// Pictures that belong to it: addresses that start with `data:` or `https:`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<String>,
}

impl Said {
    /// Words and nothing else.
    pub fn plain(speaker: Speaker, text: impl Into<String>) -> Self {
        Self {
            speaker,
            text: text.into(),
            calls: Vec::new(),
            answers: None,
            images: Vec::new(),
        }
    }
}

/// A tool that the agent called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it was given.
    pub arguments: Value,
}
