//! A connection with its statements at hand, which is what transactions work on. The writer keeps its desk for as long as
//! it stays on one thread, a batch at least: every turn runs the same two dozen statements, and to look each up by its
//! text and to put it away again would cost a tenth of what all of them do. A statement is known by where its text stands
//! in the program.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rusqlite::CachedStatement;
use talaria_domain::clock::Timestamp;

use super::connection::{SqliteConnection, execute, query};
use crate::dialect::Dialect;
use crate::error::Result;
use crate::tx::{Connection, EachRow};
use crate::value::Value;

/// A connection in the hands of one thread.
pub(super) struct Desk<'c> {
    connection: &'c SqliteConnection,
    held: BTreeMap<(usize, usize, Form), CachedStatement<'c>>,
}

/// As what a text is prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// As it is.
    Given,
    /// Without the wish to hear the row's number. The engine knows it anyway; to return it, it would make a table.
    Silent,
}

impl<'c> Desk<'c> {
    /// With nothing at hand yet.
    pub(super) const fn at(connection: &'c SqliteConnection) -> Self {
        Self {
            connection,
            held: BTreeMap::new(),
        }
    }

    /// Runs a statement at the edge of a transaction.
    pub(super) fn edge(&mut self, sql: &'static str) -> Result<()> {
        self.execute(sql, &[]).map(drop)
    }

    fn statement(&mut self, sql: &'static str, form: Form) -> Result<&mut CachedStatement<'c>> {
        match self.held.entry((sql.as_ptr().addr(), sql.len(), form)) {
            Entry::Occupied(held) => Ok(held.into_mut()),
            Entry::Vacant(free) => {
                let text = match form {
                    Form::Given => sql,
                    Form::Silent => sql
                        .split_once(" RETURNING ")
                        .map_or(sql, |(plain, _)| plain),
                };
                Ok(free.insert(self.connection.prepare(text)?))
            }
        }
    }

    fn run(&mut self, sql: &'static str, form: Form, values: &[Value<'_>]) -> Result<u64> {
        let connection = self.connection;
        execute(self.statement(sql, form)?, values).map_err(|error| connection.classify(&error))
    }
}

impl std::ops::Deref for Desk<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        self.connection
    }
}

impl Connection for Desk<'_> {
    fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64> {
        self.run(sql, Form::Given, values)
    }

    fn query(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<()> {
        let connection = self.connection;
        let failed = |error| connection.classify(&error);
        query(self.statement(sql, Form::Given)?, values, each, failed)
    }

    fn insert(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<i64> {
        self.run(sql, Form::Silent, values)?;
        Ok(self.connection.last_number())
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.connection.run_batch(sql)
    }

    fn now(&mut self) -> Result<Timestamp> {
        Ok(self.connection.time())
    }

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }
}
