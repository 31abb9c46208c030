//! What a command printed, shortened in the middle: start and end are kept, and a line says how much is left out.
//!
//! Pure: bytes in, text out. However much is printed, what is held is bounded.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

/// Of the start, and of the end.
const MOST_BYTES: usize = 25_000;

/// What a command printed.
#[derive(Debug, Default)]
pub(super) struct Capture {
    start: Vec<u8>,
    end: VecDeque<u8>,
    left_out: u64,
}

impl Capture {
    /// Takes more.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = MOST_BYTES - self.start.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.start.extend_from_slice(first);
        self.end.extend(rest);
        let excess = self.end.len().saturating_sub(MOST_BYTES);
        self.end.drain(..excess);
        self.left_out += excess as u64;
    }

    /// All of it as text. What is no text is replaced by a mark; so is the null character, which not every store keeps.
    pub(super) fn complete(mut self) -> String {
        let end = self.end.make_contiguous();
        if self.left_out == 0 {
            self.start.extend_from_slice(end);
            return readable(&self.start);
        }
        let start = &self.start[..self.start.len() - cut_letter(&self.start)];
        let rest = end.iter().position(|byte| !is_continuation(*byte));
        let end = &end[rest.unwrap_or(end.len())..];
        let (start, end) = (readable(start), readable(end));
        format!(
            "{start}\n[{} bytes are left out here]\n{end}",
            self.left_out
        )
    }
}

fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

const fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// How many bytes at the end are the start of a letter whose rest was left out.
fn cut_letter(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => bytes.len() - error.valid_up_to(),
        _ => 0,
    }
}
