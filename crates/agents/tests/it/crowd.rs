//! A thousand processes that end at once.

use std::collections::HashSet;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use talaria_domain::ids::SessionId;
use talaria_domain::machine::JobState;
use talaria_domain::run::ToolResult;

use crate::desk::Desk;

const SESSIONS: u8 = 20;
const EACH: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_that_end_at_once_are_all_told_exactly_once() {
    // Each has a descriptor for its input and one for its end.
    let files = getrlimit(Resource::Nofile);
    let most = Rlimit {
        current: files.maximum,
        ..files
    };
    setrlimit(Resource::Nofile, most).unwrap();

    let desk = Desk::new();
    let gate = desk.path("gate");
    let made = std::process::Command::new("mkfifo").arg(&gate).status();
    assert!(made.unwrap().success());
    let command = format!(": <{}", gate.display());
    for session in 0..SESSIONS {
        let mut turn = desk.turn.clone();
        turn.return_to.session = SessionId::from_bytes([session; 16]);
        for _ in 0..EACH {
            let arguments =
                json!({"command": command, "background": true, "notify_on_complete": true});
            let (text, result) = desk.call_as(&turn, "terminal", arguments).await;
            assert_eq!(result, ToolResult::Done, "{text}");
        }
    }
    // Everybody who waits for somebody to open the gate goes through it now.
    let mut open = std::fs::OpenOptions::new();
    let _gate = open.read(true).write(true).open(&gate).unwrap();
    desk.book().all_ended().await;

    let jobs = desk.book().jobs();
    assert_eq!(jobs.len(), usize::from(SESSIONS) * EACH);
    let mut told = HashSet::new();
    for job in jobs {
        let entry = desk.book().entry(job);
        assert_eq!((entry.ends, entry.wakes.len()), (1, 1), "{job}");
        assert_eq!(entry.end.unwrap().state, JobState::Completed);
        assert!(entry.wakes[0].contains(&job.to_string()));
        assert!(told.insert(entry.wakes[0].clone()), "no two are the same");
    }
}
