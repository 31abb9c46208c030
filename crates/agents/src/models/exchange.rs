//! The one driver that talks to model servers: posts the request, hears the answer piece by piece, and asks again while
//! nothing was heard yet. What the pieces mean is the reader's business, what a fault means is decided elsewhere.

use std::error::Error;
use std::pin::{Pin, pin};
use std::time::Duration;

use serde::Serialize;
use talaria_domain::json;
use talaria_domain::runner::Stopped;
use tokio::time;
use tokio_util::bytes::Bytes;

use super::client::Received;
use super::fault::Fault;
use super::link::Link;
use super::retry::{self, Next, Progress};
use super::sse::{Decoder, Endless, Event};
use super::{Answer, Delta, Heard, Manner, ModelError};

/// Errors are short; a server that sends more of one is not listened to.
const MOST_ERROR_BYTES: usize = 64 * 1024;
/// Most questions are shorter.
const USUAL: usize = 4 * 1024;
/// An answer that comes in one piece.
const MOST_WHOLE_BYTES: usize = 16 * 1024 * 1024;

/// How an answer is read: one implementation for each way of talking.
pub(super) trait Reader: Default + Send {
    /// Takes one event of a stream and answers what can be heard of it.
    fn take(&mut self, event: &Event) -> Result<Vec<Delta>, Fault>;

    /// Whether nothing more is to come.
    fn is_complete(&self) -> bool;

    /// The answer, when the stream is over.
    fn finish(self) -> Result<Answer, Fault>;

    /// The answer of a server that does not stream.
    fn whole(body: &str) -> Result<Answer, Fault>;
}

/// What is posted, and how it is to be answered.
pub(super) struct Question {
    body: Bytes,
    manner: Manner,
}

impl Question {
    /// One that is answered piece by piece.
    pub(super) fn streamed(body: &impl Serialize) -> Result<Self, ModelError> {
        Self::of(body, Manner::Streamed)
    }

    /// One that is answered in this manner.
    pub(super) fn of(body: &impl Serialize, manner: Manner) -> Result<Self, ModelError> {
        let unwritable = |error: serde_json::Error| ModelError::Misconfigured {
            why: error.to_string(),
        };
        let mut body = json::bytes(body, USUAL).map_err(unwritable)?;
        // It is kept for as long as the answer takes.
        body.shrink_to_fit();
        let body = Bytes::from(body);
        Ok(Self { body, manner })
    }
}

/// Asks a server until it answers or there is no point in asking again. `question` is told which attempt it is for, from
/// one.
pub(super) async fn ask<R: Reader>(
    link: &Link,
    question: impl Fn(usize) -> Result<Question, ModelError>,
    heard: &dyn Heard,
) -> Result<Answer, ModelError> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let question = question(attempt)?;
        let mut listening = Listening {
            link,
            heard,
            progress: Progress::Nothing,
        };
        let fault = match listening.attempt::<R>(question).await {
            Ok(answer) => return Ok(answer),
            Err(Trouble::Stopped) => return Err(ModelError::Stopped),
            Err(Trouble::Fault(fault)) => fault,
        };
        match retry::decide(&fault, listening.progress, attempt, &link.patience) {
            Next::GiveUp => return Err(link.error(fault, listening.progress, attempt)),
            Next::Wait(wait) => {
                let server = link.server();
                tracing::debug!(server, attempt, ?wait, "the model server is asked again");
                // Not polling: the model server asked for this pause, or gets a longer one each time.
                time::sleep(wait).await;
            }
        }
    }
}

/// Why an attempt ended without an answer.
enum Trouble {
    Stopped,
    Fault(Fault),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Stopped> for Trouble {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

/// One attempt.
struct Listening<'a> {
    link: &'a Link,
    heard: &'a dyn Heard,
    progress: Progress,
}

impl Listening<'_> {
    async fn attempt<R: Reader>(&mut self, question: Question) -> Result<Answer, Trouble> {
        let request = self.link.request(question.body)?;
        let patience = match question.manner {
            Manner::Streamed => self.link.patience.first_byte,
            Manner::Whole => self.link.patience.whole,
        };
        let sent = pin!(self.link.client.send(request));
        let received = in_time(patience, sent).await?;
        let mut body = Body { received, patience };
        if !body.received.response.status().is_success() {
            return Err(refusal(body).await.into());
        }
        let first = self.first_piece(&mut body).await?;
        // Decided by what is there, not by what the server says it sends: some say it wrong.
        match first.trim_ascii_start().first() {
            Some(b'{') => self.hear_whole::<R>(body, first).await,
            _ => self.hear_stream::<R>(body, first).await,
        }
    }

    /// Everything up to the first byte that is not a blank.
    async fn first_piece(&self, body: &mut Body) -> Result<Bytes, Fault> {
        while let Some(piece) = body.next().await? {
            if !piece.trim_ascii_start().is_empty() {
                body.patience = self.link.patience.between_pieces;
                return Ok(piece);
            }
        }
        Err(Fault::passing("an empty answer"))
    }

    async fn hear_whole<R: Reader>(
        &mut self,
        mut body: Body,
        first: Bytes,
    ) -> Result<Answer, Trouble> {
        let whole = body.rest(first.into(), MOST_WHOLE_BYTES).await?;
        let answer = R::whole(&String::from_utf8_lossy(&whole))?;
        let reasoning = Delta::Reasoning(answer.reasoning.clone());
        let deltas = vec![reasoning, Delta::Text(answer.text.clone())];
        self.hear(deltas).await?;
        Ok(answer)
    }

    async fn hear_stream<R: Reader>(
        &mut self,
        mut body: Body,
        first: Bytes,
    ) -> Result<Answer, Trouble> {
        let mut decoder = Decoder::default();
        let mut reader = R::default();
        let mut piece = Some(first);
        while let Some(bytes) = piece {
            let events = decoder.push(&bytes).map_err(|Endless| endless())?;
            for event in events {
                self.hear(reader.take(&event)?).await?;
            }
            if reader.is_complete() {
                return Ok(reader.finish()?);
            }
            piece = match body.next().await {
                Ok(piece) => piece,
                // The server said why it ended before the connection broke: that counts.
                Err(fault) => return reader.finish().map_err(|_| fault.into()),
            };
        }
        if let Some(event) = decoder.finish() {
            self.hear(reader.take(&event)?).await?;
        }
        Ok(reader.finish()?)
    }

    async fn hear(&mut self, deltas: Vec<Delta>) -> Result<(), Stopped> {
        for delta in deltas {
            let (Delta::Text(text) | Delta::Reasoning(text)) = &delta;
            if !text.is_empty() {
                self.progress = Progress::Something;
                self.heard.hear(delta).await?;
            }
        }
        Ok(())
    }
}

/// A server's answer as it comes in.
struct Body {
    received: Received,
    patience: Duration,
}

impl Body {
    async fn next(&mut self) -> Result<Option<Bytes>, Fault> {
        loop {
            let frame = pin!(async { self.received.next().await.transpose() });
            let Some(frame) = in_time(self.patience, frame).await? else {
                return Ok(None);
            };
            // What is no piece comes after the last one, and says nothing.
            if let Ok(piece) = frame.into_data() {
                return Ok(Some(piece));
            }
        }
    }

    async fn rest(&mut self, mut start: Vec<u8>, most: usize) -> Result<Vec<u8>, Fault> {
        while let Some(piece) = self.next().await? {
            start.extend_from_slice(&piece);
            if start.len() > most {
                return Err(endless());
            }
        }
        Ok(start)
    }
}

fn endless() -> Fault {
    Fault::Unreadable("an answer without an end".to_owned())
}

/// What an answer means that is not a success. Its words are an extra: whatever goes wrong with them, the status stands.
async fn refusal(mut body: Body) -> Fault {
    let status = body.received.response.status().as_u16();
    let header = |name: &str| body.received.response.headers().get(name)?.to_str().ok();
    let after = retry::asked_wait(header("retry-after-ms"), header("retry-after"));
    let words = body
        .rest(Vec::new(), MOST_ERROR_BYTES)
        .await
        .unwrap_or_default();
    Fault::of_status(status, &String::from_utf8_lossy(&words), after)
}

/// What the server sends, unless it lets us wait for too long. It is waited for where it is: moving it would cost more
/// than most of its steps.
async fn in_time<T, E: Error + 'static>(
    patience: Duration,
    sent: Pin<&mut impl Future<Output = Result<T, E>>>,
) -> Result<T, Fault> {
    match time::timeout(patience, sent).await {
        Ok(Ok(sent)) => Ok(sent),
        Ok(Err(error)) => Err(Fault::passing(cause(&error))),
        Err(_) => Err(Fault::Silent { patience }),
    }
}

/// The innermost cause in its own words: the outer ones say where in the client it happened.
fn cause(error: &(dyn Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
