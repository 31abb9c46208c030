//! `GET /api/sessions/{id}/events`: a conversation while it happens, as server-sent events. The reader pulls: one that is
//! slow falls behind in the watch, which is bounded, and is told that it missed something.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::{Stream, StreamExt as _, stream};
use talaria_domain::ids::SessionId;
use talaria_domain::live::{Happening, Watch};
use talaria_store::{Tx, sessions};
use tokio_util::sync::CancellationToken;

use crate::access::keys::Caller;
use crate::contract::{Operation, Routes};
use crate::error::ApiError;
use crate::input::Named;
use crate::shared::App;

/// How often a quiet stream says that it is still there.
const ALIVE: Duration = Duration::from_secs(10);

/// How long the news that a turn begins may wait for what comes next: less than anybody sees.
const A_MOMENT: Duration = Duration::from_millis(50);

/// How soon a browser comes back after the gateway went away.
const RETRY: Duration = Duration::from_secs(1);

pub(super) fn routes() -> Routes {
    Routes::new().get("/api/sessions/{id}/events", watch, || {
        Operation::of("A conversation while it happens.").streams()
    })
}

type Events = Sse<
    axum::response::sse::KeepAliveStream<stream::BoxStream<'static, Result<Event, Infallible>>>,
>;

async fn watch(
    State(app): State<Arc<App>>,
    caller: Caller,
    Named(id): Named<SessionId>,
) -> Result<Events, ApiError> {
    let owner = caller.owner();
    let look = move |tx: &mut Tx<'_>| sessions::get_owned(tx, owner, id);
    app.shared.ledger.read(look).await?;
    // Before the answer begins: whoever reads it can rely on hearing of everything from then on.
    let watch = app.shared.live.watch(id);
    let greeting = Event::default().comment("watching").retry(RETRY);
    let happenings = happenings(watch, app.stop.clone()).map(|happening| encode(&happening));
    let events = stream::iter([greeting]).chain(happenings).map(Ok);
    Ok(Sse::new(events.boxed()).keep_alive(KeepAlive::new().interval(ALIVE)))
}

/// Everything that happens until the conversation or the listener ends.
fn happenings(watch: Box<dyn Watch>, stop: CancellationToken) -> impl Stream<Item = Happening> {
    let watching = Watching {
        watch,
        stop,
        after: None,
    };
    stream::unfold(watching, |mut watching| async move {
        let happening = watching.next().await;
        happening.map(|happening| (happening, watching))
    })
}

struct Watching {
    watch: Box<dyn Watch>,
    stop: CancellationToken,
    /// What came while the beginning of a turn was held back.
    after: Option<Happening>,
}

impl Watching {
    async fn next(&mut self) -> Option<Happening> {
        if self.after.is_some() {
            return self.after.take();
        }
        let happening = self.hear().await;
        if matches!(happening, Some(Happening::Started { .. })) {
            // If the answer is that quick, both go together.
            let after = tokio::time::timeout(A_MOMENT, self.hear()).await;
            self.after = after.unwrap_or_default();
        }
        happening
    }

    async fn hear(&mut self) -> Option<Happening> {
        tokio::select! {
            biased;
            () = self.stop.cancelled() => None,
            happening = self.watch.next() => happening,
        }
    }
}

fn encode(happening: &Happening) -> Event {
    let tag = match happening {
        Happening::Started { .. } => "started",
        Happening::Yielded { .. } => "yielded",
        Happening::Said { .. } => "said",
        Happening::Missed => "missed",
    };
    // What cannot be written is in the ledger all the same, and the reader is told to look there.
    let missed = || (r#"{"happening":"missed"}"#.to_owned(), "missed");
    let text = serde_json::to_string(happening).map(|text| (text, tag));
    let (text, tag) = text.unwrap_or_else(|_| missed());
    Event::default().event(tag).data(text)
}
