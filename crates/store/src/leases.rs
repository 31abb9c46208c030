//! One owner, by lease. A lease has an owner, an epoch and an expiry in the database's time. Taking it over, after
//! it was released or has expired, starts a new epoch; whoever still works under an old one is fenced off when it
//! commits.
//!
//! **Invariant:** an epoch is never used twice for a name, not even after its row was pruned: a new row starts from
//! the time it was made, which is later than every epoch before it.

use std::fmt;
use std::time::Duration;

use talaria_domain::address::TargetKey;
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::SessionId;
use talaria_domain::names::NodeName;

use crate::bind;
use crate::error::{Conflict, Result};
use crate::maintenance::rescue;
use crate::tx::Tx;

/// What a lease is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LeaseName {
    /// A session's turn.
    Lane(SessionId),
    /// Sending to one target.
    Target(TargetKey),
    /// Anything else that has one owner: a connection, a slot, a cursor.
    Named(String),
}

impl fmt::Display for LeaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lane(session) => write!(f, "lane/{session}"),
            Self::Target(target) => write!(f, "target/{}", target.0),
            Self::Named(name) => write!(f, "named/{name}"),
        }
    }
}

impl LeaseName {
    /// The name that this text stands for.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, id) = text.split_once('/')?;
        match kind {
            "lane" => id.parse().ok().map(Self::Lane),
            "target" => id
                .parse()
                .ok()
                .map(|target| Self::Target(TargetKey(target))),
            "named" => Some(Self::Named(id.to_owned())),
            _ => None,
        }
    }
}

/// A lease that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// What it is for.
    pub name: LeaseName,
    /// Who has it.
    pub owner: NodeName,
    /// Under which epoch.
    pub epoch: i64,
    /// Its name as the ledger has it.
    pub(crate) text: String,
}

impl Lease {
    fn of(name: &LeaseName, owner: &NodeName, epoch: i64, text: String) -> Self {
        Self {
            name: name.clone(),
            owner: owner.clone(),
            epoch,
            text,
        }
    }

    /// The first lease of something that is new. The ledger knows of it once it was [recorded](record).
    pub fn first(name: &LeaseName, owner: &NodeName, at: Timestamp) -> Self {
        Self::of(name, owner, at.as_millis(), name.to_string())
    }
}

/// Takes a lease that is free, or says who has it. Taking one that one has oneself is a conflict, too: two tasks of
/// one process are two owners. What the last owner held when its lease expired is put back first: whoever takes over
/// finds everything where it can be taken.
pub fn claim(tx: &mut Tx<'_>, name: &LeaseName, owner: &NodeName, ttl: Duration) -> Result<Lease> {
    let now = tx.now()?;
    let text = name.to_string();
    let sql = "SELECT epoch, expires_at FROM leases WHERE name = ?1";
    let before: Option<(i64, Timestamp)> =
        tx.row(sql, bind![text], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let epoch = match before {
        None => make(tx, &text, owner, ttl)?,
        Some((_, until)) if until > now => None,
        Some((epoch, until)) => {
            if until > Timestamp::ZERO {
                rescue::put_back(tx, name)?;
            }
            // Nobody else took it meanwhile: that would have started another epoch.
            let sql = "UPDATE leases SET owner = ?2, epoch = ?3 + 1, expires_at = ?4 WHERE name = ?1 AND epoch = ?3";
            let taken = tx.execute(sql, bind![text, owner, epoch, now.plus(ttl)])?;
            (taken > 0).then_some(epoch + 1)
        }
    };
    match epoch {
        Some(epoch) => Ok(Lease::of(name, owner, epoch, text)),
        None => Err(held(tx, text)?.into()),
    }
}

/// The same for what was made just now: most likely nobody ever had it, and nobody is asked first.
pub fn claim_new(
    tx: &mut Tx<'_>,
    name: &LeaseName,
    owner: &NodeName,
    ttl: Duration,
) -> Result<Lease> {
    let text = name.to_string();
    match make(tx, &text, owner, ttl)? {
        Some(epoch) => Ok(Lease::of(name, owner, epoch, text)),
        None => claim(tx, name, owner, ttl),
    }
}

/// Writes down the first lease of something that is new.
pub fn record(tx: &mut Tx<'_>, lease: &Lease, ttl: Duration) -> Result<()> {
    let until = tx.now()?.plus(ttl);
    if insert(tx, (&lease.text, &lease.owner), lease.epoch, until)? {
        return Ok(());
    }
    Err(held(tx, lease.text.clone())?.into())
}

/// The first epoch of a name; none if it has had one.
fn make(tx: &mut Tx<'_>, name: &str, owner: &NodeName, ttl: Duration) -> Result<Option<i64>> {
    let now = tx.now()?;
    let epoch = now.as_millis();
    let is_taken = insert(tx, (name, owner), epoch, now.plus(ttl))?;
    Ok(is_taken.then_some(epoch))
}

fn insert(
    tx: &mut Tx<'_>,
    (name, owner): (&str, &NodeName),
    epoch: i64,
    until: Timestamp,
) -> Result<bool> {
    let sql = "INSERT INTO leases (name, owner, epoch, expires_at) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (name) DO NOTHING";
    Ok(tx.execute(sql, bind![name, owner, epoch, until])? > 0)
}

fn held(tx: &mut Tx<'_>, name: String) -> Result<Conflict> {
    let sql = "SELECT owner, expires_at FROM leases WHERE name = ?1";
    let holder = tx.row(sql, bind![name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (owner, until) = holder.unwrap_or_else(|| (String::new(), Timestamp::ZERO));
    Ok(Conflict::Held { name, owner, until })
}

/// Keeps a lease for longer, unless somebody else has it by now.
pub fn renew(tx: &mut Tx<'_>, lease: &Lease, ttl: Duration) -> Result<()> {
    fence(tx, lease)?;
    let expires_at = tx.now()?.plus(ttl);
    tx.execute(
        "UPDATE leases SET expires_at = ?2 WHERE name = ?1",
        bind![lease.text, expires_at],
    )?;
    Ok(())
}

/// Gives a lease back, and with it what is still held under it. From then on its epoch is a stale one.
pub fn release(tx: &mut Tx<'_>, lease: &Lease) -> Result<()> {
    fence(tx, lease)?;
    rescue::put_back(tx, &lease.name)?;
    tx.execute(
        "UPDATE leases SET epoch = epoch + 1, expires_at = 0 WHERE name = ?1",
        bind![lease.text],
    )?;
    Ok(())
}

/// Gives a lease back under which nothing is held any more: what was held has come to its end in this transaction.
pub fn hand_in(tx: &mut Tx<'_>, lease: &Lease) -> Result<()> {
    let handed_in = tx.execute(
        "UPDATE leases SET epoch = epoch + 1, expires_at = 0 WHERE name = ?1 AND epoch = ?2",
        bind![lease.text, lease.epoch],
    )?;
    if handed_in == 0 {
        fence(tx, lease)?;
    }
    Ok(())
}

/// Takes a lease away from whoever has it: their epoch is a stale one from here on. What they held is the caller's to
/// deal with, in the same transaction.
pub fn seize(tx: &mut Tx<'_>, name: &LeaseName) -> Result<()> {
    tx.execute(
        "UPDATE leases SET epoch = epoch + 1, expires_at = 0 WHERE name = ?1",
        bind![name.to_string()],
    )?;
    Ok(())
}

/// Refuses to go on if somebody else has taken the lease over. An expired lease that nobody took is still good:
/// its owner was slow, and nobody else has started.
pub fn fence(tx: &mut Tx<'_>, lease: &Lease) -> Result<()> {
    let sql = "SELECT epoch FROM leases WHERE name = ?1";
    let current = tx.row(sql, bind![lease.text], |row| row.get(0))?;
    let current = current.unwrap_or(0);
    if current == lease.epoch {
        return Ok(());
    }
    Err(Conflict::Fenced {
        name: lease.text.clone(),
        held: lease.epoch,
        current,
    }
    .into())
}

/// Which leases are ended from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Those that have expired.
    Expired,
    /// Those of an owner that is known to be gone.
    OwnedBy(NodeName),
}

/// Ends leases of owners that are gone and starts a new epoch in each, so that an owner that comes back is fenced
/// off. Gives the names of those that were in use.
pub(crate) fn revoke(tx: &mut Tx<'_>, ended: &Ended) -> Result<Vec<String>> {
    let now = tx.now()?;
    let name = |row: &crate::tx::Row<'_>| row.get::<String>(0);
    match ended {
        Ended::Expired => tx.rows(
            "UPDATE leases SET epoch = epoch + 1, expires_at = 0
             WHERE expires_at > 0 AND expires_at <= ?1 RETURNING name",
            bind![now],
            name,
        ),
        Ended::OwnedBy(owner) => tx.rows(
            "UPDATE leases SET epoch = epoch + 1, expires_at = 0
             WHERE expires_at > 0 AND owner = ?1 RETURNING name",
            bind![owner],
            name,
        ),
    }
}
