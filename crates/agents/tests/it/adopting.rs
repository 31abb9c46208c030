//! A process that outlived its gateway is taken up by the next one, if it is the same.

use std::sync::Arc;

use serde_json::json;
use talaria_domain::ids::JobId;
use talaria_domain::job::{JobEnd, Jobs as _};
use talaria_domain::machine::JobState;

use crate::desk::Desk;
use crate::world::within;

/// A command that ends with 5 once `go` exists, and says so in `done`.
fn waiting(desk: &Desk) -> String {
    let (go, done) = (desk.path("go"), desk.path("done"));
    format!(
        "echo before; while ! test -e {}; do sleep 0.02; done; echo after; touch {}; exit 5",
        go.display(),
        done.display()
    )
}

async fn lets_it_end(desk: &Desk) {
    tokio::fs::write(desk.path("go"), "").await.unwrap();
}

async fn has_left_its_code(desk: &Desk, job: JobId) {
    let exit = desk.path(&job.to_string()).join("exit");
    let left = async {
        while !exit.exists() {
            tokio::task::yield_now().await;
        }
    };
    within(left).await;
}

/// Exactly one end, told exactly once.
async fn ended_once(desk: &Desk, job: JobId) -> JobEnd {
    let end = desk.book().ended(job).await;
    let entry = desk.book().entry(job);
    assert_eq!((entry.ends, entry.wakes.len()), (1, 1), "{:?}", entry.wakes);
    end
}

#[tokio::test]
async fn one_that_runs_is_watched_on_and_its_end_is_told_with_its_code() {
    let mut desk = Desk::new();
    let job = desk.start(&waiting(&desk)).await;
    desk.shows(job, |output| output.contains("before")).await;
    desk.restart().await;
    desk.adopt(job).await;
    let poll = desk.process("poll", job).await;
    assert_eq!(
        (&poll["status"], &poll["output"]),
        (&json!("running"), &json!("before\n"))
    );
    let why = desk
        .refusal(
            "process",
            json!({"action": "write", "process_id": job, "text": "x"}),
        )
        .await;
    assert!(
        why.contains("input was closed when the gateway was restarted"),
        "{why}"
    );
    lets_it_end(&desk).await;
    let end = ended_once(&desk, job).await;
    assert_eq!(
        (end.state, &end.result["exit_code"]),
        (JobState::Failed, &json!(5))
    );
    assert_eq!(end.result["output"], "before\nafter\n");
}

#[tokio::test]
async fn one_that_ended_while_nobody_looked_is_told_with_its_code() {
    let mut desk = Desk::new();
    let job = desk.start(&waiting(&desk)).await;
    desk.restart().await;
    lets_it_end(&desk).await;
    has_left_its_code(&desk, job).await;
    assert!(
        desk.book().entry(job).end.is_none(),
        "nobody is there to tell it"
    );
    desk.adopt(job).await;
    let end = ended_once(&desk, job).await;
    assert_eq!(
        (end.state, &end.result["exit_code"]),
        (JobState::Failed, &json!(5))
    );
    assert_eq!(desk.process("poll", job).await["status"], "ended");
}

#[tokio::test]
async fn one_that_is_taken_up_can_be_killed() {
    let mut desk = Desk::new();
    let job = desk
        .start("trap '' TERM; echo ready; while :; do sleep 1000; done")
        .await;
    desk.shows(job, |output| output.contains("ready")).await;
    desk.restart().await;
    desk.adopt(job).await;
    let answer = desk.process("kill", job).await;
    assert!(
        answer["ended"].as_str().unwrap().starts_with("was killed"),
        "{answer}"
    );
    assert_eq!(desk.book().ended(job).await.state, JobState::Cancelled);
}

/// The handle of a job says something else after the restart.
async fn with_another_handle(field: &str, value: serde_json::Value) -> (Desk, JobId, JobEnd) {
    let mut desk = Desk::new();
    let job = desk.start(&waiting(&desk)).await;
    desk.shows(job, |output| output.contains("before")).await;
    desk.restart().await;
    let mut handle = desk.book().entry(job).handle.unwrap();
    let before = handle.clone();
    handle[field] = value;
    desk.book().start(job, handle).await.unwrap();
    desk.adopt(job).await;
    let end = ended_once(&desk, job).await;
    // The process itself is none of our business any more: it runs on until the test lets it end.
    desk.book().start(job, before).await.unwrap();
    lets_it_end(&desk).await;
    let done = desk.path("done");
    let is_done = async {
        while !done.exists() {
            tokio::task::yield_now().await;
        }
    };
    within(is_done).await;
    (desk, job, end)
}

#[tokio::test]
async fn one_whose_number_is_anothers_is_lost_and_the_other_is_left_alone() {
    let (_desk, _job, end) = with_another_handle("start", json!(1)).await;
    assert_eq!(end.state, JobState::Lost);
    assert!(
        end.text.contains("is lost") && end.text.contains("left no exit code"),
        "{}",
        end.text
    );
}

#[tokio::test]
async fn one_from_before_the_machine_was_restarted_is_lost() {
    let (_desk, _job, end) = with_another_handle("boot", json!("another")).await;
    assert_eq!(end.state, JobState::Lost);
    assert!(
        end.text.contains("the machine was restarted"),
        "{}",
        end.text
    );
}

#[tokio::test]
async fn one_whose_number_nobody_has_is_lost() {
    let (_desk, _job, end) = with_another_handle("pid", json!(999_999_999)).await;
    assert_eq!(end.state, JobState::Lost);
}

#[tokio::test]
async fn one_whose_output_is_gone_is_lost() {
    let mut desk = Desk::new();
    let job = desk.start(&waiting(&desk)).await;
    desk.shows(job, |output| output.contains("before")).await;
    desk.restart().await;
    std::fs::remove_file(desk.path(&job.to_string()).join("output")).unwrap();
    desk.adopt(job).await;
    let end = ended_once(&desk, job).await;
    assert_eq!(end.state, JobState::Lost);
    assert!(end.text.contains("output file is gone"), "{}", end.text);
    assert!(!desk.path("done").exists(), "it was ended");
}

#[tokio::test]
async fn one_that_was_never_started_is_lost_and_has_done_nothing() {
    let mut desk = Desk::new();
    let made = desk.path("made");
    let command = format!("touch {}", made.display());
    let book = Arc::clone(desk.book());
    // The gateway stops after the process was made, and before the ledger knows how to find it.
    let held = book.hold_starts().await;
    let starting = async {
        let job = book.recorded().await;
        book.until(job, |entry| entry.is_starting).await;
        desk.processes.close().await;
        job
    };
    let arguments = json!({"command": command, "background": true, "notify_on_complete": true});
    let (why, job) = tokio::join!(desk.refusal("terminal", arguments), starting);
    assert!(why.contains("the gateway is stopping"), "{why}");
    drop(held);
    assert_eq!(book.found(job).state, JobState::Queued);
    desk.restart().await;
    desk.adopt(job).await;
    let end = ended_once(&desk, job).await;
    assert_eq!(end.state, JobState::Lost);
    assert!(end.text.contains("was not started"), "{}", end.text);
    // Longer than it would take.
    desk.call_as(&desk.turn, "terminal", json!({"command": "sleep 0.3"}))
        .await;
    assert!(!made.exists());
}

#[tokio::test]
async fn a_job_is_taken_up_once() {
    let mut desk = Desk::new();
    let job = desk.start(&waiting(&desk)).await;
    desk.restart().await;
    desk.adopt(job).await;
    desk.adopt(job).await;
    lets_it_end(&desk).await;
    ended_once(&desk, job).await;
    desk.adopt(job).await;
    // Longer than a second one would take to tell it.
    let long = json!({"command": "sleep 0.3"});
    desk.call_as(&desk.turn, "terminal", long).await;
    assert_eq!(
        desk.book().entry(job).ends,
        1,
        "what has ended is not taken up"
    );
}

#[tokio::test]
async fn a_program_in_a_terminal_is_lost_and_ended() {
    let mut desk = Desk::new();
    let arguments = json!({
        "command": "trap '' HUP; echo ready; while :; do sleep 1000; done",
        "background": true, "pty": true, "notify_on_complete": true
    });
    let job = desk.start_with(arguments).await;
    desk.shows(job, |output| output.contains("ready")).await;
    desk.restart().await;
    desk.adopt(job).await;
    let end = ended_once(&desk, job).await;
    assert_eq!(end.state, JobState::Lost);
    assert!(
        end.text.contains("terminal that ended with the gateway"),
        "{}",
        end.text
    );
}

#[tokio::test]
async fn patterns_are_watched_on_from_where_they_were() {
    let mut desk = Desk::new();
    let go = desk.path("go");
    let command = format!(
        "echo READY one; while ! test -e {}; do sleep 0.02; done; echo READY two; exit 0",
        go.display()
    );
    let arguments = json!({"command": command, "background": true, "watch_patterns": ["READY"]});
    let job = desk.start_with(arguments).await;
    desk.book().until(job, |entry| entry.wakes.len() == 1).await;
    let place = desk.path(&job.to_string()).join("watched");
    let written = async {
        while !place.exists() {
            tokio::task::yield_now().await;
        }
    };
    within(written).await;
    desk.restart().await;
    desk.adopt(job).await;
    lets_it_end(&desk).await;
    desk.book().ended(job).await;
    let wakes = desk.book().entry(job).wakes;
    assert_eq!(wakes.len(), 2, "{wakes:?}");
    let (first, second) = (&wakes[0], &wakes[1]);
    assert!(
        first.contains("1 lines.]") && second.contains("1 lines.]"),
        "{wakes:?}"
    );
}
