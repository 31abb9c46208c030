//! What a method is called with, in all four ways that "Making requests" allows: the address, a form, JSON, or a form with
//! files. A value that is an object may be written as text.
//!
//! Pure: bytes in, values out.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

/// A file that came with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Uploaded {
    pub(super) name: String,
    pub(super) media_type: String,
    pub(super) content: Vec<u8>,
}

/// What a method is called with.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Parameters {
    values: BTreeMap<String, Value>,
    files: BTreeMap<String, Uploaded>,
}

impl Parameters {
    /// Reads the query and the body, whatever that is.
    pub(super) fn read(query: &str, media_type: &str, body: &[u8]) -> Self {
        let mut read = Self::default();
        read.form(query.as_bytes());
        if media_type.starts_with("application/json") {
            if let Ok(Value::Object(fields)) = serde_json::from_slice(body) {
                read.values.extend(fields);
            }
        } else if let Some((_, boundary)) = media_type.split_once("boundary=") {
            read.multipart(boundary.trim_matches('"'), body);
        } else {
            read.form(body);
        }
        read
    }

    fn form(&mut self, body: &[u8]) {
        for pair in body.split(|byte| *byte == b'&') {
            let mut halves = pair.splitn(2, |byte| *byte == b'=');
            let (name, value) = (halves.next(), halves.next());
            if let (Some(name), Some(value)) = (name, value) {
                self.values.insert(decoded(name), decoded(value).into());
            }
        }
    }

    fn multipart(&mut self, boundary: &str, body: &[u8]) {
        let boundary = format!("--{boundary}");
        for part in pieces(body, boundary.as_bytes()) {
            let Some(end) = find(part, b"\r\n\r\n") else {
                continue;
            };
            let head = String::from_utf8_lossy(&part[..end]).into_owned();
            let content = &part[end + 4..];
            let content = content.strip_suffix(b"\r\n").unwrap_or(content);
            let Some(name) = quoted(&head, "name") else {
                continue;
            };
            match quoted(&head, "filename") {
                Some(file) => {
                    let uploaded = Uploaded {
                        name: file,
                        media_type: header(&head, "content-type").unwrap_or_default(),
                        content: content.to_vec(),
                    };
                    self.files.insert(name, uploaded);
                }
                None => {
                    let text = String::from_utf8_lossy(content).into_owned();
                    self.values.insert(name, text.into());
                }
            }
        }
    }

    /// Everything that is no file.
    pub(super) fn shown(&self) -> Value {
        let files = self.files.iter().map(|(name, file)| {
            let shown = format!("[{} bytes of {}]", file.content.len(), file.name);
            (name.clone(), Value::from(shown))
        });
        let values = self.values.iter();
        let values = values.map(|(name, value)| (name.clone(), value.clone()));
        Value::Object(values.chain(files).collect())
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).and_then(Value::as_str)
    }

    /// A number.
    pub(super) fn number(&self, name: &str) -> Option<i64> {
        match self.values.get(name)? {
            Value::String(text) => text.parse().ok(),
            other => other.as_i64(),
        }
    }

    /// Whether something is wanted.
    pub(super) fn flag(&self, name: &str) -> bool {
        match self.values.get(name) {
            Some(Value::String(text)) => matches!(text.as_str(), "true" | "True" | "1"),
            Some(other) => other.as_bool().unwrap_or(false),
            None => false,
        }
    }

    /// An object or a list, however it is written.
    pub(super) fn json(&self, name: &str) -> Option<Value> {
        match self.values.get(name)? {
            Value::String(text) => serde_json::from_str(text).ok(),
            other => Some(other.clone()),
        }
    }

    /// A file: the field itself, or what `attach://` in it names.
    pub(super) fn file(&self, name: &str) -> Option<&Uploaded> {
        let attached = self
            .text(name)
            .and_then(|text| text.strip_prefix("attach://"));
        self.files.get(attached.unwrap_or(name))
    }
}

fn decoded(text: &[u8]) -> String {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let hex = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = hex.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        rest = after;
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            (b'+', _) => bytes.push(b' '),
            (other, _) => bytes.push(*other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

fn pieces<'a>(body: &'a [u8], boundary: &[u8]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = body;
    while let Some(at) = find(rest, boundary) {
        pieces.push(&rest[..at]);
        rest = &rest[at + boundary.len()..];
    }
    pieces
}

fn header(head: &str, name: &str) -> Option<String> {
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut found = lines.filter(|(other, _)| other.trim().eq_ignore_ascii_case(name));
    found.next().map(|(_, value)| value.trim().to_owned())
}

fn quoted(head: &str, name: &str) -> Option<String> {
    let disposition = header(head, "content-disposition")?;
    let mut said = disposition.split(';').map(str::trim);
    let value = said.find_map(|said| said.strip_prefix(name)?.strip_prefix("=\""))?;
    Some(value.trim_end_matches('"').to_owned())
}
