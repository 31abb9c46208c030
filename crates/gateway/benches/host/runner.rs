//! The agent outside: asks as fast as it can, with a window of callbacks under way, and says how long that took.

use std::io::{Read as _, Write as _};
use std::time::Instant;

use serde_json::{Value, json};

use crate::{KEYS, WINDOW};

/// Serves until nobody asks any more.
pub(crate) fn serve() {
    let (mut rest, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let read = std::io::stdin().lock().read(&mut piece).unwrap();
        if read == 0 {
            return;
        }
        rest.extend_from_slice(&piece[..read]);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            obey(&serde_json::from_slice(&line).unwrap());
        }
    }
}

fn obey(order: &Value) {
    match order["method"].as_str() {
        Some("initialize") => say(&[json!({"id": order["id"], "result": {"protocol": 1}})]),
        Some("run") => think(&order["params"]),
        _ => {}
    }
}

fn say(lines: &[Value]) {
    let mut text = Vec::new();
    for line in lines {
        let mut line = line.clone();
        line["jsonrpc"] = json!("2.0");
        text.extend(line.to_string().into_bytes());
        text.push(b'\n');
    }
    let mut out = std::io::stdout().lock();
    out.write_all(&text).unwrap();
    out.flush().unwrap();
}

fn think(order: &Value) {
    let run = order["run"].as_str().unwrap();
    let count: usize = order["input"]["text"].as_str().unwrap().parse().unwrap();
    let start = Instant::now();
    let refused = ask_all(run, count);
    let text = match refused {
        None => format!("done in {} microseconds", start.elapsed().as_micros()),
        Some(refused) => format!("refused: {refused}"),
    };
    say(&[
        json!({"method": "message.completed", "params": {"run": run, "text": text}}),
        json!({"method": "completed", "params": {"run": run}}),
    ]);
}

/// Asks so often; gives a refusal if there was one.
fn ask_all(run: &str, count: usize) -> Option<String> {
    let (mut asked, mut answered, mut refused) = (0, 0, None);
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut piece = vec![0; 1 << 16];
    while answered < count {
        let until = count.min(answered + WINDOW);
        let lines: String = (asked..until).map(|number| line(run, number)).collect();
        asked = until;
        output.write_all(lines.as_bytes()).unwrap();
        output.flush().unwrap();
        let read = input.read(&mut piece).unwrap();
        let heard = &piece[..read];
        answered += heard.split(|byte| *byte == b'\n').count() - 1;
        if refused.is_none() && heard.windows(7).any(|word| word == b"\"error\"") {
            refused = Some(String::from_utf8_lossy(heard).into_owned());
        }
    }
    refused
}

fn line(run: &str, number: usize) -> String {
    let key = number % KEYS as usize;
    let (operation, value) = if number.is_multiple_of(2) {
        ("get", String::new())
    } else {
        ("set", format!(",\"value\":{number}"))
    };
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"state.{operation}\",\
         \"params\":{{\"run\":\"{run}\",\"scope\":\"actor\",\"key\":\"k{key}\"{value}}}}}\n"
    )
}
