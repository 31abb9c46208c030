//! JSON as it is kept and sent, written into one buffer with room for most of it. What everybody writes many times a turn
//! is written by the same few lines.

use std::io;

use serde::Serialize;

/// A value as JSON, in a buffer that begins with so much room.
pub fn bytes(value: &impl Serialize, room: usize) -> serde_json::Result<Vec<u8>> {
    let mut text = Vec::with_capacity(room);
    append(&mut text, value)?;
    Ok(text)
}

/// Writes a value at the end of a text. There are no line breaks in it.
pub fn append(text: &mut Vec<u8>, value: &impl Serialize) -> serde_json::Result<()> {
    serde_json::to_writer(Signs(text), value)
}

/// Most of what is written is single signs: quotes, colons, commas. Pushing one is a fraction of appending a slice.
struct Signs<'a>(&'a mut Vec<u8>);

impl io::Write for Signs<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match bytes {
            [sign] => self.0.push(*sign),
            _ => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    //! What is written is what is meant.

    use serde_json::{Value, json};

    use super::{append, bytes};

    #[test]
    fn a_value_is_read_back_and_stands_in_one_line() {
        let value = json!({ "a": [1, "\"quoted\"\n", null], "b": { "c": "日本" } });
        let written = bytes(&value, 4).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), value);
        assert!(!written.contains(&b'\n'));
    }

    #[test]
    fn what_stood_there_stays() {
        let mut text = b"data: ".to_vec();
        append(&mut text, &json!([1])).unwrap();
        assert_eq!(text, b"data: [1]");
    }
}
