//! Cuts what a runner prints into lines of a bounded length. A longer one is passed over to its end: its beginning and
//! its end are kept, so that it can be told whose it was, and nothing else of it is ever held.
//!
//! Pure: bytes in, frames out.

#[cfg(test)]
mod tests;

/// What is kept of each end of a line that is too long.
const KEPT: usize = 1024;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Frame {
    /// Without its end.
    Line(Vec<u8>),
    /// It was longer than it may be.
    TooLong(Excess),
}

/// What is known of a line that was passed over.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Excess {
    /// How long it was.
    pub(super) bytes: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// What was read and is not a whole line yet.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    line: Vec<u8>,
    excess: Option<Excess>,
}

impl Lines {
    /// Lines of at most `limit` bytes.
    pub(super) const fn of(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            excess: None,
        }
    }

    /// Takes more, and answers the lines that are whole by it. Blank ones are none.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            self.take(line);
            frames.extend(self.complete());
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.take(bytes);
        frames
    }

    fn take(&mut self, bytes: &[u8]) {
        if let Some(excess) = &mut self.excess {
            excess.take(bytes);
        } else if self.line.len() + bytes.len() > self.limit {
            let mut excess = Excess::default();
            excess.take(&std::mem::take(&mut self.line));
            excess.take(bytes);
            self.excess = Some(excess);
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn complete(&mut self) -> Option<Frame> {
        if let Some(excess) = self.excess.take() {
            return Some(Frame::TooLong(excess));
        }
        let line = std::mem::take(&mut self.line);
        (!line.trim_ascii().is_empty()).then_some(Frame::Line(line))
    }
}

impl Excess {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let room = KEPT.saturating_sub(self.head.len()).min(bytes.len());
        let (first, rest) = bytes.split_at(room);
        self.head.extend_from_slice(first);
        // Only what can still be there at the end is copied.
        let last = &rest[rest.len().saturating_sub(KEPT)..];
        self.tail.extend_from_slice(last);
        let old = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..old);
    }

    /// The text that stands behind a key in what is known of it. No text inside a line looks like a key: its quotation
    /// marks are escaped.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let found = |part: &[u8]| {
            let part = String::from_utf8_lossy(part);
            let (text, _) = behind(&part, key)?.strip_prefix('"')?.split_once('"')?;
            Some(text.to_owned())
        };
        found(&self.head).or_else(|| found(&self.tail))
    }

    /// The id that it asks under, where that stands before its parameters.
    pub(super) fn id(&self) -> Option<serde_json::Value> {
        let head = String::from_utf8_lossy(&self.head);
        let (before, _) = head.split_once("\"params\"")?;
        let rest = behind(before, "id")?;
        let end = rest.find([',', '}'])?;
        let id: serde_json::Value = serde_json::from_str(rest.get(..end)?).ok()?;
        (id.is_string() || id.is_number()).then_some(id)
    }
}

/// What comes after a key and its colon.
fn behind<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("\"{key}\""))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}
