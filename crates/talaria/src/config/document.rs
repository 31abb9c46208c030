//! Pure: `talaria.toml` as a tree that knows where everything stands. Unknown keys are taken out and told, all of them
//! at once; what is left is read section by section, so that one mistake does not hide the next.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::keys;
use super::problem::{Place, Position, Problem, did_you_mean, one_of};

/// The file, parsed.
pub(super) struct Document<'i> {
    path: &'i Path,
    text: &'i str,
    root: DeTable<'i>,
    places: Places<'i>,
}

/// Where every known key stands, and what is wrong so far.
struct Places<'i> {
    path: &'i Path,
    text: &'i str,
    spans: BTreeMap<String, Spans>,
    problems: Vec<Problem>,
}

#[derive(Clone)]
struct Spans {
    key: Range<usize>,
    value: Range<usize>,
}

impl<'i> Document<'i> {
    /// Parses a text. Broken syntax is the one mistake that hides all others.
    pub(super) fn parse(path: &'i Path, text: &'i str) -> Result<Self, Problem> {
        let mut places = Places {
            path,
            text,
            spans: BTreeMap::new(),
            problems: Vec::new(),
        };
        // Only the message: the error itself would print the line, and a line can hold a secret.
        let mut root = DeTable::parse(text)
            .map_err(|error| places.problem(error.span(), None, error.message().to_owned()))?
            .into_inner();
        places.sift(&mut root, "", "");
        Ok(Self {
            path,
            text,
            root,
            places,
        })
    }

    /// A table such as `[server]`.
    pub(super) fn section<T: DeserializeOwned + Default>(&mut self, name: &str) -> T {
        let section = self.root.remove(name);
        section
            .and_then(|value| self.places.read(value))
            .unwrap_or_default()
    }

    /// The tables of `[model.NAME]` and the like, in the order of the file. One that could not be read is there
    /// without its content, so that nobody takes its name for unknown.
    pub(super) fn named<T: DeserializeOwned>(&mut self, name: &str) -> Vec<(String, Option<T>)> {
        let Some(value) = self.root.remove(name) else {
            return Vec::new();
        };
        let span = value.span();
        let DeValue::Table(tables) = value.into_inner() else {
            let what = format!("expected tables such as [{name}.NAME]");
            let problem = self.places.problem(Some(span), Some(name.to_owned()), what);
            self.places.problems.push(problem);
            return Vec::new();
        };
        let mut tables: Vec<_> = tables.into_iter().collect();
        tables.sort_by_key(|(name, _)| name.span().start);
        tables
            .into_iter()
            .map(|(name, value)| (name.into_inner().into_owned(), self.places.read(value)))
            .collect()
    }

    /// The tables of `[[account]]` and the like; one that could not be read is none.
    pub(super) fn list<T: DeserializeOwned>(&mut self, name: &str) -> Vec<Option<T>> {
        let Some(value) = self.root.remove(name) else {
            return Vec::new();
        };
        let span = value.span();
        let DeValue::Array(items) = value.into_inner() else {
            let what = format!("expected a list of tables, each under [[{name}]]");
            let problem = self.places.problem(Some(span), Some(name.to_owned()), what);
            self.places.problems.push(problem);
            return Vec::new();
        };
        items
            .into_iter()
            .map(|item| self.places.read(item))
            .collect()
    }

    /// The line that a key stands on.
    pub(super) fn line(&self, key: &str) -> Option<usize> {
        let spans = self.places.spans.get(key)?;
        Some(Position::of(self.text, spans.key.start).line)
    }

    /// The place of a key's value; of the nearest table around it where the key itself is not there.
    pub(super) fn place(&self, key: &str) -> Place {
        let mut around = key;
        let spans = loop {
            match (self.places.spans.get(around), around.rfind(['.', '['])) {
                (Some(spans), _) if around.len() == key.len() => break Some(&spans.value),
                (Some(spans), _) => break Some(&spans.key),
                (None, Some(end)) => around = &around[..end],
                (None, None) => break None,
            }
        };
        Place::File {
            path: self.path.to_owned(),
            at: spans.map(|span| Position::of(self.text, span.start)),
        }
    }

    /// What was found wrong while reading.
    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.places.problems
    }
}

impl Places<'_> {
    /// Takes unknown keys out and remembers where the others stand.
    fn sift(&mut self, table: &mut DeTable<'_>, pattern: &str, written: &str) {
        let steps = keys::below(pattern);
        let mut names: Vec<_> = table.keys().cloned().collect();
        names.sort_by_key(|name| name.span().start);
        for name in names {
            let (span, name) = (name.span(), name.into_inner());
            let key = keys::join(written, &name);
            let is_here = |step: &&&str| **step == "*" || step.trim_end_matches("[]") == name;
            if let Some(step) = steps.iter().find(is_here)
                && let Some(value) = table.get_mut(name.as_ref())
            {
                self.remember(&key, span, value.span());
                let pattern = [pattern, step].join(".");
                self.descend(value, pattern.trim_start_matches('.'), &key);
            } else {
                table.remove(name.as_ref());
                let problem = self.unknown(&steps, &name, (key, span));
                self.problems.push(problem);
            }
        }
    }

    fn descend(&mut self, value: &mut Spanned<DeValue<'_>>, pattern: &str, key: &str) {
        let is_leaf = keys::below(pattern).is_empty();
        let is_list = pattern.ends_with("[]");
        match value.get_mut() {
            DeValue::Table(table) if !is_leaf && !is_list => self.sift(table, pattern, key),
            DeValue::Array(items) if is_list => {
                for (index, item) in items.iter_mut().enumerate() {
                    let key = format!("{key}[{index}]");
                    self.remember(&key, item.span(), item.span());
                    if let DeValue::Table(table) = item.get_mut() {
                        self.sift(table, pattern, &key);
                    }
                }
            }
            _ => {}
        }
    }

    fn remember(&mut self, written: &str, key: Range<usize>, value: Range<usize>) {
        self.spans.insert(written.to_owned(), Spans { key, value });
    }

    fn unknown(&self, steps: &[&str], name: &str, found: (String, Range<usize>)) -> Problem {
        let (key, span) = found;
        let known = || steps.iter().map(|step| step.trim_end_matches("[]"));
        let what = format!(
            "unknown key, expected {}{}",
            one_of(known()),
            did_you_mean(name, known())
        );
        self.problem(Some(span), Some(key), what)
    }

    fn read<T: DeserializeOwned>(&mut self, value: Spanned<DeValue<'_>>) -> Option<T> {
        match T::deserialize(ValueDeserializer::from(value)) {
            Ok(read) => Some(read),
            Err(error) => {
                let key = error.span().and_then(|span| self.key_at(span.start));
                let problem = self.problem(error.span(), key, error.message().to_owned());
                self.problems.push(problem);
                None
            }
        }
    }

    /// The innermost key whose name or value is at this place.
    fn key_at(&self, offset: usize) -> Option<String> {
        let is_here = |spans: &Spans| {
            spans.key.contains(&offset)
                || spans.value.contains(&offset)
                || spans.value.start == offset
        };
        let here = self.spans.iter().filter(|(_, spans)| is_here(spans));
        here.max_by_key(|(key, _)| key.len())
            .map(|(key, _)| key.clone())
    }

    fn problem(&self, span: Option<Range<usize>>, key: Option<String>, what: String) -> Problem {
        Problem {
            place: Place::File {
                path: self.path.to_owned(),
                at: span.map(|span| Position::of(self.text, span.start)),
            },
            key,
            what,
        }
    }
}
