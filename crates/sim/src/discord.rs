//! Simulated Discord: gateway and HTTP API, version 10, as its documentation has them. Sessions can be taken up again;
//! what a session was to hear and did not is there until then. Names that are no snowflakes are given one, so that a
//! story can speak of `ada` and `general`.
//!
//! ```no_run
//! # async fn story() -> std::io::Result<()> {
//! use talaria_sim::discord::{self, Terms};
//! use talaria_sim::vendor::Written;
//!
//! let server = discord::start("127.0.0.1:0", Terms::for_tokens(["a-token"])).await?;
//! server.vendor().write(&Written::direct("ada", "hello"));
//! assert_eq!(server.vendor().chat("chat of ada").messages.len(), 1);
//! # Ok(())
//! # }
//! ```

mod arguments;
pub(crate) mod candidate;
mod form;
mod names;
mod render;
mod rest;
mod socket;
mod stream;
mod wants;
mod world;

pub use crate::vendor::{Fault, Mishap, On, Written};
pub use arguments::Arguments;
pub use names::{chat_id, thread_id, user_id};
pub use world::{Bot, Chosen, Terms, World};

use std::io;

use tokio::net::ToSocketAddrs;

use crate::vendor;

/// Simulated Discord on a port.
pub type Server = vendor::Server<World>;
/// Simulated Discord.
pub type Vendor = vendor::Stage<World>;

/// Starts it. Port 0 is a free one.
pub async fn start(listen: impl ToSocketAddrs, terms: Terms) -> io::Result<Server> {
    let routes = |vendor: &std::sync::Arc<Vendor>, address| {
        vendor.with(|world| world.listen_on(address));
        rest::routes(vendor).merge(socket::routes(vendor))
    };
    Server::start(listen, World::on(terms), routes).await
}
