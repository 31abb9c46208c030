//! Background processes with real children: each is a job that ends once, and its end is told once.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use talaria_domain::job::{Promise, Worker as _};
use talaria_domain::machine::JobState;
use talaria_domain::run::ToolResult;
use tokio::time;

use crate::desk::Desk;
use crate::world::within;

#[tokio::test]
async fn nothing_is_done_before_the_ledger_can_find_it_again() {
    let desk = Desk::new();
    let made = desk.path("made");
    let command = format!("touch {}", made.display());
    let held = desk.book().hold_starts().await;
    let starting = desk.start(&command);
    let watching = async {
        let job = desk.book().recorded().await;
        desk.book().until(job, |entry| entry.is_starting).await;
        // Longer than it would take.
        let long = json!({"command": "sleep 0.3"});
        desk.call_as(&desk.turn, "terminal", long).await;
        assert!(!made.exists());
        drop(held);
    };
    let (job, ()) = tokio::join!(starting, watching);
    desk.book().ended(job).await;
    assert!(made.exists());
}

#[tokio::test]
async fn every_end_is_told_once_with_its_code() {
    let desk = Desk::new();
    let table = [
        ("echo hello", JobState::Completed, json!(0), "hello\n"),
        (
            "echo oops >&2; exit 7",
            JobState::Failed,
            json!(7),
            "oops\n",
        ),
        ("kill -9 $$", JobState::Failed, json!(137), ""),
        (
            "no-such-program-here 2>/dev/null",
            JobState::Failed,
            json!(127),
            "",
        ),
        (
            "echo one; echo two >&2; echo three",
            JobState::Completed,
            json!(0),
            "one\ntwo\nthree\n",
        ),
    ];
    for (command, state, code, output) in table {
        let job = desk.start(command).await;
        let end = desk.book().ended(job).await;
        assert_eq!(
            (end.state, &end.result["exit_code"]),
            (state, &code),
            "{command}"
        );
        assert_eq!(end.result["output"], output, "{command}");
        let entry = desk.book().entry(job);
        assert_eq!(entry.order.promise, Promise::Wake);
        assert_eq!((entry.ends, entry.wakes.len()), (1, 1), "{command}");
        assert!(
            end.text.contains(command) && end.text.contains(output.trim_end()),
            "{}",
            end.text
        );
    }
}

#[tokio::test]
async fn five_megabytes_of_stderr_are_shown_in_part() {
    let desk = Desk::new();
    let job = desk
        .start("yes 0123456789 | head -c 5000000 >&2; echo done >&2")
        .await;
    let end = desk.book().ended(job).await;
    assert_eq!(end.state, JobState::Completed);
    assert!(end.text.len() < 4_000, "{}", end.text.len());
    assert!(end.text.contains("done"), "the end of it is told");
    let log = desk.process("log", job).await;
    let text = log["output"].as_str().unwrap();
    assert_eq!(text.lines().count(), 200);
    assert!(text.ends_with("done") && log["note"].is_string());
    assert!(
        log["total_lines"]
            .as_u64()
            .is_some_and(|lines| lines < 30_000),
        "{}",
        log["total_lines"]
    );
    // Nobody can look at more of it.
    let output = desk.path(&job.to_string()).join("output");
    let is_short = async {
        while std::fs::metadata(&output).unwrap().len() > 1 << 20 {
            tokio::task::yield_now().await;
        }
    };
    within(is_short).await;
}

#[tokio::test]
async fn a_child_that_ignores_sigterm_is_killed() {
    let desk = Desk::new();
    let job = desk
        .start("trap '' TERM; echo ready; while :; do sleep 1000; done")
        .await;
    desk.shows(job, |output| output.contains("ready")).await;
    let answer = desk.process("kill", job).await;
    assert_eq!(answer["status"], "ended");
    assert!(
        answer["ended"].as_str().unwrap().starts_with("was killed"),
        "{answer}"
    );
    let end = desk.book().ended(job).await;
    assert_eq!(
        (end.state, &end.result["exit_code"]),
        (JobState::Cancelled, &json!(137))
    );
    assert_eq!(
        desk.book().entry(job).wakes,
        [""; 0],
        "whoever killed it knows"
    );
}

#[tokio::test]
async fn a_child_that_listens_can_clean_up() {
    let desk = Desk::new();
    let job = desk
        .start("trap 'echo cleaned up; exit 3' TERM; echo ready; while :; do sleep 0.05; done")
        .await;
    desk.shows(job, |output| output.contains("ready")).await;
    desk.process("kill", job).await;
    let end = desk.book().ended(job).await;
    assert_eq!(
        (end.state, &end.result["exit_code"]),
        (JobState::Cancelled, &json!(3))
    );
    assert!(end.text.contains("cleaned up"), "{}", end.text);
}

#[tokio::test]
async fn a_child_that_forks_and_leaves_does_not_hold_up_the_end() {
    let desk = Desk::new();
    let (left, go_on) = (desk.path("left"), desk.path("go_on"));
    let command = format!(
        "mkfifo {left} {go_on}; setsid sh -c 'echo gone >{left}; read x <{go_on}; echo late; echo over >{left}' & \
         cat {left}",
        left = left.display(),
        go_on = go_on.display()
    );
    let job = desk.start(&command).await;
    let end = desk.book().ended(job).await;
    assert_eq!(
        (end.state, &end.result["output"]),
        (JobState::Completed, &json!("gone\n"))
    );
    // What it says afterwards is in the file, and is nobody's news.
    tokio::fs::write(&go_on, "x\n").await.unwrap();
    assert_eq!(
        within(tokio::fs::read_to_string(&left)).await.unwrap(),
        "over\n"
    );
    let entry = desk.book().entry(job);
    assert_eq!((entry.ends, entry.wakes.len()), (1, 1));
    assert_eq!(desk.process("poll", job).await["output"], "gone\nlate\n");
}

#[tokio::test]
async fn what_it_leaves_in_its_group_is_ended_with_it() {
    let desk = Desk::new();
    let pipe = desk.path("pipe");
    let command = format!(
        "mkfifo {0}; exec 9<>{0}; sleep 1000 & echo left",
        pipe.display()
    );
    let job = desk.start(&command).await;
    assert_eq!(desk.book().ended(job).await.state, JobState::Completed);
    // Nobody holds the pipe any more: opening it to write without waiting is refused as soon as that is so.
    let is_alone = || {
        let mut open = std::fs::OpenOptions::new();
        let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
        std::os::unix::fs::OpenOptionsExt::custom_flags(open.write(true), nonblocking)
            .open(&pipe)
            .is_err()
    };
    let gone = async {
        while !is_alone() {
            tokio::task::yield_now().await;
        }
    };
    within(gone).await;
}

#[tokio::test]
async fn an_output_without_an_end_ends_its_process() {
    let desk = Desk::new();
    let job = desk.start("exec cat /dev/zero").await;
    let end = desk.book().ended(job).await;
    assert_eq!(end.state, JobState::Failed);
    assert!(end.text.contains("more than 256 MiB"), "{}", end.text);
}

#[tokio::test]
async fn an_end_is_told_when_the_ledger_is_back() {
    let desk = Desk::new();
    let job = desk.start("read x; exit 4").await;
    desk.book().set_away(true);
    desk.call(
        "process",
        json!({"action": "submit", "process_id": job, "text": "go"}),
    )
    .await;
    let refused = async {
        while desk.book().refused.load(Ordering::SeqCst) < 3 {
            tokio::task::yield_now().await;
        }
    };
    within(refused).await;
    desk.book().set_away(false);
    let end = desk.book().ended(job).await;
    assert_eq!(end.result["exit_code"], 4);
    let entry = desk.book().entry(job);
    assert_eq!((entry.ends, entry.wakes.len()), (1, 1));
}

#[tokio::test]
async fn without_the_ledger_nothing_is_started() {
    let desk = Desk::new();
    let made = desk.path("made");
    desk.book().set_away(true);
    let command = format!("touch {}", made.display());
    let why = desk
        .refusal("terminal", json!({"command": command, "background": true}))
        .await;
    assert!(why.contains("the ledger cannot be reached"), "{why}");
    assert!(!made.exists() && desk.book().jobs().is_empty());
}

#[tokio::test]
async fn what_may_not_start_does_nothing_and_its_job_ends() {
    let desk = Desk::new();
    let made = desk.path("made");
    desk.book().refuse_starts();
    let command = format!("touch {}", made.display());
    let arguments = json!({"command": command, "background": true, "notify_on_complete": true});
    let why = desk.refusal("terminal", arguments).await;
    assert!(
        why.contains("could not be started: the run was stopped"),
        "{why}"
    );
    let job = desk.book().only();
    assert_eq!(desk.book().ended(job).await.state, JobState::Failed);
    assert_eq!(desk.book().entry(job).wakes, [""; 0], "whoever asked knows");
    assert!(!made.exists());
}

#[tokio::test]
async fn what_nobody_waits_for_while_it_is_started_is_ended() {
    let desk = Desk::new();
    let held = desk.book().hold_starts().await;
    let starting = async {
        let job = desk.book().recorded().await;
        desk.book().until(job, |entry| entry.is_starting).await;
        job
    };
    let job = tokio::select! {
        biased;
        started = desk.start("read x") => panic!("it cannot have started: {started}"),
        job = starting => job,
    };
    drop(held);
    assert_eq!(desk.book().ended(job).await.state, JobState::Cancelled);
}

#[tokio::test]
async fn a_process_that_cannot_be_started_is_an_answer() {
    let desk = Desk::new();
    let arguments = json!({"command": "echo \0", "background": true, "notify_on_complete": true});
    let why = desk.refusal("terminal", arguments).await;
    assert!(
        why.starts_with("the process could not be started: "),
        "{why}"
    );
    let job = desk.book().only();
    assert_eq!(desk.book().ended(job).await.state, JobState::Failed);
}

#[tokio::test]
async fn sixty_four_run_at_once_and_no_more() {
    let desk = Desk::new();
    let mut jobs = Vec::new();
    for _ in 0..64 {
        jobs.push(desk.start("read x").await);
    }
    let more = json!({"command": "true", "background": true});
    let why = desk.refusal("terminal", more.clone()).await;
    assert!(
        why.contains("64 background processes") && why.contains("kill"),
        "{why}"
    );
    let (text, result) = desk
        .call_as(&desk.stranger(), "terminal", more.clone())
        .await;
    assert_eq!(result, ToolResult::Done, "others have their own: {text}");
    desk.process("kill", jobs[0]).await;
    desk.call("terminal", more).await;
    let listed = desk.call("process", json!({"action": "list"})).await;
    assert_eq!(listed["processes"].as_array().map(Vec::len), Some(64));
}

#[tokio::test]
async fn what_ended_is_remembered_for_half_an_hour_after_its_end() {
    let desk = Desk::new();
    let job = desk.start("read x").await;
    advance(Duration::from_hours(3)).await;
    desk.process("close", job).await;
    desk.book().ended(job).await;
    let directory = desk.path(&job.to_string());
    advance(Duration::from_mins(29)).await;
    assert_eq!(desk.process("poll", job).await["status"], "ended");
    assert!(directory.exists());
    // The half hour begins whenever the end has been told, which takes a moment.
    let mut steps = 0..1_000_000;
    while directory.exists() {
        steps.next().expect("it is forgotten");
        advance(Duration::from_secs(10)).await;
    }
    let why = desk
        .refusal("process", json!({"action": "poll", "process_id": job}))
        .await;
    assert!(why.contains("there is no process"), "{why}");
}

async fn advance(time: Duration) {
    time::pause();
    time::advance(time).await;
    time::resume();
}

#[tokio::test]
async fn what_is_typed_arrives() {
    let desk = Desk::new();
    let job = desk.start("cat").await;
    let typed =
        |action: &str, text: &str| json!({"action": action, "process_id": job, "text": text});
    desk.call("process", typed("write", "half ")).await;
    desk.call("process", typed("submit", "a line")).await;
    desk.shows(job, |output| output == "half a line\n").await;
    desk.process("close", job).await;
    assert_eq!(desk.book().ended(job).await.state, JobState::Completed);
    let why = desk.refusal("process", typed("write", "more")).await;
    assert!(why.contains("nothing can be typed any more"), "{why}");
}

#[tokio::test]
async fn whoever_waits_for_an_end_is_not_told_it_again() {
    let desk = Desk::new();
    let job = desk.start("read x; echo bye").await;
    let wait = desk.process("wait", job);
    let close = desk.process("close", job);
    let (answer, _) = tokio::join!(wait, close);
    assert_eq!(
        (&answer["status"], &answer["output"]),
        (&json!("ended"), &json!("bye\n"))
    );
    desk.book().ended(job).await;
    assert_eq!(desk.book().entry(job).wakes, [""; 0]);
}

#[tokio::test]
async fn an_end_that_was_looked_at_is_consumed_by_some_and_not_by_others() {
    for (action, is_consumed) in [
        ("poll", false),
        ("log", true),
        ("wait", true),
        ("kill", true),
    ] {
        let desk = Desk::new();
        let job = desk.start("echo hello").await;
        desk.book().ended(job).await;
        let answer = desk.process(action, job).await;
        assert_eq!(answer["exit_code"], 0, "{action}: {answer}");
        let entry = desk.book().entry(job);
        assert_eq!(entry.is_consumed, is_consumed, "{action}");
        assert_eq!(entry.wakes.is_empty(), is_consumed, "{action}");
    }
    let desk = Desk::new();
    let job = desk.start("read x").await;
    desk.process("log", job).await;
    assert!(
        !desk.book().entry(job).is_consumed,
        "it still runs: its end is not known"
    );
}

#[tokio::test]
async fn a_wait_that_is_too_short_takes_nothing() {
    let desk = Desk::new();
    let job = desk.start("read x; exit 2").await;
    let arguments = json!({"action": "wait", "process_id": job, "timeout_seconds": 1});
    let answer = desk.call("process", arguments).await;
    assert_eq!(answer["status"], "running");
    assert!(
        answer["note"]
            .as_str()
            .is_some_and(|it| it.contains("still runs after 1 s"))
    );
    desk.process("close", job).await;
    desk.book().ended(job).await;
    assert_eq!(desk.book().entry(job).wakes.len(), 1);
}

#[tokio::test]
async fn a_wait_is_never_longer_than_three_minutes() {
    let desk = Desk::new();
    let job = desk.start("read x").await;
    let arguments = json!({"action": "wait", "process_id": job, "timeout_seconds": 100_000});
    time::pause();
    let begun = time::Instant::now();
    let tool = desk.tools.iter().find(|it| it.name() == "process").unwrap();
    let context = talaria_agents::tools::ToolContext {
        turn: &desk.turn,
        host: &desk.host,
    };
    let output = tool.call(&arguments, &context).await;
    assert!(
        output.text.contains("still runs after 180 s"),
        "{}",
        output.text
    );
    assert_eq!(begun.elapsed().as_secs(), 180);
}

#[tokio::test]
async fn a_wait_ends_at_once_when_the_run_is_stopped() {
    let desk = Desk::new();
    let job = desk.start("read x").await;
    let arguments = json!({"action": "wait", "process_id": job});
    let waiting = desk.call_as(&desk.turn, "process", arguments);
    let stopping = async {
        tokio::task::yield_now().await;
        desk.host.stop();
    };
    let ((text, result), ()) = tokio::join!(waiting, stopping);
    assert_eq!(result, ToolResult::Cancelled, "{text}");
    assert!(desk.book().entry(job).end.is_none(), "the process runs on");
}

#[tokio::test]
async fn a_job_that_is_cancelled_is_told_like_any_other_end() {
    let desk = Desk::new();
    let job = desk.start("read x").await;
    desk.processes.cancel(job).await;
    let end = desk.book().ended(job).await;
    assert_eq!(end.state, JobState::Cancelled);
    assert!(end.text.contains("was cancelled"), "{}", end.text);
    assert_eq!(desk.book().entry(job).wakes.len(), 1);
}

#[tokio::test]
async fn a_process_works_where_and_with_what_it_is_told_to() {
    let desk = Desk::new();
    let directory = desk.directory.path().canonicalize().unwrap();
    let arguments = json!({"command": "pwd -P; echo $TALARIA_SESSION_ID", "background": true, "cwd": directory});
    let job = desk.start_with(arguments).await;
    let answer = desk.process("wait", job).await;
    let expected = format!("{}\n{}\n", directory.display(), desk.turn.return_to.session);
    assert_eq!(answer["output"], Value::from(expected));
}

#[tokio::test]
async fn lines_are_shown_from_where_one_likes() {
    let desk = Desk::new();
    let job = desk.start("seq 1 1000").await;
    desk.book().ended(job).await;
    let log = desk.process("log", job).await;
    assert_eq!(
        (&log["lines"], &log["total_lines"], &log["first_line"]),
        (&json!(200), &json!(1000), &json!(800))
    );
    let arguments = json!({"action": "log", "process_id": job, "offset": 10, "limit": 2});
    let log = desk.call("process", arguments).await;
    assert_eq!(log["output"], "11\n12");
}
