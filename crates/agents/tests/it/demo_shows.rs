//! The demo through the runner, with the real terminal.

use std::sync::Arc;

use talaria_agents::models::{self, Client, Model, ModelSettings, Provider};
use talaria_agents::native::NativeRunner;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{DedupeKey, Event, EventKind, InternalCause};
use talaria_domain::ids::EventId;
use talaria_domain::run::RunEvent;
use talaria_domain::runner::{Runner as _, Said, Speaker, Turn};

use crate::desk::Desk;
use crate::openai_talks::completed;
use crate::world::{Recorder, run, runner, turn, within};

pub(crate) fn demo() -> Arc<dyn Model> {
    let settings = ModelSettings {
        provider: Provider::Demo,
        base_url: None,
        model: String::new(),
        api_key: None,
        window: None,
    };
    models::build(settings, Client::new(models::tls().unwrap()))
}

#[tokio::test(start_paused = true)]
async fn it_says_what_it_is_in_several_pieces() {
    let host = Recorder::new();
    assert_eq!(
        run(demo(), "What is the meaning of life?", &host).await,
        completed(0, 0)
    );
    let story = host.story();
    assert!(
        story[0].contains("not a language model")
            && story[0].contains("What is the meaning of life?")
    );
    let is_delta = |event: &&RunEvent| matches!(event, RunEvent::MessageDelta { .. });
    assert!(host.events().iter().filter(is_delta).count() > 10);
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
        story[2],
        format!("message: `terminal` answered:\n\n{quoted}")
    );
}

#[tokio::test(start_paused = true)]
async fn without_the_terminal_it_says_so() {
    let host = Recorder::new();
    let outcome = within(runner(demo()).run(&turn("run: ls", &[]), &host)).await;
    assert_eq!(outcome, completed(0, 0));
    assert!(
        host.story()[0].contains("not there yet"),
        "{:?}",
        host.story()
    );
}

/// Runs a turn of the demo with real background processes.
async fn shown(desk: &Desk, turn: &Turn) -> String {
    let runner = NativeRunner::new(demo(), desk.tools.clone());
    let outcome = within(runner.run(turn, &desk.host)).await;
    assert_eq!(outcome, completed(0, 0));
    desk.host.story().pop().unwrap()
}

#[tokio::test]
async fn it_starts_a_real_process_in_the_background_and_quotes_what_it_is_told_of_its_end() {
    let desk = Desk::new();
    let allowed = ["terminal", "delegate_task"];
    let said = shown(&desk, &turn("background: echo run: ls", &allowed)).await;
    let job = desk.book().only();
    assert!(
        said.contains(&job.to_string()) && said.contains("\"notify_on_complete\":true"),
        "{said}"
    );

    let end = desk.book().ended(job).await;
    let mut woken = turn(&end.text, &allowed);
    let cause = InternalCause::JobEnded { job };
    woken.input = [event(&woken, cause, &end.text)].into();
    let said = shown(&desk, &woken).await;
    assert!(
        said.starts_with("message: I was told:") && said.contains(&end.text),
        "{said}"
    );
    assert_eq!(
        desk.book().jobs().len(),
        1,
        "what a program printed is not obeyed"
    );
}

fn event(turn: &Turn, cause: InternalCause, text: &str) -> Event {
    let to = &turn.return_to;
    Event {
        id: EventId::from_bytes([1; 16]),
        dedupe: DedupeKey::derive(&to.address.platform, &to.address.account, "1"),
        address: to.address.clone(),
        principal: to.requester.clone(),
        message: None,
        kind: EventKind::Internal {
            cause,
            text: text.to_owned(),
        },
        sent_at: None,
        received_at: Timestamp::ZERO,
    }
}

#[tokio::test]
async fn it_gives_tasks_away() {
    let desk = Desk::new();
    let said = shown(&desk, &turn("delegate: count to ten", &["delegate_task"])).await;
    assert!(said.contains("dispatched"), "{said}");
    assert_eq!(
        desk.host.beyond.tasks.lock().unwrap()[0].goal,
        "count to ten"
    );
}

#[tokio::test]
async fn it_sends_a_file_with_the_real_tool() {
    let desk = Desk::new();
    let said = shown(&desk, &turn("file: /work/report.pdf", &["send_message"])).await;
    assert!(said.contains("`send_message` answered:"), "{said}");
    let sent = desk.host.beyond.sent.lock().unwrap();
    assert_eq!(sent[0].file.as_deref(), Some("/work/report.pdf".as_ref()));
    assert_eq!(sent[0].target, None, "into its own conversation");
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
