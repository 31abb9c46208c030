//! What of a process's output is told while it runs: lines with one of its patterns in them, few at a time and not too
//! often. A pattern that goes on and on disables itself, and the end of the process is told instead.
//!
//! Pure: bytes and the time in, notices out. What is held is bounded, however much is printed.

#[cfg(test)]
mod tests;

use std::time::Duration;

/// Most lines in one notice.
const MOST_LINES: usize = 20;
/// Most characters in one notice.
const MOST_CHARS: usize = 2_000;
/// One notice in this time; what matches meanwhile is counted.
const WINDOW: Duration = Duration::from_secs(15);
/// So many windows in a row in which something was left out are enough.
const STRIKES: u32 = 3;
/// More of a line is not held; a match across the cut is still found.
const MOST_OF_A_LINE: usize = 8 * 1024;

/// Looks for patterns in what one process prints.
#[derive(Debug)]
pub(super) struct Watch {
    patterns: Vec<String>,
    line: Vec<u8>,
    is_line_told: bool,
    found: Found,
    suppressed: u64,
    window_ends: Option<Duration>,
    has_drops: bool,
    strikes: u32,
    is_disabled: bool,
}

/// What was found and not decided about yet.
#[derive(Debug, Default)]
struct Found {
    lines: Vec<String>,
    chars: usize,
    count: u64,
}

/// Something to tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notice {
    /// Lines matched.
    Matched {
        /// The first of them.
        lines: Vec<String>,
        /// How many there were in all.
        count: u64,
        /// How many were not told before.
        suppressed: u64,
    },
    /// It was too much: nothing more is looked for, and the end is told instead.
    Disabled {
        /// How many were not told.
        suppressed: u64,
    },
}

impl Notice {
    /// How many matches it stands for.
    pub(super) const fn matches(&self) -> u64 {
        match self {
            Self::Matched {
                count, suppressed, ..
            } => *count + *suppressed,
            Self::Disabled { suppressed } => *suppressed,
        }
    }
}

impl Watch {
    /// Looks for these. An empty one would match everything, and is left out.
    pub(super) fn of(patterns: Vec<String>) -> Self {
        let mut patterns = patterns;
        patterns.retain(|pattern| !pattern.is_empty());
        Self {
            patterns,
            line: Vec::new(),
            is_line_told: false,
            found: Found::default(),
            suppressed: 0,
            window_ends: None,
            has_drops: false,
            strikes: 0,
            is_disabled: false,
        }
    }

    /// Takes what was printed next, cut wherever it was cut.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        if self.is_disabled {
            return;
        }
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            self.lengthen(piece);
            if pieces.peek().is_some() {
                self.look();
                self.line.clear();
                self.is_line_told = false;
            }
        }
    }

    /// What there is to tell. A line that is not complete counts, and is told once.
    pub(super) fn notice(&mut self, now: Duration) -> Option<Notice> {
        self.look();
        let found = std::mem::take(&mut self.found);
        if found.count == 0 || self.is_disabled {
            return None;
        }
        if self.window_ends.is_some_and(|end| now < end) {
            return self.hold_back(found.count);
        }
        if !self.has_drops {
            self.strikes = 0;
        }
        self.has_drops = false;
        self.window_ends = Some(now + WINDOW);
        Some(Notice::Matched {
            lines: found.lines,
            count: found.count,
            suppressed: std::mem::take(&mut self.suppressed),
        })
    }

    /// A notice could not be told: the next one says how much that was.
    pub(super) fn take_back(&mut self, notice: &Notice) {
        self.suppressed += notice.matches();
    }

    /// Nothing more is looked for.
    pub(super) fn disable(&mut self) {
        self.is_disabled = true;
        self.line = Vec::new();
    }

    fn hold_back(&mut self, count: u64) -> Option<Notice> {
        self.suppressed += count;
        if !self.has_drops {
            self.has_drops = true;
            self.strikes += 1;
        }
        if self.strikes < STRIKES {
            return None;
        }
        self.disable();
        let suppressed = std::mem::take(&mut self.suppressed);
        Some(Notice::Disabled { suppressed })
    }

    /// Adds to the line that is being printed.
    fn lengthen(&mut self, piece: &[u8]) {
        for part in piece.chunks(MOST_OF_A_LINE) {
            self.line.extend_from_slice(part);
            if self.line.len() > MOST_OF_A_LINE {
                self.look();
                let longest = self.patterns.iter().map(String::len).max().unwrap_or(0);
                let excess = self.line.len().saturating_sub(longest.saturating_sub(1));
                self.line.drain(..excess);
            }
        }
    }

    /// Whether the line as it stands matches.
    fn look(&mut self) {
        if self.is_line_told || self.is_disabled {
            return;
        }
        let line = String::from_utf8_lossy(&self.line);
        if self.patterns.iter().any(|it| line.contains(it.as_str())) {
            self.is_line_told = true;
            self.found.add(line.trim_end_matches('\r'));
        }
    }
}

impl Found {
    fn add(&mut self, line: &str) {
        self.count += 1;
        let room = MOST_CHARS.saturating_sub(self.chars);
        if self.lines.len() == MOST_LINES || room == 0 {
            return;
        }
        let line: String = line.chars().take(room).collect();
        self.chars += line.chars().count();
        self.lines.push(line.replace('\0', "\u{fffd}"));
    }
}
