//! Socket Mode ("Using Socket Mode"): hello, envelopes until they are acknowledged, pings, and the goodbye that Slack says
//! before it takes a socket away.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Extension, Query, Request, State};
use axum::http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures::{FutureExt as _, SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::interval;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Bytes, Message};
use tokio_util::task::TaskTracker;

use super::Vendor;
use crate::vendor::line::Line;
use crate::vendor::{Fault, Mishap, On};

/// How often Slack asks whether somebody is there.
const PING: Duration = Duration::from_secs(5);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

#[derive(Deserialize)]
pub(super) struct Ticket {
    ticket: String,
}

/// Opens a socket for whoever has a ticket.
pub(super) async fn open(
    State(vendor): State<Arc<Vendor>>,
    Extension(sockets): Extension<TaskTracker>,
    ConnectInfo(line): ConnectInfo<Line>,
    Query(Ticket { ticket }): Query<Ticket>,
    mut request: Request,
) -> Response {
    let Some(way) = vendor.with(|world| world.admit(&ticket)) else {
        return StatusCode::FORBIDDEN.into_response();
    };
    let key = request.headers().get(SEC_WEBSOCKET_KEY);
    let accept = key.map(|key| derive_accept_key(key.as_bytes()));
    let accept = accept.and_then(|accept| HeaderValue::from_str(&accept).ok());
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let (Some(accept), Some(upgrade)) = (accept, upgrade) else {
        vendor.with(|world| world.close_way(way));
        return StatusCode::BAD_REQUEST.into_response();
    };
    sockets.spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            let io = TokioIo::new(upgraded);
            let socket = WebSocketStream::from_raw_socket(io, Role::Server, None).await;
            serve(&vendor, (way, line), socket).await;
        }
        vendor.with(|world| world.close_way(way));
    });
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    response
}

/// Whether a socket goes on.
#[derive(PartialEq, Eq)]
enum Then {
    GoOn,
    End,
}

struct Served<'a> {
    vendor: &'a Vendor,
    way: u64,
    line: Line,
    socket: Socket,
    /// The socket is cut at the next acknowledgement, after it counted.
    cut_at_answer: bool,
}

async fn serve(vendor: &Vendor, (way, line): (u64, Line), socket: Socket) {
    let mut served = Served {
        vendor,
        way,
        line,
        socket,
        cut_at_answer: false,
    };
    let hello = vendor.see(|world| world.hello(way));
    if served.say(&hello).await == Then::End {
        return;
    }
    let mut beat = interval(PING);
    loop {
        let letter = vendor.until(|world| world.has_letter(way));
        let then = tokio::select! {
            biased;
            word = served.socket.next() => match word {
                Some(Ok(word)) => served.hear(&word),
                _ => Then::End,
            },
            () = letter => served.tell().await,
            _ = beat.tick() => {
                let said = served.socket.send(Message::Ping(Bytes::new())).await;
                if said.is_ok() { Then::GoOn } else { Then::End }
            }
        };
        if then == Then::End {
            return;
        }
    }
}

impl Served<'_> {
    async fn say(&mut self, word: &Value) -> Then {
        let said = self.socket.send(Message::text(word.to_string())).await;
        if said.is_ok() { Then::GoOn } else { Then::End }
    }

    fn hear(&mut self, word: &Message) -> Then {
        let Message::Text(text) = word else {
            return match word {
                Message::Close(_) => Then::End,
                _ => Then::GoOn,
            };
        };
        let answer: Value = serde_json::from_str(text.as_str()).unwrap_or_default();
        if let Some(envelope) = answer["envelope_id"].as_str() {
            self.vendor.with(|world| world.acknowledge(envelope));
            if self.cut_at_answer {
                return self.cut();
            }
        }
        Then::GoOn
    }

    fn cut(&self) -> Then {
        // It is cut at once; there is nothing to wait for.
        drop(self.line.clone().cut().now_or_never());
        Then::End
    }

    /// Tells what is next, and what is to go wrong after it goes wrong.
    async fn tell(&mut self) -> Then {
        let Some(letter) = self.vendor.with(|world| world.next_letter(self.way)) else {
            return Then::GoOn;
        };
        if self.say(&letter.envelope()).await == Then::End {
            return Then::End;
        }
        match self.vendor.next_fault(On::Socket) {
            Some(fault) => self.happen(fault).await,
            None => Then::GoOn,
        }
    }

    async fn happen(&mut self, fault: Fault) -> Then {
        match fault.mishap {
            Mishap::Close => self.cut(),
            Mishap::DropAfterAccept => {
                self.cut_at_answer = true;
                Then::GoOn
            }
            Mishap::Hang => {
                // Nothing is said and nothing is heard any more; what was on it takes the next one.
                self.vendor.with(|world| world.close_way(self.way));
                std::future::pending().await
            }
            Mishap::Garbage => self.say(&json!(["no envelope"])).await,
            Mishap::Answer { status, code } => {
                let reason = match (status, code.as_str()) {
                    (401 | 403, "") => "link_disabled",
                    (409, "") => "too_many_websockets",
                    (_, "") => "refresh_requested",
                    (_, "garbage") => return self.say(&json!(["no envelope"])).await,
                    (_, code) => code,
                };
                let host = json!({ "host": "simulated" });
                let word = json!({ "type": "disconnect", "reason": reason, "debug_info": host });
                self.say(&word).await
            }
        }
    }
}
