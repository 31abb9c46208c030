//! Posts to a receiver. What an answer means is decided elsewhere; here it is only told apart whether one came, and if
//! not, whether the post can have arrived. An address may be somebody's secret and is in no sentence.

use std::error::Error;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};

use super::classify::Reply;

/// How long a receiver may take; shorter than the gateway's own patience, so that the reason is ours to tell.
const PATIENCE: Duration = Duration::from_secs(20);

const ID: &str = "webhook-id";
const TIMESTAMP: &str = "webhook-timestamp";
const SIGNATURE: &str = "webhook-signature";

/// What is posted.
pub(super) struct Post {
    pub(super) url: Url,
    /// The same in every attempt.
    pub(super) id: String,
    /// When this attempt is made.
    pub(super) seconds: i64,
    pub(super) signature: String,
    pub(super) body: String,
}

/// The way to receivers.
pub(super) struct Client(reqwest::Client);

impl Client {
    pub(super) const fn of(http: reqwest::Client) -> Self {
        Self(http)
    }

    /// Posts, once.
    pub(super) async fn post(&self, post: &Post) -> Reply {
        let request = self
            .0
            .post(post.url.clone())
            .timeout(PATIENCE)
            .header(CONTENT_TYPE, "application/json")
            .header(ID, &post.id)
            .header(TIMESTAMP, post.seconds)
            .header(SIGNATURE, &post.signature)
            .body(post.body.clone());
        match request.send().await {
            // The status is the answer: what else is said is not read.
            Ok(response) => {
                let retry_after = response.headers().get(RETRY_AFTER);
                let retry_after = retry_after.and_then(|header| header.to_str().ok());
                Reply::Answered(response.status().as_u16(), retry_after.map(str::to_owned))
            }
            Err(error) if error.is_connect() || error.is_builder() => Reply::NotSent(causes(error)),
            Err(error) => Reply::Silent(causes(error)),
        }
    }
}

/// What happened, without the address.
fn causes(error: reqwest::Error) -> String {
    if error.is_timeout() && !error.is_connect() {
        return "no answer in time".to_owned();
    }
    let error = error.without_url();
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = format!("{words}: {inner}");
        cause = inner.source();
    }
    words
}
