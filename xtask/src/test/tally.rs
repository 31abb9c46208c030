//! Counts tests by what their binaries print, doc tests among them.
//!
//! Pure: lines in, counts out.
//!
//! The totals come from the result line of each binary; a binary that dies before its result
//! line has failed every test that it announced and did not report as ok.

use anyhow::bail;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    passed: u64,
    failed: u64,
    sqlite: u64,
    postgres: u64,
    is_begun: bool,
    open: Option<Binary>,
}

/// A test binary between its first line and its result.
#[derive(Debug, PartialEq, Eq)]
struct Binary {
    announced: u64,
    ok: u64,
}

impl Tally {
    pub(super) fn read(&mut self, line: &str) {
        let line = line.trim_end();
        if let Some(announced) = announced(line) {
            self.end();
            self.is_begun = true;
            self.open = Some(Binary { announced, ok: 0 });
        } else if let Some(result) = line.strip_prefix("test result: ") {
            self.open = None;
            self.passed += count(result, "passed");
            self.failed += count(result, "failed");
        } else if let Some(name) = passed_test(line) {
            self.sqlite += u64::from(name.ends_with("::sqlite"));
            self.postgres += u64::from(name.ends_with("::postgres"));
            if let Some(binary) = &mut self.open {
                binary.ok += 1;
            }
        }
    }

    /// No more lines come, from this binary at least.
    pub(super) fn end(&mut self) {
        if let Some(binary) = self.open.take() {
            self.passed += binary.ok;
            self.failed += binary.announced.saturating_sub(binary.ok);
        }
    }

    /// Whether any test binary was seen.
    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    pub(super) fn totals(&self) -> String {
        format!("{} passed, {} failed", self.passed, self.failed)
    }

    pub(super) fn engines(&self) -> String {
        let (sqlite, postgres) = (self.sqlite, self.postgres);
        format!("store tests: {sqlite} on sqlite, {postgres} on postgres")
    }

    pub(super) fn check_engines(&self) -> anyhow::Result<()> {
        match (self.sqlite, self.postgres) {
            (0, _) | (_, 0) => bail!("an engine has no test that passed"),
            (sqlite, postgres) if sqlite != postgres => bail!("the engines passed different tests"),
            _ => Ok(()),
        }
    }
}

/// `running 3 tests`
fn announced(line: &str) -> Option<u64> {
    let (number, noun) = line.strip_prefix("running ")?.split_once(' ')?;
    matches!(noun, "test" | "tests").then(|| number.parse().ok())?
}

/// `test a::name ... ok`
fn passed_test(line: &str) -> Option<&str> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... ok")?;
    Some(name.strip_suffix(" - should panic").unwrap_or(name))
}

/// The 12 of `ok. 12 passed; 0 failed; ...`
fn count(result: &str, label: &str) -> u64 {
    let mut words = result.split([' ', ';']).rev();
    words.find(|word| *word == label);
    words.next().and_then(|word| word.parse().ok()).unwrap_or(0)
}
