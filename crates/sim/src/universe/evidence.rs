//! All that can be known about a universe: what the ledger says, what the vendors saw, what the runner was shown and
//! did, what people wrote.

use std::collections::BTreeMap;

use talaria_domain::event::{DedupeKey, Event};
use talaria_domain::ids::{PartId, RunId};
use talaria_gateway::settings::Limits;

use super::cast::{ACCOUNTS, STRANGER, Written};
use super::facts::Facts;
use crate::chat::{Change, Offer, Shown};
use crate::script::Seen;

/// All that can be known.
#[derive(Debug)]
pub(crate) struct Evidence {
    pub(crate) facts: Facts,
    /// In the order of the accounts.
    pub(crate) vendors: Vec<Testimony>,
    pub(crate) written: Vec<Written>,
    pub(crate) seen: Vec<Seen>,
    pub(crate) effects: Vec<(RunId, String)>,
    /// From whom the lever was taken away, and how many effects there were before.
    pub(crate) lost: Vec<(RunId, usize)>,
    pub(crate) limits: Limits,
}

/// What a vendor saw.
#[derive(Debug)]
pub(crate) struct Testimony {
    pub(crate) offer: Offer,
    pub(crate) acknowledged: Vec<Event>,
    pub(crate) shown: Vec<Shown>,
    pub(crate) changes: Vec<Change>,
    pub(crate) backlog: usize,
}

/// What stands in a chat until something else does.
pub(crate) const PLACEHOLDER: &str = "…";

impl Evidence {
    /// What was written under a number.
    pub(crate) fn numbered(&self, number: u32) -> Option<&Written> {
        self.written.iter().find(|written| written.number == number)
    }

    /// What was written, by what makes it itself.
    pub(crate) fn by_dedupe(&self) -> BTreeMap<DedupeKey, &Written> {
        let written = self.written.iter();
        written.map(|written| (written.dedupe, written)).collect()
    }

    /// What the vendor of an account offers.
    pub(crate) fn offer_of(&self, account: &str) -> Option<Offer> {
        let index = ACCOUNTS.iter().position(|(name, _)| *name == account)?;
        self.vendors.get(index).map(|vendor| vendor.offer)
    }

    /// Every message that people see, with the account it is on.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, &Shown)> {
        let vendors = self.vendors.iter().enumerate();
        vendors.flat_map(|(account, vendor)| vendor.shown.iter().map(move |shown| (account, shown)))
    }

    /// Every message that shows a part, with the account it is on.
    pub(crate) fn by_part(&self) -> BTreeMap<PartId, Vec<(usize, &Shown)>> {
        let mut parts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (account, shown) in self.shown() {
            parts.entry(shown.part).or_default().push((account, shown));
        }
        parts
    }
}

impl Written {
    /// Whether they may talk to us.
    pub(crate) fn is_allowed(&self) -> bool {
        self.who != STRANGER
    }
}

/// Whether a message shows something.
pub(crate) fn says_something(shown: &Shown) -> bool {
    shown.text != PLACEHOLDER
}
