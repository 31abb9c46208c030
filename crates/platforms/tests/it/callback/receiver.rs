//! A program that waits to be called back, and answers as a story wants.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, Uri};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

const PATIENCE: Duration = Duration::from_mins(1);

/// How it answers one post. What is not said is answered with 200.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Status(u16),
    /// With a time to come back, in seconds.
    Later(u16, u64),
    /// By pointing somewhere else.
    Elsewhere(&'static str),
    /// Not at all, and closes the connection.
    Dropped,
    /// Not at all.
    Hung,
}

/// What it was posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Post {
    pub(super) target: String,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Post {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

struct Shared {
    answers: Mutex<VecDeque<Answer>>,
    posts: watch::Sender<Vec<Post>>,
}

pub(super) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    serving: JoinSet<()>,
}

impl Receiver {
    /// One that answers the first posts like this.
    pub(super) async fn start<const N: usize>(answers: [Answer; N]) -> Self {
        let shared = Arc::new(Shared {
            answers: Mutex::new(answers.into()),
            posts: watch::Sender::new(Vec::new()),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
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

    pub(super) fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    /// What it was posted so far.
    pub(super) fn posts(&self) -> Vec<Post> {
        self.shared.posts.borrow().clone()
    }

    /// Waits until it was posted so much.
    pub(super) async fn until(&self, count: usize) {
        let mut posts = self.shared.posts.subscribe();
        let waiting = posts.wait_for(|posts| posts.len() >= count);
        drop(tokio::time::timeout(PATIENCE, waiting).await.unwrap());
    }

    /// It is not there any more.
    pub(super) async fn stop(mut self) {
        self.serving.shutdown().await;
    }
}

async fn take(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    shared.posts.send_modify(|posts| {
        posts.push(Post {
            target: uri.to_string(),
            headers,
            body: String::from_utf8(body.to_vec()).unwrap(),
        });
    });
    let answer = shared.answers.lock().unwrap().pop_front();
    let response = Response::builder();
    let response = match answer.unwrap_or(Answer::Status(200)) {
        Answer::Status(status) => response.status(status),
        Answer::Later(status, seconds) => response.status(status).header("retry-after", seconds),
        Answer::Elsewhere(target) => response.status(307).header("location", target),
        // The server closes a connection whose handler breaks.
        Answer::Dropped => panic!("dropped"),
        Answer::Hung => std::future::pending().await,
    };
    response.body(Body::empty()).unwrap()
}
