//! Server-sent events, as far as models use them: bytes in, events out, however the network cut the bytes.
//!
//! Pure: lines may end in LF, CR or both; comments and unknown fields are skipped; a line that never ends is refused.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use memchr::memchr2;

/// Longer lines and events than this are no piece of an answer.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// One event.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Event {
    /// Its name; empty where the server gives none.
    pub(super) name: String,
    /// What it says.
    pub(super) data: String,
}

/// The server sends a line or an event without an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Endless;

/// Turns bytes into events.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// A line whose end has not come yet.
    line: Vec<u8>,
    pending: Option<Event>,
    /// The last byte was a CR: an LF after it ends the same line.
    is_after_cr: bool,
    is_past_mark: bool,
}

impl Decoder {
    /// Takes the next bytes and answers the events that they complete.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Endless> {
        let mut events = Vec::new();
        let mut rest = bytes;
        if self.is_after_cr {
            self.is_after_cr = rest.is_empty();
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(at) = memchr2(b'\n', b'\r', rest) {
            let (line, end) = rest.split_at(at);
            events.extend(self.end_line(line));
            self.is_after_cr = end == b"\r";
            rest = end.strip_prefix(b"\r\n").unwrap_or_else(|| &end[1..]);
        }
        self.line.extend_from_slice(rest);
        let held = self.pending.as_ref().map_or(0, |event| event.data.len());
        if self.line.len() + held > MOST_BYTES {
            return Err(Endless);
        }
        Ok(events)
    }

    /// The event that was complete but for its blank line: some servers close without it. Half a line is dropped.
    pub(super) fn finish(mut self) -> Option<Event> {
        self.dispatch()
    }

    /// `end` is what came last of the line: most often all of it, which is then read where it is.
    fn end_line(&mut self, end: &[u8]) -> Option<Event> {
        if self.line.is_empty() {
            return self.read_line(&text(end));
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(end);
        let event = self.read_line(&text(&line));
        line.clear();
        // The next line needs room, too.
        self.line = line;
        event
    }

    fn read_line(&mut self, line: &str) -> Option<Event> {
        let line = if self.is_past_mark {
            line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        };
        self.is_past_mark = true;
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event().name),
            "data" => {
                let data = &mut self.event().data;
                if !data.is_empty() {
                    data.push('\n');
                }
                data.push_str(value);
            }
            _ => {}
        }
        None
    }

    fn event(&mut self) -> &mut Event {
        self.pending.get_or_insert_default()
    }

    fn dispatch(&mut self) -> Option<Event> {
        self.pending.take().filter(|event| !event.data.is_empty())
    }
}

/// What is not UTF-8 is replaced. Looking whether something has to be is much cheaper than replacing.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
