//! Pauses.

use super::*;

const fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn the_first_start_and_the_first_restart_come_at_once() {
    let mut restarts = Restarts::default();
    assert_eq!(restarts.wait(at(0)), at(0));
    restarts.ended(at(0), at(5), false);
    assert_eq!(restarts.wait(at(5)), at(0));
}

#[test]
fn pauses_double_up_to_a_minute() {
    let mut restarts = Restarts::default();
    let mut pauses = Vec::new();
    for _ in 0..40 {
        restarts.ended(at(100), at(101), false);
        pauses.push(restarts.wait(at(101)).as_secs());
    }
    assert_eq!(pauses[..8], [0, 1, 2, 4, 8, 16, 32, 60]);
    assert!(pauses[8..].iter().all(|pause| *pause == 60));
    assert_eq!(restarts.wait(at(131)), at(30), "the pause runs");
}

#[test]
fn a_good_life_is_a_new_beginning() {
    let mut bad = Restarts::default();
    for _ in 0..5 {
        bad.ended(at(0), at(1), false);
    }
    let mut long = bad.clone();
    long.ended(at(0), at(60), false);
    assert_eq!(long.wait(at(60)), at(0));
    let mut useful = bad.clone();
    useful.ended(at(0), at(1), true);
    assert_eq!(useful.wait(at(1)), at(0));
    bad.ended(at(0), at(59), false);
    assert_eq!(bad.wait(at(59)), at(16), "neither long nor useful");
}
