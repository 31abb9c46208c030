//! When all processes together talk too much.

use std::time::Duration;

use talaria_domain::ids::SessionId;

use super::{Breaker, Verdict};

const ADA: SessionId = SessionId::from_bytes([1; 16]);
const BOB: SessionId = SessionId::from_bytes([2; 16]);

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn filled(second: u64) -> Breaker {
    let mut breaker = Breaker::default();
    for _ in 0..15 {
        assert_eq!(breaker.decide(ADA, at(second)), Verdict::Tell);
    }
    breaker
}

#[test]
fn fifteen_in_ten_seconds_are_told() {
    let mut breaker = filled(0);
    assert_eq!(breaker.decide(ADA, at(10)), Verdict::Tell);
}

#[test]
fn one_more_makes_all_silent_and_everybody_is_told_once() {
    let mut breaker = filled(0);
    let table = [
        (ADA, 9, Verdict::TellSilence),
        (ADA, 9, Verdict::Hold),
        (BOB, 20, Verdict::TellSilence),
        (BOB, 38, Verdict::Hold),
        (ADA, 38, Verdict::Hold),
        (ADA, 39, Verdict::Tell),
        (BOB, 39, Verdict::Tell),
    ];
    for (session, second, expected) in table {
        assert_eq!(breaker.decide(session, at(second)), expected, "at {second}");
    }
}

#[test]
fn a_second_silence_is_told_again() {
    let mut breaker = filled(0);
    breaker.decide(ADA, at(0));
    for _ in 0..15 {
        assert_eq!(breaker.decide(ADA, at(30)), Verdict::Tell);
    }
    assert_eq!(breaker.decide(ADA, at(31)), Verdict::TellSilence);
}

#[test]
fn what_is_remembered_is_bounded() {
    let mut breaker = Breaker::default();
    for second in 0..10_000 {
        breaker.decide(ADA, at(second));
    }
    assert!(breaker.sent.len() <= 15);
}
