//! What a stretch holds, and where it goes on.

use super::*;

/// Rows as a query gives them: a letter is a state, the number is where the row stands.
fn look_at(states: &str) -> Vec<Glimpse<usize, usize, char>> {
    let glimpse = |(at, state)| Glimpse {
        id: at,
        cursor: at,
        state,
        session: None,
    };
    states.chars().enumerate().map(glimpse).collect()
}

#[test]
fn a_stretch_is_never_longer_than_wanted_and_says_where_it_goes_on() {
    type Case<'a> = (&'a str, (u32, u32), &'a [usize], Option<usize>);
    let expected: [Case<'_>; 8] = [
        ("", (2, 3), &[], None),
        ("aa", (2, 3), &[0, 1], None),
        ("aaa", (2, 3), &[0, 1], Some(1)),
        ("ab", (2, 5), &[0], None),
        ("aba", (2, 5), &[0, 2], None),
        ("abaa", (2, 5), &[0, 2], Some(2)),
        // A full window in which little or nothing was wanted: there is more beyond it.
        ("abbbb", (2, 5), &[0], Some(4)),
        ("bbbbb", (2, 5), &[], Some(4)),
    ];
    for (states, limits, rows, next) in expected {
        let found = choose(&look_at(states), limits, |one| one.state == 'a');
        assert_eq!(
            (found.rows.as_slice(), found.next),
            (rows, next),
            "{states}"
        );
    }
}

#[test]
fn a_filter_looks_at_a_window_and_nothing_else_does() {
    assert_eq!((look(50, false), look(50, true)), (51, WINDOW));
}
