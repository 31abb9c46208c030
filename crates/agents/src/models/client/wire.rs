//! A connection in the hands of whoever uses it: waiting for something that comes over it moves it along, in the same
//! task. A task of its own would have to be woken for every piece of an answer, and would then have to wake whoever reads
//! it: a stream of words that came in one packet would be read in as many turns as it has words.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{Connection, SendRequest, handshake};
use hyper::{Request, Response, Uri};
use hyper_util::client::legacy::connect::Connection as _;
use tokio_util::bytes::Bytes;

use super::connect::Stream;

/// What is asked.
pub(super) type Question = Request<Full<Bytes>>;

/// A question that was not answered, with the question if nothing of it was sent.
pub(super) type Unanswered = TrySendError<Question>;

/// A connection to a server, or to a proxy that asks it for us.
pub(super) struct Wire {
    sender: SendRequest<Full<Bytes>>,
    connection: Connection<Stream, Full<Bytes>>,
    is_to_proxy: bool,
    is_over: bool,
}

impl Wire {
    /// On the heap, as it is large and goes from hand to hand.
    pub(super) async fn over(stream: Stream) -> hyper::Result<Box<Self>> {
        let is_to_proxy = stream.connected().is_proxied();
        let (sender, connection) = handshake(stream).await?;
        Ok(Box::new(Self {
            sender,
            connection,
            is_to_proxy,
            is_over: false,
        }))
    }

    /// Asks, and answers when the head of the answer is there.
    pub(super) async fn ask(
        &mut self,
        mut question: Question,
    ) -> Result<Response<Incoming>, Unanswered> {
        if !self.is_to_proxy {
            // "origin-form", RFC 9112: a server is asked by the path alone.
            let path = question.uri().path_and_query().cloned();
            *question.uri_mut() = path.map_or_else(Uri::default, Uri::from);
        }
        let mut answer = pin!(self.sender.try_send_request(question));
        let moving = (&mut self.connection, &mut self.is_over);
        let (connection, is_over) = moving;
        poll_fn(|context| {
            if let Poll::Ready(answer) = answer.as_mut().poll(context) {
                return Poll::Ready(answer);
            }
            advance(connection, is_over, context);
            // If the connection is over, whoever waits for an answer hears that.
            answer.as_mut().poll(context)
        })
        .await
    }

    /// The next piece of a body that comes over it. It is over if nothing comes any more although it should.
    pub(super) fn poll_frame(
        &mut self,
        body: &mut Incoming,
        context: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        if let Poll::Ready(frame) = pin!(body.frame()).poll(context) {
            return Poll::Ready(frame);
        }
        advance(&mut self.connection, &mut self.is_over, context);
        pin!(body.frame()).poll(context)
    }

    /// Whether something can be asked over it. One that the server has closed meanwhile says so here.
    pub(super) fn is_free(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        advance(&mut self.connection, &mut self.is_over, &mut context);
        !self.is_over && self.sender.is_ready()
    }
}

/// Does what can be done on a connection at this moment.
fn advance(
    connection: &mut Connection<Stream, Full<Bytes>>,
    is_over: &mut bool,
    context: &mut Context<'_>,
) {
    if !*is_over {
        // How it ended is told to whoever waits for something from it.
        *is_over = Pin::new(connection).poll(context).is_ready();
    }
}
