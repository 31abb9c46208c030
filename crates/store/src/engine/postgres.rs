//! PostgreSQL: a thread per connection, the same closures. Transactions are serializable, so that a closure means
//! the same as on SQLite's single writer; one that lost a race is run again.

mod connection;
mod listener;
mod pool;

pub(crate) use connection::read_value;
pub(crate) use pool::PostgresEngine;
