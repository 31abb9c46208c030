//! What scripted runs do that ends later, or elsewhere:
//!
//! | words in the message | what the run does |
//! |---|---|
//! | `job 5 build` | starts the process `build`, which ends after five seconds and wakes the conversation |
//! | `quiet 5 build`, `notice 5 build` | the same, and nobody is told, or the people are |
//! | `many 50 5 build` | the same with fifty processes, `build.1` and so on |
//! | `late 5 build` | waits five seconds, whatever it is told, and then does the same |
//! | `take build` | takes the result of the process `build` by itself, before it answers |
//! | `give …` | gives the rest to an agent of its own, waits, and answers with what it is told |
//! | `errand …` | the same, and goes on: the conversation is woken with the result |
//! | `only …` | the same as `give`, with the tool `lever` and nothing else |
//! | `recall` | calls off what it gave away last |
//! | `send example:room text` | sends the text there and answers with what it is told |
//! | `mail example:room /a/path text` | the same with a file and the text beside it |
//! | `file /a/path text` | sends the file into its own conversation with the text beside it, and answers with what it is told |

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use talaria_domain::ids::JobId;
use talaria_domain::job::{JobKind, JobOrder, Jobs, Promise};
use talaria_domain::run::{RunEvent, ToolResult};
use talaria_domain::runner::{Host, Letter, Stopped, Task, Turn};

use super::{Script, lock};
use crate::machine::Machine;

/// What is answered instead of the usual, if anything.
pub(super) async fn play(
    script: &Script,
    turn: &Turn,
    host: &dyn Host,
) -> Result<Option<String>, Stopped> {
    if let Some((before, word, behind)) = elsewhere(&turn.prompt) {
        // What else was said at the same time is not part of it.
        let (rest, others) = behind.split_once("\n\n").unwrap_or((behind, ""));
        let said = reach(script, host, (word, rest)).await?;
        return Ok(said.map(|said| match before {
            "" => said,
            before => format!("re: {before}{said}\n\n{others}"),
        }));
    }
    if let (Some(wanted), Some(machine)) = (wanted(&turn.prompt), &script.machine) {
        let refused = used(host, launch_all(turn, host, machine, wanted)).await?;
        return Ok(Some(refused).filter(|words| !words.is_empty()));
    }
    Ok(None)
}

/// The first word after which everything is for somebody else, with what is before and behind it.
fn elsewhere(prompt: &str) -> Option<(&str, &str, &str)> {
    let words = ["give", "errand", "only", "send", "mail", "file", "recall"];
    let mut at = 0;
    for word in prompt.split(' ') {
        if words.contains(&word) {
            let behind = prompt[at + word.len()..].trim_start_matches(' ');
            return Some((&prompt[..at], word, behind));
        }
        at += word.len() + 1;
    }
    None
}

async fn reach(
    script: &Script,
    host: &dyn Host,
    (word, rest): (&str, &str),
) -> Result<Option<String>, Stopped> {
    match word {
        "send" => {
            let (target, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let letter = Letter {
                target: Some(target.to_owned()),
                text: text.to_owned(),
                file: None,
            };
            Ok(Some(sent(host, letter).await))
        }
        "mail" | "file" => {
            let named = (word == "mail").then(|| rest.split_once(' ')).flatten();
            let (target, rest) = named.map_or((None, rest), |(target, rest)| (Some(target), rest));
            let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
            let letter = Letter {
                target: target.map(str::to_owned),
                text: text.to_owned(),
                file: Some(path.into()),
            };
            used(host, sent(host, letter)).await.map(Some)
        }
        "recall" => {
            let last = *lock(&script.given);
            let called_off = match last {
                Some(job) => host.reach().cancel(job).await,
                None => Ok(()),
            };
            Ok(called_off.err())
        }
        word => {
            let task = Task {
                goal: rest.to_owned(),
                context: "as well as you can".to_owned(),
                tools: (word == "only").then(|| vec!["lever".to_owned(), "rocket".to_owned()]),
                is_background: word == "errand",
            };
            used(host, given(script, host, task)).await.map(Some)
        }
    }
}

async fn sent(host: &dyn Host, letter: Letter) -> String {
    let sent = host.reach().send(letter).await;
    sent.unwrap_or_else(|words| format!("refused: {words}"))
}

/// Takes the result of a process by itself, if it is told to.
pub(super) async fn take(script: &Script, turn: &Turn, host: &dyn Host) {
    let name = after::<1>(&turn.prompt, "take");
    let machine = script.machine.as_ref();
    let job = name
        .zip(machine)
        .and_then(|([name], machine)| machine.named(name));
    if let Some(job) = job {
        drop(host.reach().jobs().consume(job).await);
    }
}

/// Processes that are to be started.
struct Wanted {
    promise: Promise,
    names: Vec<String>,
    time: Duration,
    /// How long it takes until they are.
    delay: Duration,
}

fn wanted(prompt: &str) -> Option<Wanted> {
    let seconds = |text: &str| Duration::from_secs(text.parse().unwrap_or(0));
    let one = |promise: Promise, [time, name]: [&str; 2]| Wanted {
        promise,
        names: vec![name.to_owned()],
        time: seconds(time),
        delay: Duration::ZERO,
    };
    let words = [
        ("job", Promise::Wake),
        ("quiet", Promise::Nothing),
        ("notice", Promise::Notice),
    ];
    let found = words
        .into_iter()
        .find_map(|(word, promise)| Some(one(promise, after(prompt, word)?)));
    let late = || {
        let [delay, name] = after(prompt, "late")?;
        let delay = seconds(delay);
        Some(Wanted {
            delay,
            ..one(Promise::Wake, ["5", name])
        })
    };
    let many = || {
        let [count, time, name] = after(prompt, "many")?;
        let count: u32 = count.parse().ok()?;
        Some(Wanted {
            names: (1..=count)
                .map(|number| format!("{name}.{number}"))
                .collect(),
            ..one(Promise::Wake, [time, name])
        })
    };
    found.or_else(late).or_else(many)
}

async fn launch_all(
    turn: &Turn,
    host: &dyn Host,
    machine: &Arc<Machine>,
    wanted: Wanted,
) -> String {
    tokio::time::sleep(wanted.delay).await;
    for name in &wanted.names {
        let order = order(turn, name, wanted.promise);
        let refused = launch(host, machine, order, (name, wanted.time)).await;
        if !refused.is_empty() {
            return refused;
        }
    }
    String::new()
}

fn after<'a, const N: usize>(prompt: &'a str, word: &str) -> Option<[&'a str; N]> {
    let mut words = prompt.split_whitespace();
    words.find(|found| *found == word)?;
    let found: Vec<&str> = words.take(N).collect();
    found.try_into().ok()
}

fn order(turn: &Turn, name: &str, promise: Promise) -> JobOrder {
    JobOrder {
        run: turn.run,
        kind: JobKind::Process,
        return_to: turn.return_to.clone(),
        work: json!({ "name": name, "command": name }),
        promise,
    }
}

async fn launch(
    host: &dyn Host,
    machine: &Arc<Machine>,
    order: JobOrder,
    (name, time): (&str, Duration),
) -> String {
    let jobs: Arc<dyn Jobs> = host.reach().jobs();
    match jobs.record(order).await {
        Ok(job) => {
            machine.launch((job, jobs), name, time).await;
            String::new()
        }
        Err(error) => format!("refused: {error}"),
    }
}

/// As tools are used: what they do is only begun after it was recorded that they are.
pub(super) async fn used(
    host: &dyn Host,
    tool: impl Future<Output = String>,
) -> Result<String, Stopped> {
    let call = "call-later".to_owned();
    let started = RunEvent::ToolStarted {
        call: call.clone(),
        tool: "later".to_owned(),
        arguments: json!({}),
    };
    host.journal(started).await?;
    let output = tool.await;
    let completed = RunEvent::ToolCompleted {
        call,
        output: output.clone(),
        result: ToolResult::Done,
    };
    host.journal(completed).await?;
    Ok(output)
}

async fn given(script: &Script, host: &dyn Host, task: Task) -> String {
    let is_background = task.is_background;
    let job: JobId = match host.reach().delegate(task).await {
        Ok(job) => job,
        Err(words) => return format!("refused: {words}"),
    };
    *lock(&script.given) = Some(job);
    if is_background {
        return "given away".to_owned();
    }
    match host.reach().outcome(job).await {
        Ok(end) => format!("I was told: {}", end.text),
        Err(words) => format!("not told: {words}"),
    }
}
