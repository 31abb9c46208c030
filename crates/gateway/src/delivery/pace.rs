//! How fast a chat may be written to. Pure: times in, decisions out. A bucket per chat and one per account; a platform
//! that says "later" closes the chat for everything. Full buckets are forgotten, so quiet chats cost nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use talaria_domain::address::TargetKey;
use talaria_domain::clock::Timestamp;

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

/// What was sent lately.
#[derive(Debug, Default)]
pub struct Pace {
    buckets: BTreeMap<TargetKey, Bucket>,
    chats: BTreeMap<TargetKey, TargetKey>,
}

#[derive(Debug)]
struct Bucket {
    /// When it will be full again.
    full_at: Timestamp,
    /// How long before that it has something in it.
    room: Duration,
    closed_until: Timestamp,
}

impl Pace {
    /// When the target may be written to; none if it may be now.
    pub fn ready_at(&self, target: TargetKey, now: Timestamp) -> Option<Timestamp> {
        let chat = self.chats.get(&target).copied().unwrap_or(target);
        let bucket = self.buckets.get(&chat)?;
        let ready = bucket.full_at.minus(bucket.room).max(bucket.closed_until);
        (ready > now).then_some(ready)
    }

    /// Something is written to the target, which is in `chat`.
    pub fn spend(&mut self, target: TargetKey, chat: TargetKey, rate: Rate, now: Timestamp) {
        self.forget(now);
        if rate.every.is_zero() {
            return;
        }
        self.chats.insert(target, chat);
        let bucket = self.bucket(chat);
        bucket.full_at = bucket.full_at.max(now).plus(rate.every);
        bucket.room = rate.every.saturating_mul(rate.burst.saturating_sub(1));
    }

    /// The platform said: not before then, for the whole chat.
    pub fn close(&mut self, target: TargetKey, chat: TargetKey, until: Timestamp) {
        self.chats.insert(target, chat);
        let bucket = self.bucket(chat);
        bucket.closed_until = bucket.closed_until.max(until);
    }

    fn bucket(&mut self, chat: TargetKey) -> &mut Bucket {
        self.buckets.entry(chat).or_insert(Bucket {
            full_at: Timestamp::ZERO,
            room: Duration::ZERO,
            closed_until: Timestamp::ZERO,
        })
    }

    fn forget(&mut self, now: Timestamp) {
        self.buckets
            .retain(|_, bucket| bucket.full_at > now || bucket.closed_until > now);
        let buckets = &self.buckets;
        self.chats.retain(|_, chat| buckets.contains_key(chat));
    }
}

#[cfg(test)]
mod tests {
    //! Buckets.

    use talaria_domain::digest::Digest;

    use super::*;

    const RATE: Rate = Rate {
        burst: 3,
        every: Duration::from_secs(1),
    };

    fn target(number: u8) -> TargetKey {
        TargetKey(Digest::from_bytes([number; 32]))
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + millis)
    }

    #[test]
    fn a_burst_then_one_at_a_time() {
        let (mut pace, chat) = (Pace::default(), target(1));
        for _ in 0..3 {
            assert_eq!(pace.ready_at(chat, at(0)), None);
            pace.spend(chat, chat, RATE, at(0));
        }
        assert_eq!(pace.ready_at(chat, at(0)), Some(at(1_000)));
        assert_eq!(pace.ready_at(chat, at(1_000)), None);
        pace.spend(chat, chat, RATE, at(1_000));
        assert_eq!(pace.ready_at(chat, at(1_000)), Some(at(2_000)));
        assert_eq!(pace.ready_at(target(2), at(0)), None, "others are not held");
    }

    #[test]
    fn a_closed_chat_closes_all_of_its_threads_and_no_other() {
        let (mut pace, chat) = (Pace::default(), target(1));
        let (thread, other) = (target(2), target(3));
        pace.spend(thread, chat, RATE, at(0));
        pace.close(chat, chat, at(5_000));
        assert_eq!(pace.ready_at(thread, at(4_999)), Some(at(5_000)));
        assert_eq!(pace.ready_at(thread, at(5_000)), None);
        assert_eq!(pace.ready_at(other, at(0)), None);
    }

    #[test]
    fn quiet_chats_are_forgotten() {
        let mut pace = Pace::default();
        for number in 0..50 {
            pace.spend(target(number), target(number), RATE, at(0));
        }
        pace.spend(target(99), target(99), RATE, at(60_000));
        assert_eq!((pace.buckets.len(), pace.chats.len()), (1, 1));
    }
}
