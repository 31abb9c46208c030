//! What a source file must have in it, and what it must not.

use super::{Finding, SourceFile};

const MOST_LINES: usize = 600;
const PURE_CRATE: &str = "crates/domain/";
const RUNTIME: &str = "tokio::|std::fs|TcpStream|TcpListener|UdpSocket|std::process|std::thread|reqwest|rusqlite|\
                       postgres::|axum|async fn|.await";
const SLEEP: &str = "thread::sleep|time::sleep";
/// Less its tildes, which keep this file from breaking its own rule.
const UNFINISHED: &str = "TO~DO|FIX~ME|XX~X|to~do!|unimple~mented!|#[ig~nore";

pub(super) fn length_and_header(file: &SourceFile) -> Vec<Finding> {
    let lines = file.text.lines().count();
    let long = format!("{lines} lines, at most {MOST_LINES}: split the file by what it owns");
    let bare = "no `//!` header: say what the file owns and the invariant it keeps".to_owned();
    let mut start = file.text.lines().take(3);
    let has_header = start.any(|line| line.starts_with("//!"));
    let length = (lines > MOST_LINES).then(|| file.finding(MOST_LINES + 1, long));
    let header = (!has_header).then(|| file.finding(1, bare));
    length.into_iter().chain(header).collect()
}

/// All of the domain is pure, and each file that says so in a line of its header.
pub(super) fn runtime_in_pure(file: &SourceFile) -> Vec<Finding> {
    let mut header = file.text.lines().take_while(|line| line.starts_with("//!"));
    let says_so = header.any(|line| line.starts_with("//! Pure:"));
    if !says_so && !file.path.starts_with(PURE_CRATE) {
        return Vec::new();
    }
    mentions(file, RUNTIME, "in a pure file: leave it to the driver")
}

pub(super) fn sleep_in_tests(file: &SourceFile) -> Vec<Finding> {
    if !file.is_test() {
        return Vec::new();
    }
    mentions(file, SLEEP, "in a test: wait on a signal")
}

pub(super) fn unfinished(files: &[SourceFile]) -> Vec<Finding> {
    let needles = UNFINISHED.replace('~', "");
    let in_file = |file| mentions(file, &needles, "is left: finish it, or leave it out");
    files.iter().flat_map(in_file).collect()
}

fn mentions(file: &SourceFile, needles: &str, complaint: &str) -> Vec<Finding> {
    file.complain(|line| {
        let needle = needles.split('|').find(|needle| line.contains(needle))?;
        Some(format!("`{needle}` {complaint}"))
    })
}
