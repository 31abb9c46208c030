//! Ids sort by time, differ, and refuse what is not one.

use std::time::Duration;

use super::*;

#[test]
fn random_ids_ascend_within_and_across_milliseconds() {
    let ids = RandomIds::default();
    let start = Timestamp::from_millis(1_700_000_000_123);
    let mut made: Vec<Uuid> = (0..1_000).map(|_| ids.next(start)).collect();
    made.push(ids.next(start.plus(Duration::from_millis(1))));
    assert!(made.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn seeded_ids_replay_and_differ_between_seeds() {
    let now = Timestamp::from_millis(42);
    let take = |seed| -> Vec<Uuid> {
        let ids = SeededIds::from_seed(seed);
        (0..100).map(|_| ids.next(now)).collect()
    };
    assert_eq!(take(1), take(1));
    assert!(take(1).iter().all(|id| !take(2).contains(id)));
    assert!(take(1).windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(take(1)[0].get_version_num(), 7);
}

#[test]
fn what_is_not_an_id_says_what_was_expected() {
    let refused = "nope".parse::<RunId>().unwrap_err();
    assert!(
        refused.to_string().starts_with("expected a run id"),
        "{refused}"
    );
    let id = RunId::next(&SeededIds::from_seed(3), Timestamp::ZERO);
    assert_eq!(id.to_string().parse(), Ok(id));
    assert_eq!(RunId::from_bytes(*id.as_bytes()), id);
}
