//! A connection to the gateway: opens it, says and hears whole texts, and says why it ended.

use std::time::Duration;

use futures::{SinkExt as _, StreamExt as _};
use reqwest::Url;
use talaria_domain::adapter::Disconnected;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::classify::{self, Closed};
use super::client::Client;

/// How long it may take to be let in, or to get a word out.
const PATIENCE: Duration = Duration::from_secs(20);
/// A session that is left with this can be taken up again; with 1000 it could not ("Gateway", disconnecting).
const LEAVING: u16 = 4_000;

/// A connection to the gateway.
pub(super) struct Socket(WebSocketStream<MaybeTlsStream<TcpStream>>);

/// What came.
pub(super) enum Came {
    /// A text.
    Text(String),
    /// Something that is no text.
    Garbage,
    /// The end.
    End(Closed),
}

impl Socket {
    /// Connects to the gateway at this address.
    pub(super) async fn open(client: &Client, address: &str) -> Result<Self, Disconnected> {
        let mut address = Url::parse(address)
            .map_err(|_| lost("the gateway's address cannot be read".to_owned()))?;
        if !client.may_tell(&address) {
            let scheme = address.scheme();
            return Err(lost(format!(
                "the gateway is at an address with {scheme:?}, where the token would be in the clear"
            )));
        }
        address.set_query(Some("v=10&encoding=json"));
        let opening = timeout(PATIENCE, connect_async(address.as_str()));
        match opening.await {
            Ok(Ok((stream, _))) => Ok(Self(stream)),
            Ok(Err(error)) => Err(lost(client.words(&format!("the gateway: {error}")))),
            Err(_) => Err(lost("the gateway did not answer in time".to_owned())),
        }
    }

    /// What comes next.
    pub(super) async fn next(&mut self) -> Came {
        loop {
            return match self.0.next().await {
                Some(Ok(Message::Text(text))) => Came::Text(text.to_string()),
                Some(Ok(Message::Binary(_))) => Came::Garbage,
                Some(Ok(Message::Close(frame))) => Came::End(ended(frame.as_ref())),
                // What keeps the connection itself alive is answered below us.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Err(Error::Utf8(_))) => Came::Garbage,
                Some(Err(error)) => Came::End(Closed::Ended(lost(format!("the gateway: {error}")))),
                None => Came::End(Closed::Ended(lost("the gateway hung up".to_owned()))),
            };
        }
    }

    /// The first thing that is said, if it is said in time.
    pub(super) async fn greeting(&mut self) -> Came {
        let late = || lost("the gateway did not say hello in time".to_owned());
        let first = timeout(PATIENCE, self.next()).await;
        first.unwrap_or_else(|_| Came::End(Closed::Ended(late())))
    }

    /// Says something.
    pub(super) async fn say(&mut self, text: String) -> Result<(), Disconnected> {
        match timeout(PATIENCE, self.0.send(Message::text(text))).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(lost(format!("the gateway: {error}"))),
            Err(_) => Err(lost("the gateway takes nothing any more".to_owned())),
        }
    }

    /// Leaves, so that the session can be taken up again. Whether that is heard does not matter.
    pub(super) async fn leave(mut self) {
        let frame = CloseFrame {
            code: LEAVING.into(),
            reason: "".into(),
        };
        let leaving = self.0.close(Some(frame));
        drop(timeout(Duration::from_secs(1), leaving).await);
    }
}

fn ended(frame: Option<&CloseFrame>) -> Closed {
    match frame {
        Some(frame) => classify::closed(frame.code.into(), &frame.reason),
        None => Closed::Ended(lost("the gateway closed the connection".to_owned())),
    }
}

/// It may come back by itself.
pub(super) const fn lost(detail: String) -> Disconnected {
    Disconnected::Lost { detail }
}
