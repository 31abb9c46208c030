//! How fast a chat may be written to. Pure: times in, decisions out. A bucket per chat and one per account; a platform
//! that says "later" closes the chat for everything. Full buckets are forgotten, so quiet chats cost nothing.
//!
//! Whoever has to wait for the account is given a place: a time that is theirs alone. However many wait, at each time
//! one of them comes and goes.

use std::collections::BTreeMap;
use std::time::Duration;

use talaria_domain::address::{Address, TargetKey};
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::Fields;

/// How often full buckets are forgotten.
const SWEEP: Duration = Duration::from_secs(10);

/// How fast an account may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// Messages at once to one chat.
    pub burst: u32,
    /// The time after which one more may follow.
    pub every: Duration,
}

impl Rate {
    /// As fast as it can take.
    pub const UNLIMITED: Self = Self {
        burst: u32::MAX,
        every: Duration::ZERO,
    };
}

/// How fast a chat and its account may be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Each chat.
    pub chat: Rate,
    /// All chats of the account together.
    pub account: Rate,
}

/// A chat, and the account that it is written to through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// The chat; its threads are in it.
    pub chat: TargetKey,
    /// The account.
    pub account: TargetKey,
}

impl Lane {
    /// The lane of this address: what closes a chat closes all of its threads.
    pub fn of(address: &Address) -> Self {
        let chat = Address {
            thread: None,
            ..address.clone()
        };
        let account = Fields::of("account")
            .text(address.platform.as_str())
            .text(address.account.as_str());
        Self {
            chat: chat.target(),
            account: TargetKey(account.digest()),
        }
    }
}

/// What was sent lately.
#[derive(Debug, Default)]
pub struct Pace {
    buckets: BTreeMap<TargetKey, Bucket>,
    /// When each target may be written to that has asked and was not written to yet.
    places: BTreeMap<TargetKey, Place>,
    /// When full buckets were last looked for.
    swept_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    at: Timestamp,
    lane: Lane,
    rates: Rates,
}

#[derive(Debug)]
struct Bucket {
    /// When it will be full again.
    full_at: Timestamp,
    /// How long before that it has something in it.
    room: Duration,
    closed_until: Timestamp,
}

impl Bucket {
    /// When it has something in it.
    fn ready_at(&self) -> Timestamp {
        self.full_at.minus(self.room).max(self.closed_until)
    }
}

impl Rates {
    /// Whether nothing ever has to wait.
    pub const fn are_unlimited(self) -> bool {
        self.chat.every.is_zero() && self.account.every.is_zero()
    }
}

impl Lane {
    fn buckets(self, rates: Rates) -> impl Iterator<Item = (TargetKey, Rate)> {
        let both = [(self.chat, rates.chat), (self.account, rates.account)];
        both.into_iter().filter(|(_, rate)| !rate.every.is_zero())
    }
}

impl Pace {
    /// Whether nothing is held back anywhere.
    pub fn is_free(&self) -> bool {
        self.buckets.is_empty()
    }

    /// When the chat may be written to; none if it may be now.
    pub fn ready_at(&self, lane: Lane, now: Timestamp) -> Option<Timestamp> {
        let ready = self.bucket_ready(lane.chat);
        let ready = ready.max(self.bucket_ready(lane.account));
        Some(ready).filter(|ready| *ready > now)
    }

    /// Takes a place for this target if it may be written to now; else says when to ask again. To ask twice is the same
    /// as once: the place is kept until it is used or left.
    pub fn take(
        &mut self,
        target: TargetKey,
        (lane, rates): (Lane, Rates),
        now: Timestamp,
    ) -> Result<(), Timestamp> {
        let (chat, account) = (
            self.bucket_ready(lane.chat),
            self.bucket_ready(lane.account),
        );
        let at = match self.places.get(&target) {
            Some(place) => {
                let closed = self.buckets.get(&lane.chat);
                let closed = closed.map_or(Timestamp::ZERO, |bucket| bucket.closed_until);
                place.at.max(closed)
            }
            // It waits for its own chat. A place among all the others would keep them waiting, too.
            None if chat > now && chat > account => chat,
            None => {
                let at = account.max(now);
                self.charge((lane, rates), at);
                self.places.insert(target, Place { at, lane, rates });
                at
            }
        };
        if at > now { Err(at) } else { Ok(()) }
    }

    /// The target is written to: its place is used.
    pub fn spend(&mut self, target: TargetKey, now: Timestamp) {
        self.sweep(now);
        self.places.remove(&target);
    }

    /// The target is not written to after all: what it had taken is there for others.
    pub fn leave(&mut self, target: TargetKey) {
        let Some(Place { lane, rates, .. }) = self.places.remove(&target) else {
            return;
        };
        for (key, rate) in lane.buckets(rates) {
            let bucket = self.bucket(key);
            bucket.full_at = bucket.full_at.minus(rate.every);
        }
    }

    fn charge(&mut self, (lane, rates): (Lane, Rates), at: Timestamp) {
        for (key, rate) in lane.buckets(rates) {
            let bucket = self.bucket(key);
            bucket.full_at = bucket.full_at.max(at).plus(rate.every);
            bucket.room = rate.every.saturating_mul(rate.burst.saturating_sub(1));
        }
    }

    fn bucket_ready(&self, key: TargetKey) -> Timestamp {
        let bucket = self.buckets.get(&key);
        bucket.map_or(Timestamp::ZERO, Bucket::ready_at)
    }

    /// The platform said: not before then, for the whole chat.
    pub fn close(&mut self, lane: Lane, until: Timestamp) {
        let bucket = self.bucket(lane.chat);
        bucket.closed_until = bucket.closed_until.max(until);
    }

    fn bucket(&mut self, key: TargetKey) -> &mut Bucket {
        self.buckets.entry(key).or_insert(Bucket {
            full_at: Timestamp::ZERO,
            room: Duration::ZERO,
            closed_until: Timestamp::ZERO,
        })
    }

    /// Forgets what is full again; not at every send, so that a send costs the same however many chats there are.
    fn sweep(&mut self, now: Timestamp) {
        if self.swept_at.is_some_and(|at| now.since(at) < SWEEP) {
            return;
        }
        self.swept_at = Some(now);
        self.buckets
            .retain(|_, bucket| bucket.full_at > now || bucket.closed_until > now);
    }
}

#[cfg(test)]
mod tests {
    //! Buckets.

    use talaria_domain::address::ChatKind;
    use talaria_domain::digest::Digest;

    use super::*;

    const RATES: Rates = Rates {
        chat: Rate {
            burst: 3,
            every: Duration::from_secs(1),
        },
        account: Rate {
            burst: 4,
            every: Duration::from_millis(100),
        },
    };

    fn lane(chat: u8) -> Lane {
        Lane {
            chat: target(chat),
            account: target(255),
        }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + millis)
    }

    fn target(number: u8) -> TargetKey {
        TargetKey(Digest::from_bytes([number; 32]))
    }

    /// Something is written to a chat, if it may be.
    fn write(pace: &mut Pace, chat: u8, now: Timestamp) -> Result<(), Timestamp> {
        let taken = pace.take(target(chat), (lane(chat), RATES), now);
        if taken.is_ok() {
            pace.spend(target(chat), now);
        }
        taken
    }

    #[test]
    fn a_burst_then_one_at_a_time() {
        let mut pace = Pace::default();
        for _ in 0..3 {
            assert_eq!(write(&mut pace, 1, at(0)), Ok(()));
        }
        assert_eq!(pace.ready_at(lane(1), at(0)), Some(at(1_000)));
        assert_eq!(write(&mut pace, 1, at(0)), Err(at(1_000)));
        assert_eq!(write(&mut pace, 1, at(999)), Err(at(1_000)));
        assert_eq!(write(&mut pace, 1, at(1_000)), Ok(()));
        assert_eq!(write(&mut pace, 1, at(1_000)), Err(at(2_000)));
        assert_eq!(
            write(&mut pace, 2, at(1_000)),
            Ok(()),
            "others are not held"
        );
    }

    #[test]
    fn all_chats_of_an_account_share_a_bucket_and_each_has_a_time_of_its_own() {
        let mut pace = Pace::default();
        for chat in 0..4 {
            assert_eq!(write(&mut pace, chat, at(0)), Ok(()));
        }
        assert_eq!(pace.ready_at(lane(9), at(0)), Some(at(100)));
        for (chat, time) in [(4, 100), (5, 200), (6, 300)] {
            assert_eq!(write(&mut pace, chat, at(0)), Err(at(time)));
        }
        for _ in 0..3 {
            let again = write(&mut pace, 5, at(150));
            assert_eq!(again, Err(at(200)), "to ask twice is the same as once");
        }
        assert_eq!(write(&mut pace, 5, at(200)), Ok(()));
        assert_eq!(write(&mut pace, 4, at(200)), Ok(()), "late is late");
        assert_eq!(write(&mut pace, 7, at(200)), Err(at(400)));
    }

    #[test]
    fn a_place_that_is_left_is_there_for_others() {
        let mut pace = Pace::default();
        for chat in 0..4 {
            assert_eq!(write(&mut pace, chat, at(0)), Ok(()));
        }
        assert_eq!(write(&mut pace, 4, at(0)), Err(at(100)));
        pace.leave(target(4));
        pace.leave(target(4));
        assert_eq!(write(&mut pace, 5, at(0)), Err(at(100)));
    }

    #[test]
    fn a_chat_that_waits_for_itself_keeps_nobody_else_waiting() {
        let mut pace = Pace::default();
        for _ in 0..3 {
            assert_eq!(write(&mut pace, 1, at(0)), Ok(()));
        }
        for _ in 0..10 {
            assert_eq!(write(&mut pace, 1, at(0)), Err(at(1_000)));
        }
        assert_eq!(write(&mut pace, 2, at(0)), Ok(()), "the fourth of all");
    }

    #[test]
    fn a_chat_that_was_closed_meanwhile_waits_with_its_place() {
        let mut pace = Pace::default();
        for chat in 0..4 {
            assert_eq!(write(&mut pace, chat, at(0)), Ok(()));
        }
        assert_eq!(write(&mut pace, 4, at(0)), Err(at(100)));
        pace.close(lane(4), at(5_000));
        assert_eq!(write(&mut pace, 4, at(100)), Err(at(5_000)));
        assert_eq!(write(&mut pace, 4, at(5_000)), Ok(()));
    }

    #[test]
    fn a_closed_chat_closes_all_of_its_threads_and_no_other() {
        let at_place = |chat: &str, thread: Option<&str>| {
            Lane::of(&Address {
                platform: "example".into(),
                account: "bot".into(),
                chat_kind: ChatKind::Group,
                chat: chat.into(),
                thread: thread.map(Into::into),
                reply_to: None,
            })
        };
        let mut pace = Pace::default();
        pace.close(at_place("room", Some("42")), at(5_000));
        for thread in [None, Some("42"), Some("never written to")] {
            let ready = pace.ready_at(at_place("room", thread), at(4_999));
            assert_eq!(ready, Some(at(5_000)), "{thread:?}");
        }
        assert_eq!(pace.ready_at(at_place("room", None), at(5_000)), None);
        assert_eq!(pace.ready_at(at_place("other", Some("42")), at(0)), None);
    }

    #[test]
    fn quiet_chats_are_forgotten() {
        let mut pace = Pace::default();
        for number in 0..50 {
            assert_eq!(
                write(&mut pace, number, at(1_000 * i64::from(number))),
                Ok(())
            );
        }
        assert!(!pace.is_free());
        assert_eq!(write(&mut pace, 99, at(120_000)), Ok(()));
        assert_eq!(pace.buckets.len(), 2, "the chat and its account");
    }
}
