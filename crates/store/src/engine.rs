//! The engines behind the ledger. Each takes closures and answers them after their commit; what they have in
//! common is this enum, [`crate::work::Work`] and nothing more.

pub(crate) mod postgres;
pub(crate) mod sqlite;

/// How much a commit survives.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Every commit reaches the disk: survives a power cut.
    #[default]
    Power,
    /// Survives kill -9; a power cut may take the last moments, never the store's health.
    Process,
}

/// Whether a closure may change anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// It may.
    Write,
    /// It sees one unchanging state and may not.
    Read,
}
