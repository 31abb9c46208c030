//! Who may talk, and what they may do. One function decides for text, commands, buttons, reactions and webhooks; nobody
//! is let in unless the operator said so, and the reason is for the operator.
//!
//! | file | owns |
//! |---|---|
//! | [`policy`] | what the operator wrote down for an account |
//! | [`decide`](mod@decide) | the one decision, and every step on the way to it |
//! | [`words`] | the same in words, for the operator |
//! | [`roles`] | what each role may do: one table |
//! | [`pairing`] | when a stranger gets a code, and when a code counts |
//! | [`loops`] | when programs have talked to each other for long enough |
//!
//! The rest acts: `lodge` is what a gateway remembers at its door, `grants` is the same in the ledger, [`doors`] is what
//! the operator does about it.

pub mod decide;
pub mod doors;
pub mod loops;
pub mod pairing;
pub mod policy;
pub mod roles;
pub mod words;

pub(crate) mod grants;
pub(crate) mod lodge;

pub use decide::{Decision, Facts, decide};
pub use policy::{AccessPolicy, Bots, Groups, Mentions, Strangers, Threads, Trust};
