//! The events of a session, over a connection that is made again whenever it is lost. Whoever listens is told of both,
//! because what happened in between has to be looked up.

use std::pin::Pin;
use std::time::Duration;

use futures::stream::{Stream, StreamExt as _};
use talaria_domain::ids::SessionId;
use talaria_domain::live::Happening;
use tokio::time::{Instant, sleep, timeout};

use super::sse::{Decoder, Sent};
use crate::cli::Failure;
use crate::cli::client::Gateway;

/// The gateway says something at least every ten seconds.
const SILENCE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

type Bytes = Pin<Box<dyn Stream<Item = Option<Vec<u8>>> + Send>>;

/// What there is to hear.
#[derive(Debug)]
pub(super) enum Heard {
    /// Something happened.
    Happening(Box<Happening>),
    /// The connection is gone.
    Lost,
    /// It is back.
    Back,
}

/// Somebody who listens to a session.
pub(super) struct Watch<'g> {
    gateway: &'g Gateway,
    session: SessionId,
    line: Line,
}

enum Line {
    Open(Open),
    Lost { since: Instant, pause: Duration },
}

struct Open {
    bytes: Bytes,
    decoder: Decoder,
    /// What came while we waited for the sign that somebody listens.
    first: Option<Sent>,
}

impl<'g> Watch<'g> {
    /// Attaches to a session: everything from here on will be heard.
    pub(super) async fn attach(gateway: &'g Gateway, session: SessionId) -> Result<Self, Failure> {
        let line = Line::Open(open(gateway, session).await?);
        Ok(Self {
            gateway,
            session,
            line,
        })
    }

    /// Whether the connection is there.
    pub(super) const fn is_attached(&self) -> bool {
        matches!(self.line, Line::Open(_))
    }

    /// How long it has been gone.
    pub(super) fn lost_for(&self) -> Duration {
        match self.line {
            Line::Open(_) => Duration::ZERO,
            Line::Lost { since, .. } => since.elapsed(),
        }
    }

    /// What is heard next. It can be dropped at any time without losing anything.
    pub(super) async fn next(&mut self) -> Heard {
        loop {
            let heard = match &mut self.line {
                Line::Open(open) => open.next().await,
                Line::Lost { pause, .. } => {
                    sleep(*pause).await;
                    *pause = (*pause * 2).min(LONGEST_PAUSE);
                    open(self.gateway, self.session).await.ok().map(|open| {
                        self.line = Line::Open(open);
                        Heard::Back
                    })
                }
            };
            match heard {
                Some(Heard::Lost) => {
                    self.line = Line::Lost {
                        since: Instant::now(),
                        pause: FIRST_PAUSE,
                    };
                    return Heard::Lost;
                }
                Some(heard) => return heard,
                None => {}
            }
        }
    }
}

impl Open {
    /// What is heard next, if it is for us.
    async fn next(&mut self) -> Option<Heard> {
        if let Some(sent) = self.first.take().or_else(|| self.decoder.next()) {
            // What this binary does not know is not for it.
            return happening(sent).map(|happening| Heard::Happening(Box::new(happening)));
        }
        match timeout(SILENCE, self.bytes.next()).await {
            Ok(Some(Some(more))) => {
                self.decoder.push(&more);
                None
            }
            Ok(Some(None) | None) | Err(_) => Some(Heard::Lost),
        }
    }
}

/// Connects, and waits until the gateway says that it is listening for us.
async fn open(gateway: &Gateway, session: SessionId) -> Result<Open, Failure> {
    let id = session.to_string();
    let response = gateway.stream(&["api", "sessions", &id, "events"]).await?;
    let pieces = response.bytes_stream();
    let mut open = Open {
        bytes: Box::pin(pieces.map(|piece| piece.ok().map(|piece| piece.to_vec()))),
        decoder: Decoder::default(),
        first: None,
    };
    while open.first.is_none() {
        match timeout(SILENCE, open.bytes.next()).await {
            Ok(Some(Some(more))) => open.decoder.push(&more),
            _ => {
                return Err(Failure::NotReachable(
                    "the gateway closed the session's events: look at `talaria doctor`".to_owned(),
                ));
            }
        }
        open.first = open.decoder.next();
    }
    Ok(open)
}

fn happening(sent: Sent) -> Option<Happening> {
    match sent {
        Sent::Comment => None,
        Sent::Event(content) => serde_json::from_str(&content).ok(),
    }
}
