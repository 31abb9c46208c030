//! Files on their way in and out. What people send is fetched once, when the turn that answers it begins, and kept below
//! `in/`; what an agent sends is copied below `out/` before it is recorded, so that what is delivered is what was sent,
//! whatever becomes of the original. A file belongs to one event or one part, and goes some days after it has ended.
//!
//! **Invariant:** nobody's words become a path: a name is made safe, a place follows from an id.

pub mod kind;
pub mod name;
pub mod share;

mod disk;
pub(crate) mod fetch;
pub(crate) mod out;
pub(crate) mod sweep;

use std::path::PathBuf;

/// Where files are kept, and which may be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// Where they are kept. Nobody else writes there.
    pub root: PathBuf,
    /// Below these a file may be sent from.
    pub shareable: Vec<PathBuf>,
    /// Below this none may, but for those that are kept.
    pub private: Option<PathBuf>,
}

impl Files {
    /// What people sent.
    pub(crate) fn incoming(&self) -> PathBuf {
        self.root.join("in")
    }

    /// What agents send.
    pub(crate) fn outgoing(&self) -> PathBuf {
        self.root.join("out")
    }
}
