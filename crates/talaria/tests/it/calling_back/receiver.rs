//! A program that waits to be called back: it answers the first posts as it is told and every other one with 200, and
//! checks what it was sent as the Standard Webhooks specification says.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::program::PATIENCE;

/// Instead of a status: it takes the post and never answers.
pub(super) const SILENT: u16 = 0;

const KEY: &[u8] = b"a-secret-that-nobody-may-see";

/// What the gateway signs with.
pub(super) fn secret() -> String {
    format!("whsec_{}", STANDARD.encode(KEY))
}

/// What was posted.
#[derive(Debug, Clone)]
pub(super) struct Post {
    pub(super) target: String,
    pub(super) body: String,
    headers: HeaderMap,
}

impl Post {
    pub(super) fn id(&self) -> &str {
        self.header("webhook-id")
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    /// Checks that it comes from whoever has the secret, and that nothing was changed on the way.
    pub(super) fn verify(&self) {
        let signed = [self.id(), self.header("webhook-timestamp"), &self.body].join(".");
        let mut hmac = Hmac::<Sha256>::new_from_slice(KEY).unwrap();
        hmac.update(signed.as_bytes());
        let given = self.header("webhook-signature");
        let given = STANDARD.decode(given.strip_prefix("v1,").unwrap()).unwrap();
        hmac.verify_slice(&given).unwrap();
    }
}

struct Shared {
    answers: Mutex<VecDeque<u16>>,
    posts: watch::Sender<Vec<Post>>,
}

pub(super) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: JoinSet<()>,
}

impl Receiver {
    /// One that answers the first posts with these statuses.
    pub(super) async fn start<const N: usize>(answers: [u16; N]) -> Self {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        Self::start_at(anywhere, answers).await
    }

    pub(super) async fn start_at<const N: usize>(at: SocketAddr, answers: [u16; N]) -> Self {
        let shared = Arc::new(Shared {
            answers: Mutex::new(answers.into()),
            posts: watch::Sender::new(Vec::new()),
        });
        let listener = TcpListener::bind(at).await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().fallback(take).with_state(Arc::clone(&shared));
        let mut serving = JoinSet::new();
        serving.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self {
            address,
            shared,
            serving,
        }
    }

    /// It goes away; gives where it was.
    pub(super) async fn stop(mut self) -> SocketAddr {
        self.serving.shutdown().await;
        self.address
    }

    pub(super) fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    pub(super) fn posts(&self) -> Vec<Post> {
        self.shared.posts.borrow().clone()
    }

    /// What was posted, as soon as it is so much.
    pub(super) async fn until(&self, count: usize) -> Vec<Post> {
        let mut posts = self.shared.posts.subscribe();
        let waiting = posts.wait_for(|posts| posts.len() >= count);
        let posts = tokio::time::timeout(PATIENCE, waiting).await.unwrap();
        posts.unwrap().clone()
    }
}

async fn take(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    let post = Post {
        target: uri.to_string(),
        body: String::from_utf8(body.to_vec()).unwrap(),
        headers,
    };
    shared.posts.send_modify(|posts| posts.push(post));
    let answer = shared.answers.lock().unwrap().pop_front();
    match answer.unwrap_or(200) {
        SILENT => std::future::pending().await,
        status => StatusCode::from_u16(status).unwrap(),
    }
}
