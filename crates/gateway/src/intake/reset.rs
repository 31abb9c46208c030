//! When a conversation starts over by itself. Pure.

use std::time::Duration;

use talaria_domain::clock::Timestamp;

use crate::settings::Reset;

const DAY: i64 = 24 * 60 * 60 * 1_000;
const HOUR: i64 = 60 * 60 * 1_000;

/// Why a conversation in which something was last said at `last` has to start over now; none if it goes on.
pub fn due(policy: Reset, last: Timestamp, now: Timestamp) -> Option<String> {
    let silent = now.since(last);
    if let Some(idle) = policy.idle.filter(|idle| silent >= *idle) {
        return Some(format!("nothing was said for {}", spoken(idle)));
    }
    let hour = i64::from(policy.at_hour?);
    let boundary = last_time_at(hour, now);
    (last < boundary).then(|| format!("a new day began at {hour}:00 UTC"))
}

/// The last time it was this hour.
fn last_time_at(hour: i64, now: Timestamp) -> Timestamp {
    let midnight = now.as_millis().div_euclid(DAY) * DAY;
    let today = midnight + hour * HOUR;
    let last = if today <= now.as_millis() {
        today
    } else {
        today - DAY
    };
    Timestamp::from_millis(last)
}

fn spoken(time: Duration) -> String {
    let minutes = time.as_secs() / 60;
    match (minutes / 60, minutes % 60) {
        (0, minutes) => format!("{minutes} minutes"),
        (hours, 0) => format!("{hours} hours"),
        (hours, minutes) => format!("{hours} hours and {minutes} minutes"),
    }
}

#[cfg(test)]
mod tests {
    //! A table of policies and times.

    use super::*;

    fn at(day: i64, hour: i64) -> Timestamp {
        Timestamp::from_millis(day * DAY + hour * HOUR)
    }

    #[test]
    fn conversations_start_over_when_their_policy_says_so() {
        let none = Reset::default();
        let idle = Reset {
            idle: Some(Duration::from_hours(24)),
            at_hour: None,
        };
        let daily = Reset {
            idle: None,
            at_hour: Some(4),
        };
        let both = Reset {
            idle: Some(Duration::from_hours(2)),
            at_hour: Some(4),
        };
        let table = [
            (none, at(0, 0), at(1_000, 0), false),
            (idle, at(10, 0), at(10, 23), false),
            (idle, at(10, 0), at(11, 0), true),
            (daily, at(10, 5), at(11, 3), false),
            (daily, at(10, 5), at(11, 4), true),
            (daily, at(10, 3), at(10, 5), true),
            (daily, at(10, 4), at(10, 5), false),
            (both, at(10, 5), at(10, 6), false),
            (both, at(10, 5), at(10, 7), true),
            (both, at(10, 3), at(10, 4), true),
            (idle, at(11, 0), at(10, 0), false),
        ];
        for (policy, last, now, is_due) in table {
            assert_eq!(
                due(policy, last, now).is_some(),
                is_due,
                "{policy:?} {last:?} {now:?}"
            );
        }
    }
}
