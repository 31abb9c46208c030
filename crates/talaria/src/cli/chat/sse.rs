//! Pure: server-sent events from bytes. Pieces may be cut anywhere, also inside a letter.

/// Bytes that are not a whole event yet.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    /// The lines of the event so far.
    content: Vec<String>,
}

/// Something that the server sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sent {
    /// A comment: that it is alive.
    Comment,
    /// An event's content.
    Event(String),
}

impl Decoder {
    /// Takes more bytes in.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next thing that is complete.
    pub(super) fn next(&mut self) -> Option<Sent> {
        while let Some(line) = self.line() {
            if line.is_empty() && !self.content.is_empty() {
                return Some(Sent::Event(std::mem::take(&mut self.content).join("\n")));
            }
            if line.starts_with(':') {
                return Some(Sent::Comment);
            }
            // The event's name is in its content as well.
            if let Some(content) = line.strip_prefix("data:") {
                let content = content.strip_prefix(' ').unwrap_or(content);
                self.content.push(content.to_owned());
            }
        }
        None
    }

    fn line(&mut self) -> Option<String> {
        let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        let line = String::from_utf8_lossy(&line);
        Some(line.trim_end_matches(['\r', '\n']).to_owned())
    }
}

#[cfg(test)]
mod tests;
