//! Numbers for chats, people and topics that a story calls by name, and back. A name that is a number stands for itself.
//!
//! Pure: names in, numbers out.

use std::collections::BTreeMap;

/// The names of one kind of thing.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: BTreeMap<String, i64>,
    names: BTreeMap<i64, String>,
}

impl Names {
    /// The number of what has this name; `make` gives the n-th that is needed.
    pub(super) fn number(&mut self, name: &str, make: fn(i64) -> i64) -> i64 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let count = i64::try_from(self.numbers.len()).unwrap_or(i64::MAX);
        let number = name.parse().unwrap_or_else(|_| make(count + 1));
        self.bind(name, number);
        number
    }

    /// The number of what was called so before.
    pub(super) fn known(&self, name: &str) -> Option<i64> {
        self.numbers.get(name).copied()
    }

    /// From now on this name has this number.
    pub(super) fn bind(&mut self, name: &str, number: i64) {
        self.numbers.insert(name.to_owned(), number);
        self.names.insert(number, name.to_owned());
    }

    /// The name of what has this number, if somebody called it so.
    pub(super) fn name(&self, number: i64) -> Option<&str> {
        self.names.get(&number).map(String::as_str)
    }
}
