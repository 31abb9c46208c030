//! Pure: what is wrong with a configuration, where it stands, and what was probably meant. A problem never repeats a
//! value that could be a secret.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};

/// Something that an operator has to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where it stands.
    pub(crate) place: Place,
    /// The key that it is about.
    pub(crate) key: Option<String>,
    /// What was expected and what was found.
    pub(crate) what: String,
}

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a file; without a position it is about the file as a whole.
    File {
        /// Which.
        path: PathBuf,
        /// Where in it.
        at: Option<Position>,
    },
    /// In an environment variable.
    Environment {
        /// Which.
        name: &'static str,
    },
}

/// A place in a text, counted from one as editors do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    /// The line.
    pub(crate) line: usize,
    /// The character in it.
    pub(crate) column: usize,
}

impl Position {
    /// The position of a byte of `text`.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl Problem {
    /// The same for programs.
    pub(crate) fn to_json(&self) -> Value {
        let (file, at, variable) = match &self.place {
            Place::File { path, at } => (Some(path.display().to_string()), *at, None),
            Place::Environment { name } => (None, None, Some(*name)),
        };
        json!({
            "file": file,
            "line": at.map(|at| at.line),
            "column": at.map(|at| at.column),
            "environment": variable,
            "key": self.key,
            "message": self.what,
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        f.write_str(&self.what)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, at: None } => write!(f, "{}", path.display()),
            Self::File { path, at: Some(at) } => {
                write!(f, "{}:{}:{}", path.display(), at.line, at.column)
            }
            Self::Environment { name } => write!(f, "environment variable {name}"),
        }
    }
}

/// " (did you mean `x`?)" for the candidate that is near enough to what was written, else nothing.
pub(crate) fn did_you_mean<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> String {
    let near = candidates
        .into_iter()
        .map(|candidate| (distance(written, candidate), candidate))
        .filter(|(far, candidate)| *far <= tolerance(candidate))
        .min();
    near.map_or_else(String::new, |(_, candidate)| {
        format!(" (did you mean `{candidate}`?)")
    })
}

/// "`a`, `b` or `c`".
pub(crate) fn one_of<'a>(choices: impl IntoIterator<Item = &'a str>) -> String {
    let mut quoted: Vec<_> = choices
        .into_iter()
        .map(|choice| format!("`{choice}`"))
        .collect();
    match quoted.pop() {
        None => "nothing".to_owned(),
        Some(last) if quoted.is_empty() => last,
        Some(last) => format!("{} or {last}", quoted.join(", ")),
    }
}

fn tolerance(candidate: &str) -> usize {
    (candidate.chars().count() / 3).clamp(1, 3)
}

/// How many letters have to be put in, taken out or exchanged, also with their neighbour.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for (at, letter) in from.iter().enumerate() {
        let above = &rows[at];
        let mut row = vec![at + 1];
        for (column, other) in to.iter().enumerate() {
            let exchanged = above[column] + usize::from(letter != other);
            let mut least = exchanged.min(above[column + 1] + 1).min(row[column] + 1);
            let is_swapped =
                at > 0 && column > 0 && from[at - 1] == *other && to[column - 1] == *letter;
            if is_swapped {
                least = least.min(rows[at - 1][column - 1] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}
