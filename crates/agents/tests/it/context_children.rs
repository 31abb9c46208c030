//! Real children of many sessions at once: each sees its own session, no secret, and nobody else, whatever becomes of the
//! session that started it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::process::Stdio;
use std::sync::Arc;

use futures::FutureExt as _;
use serde_json::json;
use talaria_agents::context::{self, Context, Environment, Variable};
use talaria_agents::models::{self, Client, ModelSettings, Provider};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::ids::SessionId;
use talaria_domain::run::RunOutcome;
use talaria_domain::runner::{Runner as _, Turn};
use tokio::process::Command;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::world::{Recorder, runner, terminal, turn, within};

const SESSIONS: u8 = 50;
const ROUNDS: u8 = 200;
const SECRET: &str = "hunter2";

type Variables = BTreeMap<String, String>;

/// A process with secrets, and with what a session of somebody else left in its environment.
fn environment() -> Environment {
    let secrets = [
        "OPENAI_API_KEY",
        "TALARIA_API_KEY",
        "TALARIA_STORE_URL",
        "GH_TOKEN",
        "LC_API_KEY",
    ];
    let secrets = secrets.map(|name| (name, SECRET));
    let stale = Variable::ALL.map(|variable| (variable.name(), "somebody else"));
    let all = secrets.into_iter().chain(stale).chain([("PATH", "/bin")]);
    Environment::allowed(all.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

/// A turn in which everything that can differ from session to session does.
fn turn_of(session: u8, round: u8) -> Turn {
    let mut turn = turn("", &["terminal"]);
    let to = &mut turn.return_to;
    to.address.platform = format!("platform {session}").into();
    to.address.chat = format!("chat {session}").into();
    to.address.thread = Some(format!("thread {session}").into());
    to.address.reply_to = Some(format!("message {session}.{round}").into());
    to.requester.user = format!("user {session}").into();
    to.requester.display_name = Some(format!("name {session}"));
    to.session = SessionId::from_bytes([session; 16]);
    turn.profile.name = format!("profile {session}").into();
    turn.session_key = format!("key {session}");
    turn
}

/// What a child of that turn is to see: this and no more.
fn expected(session: u8, round: u8) -> Variables {
    let id = SessionId::from_bytes([session; 16]).to_string();
    let variables = [
        ("PLATFORM", format!("platform {session}")),
        ("SOURCE", String::new()),
        ("CHAT_ID", format!("chat {session}")),
        ("CHAT_NAME", String::new()),
        ("THREAD_ID", format!("thread {session}")),
        ("USER_ID", format!("user {session}")),
        ("USER_NAME", format!("name {session}")),
        ("KEY", format!("key {session}")),
        ("ID", id),
        ("MESSAGE_ID", format!("message {session}.{round}")),
        ("PROFILE", format!("profile {session}")),
    ];
    let named = variables.map(|(name, value)| (format!("TALARIA_SESSION_{name}"), value));
    named.into_iter().chain(nobody()).collect()
}

/// What a child of nobody sees.
fn nobody() -> Variables {
    [("PATH".to_owned(), "/bin".to_owned())].into()
}

fn child() -> Command {
    let mut command = Command::new("/usr/bin/env");
    command.arg("-0").env_clear();
    command.envs(context::child_environment(&environment()));
    command.kill_on_drop(true).stdin(Stdio::null());
    command
}

/// What a child that is started here says that it sees.
async fn seen() -> Variables {
    let output = within(child().output()).await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let pairs = text.split_terminator('\0').map(|pair| {
        let (name, value) = pair.split_once('=').unwrap();
        (name.to_owned(), value.to_owned())
    });
    pairs.collect()
}

/// Looks at a child in a turn of its own.
async fn look(session: u8, round: u8) {
    let turn = turn_of(session, round);
    let seen = context::scope(Context::of_turn(&turn), seen()).await;
    assert_eq!(seen, expected(session, round));
}

/// A turn that fails while it is bound.
async fn fail(session: u8, round: u8) {
    let turn = turn_of(session, round);
    let failing = context::scope(Context::of_api(&turn), async {
        assert_eq!(seen().await, expected(session, round));
        // Without a message on the terminal, which a panic would print.
        resume_unwind(Box::new("as planned"))
    });
    let failed = AssertUnwindSafe(failing).catch_unwind().await;
    let why: Result<(), _> = failed;
    assert_eq!(why.unwrap_err().downcast_ref(), Some(&"as planned"));
    assert_eq!(context::current(), Context::default());
}

/// A turn that is dropped while its child runs.
async fn cancel(session: u8, round: u8) {
    let turn = turn_of(session, round);
    let started = Notify::new();
    let cancelled = context::scope(Context::of_api(&turn), async {
        let child = child().stdout(Stdio::piped()).spawn().unwrap();
        started.notify_one();
        child.wait_with_output().await
    });
    tokio::select! {
        biased;
        () = started.notified() => {}
        _ = cancelled => {}
    }
    assert_eq!(context::current(), Context::default());
    look(session, round).await;
}

/// A turn that is started from within another session's, and has children before it is bound.
async fn spawn_from_another(session: u8, round: u8) {
    let other = turn_of(session.wrapping_add(100), round);
    let mut tasks = context::scope(Context::of_api(&other), async {
        let mut tasks = JoinSet::new();
        tasks.spawn(context::scope(Context::default(), async move {
            assert_eq!(seen().await, nobody());
            context::bind_turn(&turn_of(session, round)).unwrap();
            assert_eq!(seen().await, expected(session, round));
            assert!(context::async_delivery_supported());
        }));
        tasks
    })
    .await;
    tasks.join_next().await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_child_of_fifty_sessions_sees_exactly_its_own_and_no_secret() {
    // From here on what the process was started with is nobody's.
    look(0, 0).await;
    let mut sessions = JoinSet::new();
    for session in 0..SESSIONS {
        sessions.spawn(async move {
            for round in 0..ROUNDS {
                match session.wrapping_add(round) % 4 {
                    0 => look(session, round).await,
                    1 => fail(session, round).await,
                    2 => cancel(session, round).await,
                    _ => spawn_from_another(session, round).await,
                }
            }
        });
    }
    assert_eq!(sessions.join_all().await.len(), usize::from(SESSIONS));
}

#[tokio::test]
async fn a_child_of_the_runners_terminal_sees_its_turn() {
    let settings = ModelSettings {
        provider: Provider::Demo,
        base_url: None,
        model: String::new(),
        api_key: None,
        window: None,
    };
    let model = models::build(settings, Client::new(models::tls().unwrap()));
    let mut turns = JoinSet::new();
    for session in 0..10 {
        let model = Arc::clone(&model);
        turns.spawn(async move {
            let mut turn = turn_of(session, 0);
            "run: env | grep ^TALARIA_ | sort".clone_into(&mut turn.prompt);
            let host = Recorder::new();
            let outcome = within(runner(model).run(&turn, &host)).await;
            assert!(matches!(outcome, RunOutcome::Completed { .. }));
            let mut lines: Vec<_> = expected(session, 0)
                .into_iter()
                .filter(|(name, _)| name != "PATH")
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            lines.push("[exit code 0]".to_owned());
            let output = format!("Done demo_1_0: {}", lines.join("\n"));
            assert!(host.story().contains(&output), "{:#?}", host.story());
        });
    }
    turns.join_all().await;
    assert!(context::is_engaged());
    assert_eq!(context::current(), Context::default());
}

#[tokio::test]
async fn a_command_runs_where_its_session_works_unless_it_is_told_otherwise() {
    let (of_session, told) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let [of_session, told] = [of_session.path(), told.path()].map(|it| it.canonicalize().unwrap());
    let of_process = std::env::current_dir().unwrap().canonicalize().unwrap();
    let mut turn = turn_of(1, 1);
    turn.window = DeliveryWindow::Always;
    let host = Recorder::new();
    context::scope(Context::of_turn(&turn), async {
        let here = json!({"command": "pwd -P"});
        let there = json!({"command": "pwd -P", "cwd": told});
        for (session, arguments, expected) in [
            (None, &here, &of_process),
            (Some(of_session.clone()), &here, &of_session),
            (Some(of_session.clone()), &there, &told),
            (Some(of_session.join("gone")), &here, &of_process),
        ] {
            if let Some(session) = session {
                context::set_cwd(&session).unwrap();
            }
            let (text, _) = terminal(arguments, &host).await;
            assert_eq!(text, format!("{}\n[exit code 0]", expected.display()));
        }
    })
    .await;
}
