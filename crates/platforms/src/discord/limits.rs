//! How much Discord takes, by what its answers say ("Rate Limits"): routes share buckets, each channel has its own, and
//! whoever asks too much is refused. Here it is waited for instead.
//!
//! Pure: headers and the time in, a wait out. The time is counted from whenever its owner began.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

/// More are forgotten, and learned again.
const MOST: usize = 4_096;

/// What an answer said about the limit that it fell under.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// The bucket.
    pub(super) bucket: String,
    /// How many more may follow.
    pub(super) remaining: u32,
    /// When there are more.
    pub(super) reset_after: Duration,
}

/// Where a request goes, as far as limits are concerned: the route, and the channel or guild that it is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Route {
    path: String,
    major: String,
}

impl Route {
    /// The route of a request.
    pub(super) fn of(method: &str, path: &[&str]) -> Self {
        let major = match path {
            ["channels" | "guilds" | "webhooks", id, ..] => (*id).to_owned(),
            _ => String::new(),
        };
        let is_id = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
        let mut words = vec![method];
        for word in path {
            words.push(if is_id(word) { "*" } else { word });
            // What follows is a picture, or a secret.
            if matches!(*word, "reactions" | "interactions") {
                break;
            }
        }
        Self {
            path: words.join("/"),
            major,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    remaining: u32,
    resets: Duration,
}

/// What is known.
#[derive(Debug, Default)]
pub(super) struct Limits {
    /// The bucket of each route.
    routes: BTreeMap<String, String>,
    buckets: BTreeMap<Route, Bucket>,
    /// Nothing at all may be asked until then.
    closed_until: Option<Duration>,
}

impl Limits {
    /// Takes one from what is left; or says how long there is nothing left.
    pub(super) fn take(&mut self, route: &Route, now: Duration) -> Result<(), Duration> {
        if let Some(until) = self.closed_until.filter(|until| *until > now) {
            return Err(until - now);
        }
        let key = self.key(route);
        let Some(bucket) = self.buckets.get_mut(&key) else {
            return Ok(());
        };
        if bucket.resets <= now {
            self.buckets.remove(&key);
            return Ok(());
        }
        if bucket.remaining == 0 {
            return Err(bucket.resets - now);
        }
        bucket.remaining -= 1;
        Ok(())
    }

    /// An answer said this about its limit.
    pub(super) fn learn(&mut self, route: &Route, told: &Told, now: Duration) {
        if self.routes.len() >= MOST {
            self.routes.clear();
        }
        self.routes.insert(route.path.clone(), told.bucket.clone());
        self.close(route, (told.remaining, told.reset_after), now);
    }

    /// A request was refused: nothing more on this route for so long.
    pub(super) fn refuse(&mut self, route: &Route, wait: Duration, now: Duration) {
        self.close(route, (0, wait), now);
    }

    /// Everything was refused for so long.
    pub(super) fn refuse_all(&mut self, wait: Duration, now: Duration) {
        self.closed_until = Some(now + wait);
    }

    fn close(&mut self, route: &Route, (remaining, wait): (u32, Duration), now: Duration) {
        if self.buckets.len() >= MOST {
            self.buckets.retain(|_, bucket| bucket.resets > now);
        }
        let resets = now + wait;
        let key = self.key(route);
        // Answers overtake each other: the smaller number is the later one, until the bucket is full again.
        let remaining = match self.buckets.get(&key) {
            Some(known) if known.resets > now => known.remaining.min(remaining),
            _ => remaining,
        };
        if self.buckets.len() < MOST {
            self.buckets.insert(key, Bucket { remaining, resets });
        }
    }

    fn key(&self, route: &Route) -> Route {
        let path = self.routes.get(&route.path).unwrap_or(&route.path);
        Route {
            path: path.clone(),
            major: route.major.clone(),
        }
    }
}
