//! How fast a chat may be written to. Pure: times in, decisions out. A bucket per chat and one per account; a platform
//! that says "later" closes the chat for everything. Full buckets are forgotten, so quiet chats cost nothing.

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
    /// When full buckets were last looked for.
    swept_at: Option<Timestamp>,
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
    /// Whether nothing is held back anywhere, so that nobody has to ask.
    pub fn is_free(&self) -> bool {
        self.buckets.is_empty()
    }

    /// When the chat may be written to; none if it may be now.
    pub fn ready_at(&self, lane: Lane, now: Timestamp) -> Option<Timestamp> {
        let ready = |key| {
            let bucket: &Bucket = self.buckets.get(&key)?;
            Some(bucket.full_at.minus(bucket.room).max(bucket.closed_until))
        };
        let ready = ready(lane.chat).max(ready(lane.account));
        ready.filter(|ready| *ready > now)
    }

    /// Something is written to the chat.
    pub fn spend(&mut self, lane: Lane, rates: Rates, now: Timestamp) {
        self.sweep(now);
        for (key, rate) in [(lane.chat, rates.chat), (lane.account, rates.account)] {
            if rate.every.is_zero() {
                continue;
            }
            let bucket = self.bucket(key);
            bucket.full_at = bucket.full_at.max(now).plus(rate.every);
            bucket.room = rate.every.saturating_mul(rate.burst.saturating_sub(1));
        }
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
        let key = |number| TargetKey(Digest::from_bytes([number; 32]));
        Lane {
            chat: key(chat),
            account: key(255),
        }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + millis)
    }

    #[test]
    fn a_burst_then_one_at_a_time() {
        let (mut pace, chat) = (Pace::default(), lane(1));
        for _ in 0..3 {
            assert_eq!(pace.ready_at(chat, at(0)), None);
            pace.spend(chat, RATES, at(0));
        }
        assert_eq!(pace.ready_at(chat, at(0)), Some(at(1_000)));
        assert_eq!(pace.ready_at(chat, at(1_000)), None);
        pace.spend(chat, RATES, at(1_000));
        assert_eq!(pace.ready_at(chat, at(1_000)), Some(at(2_000)));
        assert_eq!(
            pace.ready_at(lane(2), at(1_000)),
            None,
            "others are not held"
        );
    }

    #[test]
    fn all_chats_of_an_account_share_a_bucket() {
        let mut pace = Pace::default();
        for chat in 0..4 {
            assert_eq!(pace.ready_at(lane(chat), at(0)), None);
            pace.spend(lane(chat), RATES, at(0));
        }
        assert_eq!(pace.ready_at(lane(9), at(0)), Some(at(100)));
        assert_eq!(pace.ready_at(lane(9), at(100)), None);
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
            pace.spend(lane(number), RATES, at(0));
        }
        assert!(!pace.is_free());
        pace.spend(lane(99), RATES, at(60_000));
        assert_eq!(pace.buckets.len(), 2, "the chat and its account");
    }
}
