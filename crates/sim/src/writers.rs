//! A load that tells what was acknowledged: many writers at once, each accepting one message after another, each
//! acknowledgement told only after the ledger gave it. Whoever kills the process in the middle knows what must be there.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use talaria_domain::clock::{Clock as _, SystemClock};
use talaria_domain::ids::EventId;
use talaria_store::inbox::{self, Arrival};
use talaria_store::maintenance::integrity;
use talaria_store::{Ledger, Result, StoreError};
use tokio::task::JoinSet;

use crate::people::People;

/// Writes until `messages` were accepted by each writer, and tells each on a line of `told`.
pub async fn write(
    ledger: Ledger,
    writers: usize,
    messages: u64,
    told: impl Write + Send + 'static,
) -> Result<()> {
    let start = u64::try_from(SystemClock.now().as_millis()).unwrap_or(0) << 20;
    let people = Arc::new(People::starting_at(start));
    let told = Arc::new(Mutex::new(told));
    let mut tasks: JoinSet<Result<()>> = JoinSet::new();
    for writer in 0..writers {
        let (ledger, people, told) = (ledger.clone(), Arc::clone(&people), Arc::clone(&told));
        tasks.spawn(async move {
            for message in 0..messages {
                // Every fourth message opens a conversation, so that halves of those would be found, too.
                let chat = if message % 4 == 0 { start + message } else { 0 };
                let event = accept(&ledger, &people, &format!("{writer}-{chat}")).await?;
                tell(&told, event)?;
            }
            Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(|error| StoreError::Broken {
            why: error.to_string(),
        })??;
    }
    Ok(())
}

fn tell(told: &Mutex<impl Write>, event: EventId) -> Result<()> {
    let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |error: std::io::Error| StoreError::Retry {
        why: error.to_string(),
    };
    writeln!(told, "{event}").map_err(failed)
}

async fn accept(ledger: &Ledger, people: &People, who: &str) -> Result<EventId> {
    let at = SystemClock.now();
    let event = people.said(who, "is anybody there?", at);
    let id = event.id;
    let arrival = Arrival::of(event, people.opening(who, at))?;
    ledger.write(move |tx| inbox::record(tx, &arrival)).await?;
    Ok(id)
}

/// Tells each event that is there; fails if the ledger does not hold together.
pub async fn check(ledger: &Ledger, told: impl Write) -> Result<()> {
    let findings = ledger.read(integrity::check).await?;
    if !findings.is_empty() {
        return Err(StoreError::Broken {
            why: findings.join(", "),
        });
    }
    let told = Mutex::new(told);
    let events = ledger.read(|tx| tx.rows("SELECT event_id FROM inbox", &[], |row| row.get(0)));
    events
        .await?
        .into_iter()
        .try_for_each(|event| tell(&told, event))
}
