//! One PostgreSQL connection: how it is set up, how values go in and out, and what its failures mean.

use std::collections::HashMap;
use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::private::BytesMut;
use postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, NoTls, Statement};
use rustls::{ClientConfig, RootCertStore};
use talaria_domain::clock::{Clock, Timestamp};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::dialect::{Dialect, for_postgres};
use crate::engine::{Access, Durability};
use crate::error::{Refusal, Result, StoreError};
use crate::tx::{Connection, EachRow, Row};
use crate::value::{Value, storable};

/// How long a server may take to answer a connection attempt.
const CONNECT: Duration = Duration::from_secs(3);

/// Where a store is and how to talk to it.
#[derive(Clone)]
pub(super) struct Server {
    config: postgres::Config,
    name: String,
    durability: Durability,
    clock: Option<Arc<dyn Clock>>,
}

impl Server {
    /// Reads the url. With a `clock`, leases expire by it and not by the server's time: for tests.
    pub(super) fn parse(
        url: &str,
        durability: Durability,
        clock: Option<Arc<dyn Clock>>,
    ) -> Result<Self> {
        let bad = |error: postgres::Error| {
            let cause = error
                .source()
                .map_or_else(|| error.to_string(), ToString::to_string);
            Refusal::BadUrl {
                detail: format!("PostgreSQL's client cannot read ({cause})"),
            }
        };
        let mut config: postgres::Config = url.parse().map_err(bad)?;
        config
            .connect_timeout(CONNECT)
            .application_name("talaria")
            .keepalives_idle(Duration::from_secs(30));
        if config.get_ssl_mode() == SslMode::Prefer {
            // Never "encrypted if the other side feels like it": plain on this machine, verified TLS elsewhere.
            config.ssl_mode(if is_local(&config) {
                SslMode::Disable
            } else {
                SslMode::Require
            });
        }
        let name = server_name(&config);
        Ok(Self {
            config,
            name,
            durability,
            clock,
        })
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> Result<PostgresConnection> {
        let client = match self.config.get_ssl_mode() {
            SslMode::Disable => self.config.connect(NoTls),
            _ => self.config.connect(MakeRustlsConnect::new(verified_tls()?)),
        };
        let client = client.map_err(|error| self.refusal(&error))?;
        let mut connection = PostgresConnection {
            client,
            statements: HashMap::new(),
            clock: self.clock.clone(),
            name: self.name.clone(),
            trouble: None,
        };
        // Without sequential scans, a serializable transaction on a small table watches the rows it read and
        // not the whole table: far fewer transactions are run twice. The penalty on scans would make every check
        // worth compiling in the planner's eyes, so that is off as well.
        let commit = match self.durability {
            Durability::Power => "on",
            Durability::Process => "off",
        };
        connection.batch(&format!(
            "SET enable_seqscan = off; SET jit = off; SET synchronous_commit = {commit}"
        ))?;
        Ok(connection)
    }

    fn refusal(&self, error: &postgres::Error) -> StoreError {
        let (server, detail) = (self.name.clone(), describe(error));
        match error.code() {
            Some(&SqlState::CANNOT_CONNECT_NOW | &SqlState::TOO_MANY_CONNECTIONS) => {
                StoreError::Retry { why: detail }
            }
            Some(_) => Refusal::Denied { server, detail }.into(),
            None => Refusal::Unreachable { server, detail }.into(),
        }
    }
}

fn is_local(config: &postgres::Config) -> bool {
    config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        Host::Unix(_) => true,
    })
}

fn server_name(config: &postgres::Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => "an unnamed host".to_owned(),
    };
    format!(
        "{host}:{}",
        config.get_ports().first().copied().unwrap_or(5432)
    )
}

fn verified_tls() -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::broken(&error))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// What went wrong inside a transaction, for the thread that runs it: a closure cannot hide it.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Lost a race: run it again.
    Race,
    /// The connection is gone.
    Lost(String),
    /// A statement failed, so PostgreSQL gave up the transaction.
    Failed,
}

/// A connection and what it has prepared.
pub(super) struct PostgresConnection {
    client: Client,
    statements: HashMap<&'static str, Statement>,
    clock: Option<Arc<dyn Clock>>,
    name: String,
    trouble: Option<Trouble>,
}

impl PostgresConnection {
    /// Begins a transaction.
    pub(super) fn begin(&mut self, access: Access) -> Result<()> {
        self.trouble = None;
        self.batch(match access {
            Access::Write => "BEGIN ISOLATION LEVEL SERIALIZABLE",
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        })
    }

    /// What went wrong since the last [`Self::begin`].
    pub(super) const fn take_trouble(&mut self) -> Option<Trouble> {
        self.trouble.take()
    }

    /// The raw client, for notifications.
    pub(super) const fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    fn prepared(&mut self, sql: &'static str) -> Result<Statement> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self
            .client
            .prepare(&for_postgres(sql))
            .map_err(|error| self.failed(&error))?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }

    fn failed(&mut self, error: &postgres::Error) -> StoreError {
        let why = describe(error);
        let code = error.code();
        if matches!(
            code,
            Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED)
        ) {
            self.trouble = Some(Trouble::Race);
            return StoreError::Retry { why };
        }
        if error.is_closed() || code.is_none_or(is_loss) {
            self.trouble = Some(Trouble::Lost(why.clone()));
            return StoreError::Retry { why };
        }
        self.trouble = Some(Trouble::Failed);
        match code {
            Some(&SqlState::DISK_FULL) => Refusal::Full {
                path: self.name.clone(),
            }
            .into(),
            Some(code) if code.code().starts_with("53") => StoreError::Retry { why },
            _ => StoreError::Broken { why },
        }
    }
}

/// Whether the server said goodbye, as opposed to no.
fn is_loss(code: &SqlState) -> bool {
    code.code().starts_with("08") || code.code().starts_with("57P")
}

fn describe(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(server) => server.message().to_owned(),
        None => error
            .source()
            .map_or_else(|| error.to_string(), ToString::to_string),
    }
}

impl Connection for PostgresConnection {
    fn execute(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<u64> {
        let statement = self.prepared(sql)?;
        let values = as_parameters(values);
        self.client
            .execute(&statement, &values)
            .map_err(|error| self.failed(&error))
    }

    fn query(
        &mut self,
        sql: &'static str,
        values: &[Value<'_>],
        each: &mut EachRow<'_>,
    ) -> Result<()> {
        let statement = self.prepared(sql)?;
        match stream(&mut self.client, &statement, values, each) {
            Ok(read) => read,
            Err(error) => Err(self.failed(&error)),
        }
    }

    fn insert(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<i64> {
        let mut number = 0;
        self.query(sql, values, &mut |row| {
            number = row.get(0)?;
            Ok(())
        })?;
        Ok(number)
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.client
            .batch_execute(&for_postgres(sql))
            .map_err(|error| self.failed(&error))
    }

    fn now(&mut self) -> Result<Timestamp> {
        if let Some(clock) = &self.clock {
            return Ok(clock.now());
        }
        let mut now = Timestamp::ZERO;
        self.query(
            "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)",
            &[],
            &mut |row| row.get(0).map(|found| now = found),
        )?;
        Ok(now)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }
}

/// Hands rows over as they arrive, because a backup reads whole tables. The outer failure is the engine's, the inner one
/// the reader's.
fn stream(
    client: &mut Client,
    statement: &Statement,
    values: &[Value<'_>],
    each: &mut EachRow<'_>,
) -> Result<Result<()>, postgres::Error> {
    let mut rows = client.query_raw(statement, values)?;
    while let Some(row) = rows.next()? {
        if let Err(error) = each(&Row::postgres(&row)) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

fn as_parameters<'a>(values: &'a [Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect()
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> std::result::Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Int(number) => number.to_sql_checked(kind, out),
            Self::Text(text) => storable(text).to_sql_checked(kind, out),
            Self::Bytes(bytes) => bytes.to_sql_checked(kind, out),
        }
    }

    /// What fits is known only with the value: each kind checks for itself.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// What stands in a column.
pub(crate) fn read_value(row: &postgres::Row, column: usize) -> Result<Value<'_>> {
    let unreadable = |why: String| StoreError::unreadable("row", &why);
    let failed = |error: postgres::Error| unreadable(error.to_string());
    let missing = || unreadable(format!("there is no column {column}"));
    let kind = row.columns().get(column).ok_or_else(missing)?.type_();
    let value = match *kind {
        Type::INT8 => row
            .try_get::<_, Option<i64>>(column)
            .map_err(failed)?
            .map(Value::Int),
        Type::TEXT => row
            .try_get::<_, Option<&str>>(column)
            .map_err(failed)?
            .map(Value::Text),
        Type::BYTEA => row
            .try_get::<_, Option<&[u8]>>(column)
            .map_err(failed)?
            .map(Value::Bytes),
        _ => return Err(unreadable(format!("column {column} is a {kind}"))),
    };
    Ok(value.unwrap_or(Value::Null))
}
