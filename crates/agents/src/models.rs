//! Language models behind one contract. A model is asked with a [`Request`], hands what it says to [`Heard`] while
//! it says it, and ends with an [`Answer`] or with a [`ModelError`] whose sentence tells the user what to do next.
//!
//! A server's way of talking has a folder of its own: its wire types, a pure request builder and a pure reader. The
//! one driver, `exchange`, does the talking for all of them.

mod client;
mod error;
mod settings;

mod anthropic;
mod demo;
mod openai;

mod draft;
mod exchange;
mod fault;
mod image;
mod link;
mod options;
mod pairing;
mod retry;
mod sse;
mod summary;

use std::collections::BTreeMap;

use serde_json::Value;
use talaria_domain::adapter::Pending;
use talaria_domain::run::Usage;
use talaria_domain::runner::{Said, Speaker, Stopped, ToolCall};

pub use client::{Client, NoTls, tls};
pub use error::ModelError;
pub use retry::Patience;
pub use settings::{ModelSettings, Provider, build, build_with};
pub use talaria_domain::run::Finish;

/// What a text starts with that nobody wrote.
pub(crate) const NEWS: &str =
    "[Nobody wrote this: it is news of work that was started in this conversation.]";

/// A language model.
pub trait Model: Send + Sync {
    /// Its name, for people.
    fn name(&self) -> &str;

    /// How much it can be shown, in tokens.
    fn window(&self) -> usize;

    /// Answers. What it says on the way is handed to `heard`; nothing is asked twice once something was heard.
    fn answer<'a>(
        &'a self,
        request: &'a Request<'_>,
        heard: &'a dyn Heard,
    ) -> Pending<'a, Result<Answer, ModelError>>;

    /// Says in short what was said.
    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, ModelError>>;
}

/// Who listens while a model talks.
pub trait Heard: Send + Sync {
    /// Takes what the model said next. [`Stopped`] means that nobody wants to hear the rest.
    fn hear(&self, delta: Delta) -> Pending<'_, Result<(), Stopped>>;
}

/// What a model said next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// A piece of the answer.
    Text(String),
    /// A piece of what it thinks; never part of the answer.
    Reasoning(String),
}

/// What a model is asked.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Request<'a> {
    /// What it is told about itself.
    pub system: String,
    /// What was said before, in order.
    pub history: &'a [Said],
    /// What was said since, in order.
    pub said: Vec<Said>,
    /// The tools there are.
    pub tools: Vec<ToolSpec>,
    /// Whether it may call them now.
    pub calls: Calls,
    /// How its answer is to come.
    pub manner: Manner,
    /// What is wanted of this answer, under the names that OpenAI gave it: see [`talaria_domain::event::Wishes`].
    pub options: BTreeMap<String, Value>,
}

impl Request<'_> {
    /// Everything that was said, in order.
    fn all(&self) -> impl Iterator<Item = &Said> {
        self.history.iter().chain(&self.said)
    }

    /// Everything that stands before the conversation: what the model is told about itself, and what the system said
    /// since, a summary for instance. Many servers take it at the start only.
    fn instructions(&self) -> String {
        let since = self.all().filter(|said| said.speaker == Speaker::System);
        let texts =
            std::iter::once(self.system.as_str()).chain(since.map(|said| said.text.as_str()));
        let texts: Vec<_> = texts.filter(|text| !text.trim().is_empty()).collect();
        texts.join("\n\n")
    }
}

/// Whether tools may be called.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// They may.
    #[default]
    Allowed,
    /// An answer in words is asked for.
    Forbidden,
}

/// How an answer is to come.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Piece by piece, while the model says it.
    #[default]
    Streamed,
    /// In one piece, because nobody hears it before its end. For the server that is much less to do; one that has to be
    /// asked again, or can only stream, streams.
    Whole,
}

/// A tool, as a model is shown it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What it takes, as JSON Schema.
    pub parameters: Value,
}

/// What a model answered.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Answer {
    /// Its words.
    pub text: String,
    /// What it thought.
    pub reasoning: String,
    /// The tools that it wants to be called. Arguments that are not JSON are here as one text.
    pub calls: Vec<ToolCall>,
    /// What it cost.
    pub usage: Usage,
    /// Why it ended.
    pub finish: Finish,
}
