//! A table of conflicts and their ages.

use std::time::Duration;

use talaria_domain::clock::Timestamp;

use super::{Contest, Verdict};

/// The verdicts on conflicts at these seconds.
fn verdicts(seconds: &[u64]) -> Vec<Verdict> {
    let mut contest = Contest::default();
    let at = |seconds: &u64| Timestamp::ZERO.plus(Duration::from_secs(*seconds));
    seconds
        .iter()
        .map(|seconds| contest.met(at(seconds)))
        .collect()
}

#[test]
fn a_conflict_is_waited_out_then_told_then_final() {
    use Verdict::{Conflict, Lost, Wait};
    assert_eq!(
        verdicts(&[0, 5, 29, 30, 90, 179, 180, 290]),
        [Wait, Wait, Wait, Lost, Lost, Lost, Conflict, Conflict]
    );
}

#[test]
fn one_that_is_over_does_not_count() {
    use Verdict::{Lost, Wait};
    assert_eq!(verdicts(&[0, 31, 152, 160]), [Wait, Lost, Wait, Wait]);
    assert_eq!(verdicts(&[0, 119, 1_000, 2_000]), [Wait, Lost, Wait, Wait]);
}
