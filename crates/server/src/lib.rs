//! HTTP: the operator's API, conversations over it, and the web page. One listener for all of it.
//!
//! # Layout
//!
//! | module | owns |
//! |---|---|
//! | [`mod@serve`] | the listener: routes, what every request goes through, stopping |
//! | [`shared`] | what is handed in: the ledger, the gateway's contracts, keys, names |
//! | [`terms`] | what the listener holds everybody to |
//! | [`health`] | what the gateway says about its parts, and when it is ready |
//! | [`hooks`] | where platforms call us |
//! | [`courier`] | the way out for texts that an operator sends without an agent |
//! | [`timetable`] | what happens at a time, as an operator asks for it |
//! | [`rights`] | what an operator can take away from runs |
//! | `access/` | who asks: keys, the page's cookie, one-time logins, `Host` and `Origin` |
//! | `contract/` | the table of routes, and the `OpenAPI` document that is made from it |
//! | `openai/` | what programs call: one file per endpoint, all of them views of the same turn |
//! | `operator/` | one file per group of endpoints |
//! | `web/` | the page, written by hand, served as one document |
//! | `questions.rs` | answering what a run asked |
//! | `surfaces.rs` | the local surfaces as places and people: the one file that names them |
//! | `places.rs` | where conversations take place, remembered |
//! | `listening.rs` | taking connections, so many at once |
//! | `layers.rs`, `cors.rs` | what every request goes through, and whose pages may ask |
//! | `input.rs`, `output.rs`, `error.rs` | what callers send, what they get, and the one shape of every refusal |
//!
//! **Invariant:** a route is behind a scope because its group is, not because its handler remembers to ask.
//! **Invariant:** whoever asks for a conversation is part of the look-up; a foreign id is not found.

pub mod courier;
pub mod doorkeeper;
pub mod health;
pub mod hooks;
pub mod rights;
pub mod serve;
pub mod shared;
pub mod terms;
pub mod timetable;

mod access;
mod contract;
mod openai;
mod operator;
mod places;
mod questions;
mod surfaces;
mod web;

mod cors;
mod error;
mod input;
mod layers;
mod listening;
mod output;

pub use access::entropy::{NoEntropy, fresh_key};
pub use access::keys::OperatorKeys;
pub use access::login::{NoLink, login_link};
pub use serve::{serve, serve_on};
pub use shared::{About, PlaceOf, Shared};
pub use terms::{Terms, TurnLimits};
