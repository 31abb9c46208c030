//! What is taken and what is not.

use super::*;

const fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_second_s_worth_comes_at_once_and_then_evenly() {
    let mut pace = Pace::per_second(10);
    let taken = (0..100).filter(|_| pace.takes(at(5_000))).count();
    assert_eq!(taken, 10);
    assert!(!pace.takes(at(5_099)), "the next one is due after a tenth");
    assert!(pace.takes(at(5_100)));
    assert!(!pace.takes(at(5_100)));
    let taken = (0..100).filter(|_| pace.takes(at(60_000))).count();
    assert_eq!(taken, 10, "what was not used is not saved up");
}

#[test]
fn so_many_may_be_under_way() {
    let mut gate = Gate::of(1_000, 2, 1_000);
    assert_eq!(gate.take(1, at(0)), Ok(()));
    assert_eq!(gate.take(1, at(0)), Ok(()));
    assert_eq!(gate.take(1, at(0)), Err(Busy::UnderWay(2)));
    gate.give_back(1);
    assert_eq!(gate.take(1, at(0)), Ok(()));
}

#[test]
fn large_ones_come_one_at_a_time() {
    let mut gate = Gate::of(1_000, 100, 1_000);
    assert_eq!(gate.take(5_000, at(0)), Ok(()), "alone it may");
    assert_eq!(gate.take(1, at(0)), Err(Busy::Bytes));
    gate.give_back(5_000);
    assert_eq!(gate.take(600, at(0)), Ok(()));
    assert_eq!(gate.take(600, at(0)), Err(Busy::Bytes));
    assert_eq!(gate.take(400, at(0)), Ok(()));
}

#[test]
fn what_was_refused_costs_nothing() {
    let mut gate = Gate::of(2, 100, 1_000);
    assert_eq!(gate.take(1, at(0)), Ok(()));
    assert_eq!(gate.take(1, at(0)), Ok(()));
    for _ in 0..10_000 {
        assert_eq!(gate.take(1, at(0)), Err(Busy::Pace));
    }
    assert_eq!(gate.take(1, at(500)), Ok(()), "nobody waits for refusals");
}
