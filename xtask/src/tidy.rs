//! The house rules that clippy cannot see. There is no list of exceptions.
//!
//! A rule is a pure function from a Rust file, or from all files, to findings. It stands below
//! `tidy/` and has one line in a table here. Walking the tree and printing are the rest.

mod arrows;
mod contents;
mod migrations;
mod names;
mod platforms;
mod polling;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use crate::{command, output};

type FileRule = fn(&SourceFile) -> Vec<Finding>;
type TreeRule = fn(&[SourceFile]) -> Vec<Finding>;

const RUST_RULES: [FileRule; 6] = [
    contents::length_and_header,
    contents::runtime_in_pure,
    contents::sleep_in_tests,
    names::banned_in_path,
    names::banned_in_items,
    polling::unexplained,
];
const TREE_RULES: [TreeRule; 4] = [
    contents::unfinished,
    platforms::strays,
    arrows::wrong,
    migrations::changed,
];

struct SourceFile {
    /// From the root of the workspace.
    path: String,
    text: String,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl SourceFile {
    fn is_rust(&self) -> bool {
        Path::new(&self.path).extension() == Some("rs".as_ref())
    }

    fn is_test(&self) -> bool {
        let mut parts = self.path.rsplit('/');
        let is_named_so = |name: &str| name == "tests.rs" || name.ends_with("_tests.rs");
        parts.next().is_some_and(is_named_so) || parts.any(|folder| folder == "tests")
    }

    fn finding(&self, line: usize, message: String) -> Finding {
        Finding {
            path: self.path.clone(),
            line,
            message,
        }
    }

    /// A finding for each line that there is a complaint about.
    fn complain(&self, mut complaint: impl FnMut(&str) -> Option<String>) -> Vec<Finding> {
        let finding = |(line, number)| Some(self.finding(number, complaint(line)?));
        self.text.lines().zip(1..).filter_map(finding).collect()
    }
}

pub(crate) fn run() -> anyhow::Result<ExitCode> {
    Ok(ExitCode::from(u8::from(check()? > 0)))
}

/// Prints what is wrong in the tree and answers how much that is.
pub(crate) fn check() -> anyhow::Result<usize> {
    let files = read_tree(command::root())?;
    let findings = findings(&files);
    for found in &findings {
        output::line(&format!("{}:{}: {}", found.path, found.line, found.message));
    }
    output::line(&match findings.len() {
        0 => format!("tidy: clean, {} files", files.len()),
        count => format!("tidy: {count} findings"),
    });
    Ok(findings.len())
}

fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let by_file = |file| RUST_RULES.iter().flat_map(move |rule| rule(file));
    let by_tree = TREE_RULES.iter().flat_map(|rule| rule(files));
    let rust = files.iter().filter(|file| file.is_rust());
    let mut findings: Vec<_> = rust.flat_map(by_file).chain(by_tree).collect();
    findings.sort();
    findings
}

fn read_tree(root: &Path) -> anyhow::Result<Vec<SourceFile>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
            if kind.is_dir() && name != "target" && name != ".git" {
                folders.push(path);
            } else if kind.is_file() && is_read(&name) {
                let text = fs::read_to_string(&path).with_context(|| format!("read {name}"))?;
                files.push(SourceFile { path: name, text });
            }
        }
    }
    Ok(files)
}

fn is_read(name: &str) -> bool {
    let ends = [".rs", ".sql", "Cargo.toml", "/RELEASED"];
    ends.iter().any(|end| name.ends_with(end))
}
