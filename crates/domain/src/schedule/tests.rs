//! What people write, and the times that follow from it: over a gap, over a doubled hour, over leap days.

use std::time::Duration;

use super::words::{parse, split};
use super::*;

/// A time as RFC 3339 writes it.
fn at(text: &str) -> Timestamp {
    let time: jiff::Timestamp = text.parse().unwrap();
    Timestamp::from_millis(time.as_millisecond())
}

fn berlin() -> Zone {
    Zone::parse("Europe/Berlin").unwrap()
}

fn now() -> Timestamp {
    at("2026-11-16T12:00:00Z")
}

#[test]
fn what_people_write_is_understood() {
    let once = |text| When::Once { at: at(text) };
    let every = |period| When::Every {
        period,
        from: now(),
    };
    let cron = |text: &str| When::Cron {
        expression: text.to_owned(),
    };
    let table = [
        ("30m", once("2026-11-16T12:30:00Z")),
        ("in 30m", once("2026-11-16T12:30:00Z")),
        ("In 30 minutes", once("2026-11-16T12:30:00Z")),
        ("1h30m", once("2026-11-16T13:30:00Z")),
        ("in 1 hour 30 min", once("2026-11-16T13:30:00Z")),
        ("in 5s", once("2026-11-16T12:00:05Z")),
        ("in 2 days", once("2026-11-18T12:00:00Z")),
        ("every 2h", every(Duration::from_hours(2))),
        ("every 1 week", every(Duration::from_hours(24 * 7))),
        ("every 90m", every(Duration::from_mins(90))),
        ("every 60s", every(Duration::from_mins(1))),
        ("0 9 * * 1-5", cron("0 9 * * 1-5")),
        ("*/5 * * * *", cron("*/5 * * * *")),
        ("  0   9 * *  MON ", cron("0 9 * * MON")),
        ("2026-12-24T18:00", once("2026-12-24T17:00:00Z")),
        ("2026-12-24 18:00", once("2026-12-24T17:00:00Z")),
        ("at 2026-12-24 18:00", once("2026-12-24T17:00:00Z")),
        ("2026-12-24T18:00:00Z", once("2026-12-24T18:00:00Z")),
        ("2026-12-24T18:00:00-05:00", once("2026-12-24T23:00:00Z")),
        // A time that the clock jumps over is taken after the jump, one that it shows twice the first time.
        ("2027-03-28T02:30", once("2027-03-28T01:30:00Z")),
        ("2027-10-31T02:30", once("2027-10-31T00:30:00Z")),
    ];
    for (text, expected) in table {
        assert_eq!(
            parse(text, &berlin(), now()),
            Ok((expected, berlin())),
            "{text}"
        );
    }
}

#[test]
fn a_zone_at_the_end_counts_before_the_usual_one() {
    let table = [
        ("0 9 * * * America/New_York", "America/New_York"),
        ("2026-12-24T18:00 UTC", "UTC"),
        ("0 9 * * *", "Europe/Berlin"),
    ];
    for (text, expected) in table {
        let (_, zone) = parse(text, &berlin(), now()).unwrap();
        assert_eq!(zone.as_str(), expected, "{text}");
    }
    assert_eq!(
        Zone::parse("europe/berlin").unwrap(),
        berlin(),
        "in whatever case"
    );
    let refused = Zone::parse("Mars/Olympus").unwrap_err();
    assert!(refused.contains("Europe/Berlin"), "{refused}");
}

#[test]
fn what_is_no_time_is_refused_with_what_to_write_instead() {
    let table = [
        ("", "`30m`"),
        ("   ", "`30m`"),
        ("tomorrow", "`30m`"),
        ("in", "`30m`"),
        ("in a while", "`30m`"),
        ("in 0m", "`in 1m`"),
        ("in 30", "`30m`"),
        ("99999999999999999999h", "`30m`"),
        ("in 20000 weeks", "ten years"),
        ("every", "`every 30m`"),
        ("every day at 9", "`0 9 * * *`"),
        ("every 59s", "`every 1m`"),
        ("every 0s", "`every 1m`"),
        ("61 * * * *", "`0 9 * * 1-5`"),
        ("0 25 * * *", "`0 9 * * 1-5`"),
        ("0 9 * * 1-9", "`0 9 * * 1-5`"),
        ("* * * * * *", "there are 6"),
        ("0 9 * *", "`0 9 * * 1-5`"),
        ("2026-13-01T00:00", "`2027-01-31T18:00`"),
        ("2026-02-30T00:00", "`2027-01-31T18:00`"),
        ("2020-01-01T00:00", "is over"),
        ("2099-01-01T00:00", "ten years"),
    ];
    for (text, expected) in table {
        let refused = parse(text, &berlin(), now()).unwrap_err();
        assert!(refused.contains(expected), "{text:?}: {refused}");
    }
}

/// What, in which zone, after what, and when next. Europe/Berlin loses 02:00 to 03:00 on 2027-03-28 and shows it twice on
/// 2027-10-31: what is in the gap comes right after it, what is in the doubled hour comes the first time, what comes every
/// hour comes in both.
const TIMES: &str = "
    0 9 * * *   | Europe/Berlin | 2027-03-27T09:00:00Z     | 2027-03-28T07:00:00Z
    0 9 * * *   | Europe/Berlin | 2027-10-30T09:00:00Z     | 2027-10-31T08:00:00Z
    0 9 * * *   | UTC           | 2027-03-28T09:00:00Z     | 2027-03-29T09:00:00Z
    0 9 * * *   | UTC           | 2027-03-28T08:59:59.999Z | 2027-03-28T09:00:00Z
    30 2 * * *  | Europe/Berlin | 2027-03-27T12:00:00Z     | 2027-03-28T01:00:00Z
    30 2 * * *  | Europe/Berlin | 2027-03-28T01:00:00Z     | 2027-03-29T00:30:00Z
    30 2 * * *  | Europe/Berlin | 2027-10-30T12:00:00Z     | 2027-10-31T00:30:00Z
    30 2 * * *  | Europe/Berlin | 2027-10-31T00:30:00Z     | 2027-11-01T01:30:00Z
    0 * * * *   | Europe/Berlin | 2027-10-31T00:00:00Z     | 2027-10-31T01:00:00Z
    0 * * * *   | Europe/Berlin | 2027-03-28T00:00:00Z     | 2027-03-28T01:00:00Z
    0 0 29 2 *  | UTC           | 2026-11-16T12:00:00Z     | 2028-02-29T00:00:00Z
    0 0 29 2 *  | UTC           | 2096-03-01T00:00:00Z     | 2104-02-29T00:00:00Z
    0 0 31 * *  | UTC           | 2027-01-31T00:00:00Z     | 2027-03-31T00:00:00Z
    0 9 * * 1-5 | UTC           | 2026-11-20T09:00:00Z     | 2026-11-23T09:00:00Z
    0 0 30 2 *  | UTC           | 2026-11-16T12:00:00Z     | never";

#[test]
fn the_next_time_follows_the_clock_on_the_wall() {
    for line in TIMES.trim().lines() {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let [expression, zone, after, expected] = fields.try_into().unwrap();
        let when = When::Cron {
            expression: expression.to_owned(),
        };
        let next = when.next_after(&Zone::parse(zone).unwrap(), at(after));
        let expected = Some(expected).filter(|it| *it != "never").map(at);
        assert_eq!(next, expected, "{line}");
    }
}

#[test]
fn periods_are_real_time_and_do_not_drift() {
    let every = |period| When::Every {
        period,
        from: now(),
    };
    let day = every(Duration::from_hours(24));
    let table = [
        (&day, "2026-11-16T12:00:00Z", "2026-11-17T12:00:00Z"),
        (&day, "2026-11-17T11:59:59.999Z", "2026-11-17T12:00:00Z"),
        (&day, "2026-11-17T12:00:00Z", "2026-11-18T12:00:00Z"),
        // Asked about a time before it began.
        (&day, "2026-11-01T12:00:00Z", "2026-11-17T12:00:00Z"),
        // The clock on the wall is set forward in between, and the period is not.
        (&day, "2027-03-28T11:00:00Z", "2027-03-28T12:00:00Z"),
    ];
    for (when, after, expected) in table {
        assert_eq!(
            when.next_after(&berlin(), at(after)),
            Some(at(expected)),
            "{after}"
        );
    }
    let endless = every(Duration::MAX);
    assert_eq!(endless.next_after(&berlin(), now()), None);
}

#[test]
fn once_is_once() {
    let once = When::Once { at: now() };
    assert_eq!(
        once.next_after(&berlin(), now().minus(Duration::from_millis(1))),
        Some(now())
    );
    assert_eq!(once.next_after(&berlin(), now()), None);
    assert!(!once.is_recurring());
}

#[test]
fn rules_are_shown_as_their_zone_sees_them() {
    let shown = |text| {
        let (when, zone) = parse(text, &berlin(), now()).unwrap();
        when.show(&zone)
    };
    assert_eq!(
        shown("2026-12-24T18:00"),
        "once, 2026-12-24 18:00 Europe/Berlin"
    );
    assert_eq!(shown("in 5s"), "once, 2026-11-16 13:00:05 Europe/Berlin");
    assert_eq!(shown("every 120m"), "every 2h");
    assert_eq!(shown("every 14d"), "every 2w");
    assert_eq!(shown("0 9 * * *"), "0 9 * * * (Europe/Berlin)");
}

#[test]
fn a_line_is_cut_at_the_first_say_or_ask() {
    let say = |text: &str| What::Say(text.to_owned());
    let ask = |text: &str| What::Ask(text.to_owned());
    let table = [
        ("in 30m say stand up", "in 30m", say("stand up")),
        (
            "0 9 * * 1-5 ask what is new?",
            "0 9 * * 1-5",
            ask("what is new?"),
        ),
        (
            "30m SAY one\ntwo say three",
            "30m",
            say("one\ntwo say three"),
        ),
        ("ask what is new?", "", ask("what is new?")),
        ("30m say", "30m", say("")),
        ("  30m  say   é  ", "30m", say("é")),
    ];
    for (line, when, what) in table {
        assert_eq!(split(line), Ok((when, what)), "{line}");
    }
    for line in ["", "30m", "30m saying ask-me", "é"] {
        assert!(split(line).unwrap_err().contains("say TEXT"), "{line}");
    }
}

fn order(when: &str, what: What) -> ScheduleOrder {
    ScheduleOrder {
        name: None,
        when: when.to_owned(),
        zone: None,
        what,
    }
}

#[test]
fn an_order_is_understood_as_a_whole_or_not_at_all() {
    let say = |text: &str| What::Say(text.to_owned());
    let plan = order("in 1h", say("stand up\nand walk"));
    let plan = plan.understand(&berlin(), now()).unwrap();
    assert_eq!(plan.name, "stand up");
    assert_eq!(plan.next_at, at("2026-11-16T13:00:00Z"));
    let long = order("in 1h", say(&"word ".repeat(20)));
    let long = long.understand(&berlin(), now()).unwrap();
    assert_eq!(long.name.chars().count(), NAME_OF_TEXT + 1);
    let named = ScheduleOrder {
        name: Some(" the \n morning ".to_owned()),
        zone: Some("Asia/Tokyo".to_owned()),
        ..order("0 9 * * *", What::Ask("what is new?".to_owned()))
    };
    let named = named.understand(&berlin(), now()).unwrap();
    assert_eq!(
        (named.name.as_str(), named.zone.as_str()),
        ("the morning", "Asia/Tokyo")
    );
    assert_eq!(named.next_at, at("2026-11-17T00:00:00Z"));

    let nameless = ScheduleOrder {
        name: Some("  ".to_owned()),
        ..order("in 1h", say("x"))
    };
    let nowhere = ScheduleOrder {
        zone: Some("Nowhere".to_owned()),
        ..order("in 1h", say("x"))
    };
    let refused = [
        (order("in 1h", say(" ")), "found none"),
        (
            order("in 1h", say(&"x".repeat(LONGEST_TEXT + 1))),
            "4001 letters",
        ),
        (order("0 0 30 2 *", say("x")), "never comes"),
        (order("soon", say("x")), "`30m`"),
        (nameless, "a name has 1 to 80"),
        (nowhere, "no time zone"),
    ];
    for (order, expected) in refused {
        let said = order.understand(&berlin(), now()).unwrap_err();
        assert!(said.contains(expected), "{said}");
    }
}
