//! The model that needs nothing: a script that says what it is and what to configure, and that uses the real tools when
//! it is asked to, so that a newcomer sees the whole machine move. It never pretends to be a language model.

mod script;

use talaria_domain::adapter::Pending;
use talaria_domain::runner::Said;

use super::{Answer, Delta, Heard, Model, ModelError, Request, summary};

/// Plenty for showing things.
const WINDOW: usize = 32_768;
/// Words that are said in one breath.
const BREATH: usize = 4;

/// The script.
pub(super) struct Demo;

impl Demo {
    async fn say(request: &Request, heard: &dyn Heard) -> Result<Answer, ModelError> {
        let answer = script::answer(request);
        for group in breaths(&answer.text) {
            heard.hear(Delta::Text(group.to_owned())).await?;
            // Whoever listens gets a turn between two breaths, or all of it would come at once.
            tokio::task::yield_now().await;
        }
        Ok(answer)
    }
}

/// The text in groups of words, nothing left out.
fn breaths(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends = rest
            .match_indices(char::is_whitespace)
            .map(|(at, blank)| at + blank.len());
        let end = ends.nth(BREATH - 1).unwrap_or(rest.len());
        let (group, after) = rest.split_at_checked(end)?;
        rest = after;
        (!group.is_empty()).then_some(group)
    })
}

impl Model for Demo {
    fn name(&self) -> &'static str {
        "demo"
    }

    fn window(&self) -> usize {
        WINDOW
    }

    fn answer<'a>(
        &'a self,
        request: &'a Request,
        heard: &'a dyn Heard,
    ) -> Pending<'a, Result<Answer, ModelError>> {
        Box::pin(Self::say(request, heard))
    }

    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, ModelError>> {
        Box::pin(std::future::ready(Ok(summary::by_rule(said))))
    }
}
