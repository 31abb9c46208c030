//! The ledger: where every durable fact is, behind two calls.
//!
//! Work is a plain synchronous closure over a transaction, run by the engine and awaited by the caller; no transaction is
//! ever held across an await. A closure may run more than once before it is committed (PostgreSQL runs it again when it
//! lost a race), so it takes what it needs by value and changes nothing but the transaction.
//!
//! Dropping the future of a call does not undo it: once it was queued it runs.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use talaria_domain::clock::{Clock, SystemClock};
use tokio::runtime::Handle;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::engine::postgres::PostgresEngine;
use crate::engine::sqlite::{InlineEngine, SqliteEngine, start};
use crate::engine::{Access, Durability};
use crate::error::{Refusal, Result, StoreError};
use crate::tx::Tx;
use crate::wake::{Wake, Wakes};
use crate::work::{Ahead, Job, pending, told_ahead};

/// How many wakes a subscriber may fall behind before it is told to look at everything.
const WAKES: usize = 4096;

/// How to open a ledger.
#[derive(Clone)]
pub struct Settings {
    /// `sqlite:PATH` or `postgres://user@host/database`.
    pub url: String,
    /// How much a commit survives.
    pub durability: Durability,
    /// By which leases expire. None means the machine's clock on SQLite and the server's own on PostgreSQL.
    pub clock: Option<Arc<dyn Clock>>,
}

impl Settings {
    /// The defaults for this store.
    pub fn for_url(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            durability: Durability::default(),
            clock: None,
        }
    }
}

/// What becomes of a call in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is answered.
    Answered,
    /// It is answered, and takes its time: everybody else goes on meanwhile.
    Slow {
        /// Until it is done.
        before: Duration,
        /// From then until it is answered.
        after: Duration,
    },
    /// The process stops before it: nothing is done, nobody is answered.
    LostBefore,
    /// The process stops after it: it is done, nobody is answered.
    LostAfter,
    /// It is done, and the caller is told that nobody knows.
    Uncertain,
    /// If it was asked ahead, it is told, and then undone: somebody else's failure, or the disk's. Others are answered.
    Undone {
        /// From when it is told until it is undone.
        after: Duration,
        /// Whether it is done once more then.
        is_done_anew: bool,
    },
}

/// Who decides what becomes of calls in a simulation.
pub trait Fates: Send + Sync {
    /// What becomes of the next call.
    fn next(&self) -> Fate;
}

enum Engine {
    Sqlite(SqliteEngine),
    Postgres(PostgresEngine),
    Inline(Arc<InlineEngine>),
}

/// Where a closure goes.
enum Route {
    Queue(mpsc::Sender<Job>),
    Inline(Arc<InlineEngine>),
}

/// The ledger. Clones share it.
#[derive(Clone)]
pub struct Ledger(Arc<RwLock<Option<Open>>>);

/// What there is until it is closed.
struct Open {
    engine: Engine,
    wakes: broadcast::Sender<Wake>,
}

impl Ledger {
    /// Opens the store at `url` with defaults: locks it, migrates it, starts its threads.
    pub async fn open(url: &str) -> Result<Self> {
        Self::open_with(Settings::for_url(url)).await
    }

    /// Opens a store.
    pub async fn open_with(settings: Settings) -> Result<Self> {
        let (wakes, _) = broadcast::channel(WAKES);
        let told = wakes.clone();
        let (reply, opened) = oneshot::channel();
        // Opening blocks, so it has a thread for as long as it takes.
        let runtime = Handle::current();
        start("ledger-open", move || {
            drop(reply.send(open_engine(&settings, told, &runtime)));
        })?;
        let engine = opened
            .await
            .map_err(|_| StoreError::broken("opening the store panicked"))??;
        Ok(Self(Arc::new(RwLock::new(Some(Open { engine, wakes })))))
    }

    /// An empty store in memory that runs closures on the caller's task: for simulation.
    pub fn inline(clock: Arc<dyn Clock>) -> Result<Self> {
        let (wakes, _) = broadcast::channel(WAKES);
        let engine = Engine::Inline(Arc::new(InlineEngine::open(clock, wakes.clone())?));
        Ok(Self(Arc::new(RwLock::new(Some(Open { engine, wakes })))))
    }

    /// The same, with somebody who decides what becomes of each call: a simulated crash is a call that never answers.
    pub fn inline_with(clock: Arc<dyn Clock>, fates: Arc<dyn Fates>) -> Result<Self> {
        let (wakes, _) = broadcast::channel(WAKES);
        let engine = InlineEngine::open(clock, wakes.clone())?.with_fates(fates);
        let engine = Engine::Inline(Arc::new(engine));
        Ok(Self(Arc::new(RwLock::new(Some(Open { engine, wakes })))))
    }

    /// Runs a closure that may change the ledger. Answers after the commit.
    pub async fn write<T, F>(&self, closure: F) -> Result<T>
    where
        F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.run(Access::Write, closure).await
    }

    /// Runs a closure that sees one unchanging state of the ledger and cannot change it.
    pub async fn read<T, F>(&self, closure: F) -> Result<T>
    where
        F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.run(Access::Read, closure).await
    }

    /// Runs a closure that may change the ledger. Gives its value as soon as that is known, where the engine can tell it
    /// before the commit, and what becomes of it. Whoever goes on with the value shows nobody anything before the commit;
    /// what they write meanwhile under a lease that the closure claimed is committed after it, or refused.
    pub async fn write_ahead<T, F>(&self, closure: F) -> Result<Ahead<T>>
    where
        F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        match self.route(Access::Write)? {
            Route::Inline(engine) => engine.run_ahead(closure).await,
            Route::Queue(queue) => {
                let (work, told, commit) = told_ahead(closure);
                let access = Access::Write;
                let sent = queue.send(Job { access, work }).await;
                sent.map_err(|_| StoreError::Closed)?;
                drop(queue);
                let value = told.await.map_err(|_| StoreError::Closed)??;
                Ok(Ahead { value, commit })
            }
        }
    }

    async fn run<T, F>(&self, access: Access, closure: F) -> Result<T>
    where
        F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
        T: Send + 'static,
    {
        match self.route(access)? {
            Route::Inline(engine) => engine.run_as_fated(access, &closure).await,
            Route::Queue(queue) => {
                let (work, answer) = pending(closure);
                queue
                    .send(Job { access, work })
                    .await
                    .map_err(|_| StoreError::Closed)?;
                drop(queue);
                answer.await.map_err(|_| StoreError::Closed)?.result
            }
        }
    }

    fn route(&self, access: Access) -> Result<Route> {
        let open = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Ok(match &open.as_ref().ok_or(StoreError::Closed)?.engine {
            Engine::Sqlite(engine) => Route::Queue(engine.queue(access)),
            Engine::Postgres(engine) => Route::Queue(engine.queue()),
            Engine::Inline(engine) => Route::Inline(Arc::clone(engine)),
        })
    }

    /// Whether a commit waits for nothing: no disk and no other machine. Where it does, all that is there shares one.
    pub fn commits_at_once(&self) -> bool {
        let open = self.0.read().unwrap_or_else(PoisonError::into_inner);
        match open.as_ref().map(|open| &open.engine) {
            Some(Engine::Sqlite(engine)) => engine.commits_at_once(),
            Some(Engine::Postgres(_)) => false,
            Some(Engine::Inline(_)) | None => true,
        }
    }

    /// Hears of every commit from here on that says it changed something, on this node and on others.
    /// Once the ledger is closed there is nothing more to hear.
    pub fn subscribe(&self) -> Wakes {
        let open = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let silent = || broadcast::channel(1).1;
        Wakes::from_receiver(
            open.as_ref()
                .map_or_else(silent, |open| open.wakes.subscribe()),
        )
    }

    /// Finishes what was queued and lets go of the store. Later calls are refused.
    pub async fn close(&self) {
        let taken = self
            .0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let threads = match taken.map(|open| open.engine) {
            Some(Engine::Sqlite(engine)) => engine.into_threads(),
            Some(Engine::Postgres(engine)) => engine.into_threads(),
            Some(Engine::Inline(_)) | None => return,
        };
        let (reply, closed) = oneshot::channel();
        let joining = start("ledger-close", move || {
            // A thread that panicked has nothing left to finish.
            for thread in threads {
                drop(thread.join());
            }
            // Nobody waits any more if the caller gave up; the store is closed all the same.
            reply.send(()).unwrap_or_default();
        });
        if joining.is_ok() {
            // Fails only if joining panicked; the store is closed all the same.
            drop(closed.await);
        }
    }
}

fn open_engine(
    settings: &Settings,
    wakes: broadcast::Sender<Wake>,
    runtime: &Handle,
) -> Result<Engine> {
    let Settings {
        url,
        durability,
        clock,
    } = settings;
    if let Some(path) = url.strip_prefix("sqlite:").filter(|path| !path.is_empty()) {
        let clock = clock.clone().unwrap_or_else(|| Arc::new(SystemClock));
        return SqliteEngine::open(&PathBuf::from(path), *durability, &clock, wakes, runtime)
            .map(Engine::Sqlite);
    }
    if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        return PostgresEngine::open(url, *durability, clock.clone(), &wakes).map(Engine::Postgres);
    }
    Err(Refusal::BadUrl {
        detail: "begins with neither of them".to_owned(),
    }
    .into())
}
