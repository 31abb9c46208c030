//! A value together with the JSON that the ledger keeps of it, written out once: a run and its reply keep the same
//! return address, and all runs of a profile the same authority.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use serde::Serialize;

use crate::error::Result;
use crate::value::to_json;

/// A value that goes into several rows. Cheap to copy; it never changes.
#[derive(Debug)]
pub struct Kept<T>(Arc<Inner<T>>);

#[derive(Debug)]
struct Inner<T> {
    value: T,
    json: OnceLock<Box<str>>,
}

impl<T: Serialize> Kept<T> {
    /// Writes it out here and now: there is one writer, who needs it later, and there are many callers.
    pub fn write_out(&self) -> Result<()> {
        self.json().map(drop)
    }

    /// As the ledger keeps it.
    pub(crate) fn json(&self) -> Result<&str> {
        if let Some(json) = self.0.json.get() {
            return Ok(json);
        }
        let json = to_json(&self.0.value)?.into_boxed_str();
        Ok(self.0.json.get_or_init(|| json))
    }
}

impl<T> From<T> for Kept<T> {
    fn from(value: T) -> Self {
        let json = OnceLock::new();
        Self(Arc::new(Inner { value, json }))
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.value
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: PartialEq> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.value == other.0.value
    }
}

impl<T: Eq> Eq for Kept<T> {}
