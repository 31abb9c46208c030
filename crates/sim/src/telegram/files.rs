//! Files, by the id that is told and by the path that they are fetched at ("File").
//!
//! Pure: contents in, places out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) path: String,
    pub(super) content: Vec<u8>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Files(BTreeMap<String, Stored>);

impl Files {
    /// Keeps a file; gives what every kind of file has in common.
    pub(super) fn keep(&mut self, name: &str, content: Vec<u8>) -> Value {
        let number = self.0.len() + 1;
        let id = format!("BQACAgIAAxkBAAI{number:08}");
        let ending = name.rsplit_once('.').map_or("bin", |(_, ending)| ending);
        let about = json!({
            "file_id": id,
            "file_unique_id": format!("AgAD{number:08}"),
            "file_size": content.len(),
        });
        let path = format!("documents/file_{number}.{ending}");
        self.0.insert(id, Stored { path, content });
        about
    }

    /// The file with this id.
    pub(super) fn with_id(&self, id: &str) -> Option<&Stored> {
        self.0.get(id)
    }

    /// What is at this path.
    pub(super) fn at(&self, path: &str) -> Option<&Stored> {
        self.0.values().find(|stored| stored.path == path)
    }
}
