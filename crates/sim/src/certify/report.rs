//! What was found about an adapter, as a table.

use std::io::{self, Write};

/// What became of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It does not.
    Fails(String),
    /// There is nothing to check, and why.
    Absent(String),
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What was checked.
    pub name: &'static str,
    /// What became of it.
    pub verdict: Verdict,
}

impl Finding {
    /// Whether it does not hold.
    pub const fn has_failed(&self) -> bool {
        matches!(self.verdict, Verdict::Fails(_))
    }
}

/// Prints the table.
pub(super) fn print(
    mut out: impl Write,
    title: &str,
    findings: &[Finding],
    is_markdown: bool,
) -> io::Result<()> {
    if is_markdown {
        writeln!(out, "| {title} | |\n|---|---|")?;
    } else {
        writeln!(out, "{title}")?;
    }
    for Finding { name, verdict } in findings {
        let said = match verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Fails(why) => format!("FAILS: {why}"),
            Verdict::Absent(why) => format!("absent: {why}"),
        };
        if is_markdown {
            writeln!(out, "| {name} | {said} |")?;
        } else {
            writeln!(out, "  {name:<60} {said}")?;
        }
    }
    Ok(())
}
