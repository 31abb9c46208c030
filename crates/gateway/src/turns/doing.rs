//! What is going on, in one line for people.
//!
//! Pure: a tool and its arguments in, a line of Markdown out. Nothing in it is read as markup.

#[cfg(test)]
mod tests;

use serde_json::Value;

/// So much of an argument is shown.
const MOST: usize = 60;
/// What says best what a tool is about, in this order.
const TELLING: [&str; 10] = [
    "command", "goal", "question", "query", "url", "path", "file", "title", "target", "text",
];

/// The line for a tool that was started.
pub fn line(tool: &str, arguments: &Value) -> String {
    let shown = match argument(arguments) {
        Some(about) => format!("{tool}: {}", short(&about)),
        None => tool.to_owned(),
    };
    format!("_{}…_", escaped(&shown))
}

/// What it is about: an argument that tells, or else the first that is a single value.
fn argument(arguments: &Value) -> Option<String> {
    let arguments = arguments.as_object()?;
    let named = TELLING.iter().filter_map(|name| arguments.get(*name));
    let mut texts = named.chain(arguments.values()).filter_map(|it| match it {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    texts.find(|text| !text.trim().is_empty())
}

fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().take(MOST).collect();
    line.trim_end().to_owned()
}

/// Any ASCII punctuation can be escaped (`CommonMark`, "Backslash escapes").
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars().filter(|letter| !letter.is_control()) {
        if letter.is_ascii_punctuation() && !matches!(letter, ':' | ',' | ';' | '/' | '\'' | '"') {
            written.push('\\');
        }
        written.push(letter);
    }
    written
}
