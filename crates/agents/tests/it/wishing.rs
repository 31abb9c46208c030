//! Turns that show pictures and want something of the answer, from the turn to what the server was asked. The bodies
//! follow "Images and vision", OpenAI docs, and "Vision", Claude docs.

use serde_json::json;
use talaria_domain::event::Kept;
use talaria_domain::run::{FailureCode, RunOutcome};
use talaria_domain::runner::Runner as _;

use crate::anthropic_talks;
use crate::demo_shows::demo;
use crate::openai_talks::{self, calling, completed};
use crate::server::{Reply, Server};
use crate::world::{Recorder, runner, wishing, with_kept, within};

const INLINE: &str = "data:image/png;base64,iVBORw0K";
const REMOTE: &str = "https://example.org/cat.png";

#[tokio::test]
async fn chat_completions_are_asked_for_all_of_it() {
    let server = Server::with([
        calling("call_a", "true"),
        Reply::events(&openai_talks::HELLO),
    ])
    .await;
    let options = json!({
        "max_completion_tokens": 64, "temperature": 0, "top_p": 0.5, "stop": ["end"], "seed": 7,
        "response_format": {"type": "json_object"}, "user": "ada",
    });
    let turn = wishing(
        "what is it?",
        &[INLINE, "only-a-name", REMOTE],
        options.clone(),
    );
    let host = Recorder::new();
    let outcome = within(runner(server.openai()).run(&turn, &host)).await;
    assert_eq!(outcome, completed(14, 5));

    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    let content = json!([
        {"type": "text", "text": "what is it?"},
        {"type": "image_url", "image_url": {"url": INLINE}},
        {"type": "image_url", "image_url": {"url": REMOTE}},
    ]);
    for asked in &asked {
        assert_eq!(asked.body["messages"][1]["content"], content);
        for (name, value) in options.as_object().unwrap() {
            let expected = (name != "user").then_some(value);
            assert_eq!(asked.body.get(name), expected, "{name}");
        }
    }
}

#[tokio::test]
async fn the_messages_api_is_asked_for_what_it_has() {
    let server = Server::with([Reply::events(&anthropic_talks::HELLO)]).await;
    let options =
        json!({"max_completion_tokens": 64, "temperature": 0.5, "top_p": 0.25, "stop": "end"});
    let turn = wishing("what is it?", &[INLINE, REMOTE], options);
    let host = Recorder::new();
    let outcome = within(runner(server.anthropic()).run(&turn, &host)).await;
    assert_eq!(outcome, completed(25, 5));

    let expected = json!({
        "model": "some-model",
        "stream": true,
        "system": "be kind",
        "max_tokens": 64,
        "temperature": 0.5,
        "top_p": 0.25,
        "stop_sequences": ["end"],
        "messages": [{"role": "user", "content": [
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}},
            {"type": "image", "source": {"type": "url", "url": REMOTE}},
            {"type": "text", "text": "what is it?"},
        ]}],
    });
    assert_eq!(server.asked()[0].body, expected);
}

#[tokio::test]
async fn what_cannot_be_asked_is_never_sent() {
    let server = Server::with([]).await;
    let format = json!({"response_format": {"type": "json_object"}});
    let broken = "data:image/png;base64,%%%";
    let table = [
        (
            server.anthropic(),
            wishing("hi", &[], format.clone()),
            "no `response_format`",
        ),
        (
            server.anthropic(),
            wishing("hi", &[], json!({"seed": 7})),
            "no `seed`",
        ),
        (
            server.anthropic(),
            wishing("hi", &[broken], json!({})),
            "not base64",
        ),
        (
            server.openai(),
            wishing("hi", &[broken], json!({})),
            "not base64",
        ),
        (demo(), wishing("hi", &[], format), "no `response_format`"),
        (demo(), wishing("hi", &[broken], json!({})), "not base64"),
    ];
    for (model, turn, expected) in table {
        let host = Recorder::new();
        let outcome = within(runner(model).run(&turn, &host)).await;
        assert!(
            matches!(&outcome, RunOutcome::Failed(failure)
                if failure.reason.contains(expected) && failure.code == FailureCode::Unsupported),
            "{expected}: {outcome:?}"
        );
        assert!(host.story().is_empty(), "{:?}", host.story());
    }
    assert!(server.asked().is_empty());
}

#[tokio::test(start_paused = true)]
async fn the_demo_counts_the_pictures() {
    let options = json!({"max_tokens": 1, "temperature": 9, "stop": "You"});
    let turn = wishing("what is it?", &[INLINE, REMOTE], options);
    let host = Recorder::new();
    let outcome = within(runner(demo()).run(&turn, &host)).await;
    assert_eq!(outcome, completed(0, 0));
    let story = host.story();
    assert!(story[0].contains("You showed me 2 pictures"), "{story:?}");
    assert!(
        story[0].contains("[model.main]"),
        "nothing is left out: {story:?}"
    );
}

#[tokio::test]
async fn a_picture_that_is_kept_here_reaches_the_model() {
    let server = Server::with([Reply::events(&openai_talks::HELLO)]).await;
    let folder = tempfile::tempdir().unwrap();
    let kept = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Kept::At(path)
    };
    let mut huge = b"\x89PNG".to_vec();
    huge.resize((5 << 20) + 1, 0);
    let all = vec![
        kept("small.jpg", b"\x89PNG\r\n"),
        kept("huge.png", &huge),
        kept("note.png", b"no picture"),
        Kept::At(folder.path().join("gone.png")),
        Kept::Missing("too large".to_owned()),
    ];
    let turn = wishing("what is it?", &["a", "b", "c", "d", "e"], json!({}));
    let turn = with_kept(turn, all);
    let outcome = within(runner(server.openai()).run(&turn, &Recorder::new())).await;
    assert!(
        matches!(outcome, RunOutcome::Completed { .. }),
        "{outcome:?}"
    );
    // Said as what it is, whatever it was sent as; what cannot be shown is left to the prompt.
    let content = json!([
        {"type": "text", "text": "what is it?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}},
    ]);
    assert_eq!(server.asked()[0].body["messages"][1]["content"], content);
}
