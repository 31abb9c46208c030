//! What is asked of a model for one turn, under the names that OpenAI gave it. What a provider does not have is refused
//! before anything is sent: whoever asked for it counts on it.
//!
//! Pure: options in, values or a refusal out.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use super::ModelError;

/// By their names.
pub(super) type Options = BTreeMap<String, Value>;

/// The shape of the answer.
pub(super) const FORMAT: &str = "response_format";
/// A number that makes answers repeatable.
pub(super) const SEED: &str = "seed";
/// How daring the model is.
pub(super) const TEMPERATURE: &str = "temperature";
/// How many of the likely words it chooses from.
pub(super) const TOP_P: &str = "top_p";
const STOP: &str = "stop";
/// The most it may say, under its two names.
const MOST_TOKENS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// The options that are known, as they were written.
pub(super) fn known(options: &Options) -> impl Iterator<Item = (&str, &Value)> {
    const OTHERS: [&str; 5] = [FORMAT, SEED, STOP, TEMPERATURE, TOP_P];
    let names = MOST_TOKENS.into_iter().chain(OTHERS);
    names.filter_map(|name| Some((name, wanted(options, name)?)))
}

/// What is wanted; `null` says that nothing is.
pub(super) fn wanted<'a>(options: &'a Options, name: &str) -> Option<&'a Value> {
    options.get(name).filter(|value| !value.is_null())
}

/// Refuses what `provider` does not have.
pub(super) fn refuse(
    options: &Options,
    provider: &str,
    missing: &[&str],
) -> Result<(), ModelError> {
    let is_wanted =
        |name: &&&str| wanted(options, name).is_some_and(|value| !is_usual(name, value));
    match missing.iter().find(is_wanted) {
        Some(name) => Err(ModelError::AskDifferently {
            why: format!(
                "{provider} has no `{name}`: leave it out, or use a profile with another model"
            ),
        }),
        None => Ok(()),
    }
}

/// Whether it asks for what everybody does anyway.
fn is_usual(name: &str, value: &Value) -> bool {
    name == FORMAT && value.get("type").and_then(Value::as_str) == Some("text")
}

/// The most tokens that the answer may have; the smaller number where both names have one.
pub(super) fn most_tokens(options: &Options) -> Result<Option<u64>, ModelError> {
    let mut most = None;
    for name in MOST_TOKENS {
        let Some(value) = wanted(options, name) else {
            continue;
        };
        let number = value.as_u64().filter(|number| *number > 0);
        let number = number.ok_or_else(|| unfit(name, "a whole number from 1"))?;
        most = Some(most.map_or(number, |other: u64| other.min(number)));
    }
    Ok(most)
}

/// A number.
pub(super) fn number(options: &Options, name: &str) -> Result<Option<f64>, ModelError> {
    let Some(value) = wanted(options, name) else {
        return Ok(None);
    };
    value
        .as_f64()
        .map(Some)
        .ok_or_else(|| unfit(name, "a number"))
}

/// The texts at which the answer ends: one or several.
pub(super) fn stops(options: &Options) -> Result<Vec<&str>, ModelError> {
    let texts = match wanted(options, STOP) {
        None => Some(Vec::new()),
        Some(Value::String(text)) => Some(vec![text.as_str()]),
        Some(Value::Array(texts)) => texts.iter().map(Value::as_str).collect(),
        Some(_) => None,
    };
    texts.ok_or_else(|| unfit(STOP, "a text or a list of texts"))
}

/// What is said about a value that is not what it has to be.
pub(super) fn unfit(name: &str, expected: &str) -> ModelError {
    let why = format!("`{name}` has to be {expected}");
    ModelError::AskDifferently { why }
}
