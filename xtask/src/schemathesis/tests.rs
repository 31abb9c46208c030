//! When a gateway is at rest.

use super::is_at_rest;

fn status(claimed: i64, dead: i64, state: &str) -> String {
    format!(
        "{{\"inbox\": {{\"queued\": 0, \"claimed\": {claimed}}},\n \"lanes\": {{\"running\": 0}},\n \
         \"dead\": {dead}, \"parts\": [{{\"name\": \"store\", \"state\": \"{state}\"}}]}}"
    )
}

#[test]
fn nothing_is_under_way_given_up_or_unwell() {
    assert!(is_at_rest(&status(0, 0, "connected")).is_ok());
    assert!(is_at_rest(&status(1, 0, "connected")).is_err());
    assert!(is_at_rest(&status(0, 1, "connected")).is_err());
    assert!(is_at_rest(&status(0, 0, "stopped")).is_err());
    assert!(is_at_rest("no status").is_err());
}
