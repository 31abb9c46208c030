//! What it costs to be somebody: binding, reading and clearing a session, and building the environment of a child. The
//! same in Python with `contextvars`, if it is there, in the same run.
//!
//! `cargo xtask bench context`. After `--`: `--quick` for a short run to see that it works.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, measures real time, and stops at the unexpected"
)]

use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use talaria_agents::context::{self, Context, Environment, Variable};
use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::authority::Authority;
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::ids::{RunId, SessionId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::profile::{BusyPolicy, Profile};
use talaria_domain::runner::Turn;
use talaria_domain::scope::StatePolicy;
use talaria_domain::session_key::Sharing;

const TURNS: u32 = 1_000_000;
const QUICK_TURNS: u32 = 10_000;
/// Measured so often; the best counts, since everything else is somebody else's doing.
const TIMES: u32 = 5;

/// Prints the nanoseconds of a turn's binding, reading and clearing, and those of a child's environment.
const PYTHON: &str = r#"
import os, sys, time
from contextvars import ContextVar

UNSET = object()
NAMES = ["PLATFORM", "SOURCE", "CHAT_ID", "CHAT_NAME", "THREAD_ID", "USER_ID", "USER_NAME", "KEY", "ID",
         "MESSAGE_ID", "PROFILE"]
SESSION = {"TALARIA_SESSION_" + name: ContextVar(name, default=UNSET) for name in NAMES}
CRON = {"TALARIA_CRON_AUTO_DELIVER_" + name: ContextVar("CRON_" + name, default=UNSET)
        for name in ["PLATFORM", "CHAT_ID", "THREAD_ID"]}
ALL = {**SESSION, **CRON}
LATE = ContextVar("LATE", default=UNSET)
ALLOWED = {"PATH", "HOME", "LANG", "TERM", "TMPDIR", "USER", "SHELL", "TZ"}
VALUES = ["example", "message", "chat 12345", "", "7", "ada", "Ada L.", "a1b2c3d4e5f60718293a4b5c6d7e8f90",
          "0198c0de-0000-7000-8000-000000000001", "message 99", "assistant"]
WALL = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/ada", "LANG": "C.UTF-8", "TERM": "xterm",
        "USER": "ada", "SHELL": "/bin/sh", "OPENAI_API_KEY": "secret", "GH_TOKEN": "secret"}

A, B, C, D, E, F, G, H, I, J, K = SESSION.values()

def bind(a, b, c, d, e, f, g, h, i, j, k, late):
    A.set(a)
    B.set(b)
    C.set(c)
    D.set(d)
    E.set(e)
    F.set(f)
    G.set(g)
    H.set(h)
    I.set(i)
    J.set(j)
    K.set(k)
    LATE.set(late)

def clear():
    for variable in (A, B, C, D, E, F, G, H, I, J, K):
        variable.set("")
    LATE.set(UNSET)

def get(name):
    value = ALL[name].get()
    return os.environ.get(name, "") if value is UNSET else value

def supported():
    value = LATE.get()
    return True if value is UNSET else value

def turn():
    bind(*VALUES, True)
    get("TALARIA_SESSION_PLATFORM")
    get("TALARIA_SESSION_KEY")
    get("TALARIA_SESSION_THREAD_ID")
    supported()
    clear()

def child():
    built = {name: value for name, value in WALL.items() if name in ALLOWED}
    for name, variable in ALL.items():
        value = variable.get()
        if value is not UNSET:
            built[name] = value
    return built

def best(work, count, times):
    found = []
    for _ in range(times):
        start = time.perf_counter_ns()
        for _ in range(count):
            work()
        found.append((time.perf_counter_ns() - start) / count)
    return min(found)

count, times = int(sys.argv[1]), int(sys.argv[2])
turns = best(turn, count, times)
bind(*VALUES, True)
print(turns, best(child, count, times))
"#;

fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let turns = if is_quick { QUICK_TURNS } else { TURNS };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let ours = runtime.block_on(context::scope(Context::default(), async { measure(turns) }));
    println!(
        "bind, read 4, clear: {:>8.0} ns (target: under 1000)",
        ours.0
    );
    println!(
        "child environment:   {:>8.2} µs (target: under 50)",
        ours.1 / 1e3
    );
    match python(turns / 10) {
        Some(theirs) => {
            println!(
                "python contextvars:  {:>8.0} ns and {:.2} µs: {:.1} and {:.1} times as long",
                theirs.0,
                theirs.1 / 1e3,
                theirs.0 / ours.0,
                theirs.1 / ours.1
            );
        }
        None => println!("python contextvars:  there is no python3 here"),
    }
}

/// Nanoseconds of a turn's binding, reading and clearing, and of a child's environment.
fn measure(count: u32) -> (f64, f64) {
    let (turn, environment) = (turn(), environment());
    let turns = best(count, || {
        context::bind_turn(black_box(&turn)).unwrap();
        black_box(context::get(Variable::Platform, &environment));
        black_box(context::get(Variable::Key, &environment));
        black_box(context::get(Variable::ThreadId, &environment));
        black_box(context::async_delivery_supported());
        context::clear().unwrap();
    });
    context::bind_turn(&turn).unwrap();
    let children = best(count / 10, || {
        black_box(context::child_environment(black_box(&environment)));
    });
    (turns, children)
}

fn best(count: u32, mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = Instant::now();
        (0..count).for_each(|_| work());
        start.elapsed().as_nanos() as f64 / f64::from(count)
    };
    (0..TIMES).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn python(count: u32) -> Option<(f64, f64)> {
    let arguments = ["-c", PYTHON, &count.to_string(), &TIMES.to_string()];
    let output = Command::new("python3").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (turns, children) = text.trim().split_once(' ')?;
    Some((turns.parse().ok()?, children.parse().ok()?))
}

fn environment() -> Environment {
    let variables = [
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("HOME", "/home/ada"),
        ("LANG", "C.UTF-8"),
        ("TERM", "xterm"),
        ("USER", "ada"),
        ("SHELL", "/bin/sh"),
        ("OPENAI_API_KEY", "secret"),
        ("GH_TOKEN", "secret"),
    ];
    Environment::allowed(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
}

fn turn() -> Turn {
    let address = Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Direct,
        chat: "chat 12345".into(),
        thread: Some("7".into()),
        reply_to: Some("message 99".into()),
    };
    let requester = Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: "ada".into(),
        alternate: None,
        display_name: Some("Ada L.".to_owned()),
        role: Role::Member,
    };
    Turn {
        run: RunId::from_bytes([7; 16]),
        profile: Profile {
            name: "assistant".into(),
            runner: "native".into(),
            instructions: String::new(),
            busy: BusyPolicy::default(),
            sharing: Sharing::default(),
            state: StatePolicy::default(),
        },
        authority: Arc::new(Authority::default().freeze()),
        return_to: ReturnAddress {
            address,
            requester,
            profile: "assistant".into(),
            session: SessionId::from_bytes([8; 16]),
        },
        session_key: "a1b2c3d4e5f60718293a4b5c6d7e8f90".to_owned(),
        window: DeliveryWindow::Always,
        depth: 0,
        history: Vec::new(),
        input: Arc::default(),
        prompt: String::new(),
        state: talaria_domain::scope::Snapshot::default(),
        config: serde_json::Map::default(),
        options: std::collections::BTreeMap::default(),
    }
}
