//! Programs that are called back, and programs that are not: the real binary, a real receiver, real processes, kill -9.

mod caller;
mod receiver;

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use self::caller::Caller;
use self::receiver::{Receiver, SILENT};
use crate::program::{Home, PATIENCE};
use crate::starting::started;

/// A pipe with a name: whoever reads waits for whoever writes.
fn pipe(home: &Home, name: &str) -> String {
    let path = home.file(name);
    mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR).unwrap();
    path.to_str().unwrap().to_owned()
}

async fn write_to(path: &str) {
    let writing = tokio::fs::write(path.to_owned(), "go\n");
    tokio::time::timeout(PATIENCE, writing)
        .await
        .unwrap()
        .unwrap();
}

async fn read_from(path: &str) {
    let reading = tokio::fs::read(path.to_owned());
    tokio::time::timeout(PATIENCE, reading)
        .await
        .unwrap()
        .unwrap();
}

/// A data directory whose gateway may call this receiver back.
fn home_for(receiver: &Receiver) -> Home {
    let home = Home::empty();
    home.write("callback.secret", &receiver::secret(), 0o600);
    let allow = receiver.url("/hooks/");
    let text = format!(
        "[server.callbacks]\nallow = [\"{allow}\"]\nsecret = {{ file = \"callback.secret\" }}\n"
    );
    home.write("talaria.toml", &text, 0o600);
    home
}

/// What a program asks in one message.
fn says(text: &str, callback: Option<&str>) -> Value {
    let mut body = json!({ "messages": [{ "role": "user", "content": text }] });
    if let Some(callback) = callback {
        body["callback_url"] = json!(callback);
    }
    body
}

#[tokio::test]
async fn a_command_that_ends_while_the_gateway_is_down_is_posted_once_when_it_is_back() {
    let receiver = Receiver::start([]).await;
    let home = home_for(&receiver);
    let (begin, over) = (pipe(&home, "begin"), pipe(&home, "over"));
    let (mut gateway, _log) = started(&home).await;
    let order = format!("background: cat {begin}; echo late''news; echo x > {over}");
    let url = receiver.url("/hooks/1?run=7");
    let caller = Caller::of(&home);
    let asked = caller.completes(&says(&order, Some(&url))).await;
    assert!(
        asked.text().contains("\"notify_on_complete\":true"),
        "{asked:?}"
    );
    assert!(!asked.text().contains("notify_unsupported"), "{asked:?}");
    gateway.kill().await.unwrap();
    write_to(&begin).await;
    read_from(&over).await;
    assert_eq!(receiver.posts().len(), 0);

    let (mut gateway, _log) = started(&home).await;
    let post = receiver.until(1).await.remove(0);
    post.verify();
    assert_eq!(post.target, "/hooks/1?run=7");
    let body = post.json();
    assert_eq!(body["type"], "reply.final");
    assert_eq!(body["session_id"], asked.session);
    assert!(
        body["text"].as_str().unwrap().contains("latenews"),
        "{body}"
    );
    let caller = Caller::of(&home);
    let job = format!("/v1/jobs/{}", body["job_id"].as_str().unwrap());
    let job = caller.gets(&job).await;
    assert_eq!(job["status"], "completed", "{job}");
    assert_eq!(job["session_id"], asked.session);
    caller.settled().await;
    gateway.kill().await.unwrap();

    // And not again at the next start.
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    caller.completes(&says("hello", None)).await;
    caller.settled().await;
    assert_eq!(receiver.posts().len(), 1);
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_receiver_that_fails_at_first_gets_it_under_one_id() {
    let receiver = Receiver::start([500, 500]).await;
    let home = home_for(&receiver);
    let (mut gateway, _log) = started(&home).await;
    let url = receiver.url("/hooks/1");
    let caller = Caller::of(&home);
    caller
        .completes(&says("background: echo late''news", Some(&url)))
        .await;
    let posts = receiver.until(3).await;
    caller.settled().await;
    assert_eq!(receiver.posts().len(), 3, "the third was taken");
    for post in &posts {
        post.verify();
        assert_eq!(post.id(), posts[0].id());
        assert_eq!(post.body, posts[0].body, "letter for letter");
    }
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_post_without_an_answer_when_the_gateway_is_killed_comes_again_under_the_same_id() {
    let receiver = Receiver::start([SILENT]).await;
    let home = home_for(&receiver);
    let (mut gateway, _log) = started(&home).await;
    let url = receiver.url("/hooks/1");
    Caller::of(&home)
        .completes(&says("background: echo late''news", Some(&url)))
        .await;
    receiver.until(1).await;
    gateway.kill().await.unwrap();
    let (mut gateway, _log) = started(&home).await;
    let posts = receiver.until(2).await;
    Caller::of(&home).settled().await;
    assert_eq!(receiver.posts().len(), 2);
    assert_eq!(posts[0].id(), posts[1].id());
    assert_eq!(posts[0].body, posts[1].body);
    posts[1].verify();
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_receiver_that_is_down_at_first_gets_it_once_it_is_up() {
    let receiver = Receiver::start([]).await;
    let (home, url) = (home_for(&receiver), receiver.url("/hooks/1"));
    let address = receiver.stop().await;
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    caller
        .completes(&says("background: echo late''news", Some(&url)))
        .await;
    caller.has_waiting().await;
    // Down together, and the gateway first to be back.
    gateway.kill().await.unwrap();
    let (mut gateway, _log) = started(&home).await;
    let receiver = Receiver::start_at(address, []).await;
    let posts = receiver.until(1).await;
    posts[0].verify();
    Caller::of(&home).settled().await;
    assert_eq!(receiver.posts().len(), 1);
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_task_that_is_given_away_is_posted_too() {
    let receiver = Receiver::start([]).await;
    let home = home_for(&receiver);
    let (mut gateway, _log) = started(&home).await;
    let url = receiver.url("/hooks/1");
    let caller = Caller::of(&home);
    let asked = caller
        .completes(&says("delegate: run: echo in''ner", Some(&url)))
        .await;
    assert!(asked.text().contains("dispatched"), "{asked:?}");
    let post = receiver.until(1).await.remove(0);
    post.verify();
    let text = post.json()["text"].as_str().unwrap().to_owned();
    assert!(text.contains("inner"), "{text}");
    caller.settled().await;
    assert_eq!(receiver.posts().len(), 1);
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn a_task_that_is_interrupted_by_a_crash_is_told_as_such_once() {
    let receiver = Receiver::start([]).await;
    let home = home_for(&receiver);
    let (here, never) = (pipe(&home, "here"), pipe(&home, "never"));
    let (mut gateway, _log) = started(&home).await;
    let url = receiver.url("/hooks/1");
    let order = format!("delegate: run: echo x > {here}; cat {never}");
    let caller = Caller::of(&home);
    caller.completes(&says(&order, Some(&url))).await;
    read_from(&here).await;
    gateway.kill().await.unwrap();
    let (mut gateway, _log) = started(&home).await;
    let post = receiver.until(1).await.remove(0);
    post.verify();
    let text = post.json()["text"].as_str().unwrap().to_owned();
    assert!(text.contains("interrupted"), "{text}");
    Caller::of(&home).settled().await;
    assert_eq!(receiver.posts().len(), 1);
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn every_way_to_ask_takes_a_callback_in_the_body_or_in_a_header() {
    let receiver = Receiver::start([]).await;
    let home = home_for(&receiver);
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let order = "background: echo late''news";
    let promised = "\"notify_on_complete\":true";
    let url = receiver.url("/hooks/response");
    let response = json!({ "input": order, "callback_url": url });
    let response = caller.posts("/v1/responses", &response, None).await;
    assert_eq!(response.status, 200, "{response:?}");
    assert!(response.text().contains(promised), "{response:?}");
    let url = receiver.url("/hooks/run");
    let run = json!({ "input": order });
    let run = caller.posts("/v1/runs", &run, Some(&url)).await;
    assert_eq!(run.status, 202, "{run:?}");
    let output = caller.finished(run.body["run_id"].as_str().unwrap()).await;
    assert!(output.contains(promised), "{output}");
    let mut targets: Vec<_> = receiver.until(2).await;
    targets.sort_by_key(|post| post.target.clone());
    for (post, target) in targets.iter().zip(["/hooks/response", "/hooks/run"]) {
        post.verify();
        assert_eq!(post.target, target);
    }
    assert_ne!(targets[0].id(), targets[1].id());
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn nobody_is_called_back_where_the_operator_does_not_allow_it() {
    let receiver = Receiver::start([]).await;
    let closed = Home::empty();
    let (mut gateway, _log) = started(&closed).await;
    let url = receiver.url("/hooks/1");
    let refused = Caller::of(&closed);
    let refused = refused
        .posts("/v1/chat/completions", &says("hello", Some(&url)), None)
        .await;
    assert_eq!(
        refused.refusal(),
        (400, "callback_not_allowed"),
        "{refused:?}"
    );
    gateway.kill().await.unwrap();

    let home = home_for(&receiver);
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let others = [receiver.url("/other/"), receiver.url("/hooks/../other/")];
    for url in &others {
        let message = json!([{ "role": "user", "content": "hello" }]);
        for path in ["/v1/chat/completions", "/v1/responses", "/v1/runs"] {
            let body = json!({ "messages": message, "input": "hello" });
            let mut named = body.clone();
            named["callback_url"] = json!(url);
            for refused in [
                caller.posts(path, &named, None).await,
                caller.posts(path, &body, Some(url)).await,
            ] {
                assert_eq!(
                    refused.refusal(),
                    (400, "callback_not_allowed"),
                    "{refused:?}"
                );
                assert_eq!(refused.body["error"]["param"], "callback_url");
            }
        }
    }
    let shown = home.run(&["config", "show"]).await;
    shown.shows(&["server.callbacks.secret", "(set)"]);
    assert!(!shown.out.contains(&receiver::secret()), "{}", shown.out);
    gateway.kill().await.unwrap();
}

#[tokio::test]
async fn without_a_callback_a_program_is_promised_nothing_and_tasks_are_waited_for() {
    let home = Home::empty();
    let (mut gateway, _log) = started(&home).await;
    let caller = Caller::of(&home);
    let asked = caller
        .completes(&says("background: echo late''news", None))
        .await;
    let text = asked.text();
    assert!(text.contains("\"notify_on_complete\":false"), "{text}");
    assert!(text.contains("notify_unsupported"), "{text}");
    assert!(text.contains("process(action="), "{text}");
    let asked = caller
        .completes(&says("delegate: run: echo in''ner", None))
        .await;
    let text = asked.text();
    assert!(text.contains("inner"), "it was waited for: {text}");
    assert!(text.contains("\"note\""), "{text}");
    assert!(!text.contains("dispatched"), "{text}");
    gateway.kill().await.unwrap();
}
