//! A simulated model: an OpenAI-compatible server whose answer is scripted by the conversation. It is a yardstick in
//! benchmarks, so that it does as little as it can: a request is read once and borrowed from, an answer is written
//! into one buffer that the pieces of the stream are cut from, and nothing is logged.
//!
//! | the last thing a user said | the answer |
//! |---|---|
//! | `words N` | that many words |
//! | `tool: CMD` | a call of `terminal` with that command, then the tool's result, quoted |
//! | `hang` | none, ever |
//! | `fail STATUS` | that status |
//! | anything else | `re: ` and what was said |
//!
//! An answer that is longer than `max_tokens` or `max_completion_tokens` allow is cut there, and says so. The script is
//! the last line of what was said, so that a quote before it or a sender's name in brackets does no harm.
//!
//! ```no_run
//! # async fn story() -> std::io::Result<()> {
//! use talaria_sim::model::{Pace, Server};
//!
//! let server = Server::start("127.0.0.1:0", Pace::default()).await?;
//! println!("base_url = \"{}\"", server.url());
//! # Ok(())
//! # }
//! ```

mod answer;
mod arguments;
mod conversation;
mod script;
mod server;

pub use answer::Pace;
pub use arguments::Arguments;
pub use server::Server;
