//! The simulated bridge: a vendor that speaks the protocol of `docs/relay.md`. It keeps what people wrote until it was
//! acknowledged.
//!
//! ```no_run
//! # async fn story() -> std::io::Result<()> {
//! use talaria_sim::relay::{self, Offer, Terms, Written};
//! use talaria_sim::vendor::World as _;
//!
//! let server = relay::start("127.0.0.1:0", Terms::offering(Offer::Keys)).await?;
//! server.vendor().write(&Written::direct("ada", "hello"));
//! server.vendor().until(|world| world.backlog() == 0).await;
//! assert_eq!(server.vendor().chat("chat of ada").messages.len(), 1);
//! # Ok(())
//! # }
//! ```

mod arguments;
mod bridge;
pub(crate) mod candidate;
mod world;

pub use crate::vendor::{Fault, Mishap, On, Written};
pub use arguments::Arguments;
pub use world::{Offer, Terms, World};

use std::io;

use tokio::net::ToSocketAddrs;

use crate::vendor;

/// The simulated bridge on a port.
pub type Server = vendor::Server<World>;
/// The simulated bridge.
pub type Vendor = vendor::Stage<World>;

/// Starts a bridge. Port 0 is a free one.
pub async fn start(listen: impl ToSocketAddrs, terms: Terms) -> io::Result<Server> {
    Server::start(listen, World::on(terms), |vendor, _| bridge::routes(vendor)).await
}
