//! Texts and times as people read them.

use talaria_domain::clock::Timestamp;

use super::{ago, clean, date, first_lines, offset, one_line, span};

#[test]
fn nothing_that_moves_the_cursor_gets_through() {
    assert_eq!(clean("a\u{1b}[2Jb\u{7}\r\n\tc\u{9b}31m"), "a[2Jb\n\tc31m");
}

#[test]
fn a_long_text_is_cut_to_one_line() {
    let table = [
        ("short", 10, "short"),
        ("two\n lines", 10, "two lines"),
        ("äöüäöü", 4, "äöü…"),
        ("x", 0, "…"),
    ];
    for (text, most, line) in table {
        assert_eq!(one_line(text, most), line);
    }
}

#[test]
fn the_first_lines_and_how_many_more() {
    assert_eq!(
        first_lines("a\nb\nc\n", 2),
        (vec!["a".to_owned(), "b".to_owned()], 1)
    );
    assert_eq!(first_lines("", 2), (Vec::new(), 0));
}

#[test]
fn dates_are_those_of_the_calendar() {
    let table = [
        (0, "1970-01-01 00:00:00"),
        (951_782_400_000, "2000-02-29 00:00:00"),
        (1_709_210_096_789, "2024-02-29 12:34:56"),
        (1_798_761_599_999, "2026-12-31 23:59:59"),
        (-1, "1969-12-31 23:59:59"),
        (4_107_542_400_000, "2100-03-01 00:00:00"),
    ];
    for (millis, expected) in table {
        assert_eq!(date(Timestamp::from_millis(millis)), expected);
    }
}

#[test]
fn spans_are_told_in_the_largest_unit() {
    let table = [
        (999, "999 ms"),
        (1_000, "1 s"),
        (60_000, "1 min"),
        (3_599_999, "59 min"),
        (3_600_000, "1 h"),
        (86_400_000, "1 d"),
    ];
    for (millis, expected) in table {
        assert_eq!(span(millis), expected);
    }
    let at = Timestamp::from_millis;
    assert_eq!(ago(at(5_000), at(65_000)), "1 min ago");
    assert_eq!(
        ago(at(5_000), at(4_000)),
        "now",
        "a clock that is behind is no error"
    );
    assert_eq!(offset(at(2_250), at(1_000)), "+1.250 s");
    assert_eq!(offset(at(1_000), at(2_250)), "-1.250 s");
}
