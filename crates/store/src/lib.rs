//! The ledger: every durable fact. One SQL, two engines.
//!
//! # Layout
//!
//! | module | owns |
//! |---|---|
//! | [`ledger`] | the two calls, `write` and `read`, that everything goes through |
//! | [`tx`], [`value`], [`kept`], [`dialect`] | the transaction that closures see, values, and what differs between engines |
//! | [`wake`] | who looks again after a commit |
//! | [`error`] | why something was not done, named for what the caller does about it |
//! | [`dedupe`], [`keys`], [`sessions`], [`inbox`] | what was accepted, once, and in which conversation |
//! | [`erasure`], [`forking`] | ending a conversation for good, and going on from one elsewhere |
//! | [`leases`] | one owner at a time, with a fencing epoch |
//! | [`runs`], [`whole`], [`transcripts`], [`search`] | what was thought and said, and finding it again |
//! | [`outbox`], [`dead`] | what goes out, and what was given up |
//! | [`questions`] | what people are asked |
//! | [`state`], [`passing`] | what runners remember, for ever or for a while |
//! | [`jobs`], [`schedules`] | work that ends later, and what happens at a time |
//! | [`views`] | what operators look at |
//! | [`maintenance`] | rescue, prune, integrity, backup |
//!
//! # An event is accepted once
//!
//! ```
//! use std::sync::Arc;
//! use talaria_domain::clock::{ManualClock, Timestamp};
//! use talaria_domain::event::DedupeKey;
//! use talaria_domain::ids::{EventId, SeededIds};
//! use talaria_store::{Ledger, dedupe};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> talaria_store::Result<()> {
//! let (now, ids) = (Timestamp::from_millis(1), SeededIds::from_seed(1));
//! let ledger = Ledger::inline(Arc::new(ManualClock::at(now)))?;
//! let key = DedupeKey::derive(&"example".into(), &"bot".into(), "update-17");
//! let (first, again) = (EventId::next(&ids, now), EventId::next(&ids, now));
//!
//! let before = ledger.write(move |tx| dedupe::record(tx, key, first)).await?;
//! assert_eq!(before, None);
//! let before = ledger.write(move |tx| dedupe::record(tx, key, again)).await?;
//! assert_eq!(before, Some(first), "delivered again: the first one counts");
//! # Ok(())
//! # }
//! ```

pub mod kept;
pub mod ledger;
pub mod tx;
pub mod value;

pub mod dialect;
pub mod error;
pub mod wake;

pub mod dedupe;
pub mod erasure;
pub mod forking;
pub mod inbox;
pub mod keys;
pub mod leases;
pub mod sessions;

pub mod questions;
pub mod runs;
pub mod search;
pub mod transcripts;
pub mod whole;

pub mod dead;
pub mod outbox;

pub mod jobs;
pub mod passing;
pub mod schedules;
pub mod state;

pub mod views;

pub mod maintenance;

mod change;
mod engine;
mod migrate;
mod work;

pub use engine::Durability;
pub use error::{Conflict, Refusal, Result, StoreError};
pub use ledger::{Ledger, Settings};
pub use tx::{Row, Tx};
pub use wake::{Wake, Wakes};
pub use work::{Ahead, Commit, Committed};
