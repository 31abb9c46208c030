//! Anthropic's Messages API.

mod reader;
mod request;
mod wire;

use hyper::header::{HeaderName, HeaderValue};
use talaria_domain::adapter::Pending;
use talaria_domain::runner::Said;

use self::reader::Reader;
use super::exchange::{Question, ask};
use super::link::Link;
use super::{Answer, Heard, Model, ModelError, Request, summary};

const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const KEY: HeaderName = HeaderName::from_static("x-api-key");

/// A model behind that API.
pub(super) struct Anthropic {
    link: Link,
    model: String,
    window: usize,
}

impl Anthropic {
    pub(super) fn of(link: Link, model: String, window: usize) -> Self {
        let link = link.with(VERSION, HeaderValue::from_static("2023-06-01"));
        Self {
            link: link.with_key(KEY, ""),
            model,
            window,
        }
    }

    async fn ask(&self, request: &Request<'_>, heard: &dyn Heard) -> Result<Answer, ModelError> {
        let body = request::body(request, &self.model, self.window)?;
        // "Streaming Messages", Anthropic docs: answers that may take long are to be streamed, whoever hears them.
        let question = |_| Question::streamed(&body);
        ask::<Reader>(&self.link, question, heard).await
    }
}

impl Model for Anthropic {
    fn name(&self) -> &str {
        &self.model
    }

    fn window(&self) -> usize {
        self.window
    }

    fn answer<'a>(
        &'a self,
        request: &'a Request<'_>,
        heard: &'a dyn Heard,
    ) -> Pending<'a, Result<Answer, ModelError>> {
        Box::pin(self.ask(request, heard))
    }

    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, ModelError>> {
        Box::pin(summary::by_asking(self, said))
    }
}
