//! Anthropic's Messages API.

mod reader;
mod request;
mod wire;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use talaria_domain::adapter::Pending;
use talaria_domain::runner::Said;

use self::reader::Reader;
use super::exchange::ask;
use super::link::Link;
use super::retry::Progress;
use super::{Answer, Heard, Model, ModelError, Request, summary};

const VERSION: (HeaderName, HeaderValue) = (
    HeaderName::from_static("anthropic-version"),
    HeaderValue::from_static("2023-06-01"),
);
const KEY: HeaderName = HeaderName::from_static("x-api-key");

/// A model behind that API.
pub(super) struct Anthropic {
    link: Link,
    model: String,
    window: usize,
}

impl Anthropic {
    pub(super) const fn of(link: Link, model: String, window: usize) -> Self {
        Self {
            link,
            model,
            window,
        }
    }

    async fn ask(&self, request: &Request, heard: &dyn Heard) -> Result<Answer, ModelError> {
        let mut headers = HeaderMap::from_iter([VERSION]);
        if let Some(key) = self.link.key_header("") {
            let unusable = |fault| self.link.error(fault, Progress::Nothing, 0);
            headers.insert(KEY, key.map_err(unusable)?);
        }
        let body = request::body(request, &self.model, self.window)?;
        ask::<Reader>(&self.link, headers, &body, heard).await
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
        request: &'a Request,
        heard: &'a dyn Heard,
    ) -> Pending<'a, Result<Answer, ModelError>> {
        Box::pin(self.ask(request, heard))
    }

    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, ModelError>> {
        Box::pin(summary::by_asking(self, said))
    }
}
