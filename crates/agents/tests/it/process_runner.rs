//! Runners outside, as real processes: what they tell is journalled, what they ask for is checked and done, and their
//! runs end by their word or by the host's.

use serde_json::{Value, json};
use talaria_agents::process::{ProcessRunnerSettings, Resources};
use talaria_domain::authority::ResourceKind;
use talaria_domain::event::Kept;
use talaria_domain::run::{RunEvent, RunOutcome, Usage};
use talaria_domain::runner::Runner as _;

use crate::openai_talks::HELLO;
use crate::process_runner_house::{
    House, Outside, beside, interpreter, resources, settings, turn, with_model,
};
use crate::server::{Reply, Server};
use crate::world::{wishing, with_kept, within};

fn completed() -> RunOutcome {
    RunOutcome::completed(Usage::default())
}

fn reason(outcome: RunOutcome) -> String {
    match outcome {
        RunOutcome::Failed(failure) => failure.reason,
        other => panic!("{other:?}"),
    }
}

/// The only message of a run, as JSON.
fn said(host: &House) -> Value {
    let messages = host.messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    serde_json::from_str(&messages[0]).unwrap()
}

/// What one callback is answered with.
async fn answer(outside: &Outside, host: &House, method: &str, params: Value) -> Value {
    let prompt = format!("answer {}", json!([method, params]));
    assert_eq!(outside.run(&turn(1, &prompt), host).await, completed());
    said(host)
}

#[tokio::test]
async fn what_a_runner_tells_is_journalled_in_order_and_nothing_is_lost() {
    let (outside, host) = (Outside::hostile(), House::bare());
    let outcome = outside.run(&turn(1, "talk"), &host).await;
    let (input_tokens, output_tokens) = (3, 4);
    let usage = Usage {
        input_tokens,
        output_tokens,
    };
    assert_eq!(outcome, RunOutcome::completed(usage));
    assert_eq!(
        host.recorder.story(),
        [
            "thought: hm",
            "message: Hello",
            "message: And another",
            "log: \"mood.changed\" is nothing that a runner tells here: it was skipped",
            "log: for the operator",
            "start own: abacus {\"n\":2}",
            "Done own: 4",
            "message: last words",
        ]
    );
    outside.close().await;
}

#[tokio::test]
async fn one_process_serves_many_runs_at_once() {
    let outside = Outside::hostile();
    let hosts: Vec<_> = (0..20).map(|_| House::bare()).collect();
    let turns: Vec<_> = (1..=20).map(|number| turn(number, "linger")).collect();
    let runs = turns.iter().zip(&hosts);
    let runs = futures::future::join_all(runs.map(|(turn, host)| outside.run(turn, host)));
    let watching = async {
        for host in &hosts {
            host.was_asked().await;
        }
        assert_eq!(outside.tasks.len(), 1, "one process");
        for host in &hosts {
            host.answers.add_permits(1);
        }
    };
    let (outcomes, ()) = tokio::join!(runs, watching);
    assert!(outcomes.iter().all(|outcome| *outcome == completed()));
    assert!(hosts.iter().all(|host| host.messages() == ["still here"]));
    outside.close().await;
}

#[tokio::test]
async fn a_turn_is_told_with_its_history_and_its_resources() {
    let (outside, host) = (Outside::hostile(), House::bare());
    let mut turn = turn(1, "show");
    turn.history = vec![talaria_domain::runner::Said::plain(
        talaria_domain::runner::Speaker::User,
        "before",
    )];
    turn.config.insert("tone".to_owned(), json!("dry"));
    assert_eq!(outside.run(&turn, &host).await, completed());
    let told = said(&host);
    assert_eq!(told["run"], turn.run.to_string());
    assert_eq!(told["history"][0]["text"], "before");
    assert_eq!(told["config"]["tone"], "dry");
    assert_eq!(told["event"]["text"], "show");
    outside.close().await;
}

#[tokio::test]
async fn a_runner_is_told_how_much_a_model_can_be_shown() {
    let server = Server::with([]).await;
    let script = beside("process_runner_hostile.py");
    let outside = Outside::of(settings("python3", &script), with_model(&server));
    let host = House::bare();
    let mut turn = turn(1, "show");
    let grant = talaria_domain::authority::Grant::of(["invoke"]);
    let granted = turn.authority.authority().clone();
    let granted = granted
        .with(ResourceKind::Model, "main", grant.clone())
        .with(ResourceKind::Model, "gone", grant);
    turn.authority = granted.freeze().into();
    assert_eq!(outside.run(&turn, &host).await, completed());
    let told = said(&host);
    let window = |name: &str| {
        let resources = told["resources"].as_array().unwrap();
        let model = resources.iter().find(|it| it["name"] == name).unwrap();
        model["window"].as_u64()
    };
    assert!(
        window("main").is_some_and(|tokens| tokens > 1_000),
        "{told}"
    );
    assert_eq!(window("gone"), None, "nobody knows it");
    outside.close().await;
}

#[tokio::test]
async fn state_is_remembered_and_null_is_a_value() {
    let (outside, host) = (Outside::hostile(), House::bare());
    assert_eq!(outside.run(&turn(1, "fine"), &host).await, completed());
    let expected =
        json!({"found": true, "value": [1, null], "version": 1, "created_at": 1, "updated_at": 1});
    assert_eq!(said(&host), expected);
    outside.close().await;
}

#[tokio::test]
async fn what_was_asked_for_before_the_last_word_is_done() {
    let (outside, host) = (Outside::hostile(), House::bare());
    assert_eq!(outside.run(&turn(1, "unhurried"), &host).await, completed());
    let params = json!({"scope": "conversation", "limit": 100});
    let kept = answer(&outside, &host, "state.list", params).await;
    assert_eq!(kept["items"].as_array().unwrap().len(), 100);
    outside.close().await;
}

#[tokio::test]
async fn callbacks_are_pipelined() {
    let host = House::bare();
    let outside = Outside::script("python3", &beside("process_runner_pipelined.py"));
    assert_eq!(outside.run(&turn(1, "20000"), &host).await, completed());
    assert_eq!(host.messages(), ["done"]);
    outside.close().await;
}

#[tokio::test]
async fn a_tool_of_the_host_is_recorded_before_it_is_started_and_after_it_ended() {
    let (outside, host) = (Outside::hostile(), House::with_terminal());
    let params = json!({"tool": "terminal", "call": "c1", "arguments": {"command": "echo $TALARIA_SESSION_USER_ID"}});
    let called = answer(&outside, &host, "tool.call", params).await;
    assert_eq!(
        called,
        json!({"call": "c1", "output": "ada\n[exit code 0]", "result": "done"})
    );
    let story = host.recorder.story();
    assert!(story[0].starts_with("start c1: terminal"), "{story:?}");
    assert_eq!(story[1], "Done c1: ada\n[exit code 0]");
    outside.close().await;
}

#[tokio::test]
async fn a_tool_that_needs_a_yes_is_not_called_without_one() {
    let script = beside("process_runner_hostile.py");
    let mut resources = resources();
    resources.approve = ["terminal".to_owned()].into();
    let outside = Outside::of(settings("python3", &script), resources);
    // The person here says something else than yes.
    let host = House::with_terminal();
    host.answers.add_permits(1);
    let params = json!({"tool": "terminal", "call": "c1", "arguments": {"command": "echo done"}});
    let called = answer(&outside, &host, "tool.call", params).await;
    assert_eq!(called["result"], "refused");
    let story = host.recorder.story();
    assert!(
        story[1].starts_with("Refused c1: the person does not want"),
        "{story:?}"
    );
    outside.close().await;
}

#[tokio::test]
async fn only_the_tools_that_may_be_seen_are_listed() {
    let (outside, host) = (Outside::hostile(), House::with_terminal());
    let listed = answer(&outside, &host, "tool.list", json!({})).await;
    let names: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["terminal"]);
    outside.close().await;
}

#[tokio::test]
async fn a_tool_that_is_another_one_by_now_is_not_called() {
    let (outside, host) = (Outside::hostile(), House::bare());
    let grant = talaria_domain::authority::Grant::of(["call"]).pinned_to("built in: another");
    {
        let mut authority = host.authority.lock().unwrap();
        *authority = authority
            .clone()
            .with(ResourceKind::Tool, "terminal", grant);
    }
    let params = json!({"tool": "terminal", "arguments": {"command": "true"}});
    let refused = answer(&outside, &host, "tool.call", params).await;
    assert_eq!(refused["data"]["code"], "not_found");
    outside.close().await;
}

#[tokio::test]
async fn a_model_of_the_host_is_asked_and_counted() {
    let server = Server::with([Reply::events(&HELLO)]).await;
    let script = beside("process_runner_hostile.py");
    let outside = Outside::of(settings("python3", &script), with_model(&server));
    let host = House::granting(&[(ResourceKind::Model, "main", &["invoke"])]);
    let params = json!({"said": [{"speaker": "user", "text": "hi"}]});
    let prompt = format!("answer {}", json!(["model.invoke", params]));
    let outcome = outside.run(&turn(1, &prompt), &host).await;
    assert_eq!(said(&host)["text"], "Hello");
    let RunOutcome::Completed { usage, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(usage.input_tokens, 9, "what the host's models cost");
    outside.close().await;
}

#[tokio::test]
async fn a_model_that_is_listened_to_tells_its_pieces_and_then_its_cost() {
    let server = Server::with([Reply::events(&HELLO)]).await;
    let script = beside("process_runner_hostile.py");
    let outside = Outside::of(settings("python3", &script), with_model(&server));
    let host = House::granting(&[(ResourceKind::Model, "main", &["stream"])]);
    outside.run(&turn(1, "listen"), &host).await;
    let told = said(&host);
    assert_eq!(
        told["pieces"],
        json!([[true, "Hel"], [true, "lo"]]),
        "under the id of its question"
    );
    assert_eq!(told["answer"]["text"], "Hello");
    let usage = json!({"input_tokens": 9, "output_tokens": 2});
    assert_eq!(told["answer"]["usage"], usage);
    outside.close().await;
}

#[tokio::test]
async fn nobody_is_waited_for_longer_than_a_day() {
    let outside = Outside::hostile();
    for (asked, expected) in [
        (json!(60), 60),
        (json!(u64::MAX), 86_400),
        (json!(null), 600),
    ] {
        let host = House::bare();
        host.answers.add_permits(1);
        let params = json!({"question": "which?", "timeout_seconds": asked});
        answer(&outside, &host, "ask", params).await;
        let patience = host.questions()[0].patience.as_secs();
        assert_eq!(patience, expected, "{asked}");
    }
    outside.close().await;
}

#[tokio::test]
async fn a_person_is_asked_and_the_run_waits_for_the_answer() {
    let (outside, host) = (Outside::hostile(), House::bare());
    host.answers.add_permits(1);
    let params = json!({"question": "which?", "choices": ["a", "b"]});
    let said = answer(&outside, &host, "ask", params).await;
    assert_eq!(said, json!({"answer": "said", "text": "go on"}));
    outside.close().await;
}

#[tokio::test]
async fn a_file_of_the_run_s_event_is_read_if_that_is_granted() {
    let outside = Outside::hostile();
    let picture = "data:image/png;base64,aGk=";
    let grants: [(&[&str], Value); 2] = [
        (
            &["read"],
            json!({"base64": "aGk=", "media_type": "image/png"}),
        ),
        (&["list"], json!("not_allowed")),
    ];
    for (operations, expected) in grants {
        let host = House::granting(&[(ResourceKind::File, picture, operations)]);
        let mut turn = turn(1, "");
        let file = format!("{}/0", turn.input[0].id);
        let prompt = format!("answer {}", json!(["file.read", {"file": file}]));
        let asked = wishing(&prompt, &[picture], json!({}));
        turn.input = asked.input;
        turn.prompt = prompt;
        outside.run(&turn, &host).await;
        let answer = said(&host);
        assert!(
            answer == expected || answer["data"]["code"] == expected,
            "{answer}"
        );
    }
    outside.close().await;
}

#[tokio::test]
async fn a_file_that_is_kept_here_is_read_if_it_fits_into_a_line() {
    let outside = Outside::hostile();
    let folder = tempfile::tempdir().unwrap();
    let kept = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Kept::At(path)
    };
    let table = [
        (
            kept("small", b"hi"),
            json!({"base64": "aGk=", "media_type": null}),
        ),
        (kept("large", &vec![0; 4 << 20]), json!("fit into a line")),
        (
            Kept::At(folder.path().join("gone")),
            json!("cannot be read"),
        ),
        (
            Kept::Missing("it took too long".to_owned()),
            json!("could not be fetched: it took too long"),
        ),
    ];
    for (kept, expected) in table {
        let host = House::granting(&[(ResourceKind::File, "only a name", &["read"])]);
        let file = format!("{}/0", turn(1, "").input[0].id);
        let prompt = format!("answer {}", json!(["file.read", {"file": file}]));
        let asked = wishing(&prompt, &["only a name"], json!({}));
        outside.run(&with_kept(asked, vec![kept]), &host).await;
        let answer = said(&host);
        let refusal = answer["message"].as_str().unwrap_or_default();
        let words = expected.as_str();
        let is_it = words.map_or(answer == expected, |words| refusal.contains(words));
        assert!(is_it, "{expected}: {answer}");
        assert!(!answer.to_string().contains("only a name"), "{answer}");
    }
    outside.close().await;
}

#[tokio::test]
async fn people_are_heard_while_a_run_goes_on() {
    let outside = Outside::hostile();
    let mut host = House::bare();
    host.recorder = host.recorder.with_people(&[&["hurry up"]]);
    host.answers.add_permits(1);
    assert_eq!(outside.run(&turn(1, "linger"), &host).await, completed());
    assert_eq!(host.logs(), ["steered: hurry up"]);
    assert_eq!(host.messages(), ["still here"]);
    outside.close().await;
}

#[tokio::test]
async fn whoever_was_not_heard_is_told_so() {
    let outside = Outside::hostile();
    let mut host = House::bare();
    host.recorder = host.recorder.with_people(&[&["hurry up"]]);
    host.answers.add_permits(1);
    let outcome = outside.run(&turn(1, "absent_minded"), &host).await;
    assert_eq!(outcome, completed());
    let messages = host.messages();
    assert_eq!(messages[0], "still here");
    assert!(
        messages[1].contains("too late") && messages[1].contains("hurry up"),
        "{messages:?}"
    );
    outside.close().await;
}

#[tokio::test]
async fn a_stopped_run_is_called_off_and_the_process_goes_on() {
    let (outside, host) = (Outside::hostile(), House::bare());
    let first = turn(1, "linger");
    let stopping = async {
        host.was_asked().await;
        host.recorder.stop();
    };
    let (outcome, ()) = tokio::join!(outside.run(&first, &host), stopping);
    assert_eq!(outcome, RunOutcome::Cancelled);
    assert!(host.messages().is_empty());
    let next = House::bare();
    assert_eq!(outside.run(&turn(2, "fine"), &next).await, completed());
    assert_eq!(outside.tasks.len(), 1, "it is the same process");
    outside.close().await;
}

#[tokio::test]
async fn a_runner_that_ignores_being_called_off_gets_no_more_runs_and_keeps_the_others() {
    let (outside, host, bystander) = (Outside::hostile(), House::bare(), House::bare());
    let (stubborn, lingering) = (turn(1, "stubborn"), turn(2, "linger"));
    let stopping = async {
        host.was_asked().await;
        bystander.was_asked().await;
        host.recorder.stop();
    };
    let beside = async {
        let running = outside.run(&lingering, &bystander);
        let meanwhile = async {
            let (outcome, ()) = tokio::join!(outside.run(&stubborn, &host), stopping);
            assert_eq!(outcome, RunOutcome::Cancelled);
            let next = House::bare();
            assert_eq!(outside.run(&turn(3, "fine"), &next).await, completed());
            assert_eq!(
                outside.tasks.len(),
                2,
                "the new run has a process of its own"
            );
            bystander.answers.add_permits(1);
        };
        tokio::join!(running, meanwhile).0
    };
    assert_eq!(beside.await, completed());
    assert_eq!(bystander.messages(), ["still here"]);
    outside.close().await;
}

#[tokio::test]
async fn a_reason_of_the_runner_s_own_is_told() {
    let (outside, host) = (Outside::hostile(), House::bare());
    let outcome = outside.run(&turn(1, "fails"), &host).await;
    assert_eq!(reason(outcome), "the moon is not full");
    outside.close().await;
}

#[tokio::test]
async fn a_process_knows_no_session_and_no_secret() {
    let script = beside("process_runner_hostile.py");
    let mut settings = settings("python3", &script);
    settings.variables = vec![("WEATHER_KEY".to_owned(), "k".to_owned())];
    let outside = Outside::of(settings, resources());
    let host = House::bare();
    outside.run(&turn(1, "environment"), &host).await;
    let names: Vec<String> = serde_json::from_value(said(&host)).unwrap();
    let expected = ["HOME", "LC_CTYPE", "PATH", "WEATHER_KEY"];
    assert!(
        names.iter().all(|it| expected.contains(&it.as_str())),
        "{names:?}"
    );
    assert!(names.contains(&"WEATHER_KEY".to_owned()));
    outside.close().await;
}

#[tokio::test]
async fn a_shut_down_process_ends_by_itself() {
    let outside = Outside::hostile();
    outside.run(&turn(1, "fine"), &House::bare()).await;
    outside.close().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let settings = ProcessRunnerSettings::of("plugin:a/b/c", "/nowhere/at/all");
    let outside = Outside::of(settings, Resources::default());
    let why = reason(outside.run(&turn(1, "fine"), &House::bare()).await);
    assert!(
        why.contains("could not be started: /nowhere/at/all"),
        "{why}"
    );
}

#[tokio::test]
async fn a_program_that_does_not_introduce_itself_properly_is_not_used() {
    let introductions = [
        ("{\"protocol\":9}", "speaks version 9"),
        (
            "{\"protocol\":1,\"id\":\"plugin:other/one/x\"}",
            "calls itself",
        ),
        ("{\"protocol\":\"one\"}", "not the protocol's"),
        ("7", "not the protocol's"),
    ];
    for (introduction, word) in introductions {
        let mut settings = ProcessRunnerSettings::of("plugin:a/b/c", interpreter("sh"));
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{introduction}}}");
        let script = format!("read -r order; echo '{line}'; cat >/dev/null");
        settings.arguments = vec!["-c".to_owned(), script];
        let outside = Outside::of(settings, Resources::default());
        let why = reason(outside.run(&turn(1, "fine"), &House::bare()).await);
        assert!(why.contains(word), "{why}");
        outside.close().await;
    }
}

#[tokio::test]
async fn a_process_that_dies_at_once_is_started_again_with_pauses_that_grow() {
    let mut settings = ProcessRunnerSettings::of("plugin:a/b/c", interpreter("sh"));
    settings.arguments = vec!["-c".to_owned(), "exit 7".to_owned()];
    settings.limits.pause = std::time::Duration::ZERO;
    let outside = Outside::of(settings, Resources::default());
    let mut reasons = Vec::new();
    for _ in 0..3 {
        let outcome = within(outside.runner.run(&turn(1, "fine"), &House::bare())).await;
        reasons.push(reason(outcome));
    }
    assert!(reasons[0].contains("exit code 7"), "{reasons:?}");
    assert!(
        reasons[1].contains("exit code 7"),
        "the second start comes at once: {reasons:?}"
    );
    assert!(
        reasons[2].contains("it is started again in 1 s"),
        "{reasons:?}"
    );
    outside.close().await;
}

#[tokio::test]
async fn a_revocation_counts_at_the_next_callback() {
    let (outside, host) = (Outside::hostile(), House::with_terminal());
    let call = json!({"tool": "terminal", "arguments": {"command": "echo x"}});
    let first = answer(&outside, &host, "tool.call", call.clone()).await;
    assert_eq!(first["result"], "done");
    *host.authority.lock().unwrap() = talaria_domain::authority::Authority::default();
    let prompt = format!(
        "everything {}",
        json!([["tool.call", call], ["tool.list", {}]])
    );
    outside.run(&turn(2, &prompt), &host).await;
    let last = host.messages().pop().unwrap();
    assert_eq!(last, "[\"not_allowed\", \"done\"]");
    let starts = host.recorder.events();
    let starts = starts
        .iter()
        .filter(|it| matches!(it, RunEvent::ToolStarted { .. }));
    assert_eq!(starts.count(), 1, "what is refused is not started");
    outside.close().await;
}
