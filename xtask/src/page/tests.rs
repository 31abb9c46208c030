//! What counts as the whole life of a message.

use super::tells_a_life;

#[test]
fn a_trace_tells_of_the_event_its_run_the_reply_and_its_delivery_in_this_order() {
    let whole =
        "+0 s  arrived: message 1\n+1 s  run 2: attempt 1\n+2 s  reply 3: final, delivered\n";
    assert!(tells_a_life(whole).is_ok());
    for stage in ["arrived: ", "run ", ": final, delivered"] {
        assert!(tells_a_life(&whole.replace(stage, "")).is_err(), "{stage}");
    }
    let backwards: Vec<_> = whole.lines().rev().collect();
    assert!(tells_a_life(&backwards.join("\n")).is_err());
    assert!(tells_a_life("").is_err());
}
