//! The very same statements in a bare loop: one thread, one connection, transactions of 64 rows, values made before
//! the clock starts. No closures, no savepoints, no answers: what the engine itself can do.

use std::time::{Duration, Instant};

use talaria_domain::event::Event;
use talaria_domain::names::MessageId;
use talaria_store::inbox::Arrival;

use crate::load::Crowd;
use crate::texts::{self, DEDUPE, INSERT, LED};

/// Rows in one transaction.
const ROWS: usize = 64;

struct Row {
    event: Event,
    json: String,
    key: [u8; 32],
}

fn rows(people: &Crowd) -> Vec<Row> {
    let row = |who: String| {
        let (event, opening) = people.message_of(&who);
        let arrival = Arrival::of(event, opening).unwrap();
        Row {
            event: arrival.event().clone(),
            json: arrival.json().clone(),
            key: *arrival.opening().key_id().0.as_bytes(),
        }
    };
    (0..ROWS).map(|_| row(people.anybody())).collect()
}

/// Rows a second with SQLite set up as `setup` says.
pub(crate) fn sqlite(path: &str, setup: &str, time: Duration, people: &Crowd) -> f64 {
    texts::check();
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.execute_batch(setup).unwrap();
    let (mut spent, mut count) = (Duration::ZERO, 0);
    while spent < time {
        let rows = rows(people);
        let start = Instant::now();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        for row in &rows {
            sqlite_row(&connection, row);
        }
        connection.execute_batch("COMMIT").unwrap();
        spent += start.elapsed();
        count += ROWS;
    }
    count as f64 / spent.as_secs_f64()
}

fn sqlite_row(connection: &rusqlite::Connection, row: &Row) {
    let Row { event, json, key } = row;
    let (id, dedupe, at) = (
        event.id.as_bytes(),
        event.dedupe.0.as_bytes(),
        event.received_at.as_millis(),
    );
    let statement = |sql| connection.prepare_cached(sql).unwrap();
    statement(DEDUPE).execute((dedupe, id)).unwrap();
    let session: [u8; 16] = statement(LED).query_one((key,), |row| row.get(0)).unwrap();
    let message = event.message.as_ref().map(MessageId::as_str);
    let kind = event.kind.as_str();
    let _seq: i64 = statement(INSERT)
        .query_one((id, dedupe, session, kind, json, message, at, 0), |row| {
            row.get(0)
        })
        .unwrap();
}

/// Rows a second with PostgreSQL.
pub(crate) fn postgres(url: &str, setup: &str, time: Duration, people: &Crowd) -> f64 {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    client.batch_execute(setup).unwrap();
    let statements = [DEDUPE, LED, INSERT].map(|sql| {
        client
            .prepare(&talaria_store::dialect::for_postgres(sql))
            .unwrap()
    });
    let (mut spent, mut count) = (Duration::ZERO, 0);
    while spent < time {
        let rows = rows(people);
        let start = Instant::now();
        client
            .batch_execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
            .unwrap();
        for row in &rows {
            postgres_row(&mut client, &statements, row);
        }
        client.batch_execute("COMMIT").unwrap();
        spent += start.elapsed();
        count += ROWS;
    }
    count as f64 / spent.as_secs_f64()
}

fn postgres_row(client: &mut postgres::Client, statements: &[postgres::Statement; 3], row: &Row) {
    let Row { event, json, key } = row;
    let [dedupe, led, insert] = statements;
    let (id, at) = (
        event.id.as_bytes().as_slice(),
        event.received_at.as_millis(),
    );
    let token = event.dedupe.0.as_bytes().as_slice();
    client.execute(dedupe, &[&token, &id]).unwrap();
    let session: Vec<u8> = client.query_one(led, &[&key.as_slice()]).unwrap().get(0);
    let message = event.message.as_ref().map(MessageId::as_str);
    client
        .query_one(
            insert,
            &[
                &id,
                &token,
                &session,
                &event.kind.as_str(),
                json,
                &message,
                &at,
                &0_i64,
            ],
        )
        .unwrap();
}
