//! How the demo breathes, and what it does not take.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;
use talaria_domain::adapter::Pending;
use talaria_domain::runner::{Said, Speaker, Stopped};
use tokio::time::Instant;

use super::{BREATH, Demo, MOST_BREATHS, PAUSE, breaths};
use crate::models::{Delta, Heard, Model as _, Request};

/// Writes down when it hears something.
struct Listener {
    since: Instant,
    heard: Mutex<Vec<(Duration, String)>>,
}

impl Listener {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            heard: Mutex::default(),
        }
    }
}

impl Heard for Listener {
    fn hear(&self, delta: Delta) -> Pending<'_, Result<(), Stopped>> {
        let (Delta::Text(text) | Delta::Reasoning(text)) = delta;
        let after = self.since.elapsed();
        self.heard.lock().unwrap().push((after, text));
        Box::pin(std::future::ready(Ok(())))
    }
}

fn asking(text: &str) -> Request<'static> {
    Request {
        said: vec![Said::plain(Speaker::User, text)],
        ..Request::default()
    }
}

#[test]
fn nothing_is_left_out_however_long_it_is() {
    let table = [
        (String::new(), 0),
        ("one".to_owned(), 1),
        ("one two three four".to_owned(), 1),
        ("one two three four ".to_owned(), 1),
        ("a  b\n\nc d e".to_owned(), 2),
        ("ü ".repeat(BREATH * MOST_BREATHS - 1), MOST_BREATHS),
        ("ü ".repeat(5 * 20), 20),
        ("word\n".repeat(100_000), MOST_BREATHS),
    ];
    for (text, expected) in table {
        let groups: Vec<_> = breaths(&text).collect();
        assert_eq!(groups.concat(), text);
        assert_eq!(groups.len(), expected, "{} bytes", text.len());
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_grows_while_somebody_looks() {
    let listener = Listener::new();
    let answer = Demo.answer(&asking("hi"), &listener).await.unwrap();
    let heard = listener.heard.into_inner().unwrap();
    let (times, texts): (Vec<_>, Vec<_>) = heard.into_iter().unzip();
    assert_eq!(texts.concat(), answer.text);
    assert!(times.len() > 10, "{times:?}");
    assert_eq!(times[0], Duration::ZERO, "the first word does not wait");
    assert!(
        times.windows(2).all(|pair| pair[1] >= pair[0] + PAUSE),
        "{times:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_does_not_take_longer() {
    let mut request = asking("run: yes");
    request.said.extend([
        Said::plain(Speaker::Assistant, "let me see"),
        Said::plain(Speaker::Tool, "y\n".repeat(50_000)),
    ]);
    let listener = Listener::new();
    Demo.answer(&request, &listener).await.unwrap();
    assert!(listener.since.elapsed() <= Duration::from_millis(600));
}

#[tokio::test(start_paused = true)]
async fn a_format_is_refused_and_other_options_do_no_harm() {
    let harmless = json!({
        "max_tokens": 1, "max_completion_tokens": "x", "temperature": -3, "top_p": [], "stop": 7, "seed": {},
        "response_format": {"type": "text"},
    });
    let request = Request {
        options: serde_json::from_value(harmless).unwrap(),
        ..asking("hi")
    };
    assert!(Demo.answer(&request, &Listener::new()).await.is_ok());

    let format = json!({"response_format": {"type": "json_object"}});
    let request = Request {
        options: serde_json::from_value(format).unwrap(),
        ..asking("hi")
    };
    let listener = Listener::new();
    let refused = Demo.answer(&request, &listener).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "this cannot be asked of the model: the demo model has no `response_format`: leave it out, \
         or use a profile with another model"
    );
    assert!(listener.heard.into_inner().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_picture_that_no_model_could_read_is_refused() {
    let mut request = asking("look");
    request.said[0].images = vec!["data:nonsense".to_owned()];
    let refused = Demo.answer(&request, &Listener::new()).await.unwrap_err();
    assert!(refused.to_string().contains("cannot be read"), "{refused}");
}
