//! What the documentation says is held is shown by a test that is there.

use std::collections::BTreeSet;
use std::path::Path;

/// The names of all functions below a directory.
fn functions(directory: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            found.extend(text.split("fn ").skip(1).filter_map(name));
        }
    }
}

fn name(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let end = text.find(|c: char| !is_part(c))?;
    text.get(..end).map(str::to_owned)
}

#[test]
fn every_test_that_the_documentation_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/runner-protocol.md")).unwrap();
    let (_, held) = page.split_once("## What is held").unwrap();
    let last_column = |line: &str| {
        let cells: Vec<&str> = line.split('|').collect();
        cells.iter().rev().nth(1).map(|cell| (*cell).to_owned())
    };
    let mut there = BTreeSet::new();
    functions(&root.join("crates"), &mut there);
    let mut named = 0;
    for line in held.lines().filter(|line| line.starts_with("| ")) {
        let cell = last_column(line).unwrap();
        for test in cell.split('`').skip(1).step_by(2) {
            named += 1;
            assert!(there.contains(test), "{test} is named and not there");
        }
    }
    assert!(named > 250, "only {named} tests are named");
}
