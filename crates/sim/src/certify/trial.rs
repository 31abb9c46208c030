//! One check in a world of its own: a vendor on a port, the adapter connected to it, and a desk where its events go.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use talaria_domain::adapter::{Adapter, Disconnected, Outgoing, TextForm};
use talaria_domain::address::Address;
use talaria_domain::clock::SystemClock;
use talaria_domain::delivery::{Part, PartBody, ReplyKind};
use talaria_domain::event::Event;
use talaria_domain::ids::{Ids as _, PartId, RandomIds, ReplyId};
use talaria_platforms::{Connection, Credential, Workshop, connect};

use super::candidates::Candidate;
use super::desk::Desk;
use super::report::Verdict;
use crate::vendor::stage::now;
use crate::vendor::venue::{Scene, Sight, Venue};
use crate::vendor::{Fault, On, Written, WrittenId};

/// The longest that anything takes which is not waited for on purpose.
const PATIENCE: Duration = Duration::from_secs(20);
/// A mute connection is noticed within this.
pub(super) const MUTE: Duration = Duration::from_secs(75);
/// How long is waited to see that something does not happen.
pub(super) const MOMENT: Duration = Duration::from_millis(300);

/// Why a check does not hold, or does not apply.
#[derive(Debug)]
pub(super) enum Stop {
    Fails(String),
    Absent(String),
}

pub(super) type Checked = Result<(), Stop>;
/// What a check does.
pub(super) type Examine = for<'t> fn(&'t Trial) -> BoxFuture<'t, Checked>;

/// Says why a check does not hold.
pub(super) fn fails<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Fails(why.into()))
}

/// Says why there is nothing to check.
pub(super) fn absent<T>(why: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Absent(why.into()))
}

/// Whether something holds, or the words why it does not.
pub(super) fn ensure(holds: bool, why: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { fails(why()) }
}

/// One check's world.
pub struct Trial {
    pub(super) candidate: Candidate,
    pub(super) adapter: Arc<dyn Adapter>,
    pub(super) desk: Desk,
    pub(super) scene: Arc<dyn Scene>,
    pub(super) port: u16,
    venue: std::sync::Mutex<Option<Box<dyn Venue>>>,
    ids: RandomIds,
}

impl Trial {
    /// A fresh vendor, and an adapter that may connect to it.
    pub(super) async fn begin(candidate: &Candidate) -> anyhow::Result<Self> {
        let venue = (candidate.start)(0).await?;
        let port = venue.address().port();
        let connection = connection(candidate, port, true)?;
        Ok(Self {
            candidate: *candidate,
            adapter: connection.adapter,
            desk: Desk::default(),
            scene: venue.stage(),
            port,
            venue: std::sync::Mutex::new(Some(venue)),
            ids: RandomIds::default(),
        })
    }

    /// Holds a check to it. One that panics does not hold.
    pub(super) async fn hold(&self, check: Examine) -> Verdict {
        let checking = AssertUnwindSafe(check(self)).catch_unwind();
        match tokio::time::timeout(MUTE * 2, checking).await {
            Ok(Ok(Ok(()))) => Verdict::Holds,
            Ok(Ok(Err(Stop::Fails(why)))) => Verdict::Fails(why),
            Ok(Ok(Err(Stop::Absent(why)))) => Verdict::Absent(why),
            Ok(Err(_)) => Verdict::Fails("the check broke".to_owned()),
            Err(_) => Verdict::Fails("it took too long".to_owned()),
        }
    }

    /// Receives while something is done, from when the connection is there and until it is.
    pub(super) async fn while_receiving<T>(
        &self,
        done: impl Future<Output = Result<T, Stop>>,
    ) -> Result<T, Stop> {
        let before = self.desk.connections();
        let done = async {
            self.desk.until(|desk| desk.connections() > before).await;
            done.await
        };
        let receiving = async {
            loop {
                let ended = self.adapter.receive(&self.desk).await;
                if !matches!(ended, Disconnected::Lost { .. }) {
                    return ended;
                }
                // Not polling: a connection that was lost is made again, as the gateway does.
                tokio::time::sleep(MOMENT).await;
            }
        };
        tokio::select! {
            biased;
            ended = receiving => fails(format!("the connection ended: {ended:?}")),
            done = tokio::time::timeout(PATIENCE, done) => {
                done.unwrap_or_else(|_| fails("nothing happened for too long"))
            }
        }
    }

    /// Connects once, so that it is known what the account can do.
    pub(super) async fn connect(&self) -> Checked {
        self.while_receiving(async { Ok(()) }).await
    }

    /// How the connection ends, if it does in time.
    pub(super) async fn ends_within(&self, time: Duration) -> Result<Disconnected, Stop> {
        let receiving = self.adapter.receive(&self.desk);
        let ended = tokio::time::timeout(time, receiving).await;
        ended.or_else(|_| fails("the connection goes on"))
    }

    /// Somebody writes, and it is recorded as the last of so many.
    pub(super) async fn hears(&self, written: &Written) -> Result<Event, Stop> {
        let before = self.desk.recorded().len();
        self.while_receiving(async {
            self.scene.write(written);
            self.desk.until(|desk| desk.recorded().len() > before).await;
            Ok(())
        })
        .await?;
        let recorded = self.desk.recorded();
        recorded
            .last()
            .cloned()
            .map_or_else(|| fails("nothing was recorded"), Ok)
    }

    /// Somebody writes to the bot alone.
    pub(super) fn writes(&self, text: &str) -> WrittenId {
        self.scene.write(&(self.candidate.places.direct)(1, text))
    }

    /// Waits until people see something, and for no longer than it may take.
    pub(super) async fn sees(&self, holds: impl Fn(&Sight) -> bool + Sync) -> Checked {
        let seen = tokio::time::timeout(PATIENCE, self.scene.until(&holds)).await;
        ensure(seen.is_ok(), || "it was not to be seen in time".to_owned())
    }

    /// Something goes wrong once.
    pub(super) fn goes_wrong(&self, on: On, mishap: &str, retry_after: Option<u64>) {
        if let Ok(mishap) = mishap.parse() {
            self.scene.order(Fault {
                on,
                mishap,
                retry_after,
                times: 1,
            });
        }
    }

    /// A part with this text, to this place.
    pub(super) fn part(&self, to: &Address, text: &str) -> Outgoing {
        let now = now();
        let markdown = text.to_owned();
        Outgoing {
            part: Part {
                id: PartId::from_bytes(*self.ids.next(now).as_bytes()),
                reply: ReplyId::from_bytes(*self.ids.next(now).as_bytes()),
                ordinal: 0,
                body: PartBody::Text { markdown },
            },
            to: to.clone(),
            kind: ReplyKind::Final,
            form: TextForm::Markdown,
            prompt: None,
            file: None,
        }
    }

    /// The vendor is gone, and every connection to it: once this has returned, nobody listens on its port.
    pub(super) async fn vendor_goes(&self) {
        drop(self.venue().take());
        while tokio::net::TcpStream::connect(("127.0.0.1", self.port))
            .await
            .is_ok()
        {
            // Not polling: whoever listened is told to stop, and says nothing when it has.
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    fn venue(&self) -> std::sync::MutexGuard<'_, Option<Box<dyn Venue>>> {
        let venue = self.venue.lock();
        venue.unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// The vendor is there again, on the same port and without memory.
    pub(super) async fn vendor_comes(&self) -> Result<Arc<dyn Scene>, Stop> {
        for _ in 0..100 {
            if let Ok(fresh) = (self.candidate.start)(self.port).await {
                let scene = fresh.stage();
                *self.venue() = Some(fresh);
                return Ok(scene);
            }
            // Not polling: the port may take a moment to be free.
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        fails("the vendor's port is not free")
    }
}

/// The adapter's connection to a vendor on this port.
pub(super) fn connection(
    candidate: &Candidate,
    port: u16,
    is_valid: bool,
) -> anyhow::Result<Connection> {
    joined((candidate.credential)(&url(port), is_valid))
}

/// Where a vendor on this port is.
pub(super) fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}")
}

/// The connection that this credential makes.
pub(super) fn joined(credential: Credential) -> anyhow::Result<Connection> {
    let workshop = Workshop {
        client: reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .build()?,
        clock: Arc::new(SystemClock),
        ids: Arc::new(RandomIds::default()),
    };
    connect(credential, &workshop).map_err(|why| anyhow::anyhow!(why))
}
