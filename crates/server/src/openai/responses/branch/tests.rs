//! What was known when.

use super::*;

fn entry(seq: i64, speaker: Speaker, visibility: Visibility) -> Entry {
    Entry {
        seq,
        speaker,
        text: seq.to_string(),
        detail: serde_json::Value::Null,
        run: None,
        visibility,
        at: Timestamp::ZERO,
    }
}

fn known(entries: &[Entry], end: i64) -> String {
    let known = known_at(entries.to_vec(), end);
    known.map(|said| said.text).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_branch_knows_what_was_known_then() {
    use Speaker::{System, User};
    use Visibility::{Compacted, Shown, Undone};
    let plain = [
        entry(1, User, Shown),
        entry(2, User, Undone),
        entry(3, User, Shown),
    ];
    assert_eq!(known(&plain, 3), "1 3");
    assert_eq!(known(&plain, 2), "1");
    assert_eq!(known(&plain, 0), "");
    let summed_up = [
        entry(1, User, Compacted),
        entry(2, User, Compacted),
        entry(3, User, Shown),
        entry(4, System, Shown),
        entry(5, User, Shown),
    ];
    assert_eq!(known(&summed_up, 2), "1 2", "before it was summed up");
    assert_eq!(known(&summed_up, 5), "3 4 5", "after it was");
}
