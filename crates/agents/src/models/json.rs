//! JSON that is written straight into the bytes that are sent. A conversation is asked about again with every turn and
//! is almost nothing but words: those that need no escape are found and copied many bytes at a time.
//!
//! Pure: pieces in, bytes out. Whoever writes says what stands between two pieces.

#[cfg(test)]
mod tests;

use serde_json::Value;

/// So many bytes are copied at a time.
const STEP: usize = 32;

/// What is written so far.
#[derive(Debug)]
pub(super) struct Json(Vec<u8>);

impl Json {
    /// Room for so many bytes before it has to grow.
    pub(super) fn with_room(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    /// A piece that is JSON already: brackets, names, and what stands between.
    pub(super) fn raw(&mut self, json: &str) {
        self.0.extend_from_slice(json.as_bytes());
    }

    /// A text.
    pub(super) fn text(&mut self, text: &str) {
        self.0.push(b'"');
        for step in text.as_bytes().chunks(STEP) {
            if has_special(step) {
                for byte in step {
                    self.escape(*byte);
                }
            } else {
                self.0.extend_from_slice(step);
            }
        }
        self.0.push(b'"');
    }

    fn escape(&mut self, byte: u8) {
        match byte {
            b'"' => self.raw(r#"\""#),
            b'\\' => self.raw(r"\\"),
            b'\n' => self.raw(r"\n"),
            b'\r' => self.raw(r"\r"),
            b'\t' => self.raw(r"\t"),
            ..b' ' => self.raw(&format!(r"\u{byte:04x}")),
            _ => self.0.push(byte),
        }
    }

    /// Anything.
    pub(super) fn value(&mut self, value: &Value) {
        self.raw(&value.to_string());
    }

    /// What stands in front of the next of a list: nothing, if it is the first.
    pub(super) fn next(&mut self) {
        if self.0.last() != Some(&b'[') {
            self.raw(",");
        }
    }

    /// The bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// "Strings", RFC 8259: quotes, backslashes and control characters are escaped. All bytes are looked at even after one
/// is found: without a way out, the compiler looks at many of them at once.
fn has_special(bytes: &[u8]) -> bool {
    let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
    bytes
        .iter()
        .fold(false, |found, byte| found | is_special(*byte))
}
