//! The simulated world, for tests and benchmarks of the real ledger: people who say things ([`people`]), a load that
//! tells what was acknowledged ([`writers`]), and real servers to lose ([`servers`]). Vendors, the scripted model and
//! the deterministic gateway will live here, too.

pub mod people;
pub mod servers;
pub mod writers;
