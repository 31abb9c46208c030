//! What the operator does about who may come in: looks who waits, lets them in, sends them away, asks why. A grant counts
//! from the next message on and until it is taken back; nothing that runs is stopped by it.

use std::sync::Arc;

use talaria_domain::address::Address;
use talaria_domain::clock::Timestamp;
use talaria_domain::event::{Author, Mention};
use talaria_domain::names::ProfileName;
use talaria_domain::principal::{Principal, Role};
use talaria_store::{Result, Tx};

use super::decide::{self, Deed, Facts, Step};
use super::pairing::{Grant, NotFound, Register, Request};
use super::{AccessPolicy, Decision, grants, words};
use crate::delivery::say::{self, Place};
use crate::routing::{self, Route};
use crate::shared::Shared;

/// What somebody who was let in is told.
const WELCOME: &str = "You may talk to me now.";

/// Who may come in, and who waits to. Clones are the same.
#[derive(Clone)]
pub struct Doors(pub(crate) Arc<Shared>);

/// Whom the operator means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whom {
    /// Whoever was given this code.
    Code(String),
    /// Them, by platform, account and stable id.
    User(Box<Principal>),
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settled<T> {
    /// It is done.
    Done(T),
    /// Nobody like that waits.
    NoRequest,
    /// Too many codes were wrong.
    Locked {
        /// Until then none is looked at.
        until: Timestamp,
    },
    /// No such account is configured.
    NoAccount,
}

/// Who waits, and who was let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Those who wait.
    pub waiting: Vec<Request>,
    /// Those who were let in.
    pub granted: Vec<Grant>,
    /// Until when no code is looked at, if so.
    pub locked_until: Option<Timestamp>,
}

/// Why a decision would fall as it would.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The decision.
    pub decision: Decision,
    /// The same in words.
    pub words: String,
    /// Each thing that was looked at, in order, and what was found.
    pub steps: Vec<(&'static str, String)>,
    /// What they were granted when they were paired.
    pub grant: Option<Grant>,
    /// Who would answer.
    pub profile: ProfileName,
    /// The route that says so, if one does.
    pub route: Option<Route>,
}

/// How many were turned away since the gateway started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnedAway {
    /// What was not for us.
    pub ignored: u64,
    /// Those who may not.
    pub refused: u64,
}

/// Something that somebody might say.
#[derive(Debug, Clone, Copy)]
pub struct Supposed<'a> {
    /// Who.
    pub principal: &'a Principal,
    /// Where.
    pub address: &'a Address,
    /// The command that it is, if it is one.
    pub command: Option<&'a str>,
}

/// An account, as far as it is about who may come in.
#[derive(Debug, Clone, Copy)]
pub struct Entrance<'a> {
    /// Who may.
    pub policy: &'a AccessPolicy,
    /// Who answers.
    pub profile: &'a ProfileName,
    /// Where somebody else does.
    pub routes: &'a [Route],
}

impl Doors {
    /// Who waits, and who was let in.
    pub async fn list(&self) -> Result<Listing> {
        let now = self.0.now();
        let read = self.0.ledger.read(move |tx| {
            let register = grants::register(tx)?;
            Ok(Listing {
                waiting: register.waiting(now).cloned().collect(),
                granted: grants::all(tx)?,
                locked_until: register.locked_until(now),
            })
        });
        read.await
    }

    /// Lets somebody in, in this role, in the name of `by`; tells them, if they asked. Who is named by id need not have
    /// asked.
    pub async fn approve(&self, whom: Whom, role: Role, by: &str) -> Result<Settled<Grant>> {
        let (shared, by) = (Arc::clone(&self.0), by.to_owned());
        let written = self.0.ledger.write(move |tx| {
            let found = match found(tx, &shared, &whom)? {
                Settled::Done(found) => found,
                Settled::NoRequest => return Ok(Settled::NoRequest),
                Settled::Locked { until } => return Ok(Settled::Locked { until }),
                Settled::NoAccount => return Ok(Settled::NoAccount),
            };
            let principal = match (&found, &whom) {
                (Some(request), _) => &request.principal,
                (None, Whom::User(user)) => &**user,
                (None, Whom::Code(_)) => return Ok(Settled::NoRequest),
            };
            let grant = Grant {
                principal: principal.clone(),
                role,
                approved_by: by.clone(),
                approved_at: shared.now(),
            };
            grants::record(tx, &grant)?;
            if let Some(request) = found {
                welcome(tx, &shared, &request)?;
            }
            Ok(Settled::Done(grant))
        });
        let settled = written.await;
        // Also where nobody knows whether it was written.
        grants::look_again(&self.0).await;
        settled
    }

    /// Sends somebody away who waits. They are not told.
    pub async fn deny(&self, whom: Whom) -> Result<Settled<Request>> {
        let shared = Arc::clone(&self.0);
        let written = self.0.ledger.write(move |tx| {
            Ok(match found(tx, &shared, &whom)? {
                Settled::Done(Some(request)) => Settled::Done(request),
                Settled::Done(None) | Settled::NoRequest => Settled::NoRequest,
                Settled::Locked { until } => Settled::Locked { until },
                Settled::NoAccount => Settled::NoAccount,
            })
        });
        written.await
    }

    /// Takes back what somebody was granted; gives whether they were. Counts at once.
    pub async fn revoke(&self, who: &Principal) -> Result<bool> {
        let key = who.key();
        let revoked = self.0.ledger.write(move |tx| grants::revoke(tx, key)).await;
        grants::look_again(&self.0).await;
        revoked
    }

    /// Why a decision would fall as it would now; none where no such account is configured.
    pub fn why(&self, supposed: Supposed<'_>) -> Option<Explanation> {
        let settings = &self.0.settings;
        let account = settings.account(supposed.address)?;
        let entrance = Entrance {
            policy: &account.access,
            profile: &account.adapter.account().profile,
            routes: &settings.routes,
        };
        let grant = self.0.lodge.grant(supposed.principal, Clone::clone);
        Some(explain(&entrance, supposed, grant))
    }

    /// How many were turned away.
    pub fn turned_away(&self) -> TurnedAway {
        let counts = &self.0.lodge.counts;
        TurnedAway {
            ignored: counts.ignored(),
            refused: counts.refused(),
        }
    }
}

/// The request that is meant, taken out of those that wait. Somebody who is named by id may have none.
fn found(tx: &mut Tx<'_>, shared: &Shared, whom: &Whom) -> Result<Settled<Option<Request>>> {
    let now = shared.now();
    let mut register = grants::register(tx)?;
    let settled = match whom {
        Whom::Code(code) => by_code(&mut register, code, now),
        Whom::User(user) => {
            let account = shared.settings.account_named(&user.platform, &user.account);
            if account.is_none() {
                return Ok(Settled::NoAccount);
            }
            Settled::Done(register.take_user(user.key(), now))
        }
    };
    grants::keep(tx, &register, now)?;
    Ok(settled)
}

fn by_code(register: &mut Register, code: &str, now: Timestamp) -> Settled<Option<Request>> {
    match register.take(code, now) {
        Ok(request) => Settled::Done(Some(request)),
        Err(NotFound::Wrong) => Settled::NoRequest,
        Err(NotFound::Locked { until }) => Settled::Locked { until },
    }
}

fn welcome(tx: &mut Tx<'_>, shared: &Shared, request: &Request) -> Result<()> {
    let place = Place::unasked(tx, shared, &request.address, &request.principal)?;
    if let Some(place) = place {
        say::notice(tx, shared, &place, WELCOME)?;
    }
    Ok(())
}

/// Why a decision would fall as it would at this entrance, with what was granted. Pure.
pub fn explain(
    entrance: &Entrance<'_>,
    supposed: Supposed<'_>,
    grant: Option<Grant>,
) -> Explanation {
    let (who, at) = (supposed.principal, supposed.address);
    let policy = entrance.policy;
    let facts = Facts {
        principal: who,
        address: at,
        deed: Deed::Wrote(Mention::Direct, Author::Person),
        command: supposed.command,
        grant: grant.as_ref().map(|grant| grant.role),
        has_spoken: false,
    };
    let (decision, steps) = decide::explain(policy, &facts);
    let told = |step: &Step| words::step(step, policy, grant.as_ref());
    let route = routing::nearest(entrance.routes, at, who);
    Explanation {
        decision,
        words: words::decision(&decision, &facts),
        steps: steps.iter().map(told).collect(),
        profile: route
            .map_or(entrance.profile, |route| &route.profile)
            .clone(),
        route: route.cloned(),
        grant,
    }
}
