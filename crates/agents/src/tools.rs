//! What a model can do beside talking. A tool is one file and one line in [`all`].
//!
//! **Invariant:** whatever a model asks for, the answer is words: a tool that is given nonsense says what it expected.
//! A tool that started something has ended it when its future ends or is dropped, or it is a job, which has an end of
//! its own.

mod arguments;

mod ask_user;
mod delegate_task;
mod process;
mod schedule;
mod send_message;
mod terminal;

use std::sync::Arc;

use serde_json::Value;
use talaria_domain::adapter::Pending;
use talaria_domain::run::ToolResult;
use talaria_domain::runner::{Host, Turn};

pub use crate::context::Environment;

use self::ask_user::AskUser;
pub(crate) use self::ask_user::PATIENCE;
use self::delegate_task::DelegateTask;
use self::process::ProcessTool;
use self::schedule::ScheduleTool;
use self::send_message::SendMessage;
use self::terminal::Terminal;
use crate::processes::Processes;

/// Every tool there is. Children get `environment`; those in the background are looked after by `processes`.
pub fn all(environment: &Environment, processes: &Arc<Processes>) -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(Terminal::of(environment.clone(), Arc::clone(processes))),
        Arc::new(ProcessTool::of(Arc::clone(processes))),
        Arc::new(DelegateTask),
        Arc::new(SendMessage::of(environment.clone())),
        Arc::new(AskUser),
        Arc::new(ScheduleTool),
    ]
}

/// Something that a model can do.
pub trait Tool: Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;

    /// What it does, for the model.
    fn description(&self) -> &str;

    /// What it takes, as JSON Schema.
    fn parameters(&self) -> Value;

    /// Whether such a call may be under way together with others of the same answer.
    fn is_parallel(&self, arguments: &Value) -> bool;

    /// Does it.
    fn call<'a>(
        &'a self,
        arguments: &'a Value,
        context: &'a ToolContext<'a>,
    ) -> Pending<'a, ToolOutput>;
}

/// For whom a tool works.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// The turn.
    pub turn: &'a Turn,
    /// Its host, which says when to stop.
    pub host: &'a dyn Host,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// In words.
    pub text: String,
    /// Whether it did what was asked.
    pub result: ToolResult,
}

impl ToolOutput {
    /// It did.
    pub fn done(text: impl Into<String>) -> Self {
        Self::of(text, ToolResult::Done)
    }

    /// It did not, and says why.
    pub fn refused(text: impl Into<String>) -> Self {
        Self::of(text, ToolResult::Refused)
    }

    /// It was stopped.
    pub fn cancelled(text: impl Into<String>) -> Self {
        Self::of(text, ToolResult::Cancelled)
    }

    fn of(text: impl Into<String>, result: ToolResult) -> Self {
        let text = text.into();
        Self { text, result }
    }
}
