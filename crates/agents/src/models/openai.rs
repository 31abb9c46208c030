//! Chat completions, as any OpenAI-compatible server speaks them.

mod reader;
mod request;
mod wire;

use std::sync::atomic::{AtomicBool, Ordering};

use hyper::header::AUTHORIZATION;
use talaria_domain::adapter::Pending;
use talaria_domain::runner::Said;

use self::reader::Reader;
use self::request::{Form, body};
use super::exchange::{Question, ask};
use super::link::Link;
use super::{Answer, Heard, Manner, Model, ModelError, Request, summary};

/// A model on such a server.
pub(super) struct OpenAi {
    link: Link,
    model: String,
    window: usize,
    /// Some servers can do nothing but stream. They are asked for a whole answer once.
    refuses_whole: AtomicBool,
    /// Some servers refuse a request that asks for what it cost. They are asked for that once.
    refuses_usage: AtomicBool,
}

impl OpenAi {
    pub(super) fn of(link: Link, model: String, window: usize) -> Self {
        Self {
            link: link.with_key(AUTHORIZATION, "Bearer "),
            model,
            window,
            refuses_whole: AtomicBool::new(false),
            refuses_usage: AtomicBool::new(false),
        }
    }

    async fn ask(&self, request: &Request<'_>, heard: &dyn Heard) -> Result<Answer, ModelError> {
        loop {
            match self.ask_as_it_likes(request, heard).await {
                Err(ModelError::Refused { why, .. }) if self.learns(request.manner, &why) => {}
                answered => return answered,
            }
        }
    }

    /// Asks with nothing in the request that the server is known to refuse.
    async fn ask_as_it_likes(
        &self,
        request: &Request<'_>,
        heard: &dyn Heard,
    ) -> Result<Answer, ModelError> {
        let stream = if self.refuses_usage.load(Ordering::Relaxed) {
            Form::StreamWithoutUsage
        } else {
            Form::Stream
        };
        let may_be_whole =
            request.manner == Manner::Whole && !self.refuses_whole.load(Ordering::Relaxed);
        let question = |attempt| {
            // Whatever stands between us and the server may have cut off what took long and said nothing meanwhile.
            let (form, manner) = match attempt {
                1 if may_be_whole => (Form::Whole, Manner::Whole),
                _ => (stream, Manner::Streamed),
            };
            Question::of(&body(request, &self.model, form)?, manner)
        };
        ask::<Reader>(&self.link, question, heard).await
    }

    /// Whether these words of a refusal tell something that was not known about the server.
    fn learns(&self, manner: Manner, why: &str) -> bool {
        let refuses = if why.contains("stream_options") {
            &self.refuses_usage
        } else if manner == Manner::Whole && why.contains("stream") {
            &self.refuses_whole
        } else {
            return false;
        };
        !refuses.swap(true, Ordering::Relaxed)
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
