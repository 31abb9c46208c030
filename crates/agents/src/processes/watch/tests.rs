//! What is told of an output, and when it is enough.

use std::time::Duration;

use super::{Notice, Watch};

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn watch(patterns: &[&str]) -> Watch {
    Watch::of(patterns.iter().map(|it| (*it).to_owned()).collect())
}

fn matched(lines: &[&str], suppressed: u64) -> Notice {
    let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
    Notice::Matched {
        count: lines.len() as u64,
        lines,
        suppressed,
    }
}

#[test]
fn a_line_with_a_pattern_in_it_is_told() {
    let table: [(&[&str], &[&str]); 8] = [
        (&["an ERROR here\n"], &["an ERROR here"]),
        (&["nothing\n"], &[]),
        (&["no newline: READY"], &["no newline: READY"]),
        (&["an ERR", "OR here\n"], &["an ERROR here"]),
        (&["E", "R", "R", "O", "R", "\n"], &["ERROR"]),
        (&["ERROR READY\nfine\nREADY\r\n"], &["ERROR READY", "READY"]),
        (&["ERR\nOR\n"], &[]),
        (&["\u{e9}ERROR \u{1f980}\n"], &["\u{e9}ERROR \u{1f980}"]),
    ];
    for (reads, expected) in table {
        let mut watch = watch(&["ERROR", "READY"]);
        for read in reads {
            watch.take(read.as_bytes());
        }
        let expected = (!expected.is_empty()).then(|| matched(expected, 0));
        assert_eq!(watch.notice(at(0)), expected, "{reads:?}");
        assert_eq!(watch.notice(at(100)), None, "nothing is told twice");
    }
}

#[test]
fn a_match_across_two_looks_is_a_match_and_a_line_is_told_once() {
    let mut watch = watch(&["ERROR"]);
    watch.take(b"an ERR");
    assert_eq!(watch.notice(at(0)), None);
    watch.take(b"OR, and");
    assert_eq!(watch.notice(at(1)), Some(matched(&["an ERROR, and"], 0)));
    watch.take(b" more of the same ERROR line\n");
    assert_eq!(watch.notice(at(60)), None);
    watch.take(b"ERROR\n");
    assert_eq!(watch.notice(at(60)), Some(matched(&["ERROR"], 0)));
}

#[test]
fn a_line_without_an_end_is_searched_and_not_held() {
    let mut watch = watch(&["needle"]);
    let hay = vec![b'x'; 100_000];
    watch.take(&hay);
    watch.take(b"nee");
    assert!(watch.line.len() < 20_000, "{}", watch.line.len());
    watch.take(b"dle");
    watch.take(&hay);
    let notice = watch.notice(at(0));
    assert!(
        matches!(&notice, Some(Notice::Matched { count: 1, lines, .. }) if lines[0].len() <= 2_000),
        "{notice:?}"
    );
    watch.take(&hay);
    assert_eq!(watch.notice(at(60)), None);
    assert!(watch.line.len() < 20_000, "{}", watch.line.len());
}

#[test]
fn a_notice_has_at_most_twenty_lines_and_two_thousand_characters() {
    let mut short = watch(&["x"]);
    short.take(&b"x\n".repeat(50));
    let Some(Notice::Matched { lines, count, .. }) = short.notice(at(0)) else {
        panic!("it matched");
    };
    assert_eq!((lines.len(), count), (20, 50));

    let mut long = watch(&["x"]);
    long.take(format!("{}\n", "x".repeat(900)).repeat(5).as_bytes());
    let Some(Notice::Matched { lines, count, .. }) = long.notice(at(0)) else {
        panic!("it matched");
    };
    let lengths: Vec<_> = lines.iter().map(String::len).collect();
    assert_eq!((lengths, count), (vec![900, 900, 200], 5));
}

#[test]
fn there_is_one_notice_in_fifteen_seconds_and_the_next_tells_what_was_left_out() {
    let mut watch = watch(&["x"]);
    for (second, told) in [(0, true), (1, false), (14, false), (15, true), (40, true)] {
        watch.take(b"x\n");
        let notice = watch.notice(at(second));
        assert_eq!(notice.is_some(), told, "at {second}");
        if second == 15 {
            assert_eq!(notice, Some(matched(&["x"], 2)));
        }
        if second == 40 {
            assert_eq!(notice, Some(matched(&["x"], 0)));
        }
    }
}

#[test]
fn three_windows_in_a_row_with_something_left_out_are_enough() {
    let mut watch = watch(&["x"]);
    let mut story = Vec::new();
    for second in [0, 1, 2, 15, 16, 30, 31, 32, 50, 90] {
        watch.take(b"x\n");
        story.push(match watch.notice(at(second)) {
            None => "nothing".to_owned(),
            Some(Notice::Matched { suppressed, .. }) => format!("matched, {suppressed} before"),
            Some(Notice::Disabled { suppressed }) => format!("disabled, {suppressed} before"),
        });
    }
    let expected = [
        "matched, 0 before",
        "nothing",
        "nothing",
        "matched, 2 before",
        "nothing",
        "matched, 1 before",
        "disabled, 1 before",
        "nothing",
        "nothing",
        "nothing",
    ];
    assert_eq!(story, expected);
}

#[test]
fn a_quiet_window_forgives() {
    let mut watch = watch(&["x"]);
    let mut is_disabled = false;
    // Two windows with drops, one without, again and again.
    for round in 0..10 {
        for second in [0, 1, 15, 16, 30] {
            watch.take(b"x\n");
            let notice = watch.notice(at(round * 60 + second));
            is_disabled |= matches!(notice, Some(Notice::Disabled { .. }));
        }
    }
    assert!(!is_disabled);
}

#[test]
fn a_notice_that_could_not_be_told_is_counted_in_the_next() {
    let mut watch = watch(&["x"]);
    watch.take(b"x\nx\n");
    let notice = watch.notice(at(0)).expect("it matched");
    watch.take_back(&notice);
    watch.take(b"x\n");
    assert_eq!(watch.notice(at(20)), Some(matched(&["x"], 2)));
}

#[test]
fn an_empty_pattern_does_not_match_everything() {
    let mut watch = watch(&[""]);
    watch.take(b"anything\n");
    assert_eq!(watch.notice(at(0)), None);
}
