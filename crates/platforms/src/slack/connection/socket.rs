//! One socket to Slack. Its address lets in whoever has it, and is in no sentence.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::json;
use talaria_domain::adapter::Disconnected;
use talaria_domain::secret::ExposeSecret as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Bytes, Error, Message, Utf8Bytes};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::super::classify;
use super::super::client::Client;
use super::super::wire::Envelope;

/// How long a word to or from Slack may take while a socket is opened or answered on.
const PATIENCE: Duration = Duration::from_secs(15);
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// A socket that Slack has said hello on.
pub(super) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

/// What came.
pub(super) enum Frame {
    /// Words.
    Text(Utf8Bytes),
    /// Nothing but a sign of life.
    Alive,
}

impl Socket {
    /// Opens one, and waits for the hello.
    pub(super) async fn open(client: &Client) -> Result<Self, Disconnected> {
        let url = client.open_socket().await?;
        let config = WebSocketConfig::default()
            .max_message_size(Some(MOST_BYTES))
            .max_frame_size(Some(MOST_BYTES));
        let opening = connect_async_with_config(url.expose_secret(), Some(config), true);
        let opened = timeout(PATIENCE, opening).await;
        let opened = opened.map_err(|_| lost("the socket did not open in time"))?;
        let (stream, _) = opened.map_err(|error| broken(&error))?;
        let mut socket = Self(stream);
        let hello = timeout(PATIENCE, socket.hello()).await;
        hello.map_err(|_| lost("Slack did not say hello in time"))??;
        Ok(socket)
    }

    async fn hello(&mut self) -> Result<(), Disconnected> {
        loop {
            let Frame::Text(text) = self.next().await? else {
                continue;
            };
            let word: Envelope = serde_json::from_str(text.as_str()).unwrap_or_default();
            match word.kind.as_str() {
                "hello" => {
                    if let Some(others @ 2..) = word.num_connections {
                        tracing::warn!(
                            connections = others,
                            "the app is connected more than once: each connection gets a part of what happens"
                        );
                    }
                    return Ok(());
                }
                "disconnect" => {
                    let lost = || lost("Slack took the socket away before it said hello");
                    return Err(classify::goodbye(&word.reason).unwrap_or_else(lost));
                }
                _ => {}
            }
        }
    }

    /// What comes next.
    pub(super) async fn next(&mut self) -> Result<Frame, Disconnected> {
        loop {
            let message = self.0.next().await;
            let message = message.ok_or_else(|| lost("the socket closed"))?;
            match message.map_err(|error| broken(&error))? {
                Message::Text(text) => return Ok(Frame::Text(text)),
                Message::Ping(_) | Message::Pong(_) => return Ok(Frame::Alive),
                Message::Close(_) => return Err(lost("Slack closed the socket")),
                // Slack speaks in words.
                Message::Binary(_) | Message::Frame(_) => {}
            }
        }
    }

    /// Tells Slack that an envelope is ours.
    pub(super) async fn acknowledge(&mut self, envelope: &str) -> Result<(), Disconnected> {
        let word = json!({ "envelope_id": envelope }).to_string();
        self.say(Message::text(word)).await
    }

    /// Asks whether Slack is there.
    pub(super) async fn ping(&mut self) -> Result<(), Disconnected> {
        self.say(Message::Ping(Bytes::new())).await
    }

    async fn say(&mut self, message: Message) -> Result<(), Disconnected> {
        let said = timeout(PATIENCE, self.0.send(message)).await;
        let said = said.map_err(|_| lost("the socket takes nothing any more"))?;
        said.map_err(|error| broken(&error))
    }
}

fn lost(detail: &str) -> Disconnected {
    Disconnected::Lost {
        detail: detail.to_owned(),
    }
}

/// What happened, without the address.
fn broken(error: &Error) -> Disconnected {
    match error {
        Error::Io(error) => lost(&format!("the socket broke: {error}")),
        Error::Tls(error) => lost(&format!("the socket is not safe: {error}")),
        Error::Http(answer) => lost(&format!("the socket was answered with {}", answer.status())),
        Error::ConnectionClosed | Error::AlreadyClosed => lost("the socket closed"),
        Error::Capacity(_) => lost("a frame was too large"),
        Error::Protocol(error) => lost(&format!("the socket broke: {error}")),
        _ => lost("the socket broke"),
    }
}
