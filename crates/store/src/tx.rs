//! The transaction that a closure works in. Statements are constant texts with values beside them; rows are read
//! by position. A closure never sees which engine it runs on.

use serde::de::DeserializeOwned;
use talaria_domain::clock::Timestamp;
use talaria_domain::machine::Machine;

use crate::error::{Result, StoreError};
use crate::value::{Column, Value, from_json, parse_state};
use crate::wake::Wake;

/// What an engine's connection can do for a transaction.
pub(crate) trait Connection {
    /// Runs a statement and says how many rows it changed.
    fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64>;

    /// Runs a query and hands over each row.
    fn query(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<()>;

    /// Runs an insert that ends with `RETURNING` and the number that the engine gives the row; gives that number.
    fn insert(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<i64>;

    /// Runs statements that take and return nothing: a migration.
    fn batch(&mut self, sql: &str) -> Result<()>;

    /// The time by which leases expire.
    fn now(&mut self) -> Result<Timestamp>;

    /// Which engine it is, for the few places where meaning differs and not only spelling.
    fn dialect(&self) -> crate::dialect::Dialect;
}

/// What is done with each row.
pub(crate) type EachRow<'e> = dyn FnMut(&Row<'_>) -> Result<()> + 'e;

/// A transaction. Everything done through it is stored together, or not at all.
pub struct Tx<'c> {
    connection: &'c mut dyn Connection,
    now: Option<Timestamp>,
    wakes: Vec<Wake>,
}

impl<'c> Tx<'c> {
    pub(crate) fn on(connection: &'c mut dyn Connection) -> Self {
        Self {
            connection,
            now: None,
            wakes: Vec::new(),
        }
    }

    /// Runs a statement and says how many rows it changed.
    pub fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64> {
        self.connection.execute(sql, values)
    }

    /// Runs an insert that ends with `RETURNING` and the number that the engine gives the row; gives that number.
    pub(crate) fn insert(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<i64> {
        self.connection.insert(sql, values)
    }

    /// Every row of a query.
    pub fn rows<T>(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut found = Vec::new();
        self.connection.query(sql, values, &mut |row| {
            found.push(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// Hands over each row of a query, for results that are too large to hold.
    pub(crate) fn each_row(
        &mut self,
        sql: &'static str,
        mut each: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<()> {
        self.connection.query(sql, &[], &mut each)
    }

    /// The one row of a query that finds at most one.
    pub fn row<T>(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        read: impl Fn(&Row<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut found = None;
        self.connection.query(sql, values, &mut |row| {
            found = Some(read(row)?);
            Ok(())
        })?;
        Ok(found)
    }

    /// The time by which leases expire: the database's own where several nodes share one. The same throughout a
    /// transaction.
    pub fn now(&mut self) -> Result<Timestamp> {
        if let Some(now) = self.now {
            return Ok(now);
        }
        let now = self.connection.now()?;
        self.now = Some(now);
        Ok(now)
    }

    /// Once this is committed, tells whoever waits for it.
    pub fn wake(&mut self, wake: Wake) {
        if !self.wakes.contains(&wake) {
            self.wakes.push(wake);
        }
    }

    /// Runs statements that take and return nothing: a migration.
    pub(crate) fn batch(&mut self, sql: &str) -> Result<()> {
        self.connection.batch(sql)
    }

    pub(crate) fn into_wakes(self) -> Vec<Wake> {
        self.wakes
    }

    pub(crate) fn dialect(&self) -> crate::dialect::Dialect {
        self.connection.dialect()
    }
}

/// One row of a query.
pub struct Row<'r>(RowOf<'r>);

/// Which engine it came from.
pub(crate) enum RowOf<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r postgres::Row),
}

impl<'r> Row<'r> {
    pub(crate) const fn sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        Self(RowOf::Sqlite(row))
    }

    pub(crate) const fn postgres(row: &'r postgres::Row) -> Self {
        Self(RowOf::Postgres(row))
    }

    /// The value in a column, counted from zero.
    pub fn get<T: Column>(&self, column: usize) -> Result<T> {
        let value = self.value(column)?;
        T::from_value(value).ok_or_else(|| {
            StoreError::unreadable(
                "row",
                &format!("expected {} in column {column}", T::EXPECTED),
            )
        })
    }

    /// A text, where it stands.
    pub(crate) fn text(&self, column: usize) -> Result<&str> {
        match self.value(column)? {
            Value::Text(text) => Ok(text),
            _ => Err(StoreError::unreadable(
                "row",
                &format!("expected a text in column {column}"),
            )),
        }
    }

    /// A state by its stored name.
    pub fn state<M: Machine>(&self, column: usize) -> Result<M> {
        parse_state(self.text(column)?)
    }

    /// A value stored as JSON.
    pub fn json<T: DeserializeOwned>(&self, column: usize) -> Result<T> {
        from_json("value", self.text(column)?)
    }

    /// Every value, in order.
    pub(crate) fn values(&self) -> Result<Vec<Value<'_>>> {
        let width = match self.0 {
            RowOf::Sqlite(row) => row.as_ref().column_count(),
            RowOf::Postgres(row) => row.len(),
        };
        (0..width).map(|column| self.value(column)).collect()
    }

    fn value(&self, column: usize) -> Result<Value<'_>> {
        match self.0 {
            RowOf::Sqlite(row) => crate::engine::sqlite::read_value(row, column),
            RowOf::Postgres(row) => crate::engine::postgres::read_value(row, column),
        }
    }
}
