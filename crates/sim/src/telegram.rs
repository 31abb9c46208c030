//! The simulated Bot API: a vendor that speaks what core.telegram.org/bots/api describes, for any number of bots. Chats,
//! people and topics may be called by their numbers or by any other name; on the wire they have numbers.
//!
//! ```no_run
//! # async fn story() -> std::io::Result<()> {
//! use talaria_sim::telegram::{self, Terms};
//! use talaria_sim::vendor::{World as _, Written};
//!
//! let server = telegram::start("127.0.0.1:0", Terms::of(["1000001:a-token"])).await?;
//! server.vendor().write(&Written::direct("ada", "hello"));
//! server.vendor().until(|world| world.backlog() == 0).await;
//! assert_eq!(server.vendor().chat("chat of ada").messages.len(), 1);
//! # Ok(())
//! # }
//! ```

mod api;
mod arguments;
pub(crate) mod candidate;
mod files;
mod hooks;
mod markup;
mod message;
mod methods;
mod names;
mod parameters;
mod updates;
mod world;

pub use arguments::Arguments;
pub use world::{Terms, World};

use std::io;

use tokio::net::ToSocketAddrs;

use crate::vendor;

/// The simulated Bot API on a port.
pub type Server = vendor::Server<World>;
/// The simulated Bot API.
pub type Vendor = vendor::Stage<World>;

/// Starts it. Port 0 is a free one.
pub async fn start(listen: impl ToSocketAddrs, terms: Terms) -> io::Result<Server> {
    Server::start(listen, World::on(terms), |vendor, _| api::routes(vendor)).await
}
