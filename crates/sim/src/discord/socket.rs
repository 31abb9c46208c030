//! The gateway: hello, identify or resume, heartbeats, and everything that a session is to hear, in order ("Gateway").

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, UPGRADE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use futures::{SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
use tokio_util::task::TaskTracker;

use super::Vendor;
use super::stream::ZlibStream;
use crate::vendor::line::Line;
use crate::vendor::stage::now;
use crate::vendor::{Asked, Mishap, On, World as _};

/// What the gateway has: what Discord knows, and its connections.
#[derive(Clone)]
struct Gateway {
    vendor: Arc<Vendor>,
    connections: TaskTracker,
}

pub(super) fn routes(vendor: &Arc<Vendor>) -> Router {
    let gateway = Gateway {
        vendor: Arc::clone(vendor),
        connections: TaskTracker::new(),
    };
    Router::new().route("/", get(connect)).with_state(gateway)
}

/// RFC 6455, opening handshake.
async fn connect(
    State(gateway): State<Gateway>,
    ConnectInfo(line): ConnectInfo<Line>,
    mut request: Request,
) -> Response {
    let key = request.headers().get(SEC_WEBSOCKET_KEY);
    let key = key.map(|key| derive_accept_key(key.as_bytes()));
    let upgrade = request.extensions_mut().remove::<OnUpgrade>();
    let (Some(key), Some(upgrade)) = (key, upgrade) else {
        return StatusCode::UPGRADE_REQUIRED.into_response();
    };
    let query = request.uri().query().unwrap_or_default();
    let stream = query
        .contains("compress=zlib-stream")
        .then(ZlibStream::default);
    let vendor = gateway.vendor;
    gateway.connections.spawn(async move {
        let Ok(upgraded) = upgrade.await else {
            return;
        };
        let socket = WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Server, None);
        let connection = Connection {
            vendor,
            line,
            socket: socket.await,
            stream,
            session: None,
            is_mute: false,
        };
        connection.serve().await;
    });
    let Ok(key) = HeaderValue::from_str(&key) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let headers = [
        (CONNECTION, HeaderValue::from_static("upgrade")),
        (UPGRADE, HeaderValue::from_static("websocket")),
        (SEC_WEBSOCKET_ACCEPT, key),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

struct Connection {
    vendor: Arc<Vendor>,
    line: Line,
    socket: WebSocketStream<TokioIo<Upgraded>>,
    /// There for those who want everything in one stream.
    stream: Option<ZlibStream>,
    /// The session, and which of its connections this is.
    session: Option<(String, u64)>,
    /// Whether nothing is said any more.
    is_mute: bool,
}

/// Whether a connection goes on.
enum Then {
    On,
    End,
}

impl Connection {
    async fn serve(mut self) {
        let pace = self.vendor.see(|world| world.terms.heartbeat);
        let pace = u64::try_from(pace.as_millis()).unwrap_or(u64::MAX);
        let hello = json!({ "op": 10, "s": null, "t": null, "d": { "heartbeat_interval": pace } });
        let mut then = self.say(&hello).await;
        while let Then::On = then {
            let vendor = Arc::clone(&self.vendor);
            let (session, is_mute) = (self.session.clone(), self.is_mute);
            let something = vendor.until(|world| {
                let is_ready = |(id, line): &(String, u64)| {
                    world.is_ready(id, *line) || world.room().has_fault(On::Socket)
                };
                !is_mute && session.as_ref().is_some_and(is_ready)
            });
            then = tokio::select! {
                biased;
                said = self.socket.next() => match said {
                    Some(Ok(Message::Text(text))) => self.heard(&text).await,
                    Some(Ok(Message::Close(_)) | Err(_)) | None => Then::End,
                    Some(Ok(_)) => Then::On,
                },
                () = something => self.tell().await,
            };
        }
        // Whether the other side hears of the end does not matter.
        let closing = self.socket.close(None);
        drop(tokio::time::timeout(Duration::from_secs(1), closing).await);
    }

    async fn heard(&mut self, text: &str) -> Then {
        let Ok(frame) = serde_json::from_str::<Value>(text) else {
            return self.close(4_002, "Error while decoding payload.").await;
        };
        if self.is_mute {
            return Then::On;
        }
        match frame["op"].as_u64() {
            Some(1) => {
                self.remember(On::Updates, "heartbeat", frame["d"].clone());
                self.say(&json!({ "op": 11, "d": null, "s": null, "t": null }))
                    .await
            }
            Some(2) => self.identify(&frame["d"]).await,
            Some(6) => self.resume(&frame["d"]).await,
            Some(3 | 4 | 8) => Then::On,
            _ => self.close(4_001, "Unknown opcode.").await,
        }
    }

    fn remember(&self, on: On, path: &str, body: Value) {
        self.vendor.remember(Asked {
            on,
            method: "GATEWAY".to_owned(),
            path: path.to_owned(),
            body,
            at: now(),
        });
    }

    async fn identify(&mut self, said: &Value) -> Then {
        let told = json!({ "intents": said["intents"], "shard": said["shard"] });
        self.remember(On::Connect, "identify", told);
        if self.session.is_some() {
            return self.close(4_005, "Already authenticated.").await;
        }
        if let Some(then) = self.goes_wrong(On::Connect).await {
            return then;
        }
        let token = said["token"].as_str().unwrap_or_default();
        let token = token.trim_start_matches("Bot ");
        let begun = self.vendor.with(|world| {
            let bot = world.bot(token)?;
            Some(world.begin(&bot))
        });
        self.session = begun;
        match self.session {
            Some(_) => Then::On,
            None => self.close(4_004, "Authentication failed.").await,
        }
    }

    async fn resume(&mut self, said: &Value) -> Then {
        let told = json!({ "session_id": said["session_id"], "seq": said["seq"] });
        self.remember(On::Connect, "resume", told);
        if let Some(then) = self.goes_wrong(On::Connect).await {
            return then;
        }
        let token = said["token"].as_str().unwrap_or_default();
        let token = token.trim_start_matches("Bot ");
        let id = said["session_id"].as_str().unwrap_or_default();
        let seq = said["seq"]
            .as_u64()
            .and_then(|seq| usize::try_from(seq).ok());
        let Some(bot) = self.vendor.with(|world| world.bot(token)) else {
            return self.close(4_004, "Authentication failed.").await;
        };
        let resumed = self
            .vendor
            .with(|world| world.resume(&bot, id, seq.unwrap_or(usize::MAX)));
        match resumed {
            Some(line) => {
                self.session = Some((id.to_owned(), line));
                Then::On
            }
            None => {
                self.say(&json!({ "op": 9, "d": false, "s": null, "t": null }))
                    .await
            }
        }
    }

    /// Tells what is next; then something may go wrong.
    async fn tell(&mut self) -> Then {
        let Some((id, line)) = self.session.clone() else {
            return Then::On;
        };
        let is_ready = self.vendor.see(|world| world.is_ready(&id, line));
        if is_ready {
            let Some(frame) = self.vendor.with(|world| world.next(&id, line)) else {
                return self.close(4_000, "Unknown error.").await;
            };
            if let Then::End = self.say(&frame).await {
                return Then::End;
            }
        }
        self.goes_wrong(On::Socket).await.unwrap_or(Then::On)
    }

    /// What is to go wrong: a close code or the name of an opcode stands in the fault's code.
    async fn goes_wrong(&mut self, on: On) -> Option<Then> {
        let fault = self.vendor.next_fault(on)?;
        Some(match fault.mishap {
            Mishap::Hang => {
                self.is_mute = true;
                Then::On
            }
            Mishap::Close | Mishap::DropAfterAccept => {
                drop(tokio::time::timeout(Duration::ZERO, self.line.clone().cut()).await);
                Then::End
            }
            Mishap::Garbage => self.refuse(0, "garbage").await,
            Mishap::Answer { status, code } => self.refuse(status, &code).await,
        })
    }

    async fn refuse(&mut self, status: u16, code: &str) -> Then {
        match (status, code) {
            (_, "reconnect") => self.say(&json!({ "op": 7, "d": null })).await,
            (_, "invalid_session") => {
                if let Some((id, _)) = self.session.take() {
                    self.vendor.with(|world| world.end(&id));
                }
                self.say(&json!({ "op": 9, "d": false })).await
            }
            (_, "invalid_session_resumable") => self.say(&json!({ "op": 9, "d": true })).await,
            (_, "beat_now") => self.say(&json!({ "op": 1, "d": null })).await,
            (_, "garbage") => {
                let garbage = [Message::text("{\"op\":"), Message::binary(vec![1, 2, 3])];
                for message in garbage {
                    if self.socket.send(message).await.is_err() {
                        return Then::End;
                    }
                }
                self.say(&json!({ "op": 0, "s": 1, "t": "MESSAGE_CREATE", "d": 5 }))
                    .await
            }
            (401, _) => self.close(4_004, "Authentication failed.").await,
            (_, code) => {
                let number = code.parse().unwrap_or(4_000);
                let words = match number {
                    4_014 => "Disallowed intent(s).",
                    4_009 => "Session timed out.",
                    _ => "Unknown error.",
                };
                self.close(number, words).await
            }
        }
    }

    async fn say(&mut self, frame: &Value) -> Then {
        let text = frame.to_string();
        let message = match &mut self.stream {
            Some(stream) => Message::binary(stream.write(&text)),
            None => Message::text(text),
        };
        match self.socket.send(message).await {
            Ok(()) => Then::On,
            Err(_) => Then::End,
        }
    }

    async fn close(&mut self, code: u16, reason: &'static str) -> Then {
        let frame = CloseFrame {
            code: code.into(),
            reason: reason.into(),
        };
        // Gone is gone.
        self.socket.close(Some(frame)).await.unwrap_or_default();
        Then::End
    }
}
