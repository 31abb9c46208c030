//! The terminal: the only file that prints. Results go to standard output, everything about them to standard error;
//! colours only where a person looks at it and did not refuse them.

use std::io::{self, IsTerminal as _, Write as _};

use serde_json::Value;

use crate::config::Environment;

/// What the text of this process may look like.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    is_coloured: bool,
}

/// How a piece of text looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Beside the point.
    Dim,
    /// A heading.
    Bold,
    /// As it should be.
    Good,
    /// Worth a look.
    Doubtful,
    /// Not as it should be.
    Bad,
}

impl Style {
    /// Looks at who is listening.
    pub(crate) fn detect(environment: &Environment) -> Self {
        Self {
            is_coloured: io::stdout().is_terminal() && !environment.is_colourless(),
        }
    }

    /// Whether colours may be used.
    pub(crate) const fn is_coloured(self) -> bool {
        self.is_coloured
    }

    /// A text in a look, or as it is where there are no colours.
    pub(crate) fn paint(self, look: Look, text: &str) -> String {
        let code = match look {
            _ if !self.is_coloured || text.is_empty() => return text.to_owned(),
            Look::Dim => 2,
            Look::Bold => 1,
            Look::Good => 32,
            Look::Doubtful => 33,
            Look::Bad => 31,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Whether a person looks at the result.
pub(crate) fn is_for_people() -> bool {
    io::stdout().is_terminal()
}

/// A line of the result. That nobody reads it any more is no error of ours.
pub(crate) fn line(text: &str) {
    drop(writeln!(io::stdout(), "{text}"));
}

/// A result for programs.
pub(crate) fn json(value: &Value) {
    line(&format!("{value:#}"));
}

/// A piece of the result at once, without a line's end; says whether anybody still reads it.
pub(crate) fn piece(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// A line about the result.
pub(crate) fn remark(text: &str) {
    drop(writeln!(io::stderr(), "{text}"));
}
