//! The runner that a profile or a binding names: keeps one process for all its runs, starts it when the first one needs
//! it, and again after it ended, with pauses that grow.

use std::sync::Arc;

use serde::Deserialize as _;
use talaria_domain::adapter::Pending;
use talaria_domain::run::{FailureCode, RunOutcome};
use talaria_domain::runner::{Host, Runner, Said, Turn};
use tokio::sync::Mutex;
use tokio::time::{self, Instant};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::restart::Restarts;
use super::running::Running;
use super::seat::Seat;
use super::serve::Connection;
use super::wire::{Introduction, Order, PROTOCOL, Takes};
use super::{ProcessRunnerSettings, Resources, child};
use crate::context::{self, Context, Environment};
use crate::models::Model;

/// An agent outside.
pub struct ProcessRunner {
    settings: ProcessRunnerSettings,
    resources: Resources,
    environment: Environment,
    tasks: TaskTracker,
    stop: CancellationToken,
    since: Instant,
    slot: Mutex<Slot>,
}

/// The process of the moment.
#[derive(Default)]
struct Slot {
    connection: Option<Arc<Connection>>,
    restarts: Restarts,
    /// How the last one ended.
    last_words: String,
}

impl ProcessRunner {
    /// A runner whose process is started when it is needed. Its processes get `environment`; they are looked after in
    /// `tasks` and shut down at `stop`.
    pub fn new(
        settings: ProcessRunnerSettings,
        resources: Resources,
        environment: Environment,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        Self {
            settings,
            resources,
            environment,
            tasks,
            stop,
            since: Instant::now(),
            slot: Mutex::default(),
        }
    }

    /// A process on which a run can begin, or why there is none. Runs that come together wait for the same one.
    async fn connection(&self) -> Result<Arc<Connection>, String> {
        let mut slot = self.slot.lock().await;
        if let Some(connection) = slot.connection.take_if(|it| !it.is_open()) {
            // One that was retired ends with its last run, and no pause comes of it.
            if let Some((ended, why, was_useful)) = connection.epitaph() {
                let started = connection.age_at(self.since);
                let ended = ended.saturating_duration_since(self.since);
                slot.restarts.ended(started, ended, was_useful);
                why.clone_into(&mut slot.last_words);
            }
        }
        if let Some(connection) = &slot.connection {
            return Ok(Arc::clone(connection));
        }
        self.wait_for_turn(&slot).await?;
        let started = self.since.elapsed();
        match self.open().await {
            Ok(connection) => {
                slot.connection = Some(Arc::clone(&connection));
                Ok(connection)
            }
            Err(why) => {
                slot.restarts.ended(started, self.since.elapsed(), false);
                slot.last_words.clone_from(&why);
                Err(format!("the agent's process {why}"))
            }
        }
    }

    /// A short pause is waited for, a long one is told.
    async fn wait_for_turn(&self, slot: &Slot) -> Result<(), String> {
        let wait = slot.restarts.wait(self.since.elapsed());
        if wait > self.settings.limits.pause {
            return Err(format!(
                "the agent's process {}; it is started again in {} s",
                slot.last_words,
                wait.as_secs().max(1)
            ));
        }
        time::sleep(wait).await;
        Ok(())
    }

    async fn open(&self) -> Result<Arc<Connection>, String> {
        if self.stop.is_cancelled() {
            return Err("is not started any more: the gateway is stopping".to_owned());
        }
        let child = child::spawn(&self.settings, &self.environment);
        let child = child.map_err(|error| {
            let command = self.settings.command.display();
            format!("could not be started: {command}: {error}")
        })?;
        let (connection, lines) = Connection::of(&self.settings, &self.stop);
        let connection = Arc::new(connection);
        let attended = Arc::clone(&connection);
        self.tasks
            .spawn(async move { attended.attend(child, lines).await });
        // Whoever waits here may be dropped: a process that nobody introduced is nobody's.
        let unwanted = connection.ending.clone().drop_guard();
        let introduced = time::timeout(self.settings.limits.start, self.introduce(&connection));
        match introduced.await {
            Ok(Ok(())) => {
                drop(unwanted.disarm());
                Ok(connection)
            }
            Ok(Err(why)) => Err(why),
            Err(_) => Err(format!(
                "did not introduce itself within {} s",
                self.settings.limits.start.as_secs()
            )),
        }
    }

    async fn introduce(&self, connection: &Connection) -> Result<(), String> {
        let limits = self.settings.limits;
        let order = Order::Initialize {
            protocol: PROTOCOL,
            gateway: env!("CARGO_PKG_VERSION"),
            runner: self.settings.id.to_string(),
            limits: Takes {
                frame_bytes: limits.frame_bytes,
                in_flight: limits.in_flight,
                per_second: limits.per_second,
            },
        };
        let answer = connection.ask(&order).await;
        let answer = answer.map_err(|why| match connection.epitaph() {
            Some((_, epitaph, _)) => epitaph.to_owned(),
            None => format!("did not introduce itself: {why}"),
        })?;
        let introduction = Introduction::deserialize(&answer);
        let introduction = introduction.map_err(|error| {
            format!("introduced itself in a way that is not the protocol's: {error}")
        })?;
        is_meant(&introduction, self.settings.id.as_str())?;
        tracing::info!(
            runner = connection.name,
            version = introduction.version,
            capabilities = ?introduction.capabilities,
            "the runner is there"
        );
        connection.introduce(introduction);
        Ok(())
    }

    fn model(&self) -> Option<&Arc<dyn Model>> {
        self.resources.models.first().map(|offer| &offer.model)
    }
}

/// Whether it is the runner that is meant, and can be talked to.
fn is_meant(introduction: &Introduction, name: &str) -> Result<(), String> {
    if introduction.protocol != PROTOCOL {
        let theirs = introduction.protocol;
        return Err(format!(
            "speaks version {theirs} of the protocol, not {PROTOCOL}"
        ));
    }
    match introduction.id.as_deref() {
        Some(id) if id != name => Err(format!("calls itself {id:?} and is configured as {name:?}")),
        _ => Ok(()),
    }
}

impl Runner for ProcessRunner {
    fn run<'a>(&'a self, turn: &'a Turn, host: &'a dyn Host) -> Pending<'a, RunOutcome> {
        Box::pin(async move {
            // Outside of the turn's context: a process that many sessions share knows none of them.
            let connection = tokio::select! {
                biased;
                () = host.stopped() => return RunOutcome::Cancelled,
                connection = self.connection() => connection,
            };
            let connection = match connection {
                Ok(connection) => connection,
                Err(why) => return RunOutcome::failed(FailureCode::Other, why),
            };
            let seat = Seat::take(&connection, turn.run);
            let running = Running::of(seat, turn, host, &self.resources);
            context::scope(Context::of_turn(turn), running.run()).await
        })
    }

    fn window(&self) -> usize {
        // Without a model nobody could sum anything up: the runner asks for what it wants to know.
        self.model().map_or(usize::MAX, |model| model.window())
    }

    fn summarise<'a>(&'a self, said: &'a [Said]) -> Pending<'a, Result<String, String>> {
        Box::pin(async move {
            let Some(model) = self.model() else {
                return Err("there is no model that could sum it up".to_owned());
            };
            let summary = model.summarise(said).await;
            summary.map_err(|error| error.to_string())
        })
    }
}
