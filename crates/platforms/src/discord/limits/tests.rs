//! "Rate Limits": buckets, channels, resets, and the limit on everything.

use std::time::Duration;

use super::{Limits, MOST, Route, Told};

const fn at(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn told(bucket: &str, remaining: u32, millis: u64) -> Told {
    Told {
        bucket: bucket.to_owned(),
        remaining,
        reset_after: at(millis),
    }
}

fn messages(channel: &str) -> Route {
    Route::of("POST", &["channels", channel, "messages"])
}

#[test]
fn a_route_knows_its_channel_and_no_other_id() {
    for (method, path, same) in [
        (
            "PATCH",
            vec!["channels", "1", "messages", "2"],
            vec!["channels", "1", "messages", "3"],
        ),
        (
            "PUT",
            vec!["channels", "1", "messages", "2", "reactions", "👀", "@me"],
            vec!["channels", "1", "messages", "4", "reactions", "✅", "@me"],
        ),
        (
            "POST",
            vec!["interactions", "1", "secret", "callback"],
            vec!["interactions", "2", "x", "callback"],
        ),
    ] {
        assert_eq!(Route::of(method, &path), Route::of(method, &same));
    }
    assert_ne!(messages("1"), messages("2"));
    assert_ne!(
        messages("1"),
        Route::of("GET", &["channels", "1", "messages"])
    );
}

#[test]
fn what_is_left_is_taken_and_then_waited_for() {
    let mut limits = Limits::default();
    let route = messages("1");
    assert_eq!(limits.take(&route, at(0)), Ok(()), "nothing is known yet");
    limits.learn(&route, &told("b", 1, 5_000), at(0));
    assert_eq!(limits.take(&route, at(10)), Ok(()));
    assert_eq!(limits.take(&route, at(10)), Err(at(4_990)));
    assert_eq!(
        limits.take(&messages("2"), at(10)),
        Ok(()),
        "another channel"
    );
    assert_eq!(limits.take(&route, at(5_000)), Ok(()), "it is full again");
}

#[test]
fn an_older_answer_gives_nothing_back() {
    let mut limits = Limits::default();
    let route = messages("1");
    limits.learn(&route, &told("b", 0, 5_000), at(0));
    limits.learn(&route, &told("b", 3, 5_000), at(1));
    assert!(limits.take(&route, at(2)).is_err());
    limits.learn(&route, &told("b", 3, 5_000), at(6_000));
    assert_eq!(limits.take(&route, at(6_001)), Ok(()));
}

#[test]
fn routes_of_one_bucket_share_it() {
    let mut limits = Limits::default();
    let (one, two) = (
        Route::of("PUT", &["channels", "1", "pins"]),
        Route::of("DELETE", &["channels", "1", "pins"]),
    );
    limits.learn(&one, &told("shared", 5, 5_000), at(0));
    limits.learn(&two, &told("shared", 0, 5_000), at(0));
    assert!(limits.take(&one, at(1)).is_err());
}

#[test]
fn a_refusal_closes_its_route_or_everything() {
    let mut limits = Limits::default();
    limits.refuse(&messages("1"), at(37_000), at(0));
    assert_eq!(limits.take(&messages("1"), at(1_000)), Err(at(36_000)));
    assert_eq!(limits.take(&messages("2"), at(1_000)), Ok(()));
    limits.refuse_all(at(2_000), at(1_000));
    assert_eq!(limits.take(&messages("2"), at(1_000)), Err(at(2_000)));
    assert_eq!(limits.take(&messages("2"), at(3_000)), Ok(()));
}

#[test]
fn no_more_is_remembered_than_fits() {
    let mut limits = Limits::default();
    for number in 0..=MOST {
        limits.learn(&messages(&number.to_string()), &told("b", 0, 1_000), at(0));
    }
    assert!(limits.buckets.len() <= MOST);
    limits.learn(&messages("1"), &told("b", 0, 1_000), at(2_000));
    assert_eq!(limits.buckets.len(), 1, "what is over is forgotten");
}
