//! Pure: nothing on the way of a message asks again and again. What waits, waits for the event. A pause in a loop is
//! legitimate where time itself is what is waited for (a lease to renew, a vendor or a ledger that is away): the line
//! above it says why, after `// Not polling:`.

use super::{Finding, SourceFile};

/// Where messages walk through.
const ON_THE_WAY: &str = "agents|gateway|platforms|server|store";
const TICKS: &str = "interval(|interval_at(";
const PAUSES: &str = "sleep(|park_timeout(";
const LOOPS: &str = "loop|while|for";
const REASON: &str = "// Not polling: ";
/// A reason has at least so many words.
const FEWEST_WORDS: usize = 3;

pub(super) fn unexplained(file: &SourceFile) -> Vec<Finding> {
    let mut path = file.path.split('/');
    let is_on_the_way = path.next() == Some("crates")
        && path.next().is_some_and(|name| is_one_of(ON_THE_WAY, name))
        && path.next() == Some("src")
        && !file.is_test();
    if !is_on_the_way {
        return Vec::new();
    }
    let lines: Vec<_> = file.text.lines().collect();
    let finding = |at: usize| Some(file.finding(at + 1, complaint(&lines, at)?));
    (0..lines.len()).filter_map(finding).collect()
}

fn complaint(lines: &[&str], at: usize) -> Option<String> {
    let line = *lines.get(at)?;
    let called = |names: &str| names.split('|').any(|name| calls(line, name));
    let what = if called(TICKS) {
        "a tick"
    } else if called(PAUSES) && is_in_a_loop(lines, at) {
        "a pause in a loop"
    } else {
        return None;
    };
    let above = at.checked_sub(1).and_then(|above| lines.get(above));
    let is_reason = |line: &&str| {
        let reason = line.trim_start().strip_prefix(REASON);
        reason.is_some_and(|reason| reason.split_whitespace().count() >= FEWEST_WORDS)
    };
    (!above.is_some_and(is_reason)).then(|| {
        format!("{what}: wait for the event, or say why not in the line above, after `{REASON}`")
    })
}

/// Whether a line calls a function of this name: free or by its path, not a method or another's end.
fn calls(line: &str, name: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let belongs = |before: &str| {
        let is_longer = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '.');
        let is_declared = before.ends_with("fn ");
        !is_longer && !is_declared
    };
    let mut found = code.match_indices(name);
    found.any(|(at, _)| code.get(..at).is_some_and(belongs))
}

/// Whether a line stands in the body of a loop. Lines are indented as rustfmt does: each line above that is less far to
/// the right than all between is around it.
fn is_in_a_loop(lines: &[&str], at: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut outer = lines.get(at).map_or(0, |line| indent(line));
    for line in lines.iter().take(at).rev() {
        if line.trim().is_empty() || indent(line) >= outer {
            continue;
        }
        // A brace on a line of its own belongs to what began above it, just as far to the right.
        outer = indent(line) + usize::from(line.trim() == "{");
        let mut words = line.split_whitespace();
        let first = words.find(|word| !word.starts_with('\''));
        if first.is_some_and(|word| is_one_of(LOOPS, word)) {
            return true;
        }
    }
    false
}

fn is_one_of(list: &str, word: &str) -> bool {
    list.split('|').any(|listed| listed == word)
}
