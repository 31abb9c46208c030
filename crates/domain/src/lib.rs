//! The words of Talaria as types. One word for one thing, in code, command line, API and docs.
//!
//! Nothing here reads a clock, a file or a socket, and nothing awaits: every other room may depend on this
//! one, so it depends on nobody.
//!
//! # Layout
//!
//! | module | words |
//! |---|---|
//! | [`clock`], [`ids`] | time and new ids as parameters, so that the whole gateway runs under a simulated clock |
//! | [`names`] | profile, platform, account, chat, thread, user, message, runner: names nobody can mix up |
//! | [`profile`] | an agent's identity, and the accounts it speaks through |
//! | [`principal`] | who speaks |
//! | [`address`] | where something is said, and the immutable way back |
//! | [`event`] | what arrived |
//! | [`session_key`], [`session`] | which conversation an event belongs to, and who shares it |
//! | [`delivery`] | reply, part, receipt, outcome: what goes out and what became of it |
//! | [`capabilities`] | what a platform can do, and for how long a conversation can be reached |
//! | [`run`], [`authority`], [`scope`] | one execution of a runner, what it may use, what it remembers |
//! | [`descriptor`], [`binding`] | what a runner is, and where and for what it thinks |
//! | [`question`] | what a person is asked, who may answer, and what a button carries |
//! | [`job`], [`handoff`], [`board`], [`schedule`] | work that ends later, moves, is shared, or is due at a time |
//! | [`adapter`], [`runner`], [`effects`], [`live`] | the contracts that rooms speak through |
//! | [`machine`] | the state machines that the ledger enforces |
//! | [`digest`], [`json`] | ids derived from structure, without separators that could be forged; JSON as it is kept and sent |
//! | [`secret`] | values that cannot be printed |
//!
//! # From a message to its session
//!
//! ```
//! use talaria_domain::address::{Address, ChatKind};
//! use talaria_domain::names::{AccountName, ChatId, PlatformName, ProfileName, UserId};
//! use talaria_domain::principal::{Principal, Role};
//! use talaria_domain::session_key::{SessionKey, Sharing, Source};
//!
//! let address = Address {
//!     platform: PlatformName::from("example"),
//!     account: AccountName::from("main-bot"),
//!     chat_kind: ChatKind::Group,
//!     chat: ChatId::from("-100123"),
//!     thread: None,
//!     reply_to: None,
//! };
//! let ada = Principal {
//!     platform: address.platform.clone(),
//!     account: address.account.clone(),
//!     user: UserId::from("7"),
//!     alternate: None,
//!     display_name: Some("Ada".to_owned()),
//!     role: Role::Member,
//! };
//! let profile = ProfileName::from("assistant");
//! let key = SessionKey::derive(&profile, &Source::of(&address, &ada), Sharing::default());
//! assert_eq!(key.participant.as_ref().map(UserId::as_str), Some("7"), "groups are per user by default");
//! ```

pub mod clock;
pub mod digest;
pub mod ids;
pub mod json;
pub mod machine;
pub mod names;
pub mod secret;

pub mod address;
pub mod principal;
pub mod profile;

pub mod event;
pub mod session;
pub mod session_key;

pub mod authority;
pub mod binding;
pub mod descriptor;
pub mod question;
pub mod run;
pub mod scope;

pub mod capabilities;
pub mod delivery;

pub mod adapter;
pub mod effects;
pub mod live;
pub mod runner;

pub mod board;
pub mod handoff;
pub mod job;
pub mod schedule;
