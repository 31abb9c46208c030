//! Decides what becomes of a line of a runner: a report, a callback, an answer, or a refusal. A line speaks for a run of
//! its own connection or for none: whatever else it names is refused in the same words, before anything else of it is
//! looked at.
//!
//! Pure: bytes in, a decision out.

#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use talaria_domain::ids::RunId;

use super::wire::{Asked, Fault, Line, Report};

/// What becomes of a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Admitted {
    /// It is told to its run.
    Report {
        /// Which.
        run: RunId,
        /// What, or what is wrong with it.
        report: Result<Report, String>,
        /// Under which id it wants to be thanked.
        id: Option<Value>,
    },
    /// A run asks for something.
    Asked {
        /// Which.
        run: RunId,
        /// Under which id it is answered.
        id: Value,
        /// For what.
        asked: Asked,
    },
    /// It tells something that nobody here knows: its run's log says so.
    Unknown {
        /// Which run.
        run: RunId,
        /// In words.
        what: String,
    },
    /// It answers one of ours.
    Answer {
        /// The number that ours had.
        id: u64,
        /// With this.
        answer: Result<Value, String>,
    },
    /// It is not done.
    Refused {
        /// Under which id it is told so; without one it is only counted.
        id: Option<Value>,
        /// Why.
        fault: Fault,
    },
    /// It says nothing that could be understood.
    Garbage(Fault),
}

/// Decides about a line. `is_here` says whether a run is under way on the connection that it came from.
pub(super) fn admit(line: &[u8], is_here: impl Fn(RunId) -> bool) -> Admitted {
    let Ok(line) = serde_json::from_slice::<Line>(line) else {
        return Admitted::Garbage(Fault::unreadable());
    };
    if !line.is_proper() {
        return Admitted::Garbage(Fault::improper());
    }
    let Some(method) = line.method else {
        return answered(line.id.as_ref(), line.result, line.error);
    };
    let is_report = Report::METHODS.contains(&method.as_str());
    let is_asked = Asked::METHODS.contains(&method.as_str());
    let id = line.id;
    if let (false, false, Some(_)) = (is_report, is_asked, &id) {
        let fault = Fault::no_such_method(&method);
        return Admitted::Refused { id, fault };
    }
    let Some(run) = run_of(&line.params).filter(|run| is_here(*run)) else {
        let fault = Fault::no_such_run();
        return Admitted::Refused { id, fault };
    };
    if is_report {
        let report = read(&method, line.params);
        let report = report.map_err(|why| format!("a malformed `{method}`: {why}"));
        return Admitted::Report { run, report, id };
    }
    match id {
        Some(id) if is_asked => match read(&method, line.params) {
            Ok(asked) => Admitted::Asked { run, id, asked },
            Err(why) => Admitted::Refused {
                id: Some(id),
                fault: Fault::wrong_parameters(why),
            },
        },
        _ => Admitted::Unknown {
            run,
            what: unknown(&method, is_asked),
        },
    }
}

fn unknown(method: &str, is_asked: bool) -> String {
    if is_asked {
        return format!("`{method}` without an id is not done: nobody could be answered");
    }
    let shown: String = method.chars().take(100).collect();
    format!("{shown:?} is nothing that a runner tells here: it was skipped")
}

fn answered(id: Option<&Value>, result: Option<Value>, error: Option<Value>) -> Admitted {
    let Some(id) = id.and_then(Value::as_u64) else {
        return Admitted::Garbage(Fault::improper());
    };
    let answer = match error {
        None => Ok(result.unwrap_or_default()),
        Some(error) => {
            let words = error.get("message").and_then(Value::as_str);
            let words = words.unwrap_or("it did not say why");
            Err(words.chars().take(300).collect())
        }
    };
    Admitted::Answer { id, answer }
}

/// The run that parameters name.
fn run_of(params: &Value) -> Option<RunId> {
    params.get("run")?.as_str()?.parse().ok()
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, String> {
    let method = ("method".to_owned(), Value::from(method));
    let line = Map::from_iter([method, ("params".to_owned(), params)]);
    T::deserialize(Value::Object(line)).map_err(|error| error.to_string())
}
