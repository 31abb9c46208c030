//! `POST /v1/chat/completions`: one turn, told at once or bit by bit. If its caller goes away before the end, it is
//! cancelled after a grace.

pub(in crate::openai) mod asked;
mod told;

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{Stream, stream};
use serde_json::{Map, Value};

use self::asked::StreamWish;
use self::told::{Frame, PROGRESS, Teller, Written};
use super::described;
use super::door::{self, Admitted};
use super::once::Request;
use super::refusal::Refusal;
use super::turn::follow::Step;
use super::waiting::Waiting;
use crate::access::keys::Caller;
use crate::contract::Routes;
use crate::input::{Headers, Sent};
use crate::output;
use crate::shared::App;

/// How often a quiet stream says that it is still there.
pub(super) const ALIVE: Duration = Duration::from_secs(8);

/// What can be asked of the model.
pub(super) const OPTIONS: [&str; 7] = {
    let mut names = [""; 7];
    let mut at = 0;
    while at < names.len() {
        names[at] = asked::OPTIONS[at].0;
        at += 1;
    }
    names
};

pub(super) fn routes() -> Routes {
    Routes::new().post("/v1/chat/completions", complete, described::completion)
}

async fn complete(
    State(app): State<Arc<App>>,
    caller: Caller,
    Headers(headers): Headers,
    Sent(body): Sent<Map<String, Value>>,
) -> Result<Response, Refusal> {
    let question = asked::read(&body)?;
    let request = Request {
        route: "chat/completions",
        headers: &headers,
        body: &body,
    };
    let admitted = door::admit(&app, caller, &request, question.model.as_deref()).await?;
    let Admitted {
        asker,
        callback,
        claim,
        place,
    } = admitted;
    let stream = question.stream;
    let content = question.content(asker.memory(), callback, asked::hearing(stream.is_some()));
    let (turn, waiting) = Waiting::begin(&app, &asker, (claim, place), content).await?;
    let frame = Frame {
        id: format!("chatcmpl-{}", turn.event),
        created: turn.at.as_millis() / 1_000,
        model: asker.model(&app),
    };
    let mut response = match stream {
        Some(wish) => bit_by_bit(waiting, frame, wish).into_response(),
        None => at_once(waiting, &frame).await?,
    };
    response.headers_mut().extend(turn.header());
    Ok(response)
}

async fn at_once(mut waiting: Waiting, frame: &Frame) -> Result<Response, Refusal> {
    let over = loop {
        match waiting.next().await? {
            Step::Line(_) => {}
            Step::Over(over) => break over,
            Step::Left => return Err(Refusal::stopping()),
        }
    };
    match Refusal::of(&over) {
        Some(refusal) => Err(refusal),
        None => Ok(output::json(StatusCode::OK, &told::whole(frame, &over))),
    }
}

/// A stream that is being told.
struct Telling {
    waiting: Waiting,
    teller: Teller,
    written: VecDeque<Written>,
    is_over: bool,
}

fn bit_by_bit(waiting: Waiting, frame: Frame, wish: StreamWish) -> impl IntoResponse {
    let teller = Teller::of(frame, wish);
    let telling = Telling {
        waiting,
        written: [teller.begin()].into(),
        teller,
        is_over: false,
    };
    Sse::new(events(telling)).keep_alive(KeepAlive::new().interval(ALIVE))
}

fn events(telling: Telling) -> impl Stream<Item = Result<Event, Infallible>> {
    stream::unfold(telling, |mut telling| async move {
        let written = telling.next().await?;
        Some((Ok(encode(written)), telling))
    })
}

impl Telling {
    async fn next(&mut self) -> Option<Written> {
        loop {
            if let Some(written) = self.written.pop_front() {
                return Some(written);
            }
            if self.is_over {
                return None;
            }
            match self.waiting.next().await {
                Ok(Step::Line(line)) => self.written.extend(self.teller.tell(&line.what)),
                Ok(Step::Over(over)) => {
                    self.is_over = true;
                    self.written.extend(self.teller.end(&over));
                }
                Ok(Step::Left) => self.give_up(&Refusal::stopping()),
                Err(refusal) => self.give_up(&refusal),
            }
        }
    }

    fn give_up(&mut self, refusal: &Refusal) {
        self.is_over = true;
        self.written.push_back(Written::Chunk(refusal.body()));
    }
}

fn encode(written: Written) -> Event {
    match written {
        Written::Chunk(chunk) => Event::default().data(chunk.to_string()),
        Written::Progress(chunk) => Event::default().event(PROGRESS).data(chunk.to_string()),
        Written::Done => Event::default().data("[DONE]"),
    }
}
