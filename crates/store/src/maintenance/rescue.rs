//! Rescues what lost owners held: their leases get a new epoch, their claimed events go back to the lane, their runs
//! are interrupted, and what they were sending is unknown. One transaction, so that nobody sees half of it.
//!
//! **Invariant:** a lease that nobody has holds nothing. Whoever takes one over, or gives one back, comes through here,
//! too.

use crate::error::Result;
use crate::leases::{self, Ended, LeaseName};
use crate::tx::Tx;
use crate::{inbox, outbox, runs};

/// What was rescued.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Rescued {
    /// Leases that were ended.
    pub leases: u64,
    /// Events that are back in their lanes.
    pub events: u64,
    /// Runs that are interrupted.
    pub runs: u64,
    /// Parts of which nobody knows whether they arrived.
    pub parts: u64,
}

/// Rescues what the owners of ended leases held.
pub fn rescue(tx: &mut Tx<'_>, ended: &Ended) -> Result<Rescued> {
    let mut all = Rescued::default();
    for name in leases::revoke(tx, ended)? {
        all.leases += 1;
        let Some(name) = LeaseName::parse(&name) else {
            continue;
        };
        let one = put_back(tx, &name)?;
        all.events += one.events;
        all.runs += one.runs;
        all.parts += one.parts;
    }
    Ok(all)
}

/// Puts back what is held under one lease.
pub(crate) fn put_back(tx: &mut Tx<'_>, name: &LeaseName) -> Result<Rescued> {
    let mut rescued = Rescued::default();
    match name {
        LeaseName::Lane(session) => {
            let at = tx.now()?;
            rescued.runs = runs::rescue(tx, *session, at)?;
            rescued.events = inbox::rescue(tx, *session)?;
        }
        LeaseName::Target(target) => rescued.parts = outbox::rescue(tx, *target)?,
        LeaseName::Named(_) => {}
    }
    Ok(rescued)
}
