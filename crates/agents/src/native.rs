//! The native runner: a model is asked, the tools it calls are run, and it is asked again with their results, until it
//! has an answer. One file says how a turn goes, one brings what the model says to the host, one decides about calls.

pub(crate) mod approval;
mod calls;
mod deltas;
mod images;
mod prompt;
mod rights;
mod turning;

use std::collections::BTreeSet;
use std::sync::Arc;

use talaria_domain::adapter::Pending;
use talaria_domain::run::RunOutcome;
use talaria_domain::runner::{Host, Runner, Said, Turn};

use self::turning::Turning;
use crate::context::{self, Context};
use crate::models::Model;
use crate::tools::Tool;

/// How often a model may call tools and be asked again in one turn.
const ROUNDS: usize = 24;

/// A model with tools.
pub struct NativeRunner {
    model: Arc<dyn Model>,
    tools: Vec<Arc<dyn Tool>>,
    /// Those of them that need a person's yes before each call.
    approve: BTreeSet<String>,
    rounds: usize,
}

impl NativeRunner {
    /// A runner with this model and these tools. What of them a turn may use is in its authority.
    pub fn new(model: Arc<dyn Model>, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self {
            model,
            tools,
            approve: BTreeSet::new(),
            rounds: ROUNDS,
        }
    }

    /// The same, asking a person before each call of these tools.
    #[must_use]
    pub fn approving(self, approve: BTreeSet<String>) -> Self {
        Self { approve, ..self }
    }

    /// The same with another number of rounds.
    #[must_use]
    pub fn with_rounds(self, rounds: usize) -> Self {
        Self { rounds, ..self }
    }
}

impl Runner for NativeRunner {
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome> {
        let work = async move { Turning::begin(self, turn, host).await.run().await };
        Box::pin(context::scope(Context::of_turn(turn), work))
    }

    fn window(&self) -> usize {
        self.model.window()
    }

    fn wants_state(&self) -> bool {
        false
    }

    fn thinks_first(&self) -> bool {
        true
    }

    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, String>> {
        Box::pin(async move {
            let summary = self.model.summarise(said).await;
            summary.map_err(|error| error.to_string())
        })
    }
}
