//! The model that needs nothing: a script that says what it is and what to configure, and that uses the real tools when
//! it is asked to, so that a newcomer sees the whole machine move. It never pretends to be a language model.

mod script;
#[cfg(test)]
mod tests;

use std::time::Duration;

use talaria_domain::adapter::Pending;
use talaria_domain::runner::Said;
use tokio::time;

use super::image::Image;
use super::options::{self, FORMAT};
use super::{Answer, Delta, Heard, Model, ModelError, Request, summary};

/// Plenty for showing things.
const WINDOW: usize = 32_768;
/// Words that are said in one breath, unless the answer is long.
const BREATH: usize = 4;
/// No answer takes more of them, so that the pauses stay below 600 ms in all.
const MOST_BREATHS: usize = 24;
/// Between two breaths. A newcomer should see that answers come piece by piece.
const PAUSE: Duration = Duration::from_millis(25);

/// The script.
pub(super) struct Demo;

impl Demo {
    async fn say(request: &Request<'_>, heard: &dyn Heard) -> Result<Answer, ModelError> {
        options::refuse(&request.options, "the demo model", &[FORMAT])?;
        let images = request.all().flat_map(|said| &said.images);
        // It cannot see them, but what works here should work with a model that can.
        images
            .map(|address| Image::read(address))
            .collect::<Result<Vec<_>, _>>()?;
        let answer = script::answer(request);
        for (number, group) in breaths(&answer.text).enumerate() {
            if number > 0 {
                // Not polling: somebody is to see the answer grow.
                time::sleep(PAUSE).await;
            }
            heard.hear(Delta::Text(group.to_owned())).await?;
        }
        Ok(answer)
    }
}

/// The text in groups of words, nothing left out: short ones, or as many as there may be.
fn breaths(text: &str) -> impl Iterator<Item = &str> {
    let words = text.matches(char::is_whitespace).count() + 1;
    let size = words.div_ceil(MOST_BREATHS).max(BREATH);
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut ends = rest
            .match_indices(char::is_whitespace)
            .map(|(at, blank)| at + blank.len());
        let end = ends.nth(size - 1).unwrap_or(rest.len());
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
        request: &'a Request<'_>,
        heard: &'a dyn Heard,
    ) -> Pending<'a, Result<Answer, ModelError>> {
        Box::pin(Self::say(request, heard))
    }

    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, ModelError>> {
        Box::pin(std::future::ready(Ok(summary::by_rule(said))))
    }
}
