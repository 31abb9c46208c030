//! The simulated world, for tests and benchmarks: people who say things ([`people`]), a chat platform they say them on
//! ([`chat`]), a runner that does what it is told ([`script`]), a clock that follows the runtime ([`time`]), a
//! load that tells what was acknowledged ([`writers`]),
//! and real servers to lose ([`servers`]).

pub mod chat;
pub mod people;
pub mod script;
pub mod servers;
pub mod time;
pub mod writers;
