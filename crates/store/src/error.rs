//! Why the ledger did not do what it was asked. Variants are named for what the caller does about them;
//! failures of the engines are classified once, in the engine's own file.

use talaria_domain::clock::Timestamp;

/// The result of ledger work.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why ledger work failed. Nothing of a failed closure is stored, but for [`StoreError::Uncertain`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// Not now: the same work may succeed later.
    #[error("the store cannot be reached right now, try again: {why}")]
    Retry {
        /// What was in the way.
        why: String,
    },
    /// The connection broke while the commit was under way: it may or may not have happened. Work that carries
    /// its own key (an event's dedupe key) can simply be repeated.
    #[error("the connection broke during a commit, the work may or may not be stored: {why}")]
    Uncertain {
        /// What is known.
        why: String,
    },
    /// An operator has to act before this store can be used.
    #[error(transparent)]
    Refuse(#[from] Refusal),
    /// Somebody else was there first.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// There is no such thing, or not for this principal.
    #[error("there is no {thing} {id}")]
    NotFound {
        /// What was looked for.
        thing: &'static str,
        /// By which id.
        id: String,
    },
    /// A stored value is not what this binary writes.
    #[error("a stored {thing} cannot be read: {why}")]
    Unreadable {
        /// What was read.
        thing: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The closure broke: a statement that the engine refuses, or a panic. A defect of ours.
    #[error("ledger work broke: {why}")]
    Broken {
        /// How.
        why: String,
    },
    /// The ledger was closed; nothing is written after that.
    #[error("the ledger is closed")]
    Closed,
}

/// Why a store cannot be used until an operator acts. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Another process writes it.
    #[error("the store {path} is in use by process {pid}: stop that gateway first, or talk to it")]
    InUse {
        /// The store's file.
        path: String,
        /// The owner.
        pid: String,
    },
    /// A newer binary made it.
    #[error(
        "the store has schema {found}, this binary knows up to {known}: use the newer binary, or restore a backup"
    )]
    Newer {
        /// What the store has.
        found: i64,
        /// What this binary has.
        known: i64,
    },
    /// A migration that was applied is not the one this binary has.
    #[error(
        "migration {number} of the store differs from this binary's: use the binary that made the store"
    )]
    Different {
        /// Which.
        number: i64,
    },
    /// The file is not a healthy store.
    #[error("the store {path} is corrupt ({detail}): move it away and restore a backup")]
    Corrupt {
        /// The store's file.
        path: String,
        /// What the engine said.
        detail: String,
    },
    /// There is no room.
    #[error("the disk that holds {path} is full: free some space and try again")]
    Full {
        /// The store's file.
        path: String,
    },
    /// We may not write there.
    #[error(
        "the store {path} cannot be written ({detail}): check the directory's owner and permissions"
    )]
    ReadOnly {
        /// The store's file.
        path: String,
        /// What the system said.
        detail: String,
    },
    /// The server does not answer.
    #[error(
        "PostgreSQL at {server} cannot be reached ({detail}): check that it runs and that the address is right"
    )]
    Unreachable {
        /// Host and port, never the password.
        server: String,
        /// What the system said.
        detail: String,
    },
    /// The server answers and says no.
    #[error(
        "PostgreSQL at {server} refuses us ({detail}): check user, password and database in the store's url"
    )]
    Denied {
        /// Host and port, never the password.
        server: String,
        /// What the server said.
        detail: String,
    },
    /// The url names no store.
    #[error(
        "expected a store url like sqlite:PATH or postgres://user@host/database, found one that {detail}"
    )]
    BadUrl {
        /// What is wrong with it; never the url itself, which may hold a password.
        detail: String,
    },
}

/// Somebody else was there first, or it is too late.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The change of state is not in the table.
    #[error("cannot {verb} {thing} {id}: it is {from}")]
    Transition {
        /// What should have been done to it.
        verb: &'static str,
        /// What kind of thing.
        thing: &'static str,
        /// Which.
        id: String,
        /// What it is.
        from: &'static str,
        /// What it should have become.
        to: &'static str,
    },
    /// A later owner has the lease: whatever this one still does is fenced off.
    #[error("the lease {name} moved on from epoch {held} to {current}")]
    Fenced {
        /// The lease.
        name: String,
        /// The epoch that the work was done under.
        held: i64,
        /// The epoch in force.
        current: i64,
    },
    /// Compare-and-set found another version.
    #[error("expected version {expected}, found {found}")]
    Version {
        /// What the caller knew.
        expected: i64,
        /// What is stored.
        found: i64,
    },
    /// A lease is held by somebody else until a time.
    #[error("the lease {name} is held by {owner} until {until:?}")]
    Held {
        /// The lease.
        name: String,
        /// Its owner.
        owner: String,
        /// In the database's time.
        until: Timestamp,
    },
}

impl StoreError {
    /// A stored value that cannot be read.
    pub(crate) fn unreadable(thing: &'static str, why: &(impl ToString + ?Sized)) -> Self {
        Self::Unreadable {
            thing,
            why: why.to_string(),
        }
    }

    /// A defect of ours.
    pub(crate) fn broken(why: &(impl ToString + ?Sized)) -> Self {
        Self::Broken {
            why: why.to_string(),
        }
    }
}
