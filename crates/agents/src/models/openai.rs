//! Chat completions, as any OpenAI-compatible server speaks them.

mod reader;
mod request;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};

use hyper::header::AUTHORIZATION;
use talaria_domain::adapter::Pending;
use talaria_domain::runner::Said;

use self::reader::Reader;
use self::request::{AskUsage, body};
use super::exchange::ask;
use super::link::Link;
use super::{Answer, Heard, Model, ModelError, Request, summary};

/// A model on such a server.
pub(super) struct OpenAi {
    link: Link,
    model: String,
    window: usize,
    /// Some servers refuse a request that asks for what it cost. They are asked for that once.
    refuses_usage: AtomicBool,
}

impl OpenAi {
    pub(super) fn of(link: Link, model: String, window: usize) -> Self {
        Self {
            link: link.with_key(AUTHORIZATION, "Bearer "),
            model,
            window,
            refuses_usage: AtomicBool::new(false),
        }
    }

    async fn ask(&self, request: &Request<'_>, heard: &dyn Heard) -> Result<Answer, ModelError> {
        if !self.refuses_usage.load(Ordering::Relaxed) {
            let body = body(request, &self.model, AskUsage::Yes)?;
            match ask::<Reader>(&self.link, &body, heard).await {
                Err(ModelError::Refused { why, .. }) if why.contains("stream_options") => {
                    self.refuses_usage.store(true, Ordering::Relaxed);
                }
                answered => return answered,
            }
        }
        let body = body(request, &self.model, AskUsage::No)?;
        ask::<Reader>(&self.link, &body, heard).await
    }
}

impl Model for OpenAi {
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
