//! The demo through the runner, with the real terminal.

use std::sync::Arc;

use talaria_agents::models::{self, Model, ModelSettings, Provider};
use talaria_domain::run::RunEvent;
use talaria_domain::runner::{Runner as _, Said, Speaker};

use crate::openai_talks::completed;
use crate::world::{Recorder, run, runner, turn, within};

fn demo() -> Arc<dyn Model> {
    let settings = ModelSettings {
        provider: Provider::Demo,
        base_url: None,
        model: String::new(),
        api_key: None,
        window: None,
    };
    models::build(settings, models::client().unwrap())
}

#[tokio::test]
async fn it_says_what_it_is_in_several_pieces() {
    let host = Recorder::new();
    assert_eq!(
        run(demo(), "What is the meaning of life?", &host).await,
        completed(0, 0)
    );
    let story = host.story();
    assert!(
        story[1].contains("not a language model")
            && story[1].contains("What is the meaning of life?")
    );
    assert_eq!(
        story[0].strip_prefix("delta: "),
        story[1].strip_prefix("message: ")
    );
    let is_delta = |event: &&RunEvent| matches!(event, RunEvent::MessageDelta { .. });
    assert!(host.events().iter().filter(is_delta).count() > 1);
}

#[tokio::test]
async fn it_uses_the_real_terminal_and_quotes_it_word_for_word() {
    let host = Recorder::new();
    let outcome = run(demo(), "run: printf 'one\\ntwo ```\\n'; exit 3", &host).await;
    assert_eq!(outcome, completed(0, 0));
    let story = host.story();
    assert!(
        story[0].starts_with("start demo_1_0: terminal "),
        "{story:?}"
    );
    assert_eq!(story[1], "Done demo_1_0: one\ntwo ```\n[exit code 3]");
    let quoted = "````\none\ntwo ```\n[exit code 3]\n````";
    assert_eq!(
        story[3],
        format!("message: `terminal` answered:\n\n{quoted}")
    );
}

#[tokio::test]
async fn without_the_terminal_it_says_so() {
    let host = Recorder::new();
    let outcome = within(runner(demo()).run(&turn("run: ls", &[]), &host)).await;
    assert_eq!(outcome, completed(0, 0));
    assert!(
        host.story()[1].contains("not there yet"),
        "{:?}",
        host.story()
    );
}

#[tokio::test]
async fn it_summarises_by_rule() {
    let said = [Said::plain(Speaker::User, "hello")];
    let summary = within(runner(demo()).summarise(&said)).await.unwrap();
    assert!(
        summary.contains("by rule") && summary.contains("user: hello"),
        "{summary}"
    );
}
