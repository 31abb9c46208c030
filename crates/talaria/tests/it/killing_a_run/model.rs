//! A model on a real socket that is led by the test: it says when it is asked, speaks when it is told to, and sees when
//! somebody hangs up on it.

use std::net::SocketAddr;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::program::PATIENCE;

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

pub(super) struct Model {
    listener: TcpListener,
    address: SocketAddr,
}

impl Model {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        Self { listener, address }
    }

    /// A configuration with this model and nothing else.
    pub(super) fn configuration(&self) -> String {
        format!(
            "[model.main]\nprovider = \"openai\"\nbase_url = \"http://{}/v1\"\nmodel = \"led\"\n\
             [profile.assistant]\nmodel = \"main\"\ntools = []\n",
            self.address
        )
    }

    /// Waits until it is asked something.
    pub(super) async fn is_asked(&self) -> Speech {
        let asked = async {
            let (mut socket, _) = self.listener.accept().await.unwrap();
            read_request(&mut socket).await;
            socket.write_all(HEAD.as_bytes()).await.unwrap();
            Speech { socket }
        };
        tokio::time::timeout(PATIENCE, asked).await.unwrap()
    }
}

/// Reads to the end of the question: all of it is in one object after the head.
async fn read_request(socket: &mut TcpStream) {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.unwrap().parse().unwrap() {
                return;
            }
        }
        assert_ne!(socket.read_buf(&mut read).await.unwrap(), 0, "cut off");
    }
}

/// An answer under way.
pub(super) struct Speech {
    socket: TcpStream,
}

impl Speech {
    async fn write(&mut self, delta: &serde_json::Value, finish: Option<&str>) {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        let chunk = json!({ "choices": [choice] });
        let line = format!("data: {chunk}\n\n");
        self.socket.write_all(line.as_bytes()).await.unwrap();
    }

    pub(super) async fn says(&mut self, text: &str) {
        self.write(&json!({ "content": text }), None).await;
    }

    pub(super) async fn ends(mut self, text: &str) {
        self.says(text).await;
        self.write(&json!({}), Some("stop")).await;
        self.socket.write_all(b"data: [DONE]\n\n").await.unwrap();
    }

    /// Waits until whoever asked has hung up.
    pub(super) async fn is_hung_up_on(&mut self) {
        let mut rest = Vec::new();
        let reading = self.socket.read_to_end(&mut rest);
        // A connection that is reset is closed as well.
        drop(tokio::time::timeout(PATIENCE, reading).await.unwrap());
    }
}
