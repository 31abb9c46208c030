//! The simulated Slack: the Web API, Socket Mode and calls of the Events API, for any number of bots. What people do is
//! told to every bot until it was acknowledged: over the socket that is open, or by calling a hook.
//!
//! ```no_run
//! # async fn story() -> std::io::Result<()> {
//! use talaria_sim::slack::{self, Terms, Written};
//!
//! let server = slack::start("127.0.0.1:0", Terms::default()).await?;
//! server.vendor().write(&Written::to_chat("D0ADA", "direct", ("U0ADA", "hello")));
//! server.vendor().until(|world| world.answers() == 1).await;
//! # Ok(())
//! # }
//! ```

pub mod hooks;

mod api;
mod arguments;
pub(crate) mod candidate;
mod methods;
mod socket;
mod told;
mod world;

pub use crate::vendor::{Fault, File, Mishap, On, Press, Reaction, Written};
pub use arguments::Arguments;
pub use world::{Bot, Terms, World};

use std::io;

use tokio::net::ToSocketAddrs;

use crate::vendor;

/// The simulated Slack on a port.
pub type Server = vendor::Server<World>;
/// The simulated Slack.
pub type Vendor = vendor::Stage<World>;

/// Starts it. Port 0 is a free one.
pub async fn start(listen: impl ToSocketAddrs, terms: Terms) -> io::Result<Server> {
    Server::start(listen, World::on(terms), |vendor, address| {
        vendor.with(|world| world.listen(address));
        api::routes(vendor)
    })
    .await
}
