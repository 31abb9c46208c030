//! A conversation while it happens.

use reqwest::{Method, StatusCode};
use serde_json::Value;
use talaria_domain::delivery::ReplyKind;
use talaria_domain::ids::{EventId, ReplyId, RunId, SessionId};
use talaria_domain::live::Happening;
use talaria_domain::run::{RunEvent, RunOutcome, Usage};

use crate::gateway::Gateway;
use crate::world::{PATIENCE, Person, World};

/// Somebody who reads a stream.
pub(crate) struct Reader {
    response: reqwest::Response,
    read: String,
}

impl Reader {
    pub(crate) async fn of(person: &Person<'_>, session: SessionId) -> Self {
        let path = format!("/api/sessions/{session}/events");
        let response = person.request(Method::GET, &path).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        let content = response.headers()["content-type"].to_str().unwrap();
        assert_eq!(content, "text/event-stream");
        Self {
            response,
            read: String::new(),
        }
    }

    /// The next block of the stream; none at its end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.read.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.read = rest;
                return Some(block);
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await;
            let chunk = chunk.expect("something comes").unwrap()?;
            self.read.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    /// The next happening: its tag, and what it says.
    async fn happening(&mut self) -> Option<(String, Value)> {
        let block = self.block().await?;
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
        let (tag, text) = (field("event: ").unwrap(), field("data: ").unwrap());
        Some((tag.to_owned(), serde_json::from_str(text).unwrap()))
    }
}

/// A turn as it is told, with what could break a stream in its texts.
fn one_of_each(gateway: &Gateway) -> [Happening; 6] {
    let run = gateway.id(RunId::from_bytes);
    let yields = |seq, what| Happening::Yielded { run, seq, what };
    [
        Happening::Started {
            run,
            event: gateway.id(EventId::from_bytes),
        },
        yields(
            1,
            RunEvent::MessageDelta {
                text: "two\nlines".to_owned(),
            },
        ),
        yields(
            2,
            RunEvent::MessageDelta {
                text: " \u{1f980}\r\n\"quoted\"".to_owned(),
            },
        ),
        Happening::Said {
            reply: gateway.id(ReplyId::from_bytes),
            kind: ReplyKind::Final,
            run: Some(run),
            text: "two\nlines".to_owned(),
        },
        yields(3, RunEvent::Ended(RunOutcome::completed(Usage::default()))),
        Happening::Missed,
    ]
}

#[tokio::test]
async fn what_happens_is_told_in_order() {
    let world = World::start().await;
    let operator = world.operator();
    let (session, other) = (operator.begins().await, operator.begins().await);
    let mut reader = Reader::of(&operator, session).await;
    let greeting = reader.block().await.unwrap();
    assert!(
        greeting.lines().any(|line| line == ": watching"),
        "{greeting}"
    );
    let mut elsewhere = Reader::of(&operator, other).await;
    elsewhere.block().await;

    let happenings = one_of_each(&world.gateway);
    for happening in &happenings {
        world.gateway.tell(session, happening.clone()).await;
    }
    for (expected, tag) in happenings
        .iter()
        .zip(["started", "yielded", "yielded", "said", "yielded", "missed"])
    {
        let (found, value) = reader.happening().await.unwrap();
        assert_eq!(found, tag);
        assert_eq!(value["happening"], tag);
        assert_eq!(
            &serde_json::from_value::<Happening>(value).unwrap(),
            expected
        );
    }
    world.gateway.tell(other, Happening::Missed).await;
    assert_eq!(
        elsewhere.happening().await.unwrap().0,
        "missed",
        "and nothing of the other one"
    );
    world.end().await;
}

#[tokio::test]
async fn streams_end_when_the_server_stops() {
    let world = World::start().await;
    let operator = world.operator();
    let session = operator.begins().await;
    let mut reader = Reader::of(&operator, session).await;
    reader.block().await.unwrap();
    world.stop.cancel();
    assert_eq!(reader.block().await, None, "the end, not an error");
    world.end().await;
}
