//! Pairing: a stranger asks, the operator approves.
//!
//! Pure: what waits, the time and random bytes in; what the stranger is told, or whom a code stands for, out. A code is
//! shown once and kept as a salted hash; it is good for an hour. Few may wait at once, nobody asks twice in a row, and
//! whoever guesses codes is locked out.

#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq as _;
use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::digest::{Digest, Fields};
use talaria_domain::principal::{Principal, PrincipalKey, Role};

/// Without those that are taken for each other: 0 and O, 1 and I.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
/// How long a code is.
pub const LETTERS: usize = 8;
/// How long a code is good for.
pub const GOOD_FOR: Duration = Duration::from_hours(1);
/// How many may wait for one account.
pub const MOST_WAITING: usize = 3;
/// How long somebody who has asked hears nothing more.
pub const SILENCE: Duration = Duration::from_mins(10);
/// So many wrong codes,
pub const MOST_WRONG: usize = 5;
/// in so short a time,
pub const WRONG_WITHIN: Duration = Duration::from_hours(1);
/// lock everybody out for so long.
pub const LOCKED_FOR: Duration = Duration::from_hours(1);
/// How many people are remembered for having asked. Beyond that nobody is answered.
const MOST_ASKED: usize = 256;

/// Random bytes for a code and its salt.
pub type Chance = [u8; LETTERS + SALT];
const SALT: usize = 16;

/// What waits for the operator, and what was tried.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Register {
    waiting: Vec<Request>,
    /// Who has asked, and when.
    asked: Vec<(PrincipalKey, Timestamp)>,
    /// When a wrong code was given.
    wrong: Vec<Timestamp>,
    locked_until: Option<Timestamp>,
}

/// Somebody who waits to be let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Who.
    pub principal: Principal,
    /// Their direct chat.
    pub address: Address,
    /// When they asked.
    pub asked_at: Timestamp,
    /// When their code is good no more.
    pub expires_at: Timestamp,
    code: HashedCode,
}

/// What is kept of a code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct HashedCode {
    salt: String,
    hash: Digest,
}

/// Somebody who was let in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Who.
    pub principal: Principal,
    /// As what.
    pub role: Role,
    /// By whom.
    pub approved_by: String,
    /// When.
    pub approved_at: Timestamp,
}

/// What becomes of somebody who asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// They get this code.
    Code(String),
    /// They are told once to come back later.
    Later,
    /// They hear nothing.
    Silence,
}

/// Why a code stands for nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotFound {
    /// It is wrong, or too old.
    Wrong,
    /// Too many were wrong.
    Locked {
        /// Until then nobody may try.
        until: Timestamp,
    },
}

impl Register {
    /// What becomes of somebody who asks now.
    pub fn ask(
        &mut self,
        (principal, address): (&Principal, &Address),
        now: Timestamp,
        chance: &Chance,
    ) -> Asked {
        self.forget(now);
        let who = principal.key();
        let is_known = self.asked.iter().any(|(other, _)| *other == who);
        if is_known || self.asked.len() >= MOST_ASKED {
            return Asked::Silence;
        }
        self.asked.push((who, now));
        // Nobody waits twice: an earlier code of theirs is good no more.
        self.waiting
            .retain(|request| request.principal.key() != who);
        let is_here = |request: &&Request| {
            let other = &request.principal;
            (&other.platform, &other.account) == (&principal.platform, &principal.account)
        };
        let waiting = self.waiting.iter().filter(is_here).count();
        if waiting >= MOST_WAITING || self.locked_until.is_some() {
            return Asked::Later;
        }
        let code = code(chance);
        self.waiting.push(Request {
            principal: principal.clone(),
            address: address.clone(),
            asked_at: now,
            expires_at: now.plus(GOOD_FOR),
            code: HashedCode::of(&code, chance),
        });
        Asked::Code(code)
    }

    /// Takes out whoever a code stands for. A wrong one is remembered.
    pub fn take(&mut self, code: &str, now: Timestamp) -> Result<Request, NotFound> {
        self.forget(now);
        if let Some(until) = self.locked_until {
            return Err(NotFound::Locked { until });
        }
        let code = code.trim().to_uppercase();
        // Each is compared, so that time tells nothing about which one it is.
        let mut found = None;
        for (index, request) in self.waiting.iter().enumerate() {
            if request.code.is(&code) {
                found = Some(index);
            }
        }
        if let Some(index) = found {
            return Ok(self.waiting.remove(index));
        }
        self.wrong.push(now);
        if self.wrong.len() >= MOST_WRONG {
            self.wrong.clear();
            self.locked_until = Some(now.plus(LOCKED_FOR));
        }
        Err(NotFound::Wrong)
    }

    /// Takes out somebody by who they are. Nothing can be guessed so: nobody is ever locked out.
    pub fn take_user(&mut self, who: PrincipalKey, now: Timestamp) -> Option<Request> {
        self.forget(now);
        let is_theirs = |request: &Request| request.principal.key() == who;
        let index = self.waiting.iter().position(is_theirs)?;
        Some(self.waiting.remove(index))
    }

    /// Who waits now.
    pub fn waiting(&self, now: Timestamp) -> impl Iterator<Item = &Request> {
        self.waiting
            .iter()
            .filter(move |request| now < request.expires_at)
    }

    /// Until when nobody may try a code, if so.
    pub fn locked_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.locked_until.filter(|until| now < *until)
    }

    /// What is over does not count.
    fn forget(&mut self, now: Timestamp) {
        self.locked_until = self.locked_until(now);
        self.waiting.retain(|request| now < request.expires_at);
        self.asked.retain(|(_, at)| now < at.plus(SILENCE));
        self.wrong.retain(|at| now < at.plus(WRONG_WITHIN));
    }
}

impl HashedCode {
    fn of(code: &str, chance: &Chance) -> Self {
        let salt: Vec<String> = chance
            .iter()
            .skip(LETTERS)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let salt = salt.concat();
        let hash = hash(&salt, code);
        Self { salt, hash }
    }

    fn is(&self, code: &str) -> bool {
        let given = hash(&self.salt, code);
        bool::from(given.as_bytes().ct_eq(self.hash.as_bytes()))
    }
}

fn hash(salt: &str, code: &str) -> Digest {
    Fields::of("pairing code").text(salt).text(code).digest()
}

fn code(chance: &Chance) -> String {
    let letter = |byte: &u8| {
        ALPHABET
            .get(usize::from(*byte % 32))
            .map_or('A', |it| char::from(*it))
    };
    chance.iter().take(LETTERS).map(letter).collect()
}
