//! Asking.

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const LIMITS: TurnLimits = TurnLimits {
    at_once: 3,
    in_a_row: 5,
    per_second: 20,
};
const ONE_MORE: Duration = Duration::from_millis(50);

#[test]
fn so_many_in_a_row_and_then_one_at_a_time() {
    let mut account = Account::default();
    let mut asks = |now| {
        account.paid_at = Some(ask(LIMITS, account, now)?);
        Ok::<_, TooMany>(())
    };
    for _ in 0..LIMITS.in_a_row {
        asks(NOW).unwrap();
    }
    assert_eq!(asks(NOW).unwrap_err().wait, ONE_MORE);
    let later = NOW.plus(ONE_MORE);
    asks(later).unwrap();
    assert_eq!(asks(later).unwrap_err().wait, ONE_MORE);
    let much_later = later.plus(Duration::from_hours(1));
    for _ in 0..LIMITS.in_a_row {
        asks(much_later).unwrap();
    }
    assert!(asks(much_later).is_err(), "nothing is saved up beyond that");
}

#[test]
fn so_many_at_once() {
    let account = |open| Account {
        open,
        paid_at: None,
    };
    assert!(ask(LIMITS, account(LIMITS.at_once - 1), NOW).is_ok());
    assert!(ask(LIMITS, account(LIMITS.at_once), NOW).is_err());
}

#[test]
fn a_place_is_given_back_when_it_is_dropped() {
    let (all, caller) = (Allowances::of(LIMITS), Caller::operator());
    let open = |all: &Allowances| all.accounts()[&caller.owner()].open;
    let place = all.enter(&caller, NOW).unwrap();
    assert_eq!(open(&all), 1);
    drop(place);
    assert_eq!(open(&all), 0);
}
