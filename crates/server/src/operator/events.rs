//! `GET /api/sessions/{id}/events`: a conversation while it happens, as server-sent events. The reader pulls: one that is
//! slow falls behind in the watch, which is bounded, and is told that it missed something. What waits for a reader is
//! written at once: a turn that is over quickly is one write, not one for each of its events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::{FutureExt as _, Stream, StreamExt as _, future, stream};
use talaria_domain::ids::SessionId;
use talaria_domain::json;
use talaria_domain::live::{Happening, Watch};
use talaria_store::{Tx, sessions};
use tokio::time::{Instant, Sleep};

use crate::access::keys::Caller;
use crate::contract::{Operation, Routes};
use crate::error::ApiError;
use crate::input::Named;
use crate::shared::App;

#[cfg(test)]
mod tests;

/// How often a quiet stream says that it is still there.
const ALIVE: Duration = Duration::from_secs(10);

/// How it says so.
const STILL_THERE: &[u8] = b":\n\n";

/// How long the news that a turn begins may wait for what comes next: less than anybody sees.
const A_MOMENT: Duration = Duration::from_millis(50);

/// What every stream begins with, and how many milliseconds later a browser comes back after the gateway went away.
const GREETING: &[u8] = b": watching\nretry: 1000\n\n";

/// How many bytes are written at once before the reader has to pull again; one event may be longer.
const AT_ONCE: usize = 16 * 1024;

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/sessions/{id}/events", watch, || {
        Operation::of("A conversation while it happens.").streams()
    })
}

async fn watch(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
) -> Result<Response, ApiError> {
    let owner = caller.owner();
    let look = move |tx: &mut Tx<'_>| sessions::get_owned(tx, owner, id);
    app.shared.ledger.read(look).await?;
    // Before the answer begins: whoever reads it can rely on hearing of everything from then on.
    let watching = Watching::of(app.shared.live.watch(id));
    let greeting = stream::once(future::ready(Bytes::from_static(GREETING)));
    let told = greeting
        .chain(told(watching))
        .take_until(app.stop.clone().cancelled_owned())
        .map(Ok::<_, Infallible>);
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, Body::from_stream(told)).into_response())
}

/// Everything that happens, as it is written, until the conversation ends.
fn told(watching: Watching) -> impl Stream<Item = Bytes> {
    stream::unfold(watching, |mut watching| async move {
        let written = watching.next().await?;
        Some((written, watching))
    })
}

struct Watching {
    watch: Box<dyn Watch>,
    /// Until when the stream may be quiet.
    quiet: Pin<Box<Sleep>>,
}

impl Watching {
    fn of(watch: Box<dyn Watch>) -> Self {
        let quiet = Box::pin(tokio::time::sleep(ALIVE));
        Self { watch, quiet }
    }

    /// What is written next; none at the end.
    async fn next(&mut self) -> Option<Bytes> {
        let heard = tokio::select! {
            biased;
            happening = self.watch.next() => Some(happening?),
            () = self.quiet.as_mut() => None,
        };
        self.quiet.as_mut().reset(Instant::now() + ALIVE);
        Some(match heard {
            Some(happening) => self.gather(&happening).await,
            None => Bytes::from_static(STILL_THERE),
        })
    }

    /// This, and what waits behind it.
    async fn gather(&mut self, first: &Happening) -> Bytes {
        let mut text = Vec::with_capacity(1024);
        encode(first, &mut text);
        if matches!(first, Happening::Started { .. }) {
            // If the answer is that quick, both go together.
            let after = tokio::time::timeout(A_MOMENT, self.watch.next()).await;
            if let Ok(Some(happening)) = after {
                encode(&happening, &mut text);
            }
        }
        while text.len() < AT_ONCE
            && let Some(Some(happening)) = self.watch.next().now_or_never()
        {
            encode(&happening, &mut text);
        }
        text.into()
    }
}

/// Writes an event. JSON has no line breaks: all of it is one line of data.
fn encode(happening: &Happening, text: &mut Vec<u8>) {
    let tag = match happening {
        Happening::Started { .. } => "started",
        Happening::Yielded { .. } => "yielded",
        Happening::Said { .. } => "said",
        Happening::Missed => "missed",
    };
    let before = text.len();
    for part in ["event: ", tag, "\ndata: "] {
        text.extend_from_slice(part.as_bytes());
    }
    if json::append(text, happening).is_err() {
        // What cannot be written is in the ledger all the same, and the reader is told to look there.
        text.truncate(before);
        text.extend_from_slice(b"event: missed\ndata: {\"happening\":\"missed\"}");
    }
    text.extend_from_slice(b"\n\n");
}
