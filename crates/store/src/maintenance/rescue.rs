//! Rescues what lost owners held: their leases get a new epoch, their claimed events go back to the lane, their runs
//! are interrupted, and what they were sending is unknown. One transaction, so that nobody sees half of it.

use talaria_domain::address::TargetKey;

use crate::error::Result;
use crate::leases::{self, Ended};
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
    let at = tx.now()?;
    let mut rescued = Rescued::default();
    for name in leases::revoke(tx, ended)? {
        rescued.leases += 1;
        let (kind, id) = name.split_once('/').unwrap_or((&name, ""));
        if let ("lane", Ok(session)) = (kind, id.parse()) {
            rescued.runs += runs::rescue(tx, session, at)?;
            rescued.events += inbox::rescue(tx, session)?;
        }
        if let ("target", Ok(target)) = (kind, id.parse()) {
            rescued.parts += outbox::rescue(tx, TargetKey(target))?;
        }
    }
    Ok(rescued)
}
