//! The simulated bridge: a vendor that speaks the protocol of `docs/relay.md`, and a control side where a test or a
//! person writes messages, looks at chats and orders faults. It keeps what people wrote until it was acknowledged.
//!
//! ```no_run
//! # async fn story() -> std::io::Result<()> {
//! use talaria_sim::relay::{Offer, Server, Terms, Written};
//!
//! let server = Server::start("127.0.0.1:0", Terms::offering(Offer::Keys)).await?;
//! server.vendor().write(&Written::direct("ada", "hello"));
//! server.vendor().until(|world| world.backlog() == 0).await;
//! assert_eq!(server.vendor().chat("chat of ada").messages.len(), 1);
//! # Ok(())
//! # }
//! ```

pub mod crash;

mod arguments;
mod bridge;
mod control;
mod fault;
mod line;
mod server;
mod vendor;
mod world;

pub use arguments::Arguments;
pub use fault::{Fault, Mishap, NoMishap, On};
pub use server::Server;
pub use vendor::{Terms, Vendor};
pub use world::{Asked, Chat, Offer, Shown, World, Written, WrittenId};
