//! What keeps the ledger healthy, one file per duty: [`rescue`] what lost owners held, [`prune`] what is old enough,
//! [`integrity`] of what is stored, and [`backup`] while the gateway runs.

pub mod backup;
pub mod integrity;
pub mod prune;
pub mod rescue;
