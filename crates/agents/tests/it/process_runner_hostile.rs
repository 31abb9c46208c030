//! A hostile runner gets nothing it should not, and harms nobody: a run on another process goes on, and so does one on
//! its own process wherever that is still there.

use serde_json::{Value, json};
use talaria_domain::run::{RunEvent, RunOutcome, Usage};
use talaria_domain::runner::Turn;

use crate::process_runner_house::{House, Outside, turn};

/// A hostile run, and bystanders: one on the same process and one on another, both begun before it and ended after it.
struct Scene {
    outside: Outside,
    elsewhere: Outside,
    host: House,
    /// On the same process.
    neighbour: House,
    stranger: House,
}

/// What became of everybody.
struct Outcomes {
    hostile: RunOutcome,
    neighbour: RunOutcome,
}

impl Scene {
    fn new(host: House) -> Self {
        Self {
            outside: Outside::hostile(),
            elsewhere: Outside::hostile(),
            host,
            neighbour: House::bare(),
            stranger: House::bare(),
        }
    }

    /// The hostile run comes to its end while the bystanders wait for theirs.
    async fn play(&self, hostile: &Turn) -> Outcomes {
        let (near, far) = (turn(2, "linger"), turn(3, "linger"));
        let acting = async {
            self.neighbour.was_asked().await;
            self.stranger.was_asked().await;
            let outcome = self.outside.run(hostile, &self.host).await;
            self.neighbour.answers.add_permits(1);
            self.stranger.answers.add_permits(1);
            outcome
        };
        let (neighbour, stranger, hostile) = tokio::join!(
            self.outside.run(&near, &self.neighbour),
            self.elsewhere.run(&far, &self.stranger),
            acting
        );
        assert_eq!(stranger, completed());
        assert_eq!(self.stranger.messages(), ["still here"]);
        Outcomes { hostile, neighbour }
    }

    /// The same, where the neighbour has nothing to fear.
    async fn play_beside(&self, hostile: &Turn) -> RunOutcome {
        let Outcomes { hostile, neighbour } = self.play(hostile).await;
        assert_eq!(neighbour, completed());
        assert_eq!(self.neighbour.messages(), ["still here"]);
        hostile
    }

    /// What the hostile run said in the end, as JSON.
    fn said(&self) -> Value {
        let last = self.host.messages().pop().unwrap();
        serde_json::from_str(&last).unwrap()
    }

    async fn close(self) {
        self.outside.close().await;
        self.elsewhere.close().await;
    }
}

fn completed() -> RunOutcome {
    RunOutcome::completed(Usage::default())
}

fn reason(outcome: &RunOutcome) -> &str {
    match outcome {
        RunOutcome::Failed(failure) => &failure.reason,
        other => panic!("{other:?}"),
    }
}

fn no_such_run() -> Value {
    json!({"code": -32000, "message": "there is no such run here", "data": {"code": "not_found"}})
}

#[tokio::test]
async fn without_a_run_id_there_is_no_access() {
    let scene = Scene::new(House::with_terminal());
    let outcome = scene.play_beside(&turn(1, "no_run")).await;
    assert_eq!(outcome, completed());
    let errors = scene.said();
    let errors = errors.as_array().unwrap();
    assert_eq!(errors.len(), 36);
    assert!(errors.iter().all(|it| *it == no_such_run()), "{errors:?}");
    scene.close().await;
}

#[tokio::test]
async fn another_run_s_id_is_worth_nothing() {
    let scene = Scene::new(House::bare());
    // The run on the other process: it is under way while its name is used here.
    let prompt = format!("foreign {}", turn(3, "").run);
    let outcome = scene.play_beside(&turn(1, &prompt)).await;
    assert_eq!(outcome, completed());
    let errors = scene.said();
    assert!(
        errors
            .as_array()
            .unwrap()
            .iter()
            .all(|it| *it == no_such_run()),
        "{errors}"
    );
    let stolen = |event: &RunEvent| format!("{event:?}").contains("stolen");
    assert!(!scene.stranger.recorder.events().iter().any(stolen));
    scene.close().await;
}

#[tokio::test]
async fn a_run_that_ended_has_no_rights() {
    let outside = Outside::hostile();
    let (first, second) = (House::with_terminal(), House::with_terminal());
    assert_eq!(
        outside.run(&turn(1, "after_end"), &first).await,
        completed()
    );
    assert_eq!(
        outside.run(&turn(2, "after_end"), &second).await,
        completed()
    );
    let errors: Value = serde_json::from_str(&second.messages()[0]).unwrap();
    assert_eq!(errors, json!([no_such_run(), no_such_run()]));
    assert!(first.recorder.events().is_empty(), "nothing came of it");
    outside.close().await;
}

#[tokio::test]
async fn what_is_not_granted_is_refused_and_so_is_another_operation() {
    use talaria_domain::authority::ResourceKind::{KnowledgeBase, Model, Storage, Tool};
    let host = House::granting(&[
        (Tool, "process", &["detail"]),
        (Model, "main", &["count_tokens"]),
        (KnowledgeBase, "books", &["list"]),
        (Storage, "workspace", &["get"]),
    ]);
    let said = json!([{"speaker": "user", "text": "hi"}]);
    let asked = json!([
        ["tool.call", {"tool": "terminal", "arguments": {"command": "true"}}],
        ["tool.call", {"tool": "no such tool"}],
        ["tool.call", {"tool": "process", "arguments": {"action": "list"}}],
        ["model.invoke", {"model": "main", "said": said}],
        ["model.stream", {"model": "main", "said": said}],
        ["model.invoke", {"model": "other", "said": said}],
        ["model.invoke", {"said": said}],
        ["kb.query", {"knowledge_base": "books", "query": "x"}],
        ["kb.query", {"knowledge_base": "other", "query": "x"}],
        ["storage.get", {"store": "plugin", "key": "k"}],
    ]);
    let scene = Scene::new(host);
    let outcome = scene
        .play_beside(&turn(1, &format!("everything {asked}")))
        .await;
    assert_eq!(outcome, completed());
    assert_eq!(scene.said(), json!(vec!["not_allowed"; 10]));
    let is_call = |event: &RunEvent| matches!(event, RunEvent::ToolStarted { .. });
    assert!(!scene.host.recorder.events().iter().any(is_call));
    scene.close().await;
}

#[tokio::test]
async fn a_frame_of_100_mb_is_passed_over_and_never_held() {
    let scene = Scene::new(House::bare());
    let before = most_memory();
    let outcome = scene.play_beside(&turn(1, "huge")).await;
    assert_eq!(outcome, completed());
    assert_eq!(scene.host.messages(), ["after"]);
    let logs = scene.host.logs();
    assert!(
        logs[0].contains("100000000 bytes was not taken"),
        "the operator is told: {logs:?}"
    );
    let grown = most_memory() - before;
    assert!(grown < 40 << 10, "{grown} KiB more were held");
    scene.close().await;
}

/// The most memory that this process ever had, in KiB.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_told_to_the_user() {
    let scene = Scene::new(House::bare());
    let outcome = scene.play_beside(&turn(1, "huge_answer")).await;
    let why = reason(&outcome);
    assert!(
        why.contains("it sent too much") && why.contains("4194304"),
        "{why}"
    );
    scene.close().await;
}

#[tokio::test]
async fn a_value_that_is_too_long_is_refused_under_its_id() {
    let scene = Scene::new(House::bare());
    assert_eq!(scene.play_beside(&turn(1, "huge_value")).await, completed());
    assert_eq!(scene.host.messages(), ["too_large"]);
    scene.close().await;
}

#[tokio::test]
async fn half_a_frame_and_then_silence_holds_nobody_up() {
    let (outside, elsewhere, host) = (Outside::hostile(), Outside::hostile(), House::bare());
    let hanging = turn(1, "half");
    let meanwhile = async {
        let stranger = House::bare();
        assert_eq!(
            elsewhere.run(&turn(2, "fine"), &stranger).await,
            completed()
        );
        // As the turn's own time limit would.
        host.recorder.stop();
    };
    let (outcome, ()) = tokio::join!(outside.run(&hanging, &host), meanwhile);
    assert_eq!(outcome, RunOutcome::Cancelled);
    let next = House::bare();
    assert_eq!(
        outside.run(&turn(3, "fine"), &next).await,
        completed(),
        "a new process serves"
    );
    outside.close().await;
    elsewhere.close().await;
}

#[tokio::test]
async fn ten_thousand_callbacks_at_once_are_all_answered() {
    let scene = Scene::new(House::bare());
    assert_eq!(scene.play_beside(&turn(1, "crowd")).await, completed());
    let said = scene.said();
    let count = |word: &str| said[word].as_u64().unwrap_or(0);
    assert_eq!(count("done") + count("unavailable"), 10_000, "{said}");
    assert!(count("done") > 0, "{said}");
    scene.close().await;
}

#[tokio::test]
async fn a_flood_of_reports_ends_its_own_run_and_no_other() {
    let scene = Scene::new(House::bare());
    let outcome = scene.play_beside(&turn(1, "flood")).await;
    let why = reason(&outcome);
    assert!(why.contains("more than could be recorded"), "{why}");
    scene.close().await;
}

#[tokio::test]
async fn a_closed_input_ends_the_process_and_its_runs_truthfully() {
    let scene = Scene::new(House::bare());
    let Outcomes { hostile, neighbour } = scene.play(&turn(1, "deaf")).await;
    for outcome in [&hostile, &neighbour] {
        let why = reason(outcome);
        assert!(
            why.contains("closed its input") || why.contains("ended"),
            "{why}"
        );
    }
    let next = House::bare();
    let outcome = scene.outside.run(&turn(4, "fine"), &next).await;
    assert_eq!(outcome, completed(), "a new process serves");
    scene.close().await;
}

#[tokio::test]
async fn a_process_that_never_reads_is_ended_and_blocks_nobody() {
    let scene = Scene::new(House::bare());
    let Outcomes { hostile, neighbour } = scene.play(&turn(1, "ignorant")).await;
    for outcome in [&hostile, &neighbour] {
        let why = reason(outcome);
        assert!(why.contains("did not read what it was sent"), "{why}");
    }
    scene.close().await;
}

#[tokio::test]
async fn garbage_is_passed_over() {
    let scene = Scene::new(House::bare());
    assert_eq!(scene.play_beside(&turn(1, "garbage")).await, completed());
    assert_eq!(scene.host.messages(), ["after"]);
    scene.close().await;
}

#[tokio::test]
async fn nothing_but_garbage_is_not_listened_to() {
    let scene = Scene::new(House::bare());
    let Outcomes { hostile, neighbour } = scene.play(&turn(1, "endless_garbage")).await;
    for outcome in [&hostile, &neighbour] {
        assert!(
            reason(outcome).contains("lines that are not JSON-RPC"),
            "{outcome:?}"
        );
    }
    scene.close().await;
}

#[tokio::test]
async fn a_malformed_result_is_told_and_never_taken_for_an_answer() {
    for (what, word) in [
        ("malformed", "`message.completed`"),
        ("bad_end", "`failed`"),
    ] {
        let scene = Scene::new(House::bare());
        let outcome = scene.play_beside(&turn(1, what)).await;
        let why = reason(&outcome);
        assert!(why.contains("malformed") && why.contains(word), "{why}");
        scene.close().await;
    }
}

#[tokio::test]
async fn a_process_that_dies_is_told_and_started_again() {
    let scene = Scene::new(House::bare());
    let Outcomes { hostile, neighbour } = scene.play(&turn(1, "dies")).await;
    for outcome in [&hostile, &neighbour] {
        assert_eq!(
            reason(outcome),
            "the agent's process ended with exit code 3"
        );
    }
    assert_eq!(
        scene.host.recorder.story(),
        ["delta: I am"],
        "what was said was said"
    );
    let next = House::bare();
    assert_eq!(
        scene.outside.run(&turn(4, "fine"), &next).await,
        completed()
    );
    scene.close().await;
}
