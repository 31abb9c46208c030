//! Lines that match are told while a process runs, not too often, and nothing after its end.

use std::time::Duration;

use serde_json::json;
use talaria_domain::ids::JobId;
use talaria_domain::job::Promise;
use talaria_domain::machine::JobState;
use tokio::time;

use crate::desk::Desk;
use crate::world::within;

async fn watched(desk: &Desk, command: &str) -> JobId {
    let arguments =
        json!({"command": command, "background": true, "watch_patterns": ["READY", "ERROR"]});
    desk.start_with(arguments).await
}

async fn types(desk: &Desk, job: JobId, action: &str, text: &str) {
    let arguments = json!({"action": action, "process_id": job, "text": text});
    desk.call("process", arguments).await;
}

async fn advance(seconds: u64) {
    time::pause();
    time::advance(Duration::from_secs(seconds)).await;
    time::resume();
}

#[tokio::test]
async fn a_line_that_matches_is_told_while_the_process_runs() {
    let desk = Desk::new();
    let job = watched(&desk, "echo starting; echo READY on 80; read x").await;
    let entry = desk
        .book()
        .until(job, |entry| !entry.wakes.is_empty())
        .await;
    assert_eq!(entry.order.promise, Promise::Nothing);
    assert!(entry.end.is_none());
    assert!(entry.wakes[0].contains("READY on 80"), "{}", entry.wakes[0]);
    assert!(!entry.wakes[0].contains("starting\n"), "{}", entry.wakes[0]);
    desk.process("close", job).await;
    desk.book().ended(job).await;
    assert_eq!(
        desk.book().entry(job).wakes.len(),
        1,
        "the end of it was not asked for"
    );
}

#[tokio::test]
async fn a_match_across_two_reads_is_a_match() {
    let desk = Desk::new();
    let job = watched(&desk, "stty -echo 2>/dev/null; exec cat").await;
    types(&desk, job, "write", "it is REA").await;
    desk.shows(job, |output| output.ends_with("REA")).await;
    types(&desk, job, "write", "DY\n").await;
    let entry = desk
        .book()
        .until(job, |entry| !entry.wakes.is_empty())
        .await;
    assert!(entry.wakes[0].contains("it is READY"), "{}", entry.wakes[0]);
}

#[tokio::test]
async fn what_matches_right_before_the_end_is_told_before_it() {
    let desk = Desk::new();
    let job = watched(&desk, "echo ERROR: disk full; exit 1").await;
    let end = desk.book().ended(job).await;
    assert_eq!(end.state, JobState::Failed);
    let entry = desk.book().entry(job);
    assert_eq!(entry.wakes.len(), 1, "{:?}", entry.wakes);
    assert!(entry.wakes[0].contains("ERROR: disk full"));
}

#[tokio::test]
async fn there_is_nothing_after_the_exit() {
    let desk = Desk::new();
    let (left, go_on) = (desk.path("left"), desk.path("go_on"));
    let command = format!(
        "mkfifo {left} {go_on}; setsid sh -c 'echo gone >{left}; read x <{go_on}; echo READY; echo over >{left}' & \
         cat {left}",
        left = left.display(),
        go_on = go_on.display()
    );
    let job = watched(&desk, &command).await;
    desk.book().ended(job).await;
    // The book itself refuses to hear anything after the end.
    tokio::fs::write(&go_on, "x\n").await.unwrap();
    tokio::fs::read_to_string(&left).await.unwrap();
    desk.shows(job, |output| output.contains("READY")).await;
    assert_eq!(desk.book().entry(job).wakes, [""; 0]);
}

#[tokio::test]
async fn the_next_notice_tells_what_was_left_out() {
    let desk = Desk::new();
    let job = watched(&desk, "cat").await;
    types(&desk, job, "submit", "READY one").await;
    desk.book().until(job, |entry| entry.wakes.len() == 1).await;
    // Read together with the third, or before it: either way it is within the fifteen seconds, or told with it.
    types(&desk, job, "submit", "READY two").await;
    desk.shows(job, |output| output.contains("two")).await;
    advance(20).await;
    types(&desk, job, "submit", "READY three").await;
    let entry = desk.book().until(job, |entry| entry.wakes.len() == 2).await;
    let second = &entry.wakes[1];
    assert!(
        second.contains("1 more were not told before") || second.contains("READY two"),
        "{second}"
    );
}

#[tokio::test]
async fn a_pattern_that_never_rests_is_switched_off_and_the_end_is_told_exactly_once() {
    let desk = Desk::new();
    let stop = desk.path("stop");
    let command = format!(
        "while ! test -e {}; do echo READY; sleep 0.01; done; exit 6",
        stop.display()
    );
    let job = watched(&desk, &command).await;
    let is_off = || {
        desk.book()
            .entry(job)
            .wakes
            .iter()
            .any(|it| it.contains("switched off"))
    };
    let output = desk.path(&job.to_string()).join("output");
    let length = || std::fs::metadata(&output).map_or(0, |found| found.len());
    while !is_off() {
        let before = length();
        while length() < before + 100 {
            tokio::task::yield_now().await;
        }
        advance(4).await;
    }
    tokio::fs::write(&stop, "").await.unwrap();
    let end = desk.book().ended(job).await;
    assert_eq!(end.result["exit_code"], 6);
    let wakes = desk.book().entry(job).wakes;
    let ends = wakes
        .iter()
        .filter(|it| it.contains("ended with exit code 6"))
        .count();
    assert_eq!(ends, 1, "{wakes:?}");
    assert!(wakes.last().unwrap().contains("ended with exit code 6"));
    let off = wakes
        .iter()
        .filter(|it| it.contains("switched off"))
        .count();
    assert_eq!(off, 1, "{wakes:?}");
}

#[tokio::test]
async fn a_promoted_end_that_somebody_waited_for_is_not_told_again() {
    let desk = Desk::new();
    let job = watched(&desk, "cat").await;
    let place = json!({"offset": 0, "token": 4, "is_promoted": true});
    let path = desk.path(&job.to_string()).join("watched");
    std::fs::write(path, place.to_string()).unwrap();
    let mut desk = desk;
    desk.restart().await;
    desk.adopt(job).await;
    let (answer, _) = tokio::join!(desk.process("wait", job), desk.process("kill", job));
    assert_eq!(answer["status"], "ended");
    desk.book().ended(job).await;
    assert_eq!(desk.book().entry(job).wakes, [""; 0]);
}

#[tokio::test]
async fn too_many_processes_at_once_are_silenced_and_that_is_told() {
    let desk = Desk::new();
    let mut jobs = Vec::new();
    for number in 0..20 {
        jobs.push(
            watched(
                &desk,
                &format!("echo READY {number}; read x; echo READY again; read x"),
            )
            .await,
        );
    }
    let count = |words: &str| {
        let wakes = jobs.iter().flat_map(|job| desk.book().entry(*job).wakes);
        wakes.filter(|it| it.contains(words)).count()
    };
    let is_silent = async {
        while count("say too much at once") == 0 || count("matches: 1 lines") < 15 {
            tokio::task::yield_now().await;
        }
    };
    within(is_silent).await;
    // The others that matched have nothing to say until the silence is over; then the next match says what was missed.
    for job in &jobs {
        desk.shows(*job, |output| output.contains("READY")).await;
    }
    assert_eq!(
        (count("say too much at once"), count("matches: 1 lines")),
        (1, 15)
    );
    let quiet = jobs
        .iter()
        .find(|job| desk.book().entry(**job).wakes.is_empty());
    let quiet = *quiet.unwrap();
    advance(31).await;
    types(&desk, quiet, "submit", "").await;
    let entry = desk
        .book()
        .until(quiet, |entry| !entry.wakes.is_empty())
        .await;
    assert!(entry.wakes[0].contains("READY again"), "{:?}", entry.wakes);
}
