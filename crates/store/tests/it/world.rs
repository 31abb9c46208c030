//! A ledger of its own for each test, on either engine, with the clock in hand; people who say things in it; and
//! at the end, a look whether it still holds together.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value as Json;
use talaria_domain::address::ReturnAddress;
use talaria_domain::authority::Authority;
use talaria_domain::clock::{Clock as _, ManualClock, Timestamp};
use talaria_domain::delivery::{Outcome, Part, PartBody, Receipt, Rejection, ReplyKind};
use talaria_domain::event::Event;
use talaria_domain::ids::{DeadId, EventId, PartId, ReplyId, RunId, SessionId};
use talaria_domain::job::JobEnd;
use talaria_domain::machine::{JobState, Machine as _};
use talaria_domain::scope::{ScopeHolder, ScopeIdentity, ScopeKey};
use talaria_sim::people::People;
pub(crate) use talaria_sim::people::{direct_chat, person};
use talaria_store::inbox::{self, Arrival, Recorded};
use talaria_store::leases::{self, Lease, LeaseName};
use talaria_store::maintenance::integrity;
use talaria_store::outbox::{self, Attempt, Head, ReplyStart};
use talaria_store::runs::{self, Admission};
use talaria_store::sessions::Opening;
use talaria_store::{Durability, Ledger, Result, Settings, StoreError, Tx};

/// Makes a story into three tests: one for each engine, and one where the writer of SQLite is a task among its callers.
macro_rules! both_engines {
    ($($(#[$attribute:meta])* async fn $name:ident($world:ident) $body:block)*) => {$(
        $(#[$attribute])*
        mod $name {
            use super::*;

            async fn story($world: &crate::world::World) $body

            #[tokio::test]
            async fn sqlite() {
                let world = crate::world::World::sqlite().await;
                story(&world).await;
                world.end().await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite_among_its_callers() {
                let world = crate::world::World::sqlite().await;
                story(&world).await;
                world.end().await;
            }

            #[tokio::test]
            async fn postgres() {
                let world = crate::world::World::postgres().await;
                story(&world).await;
                world.end().await;
            }
        }
    )*};
}

/// A ledger and everything around it.
pub(crate) struct World {
    pub(crate) ledger: Ledger,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) settings: Settings,
    people: People,
    _directory: Option<tempfile::TempDir>,
}

pub(crate) const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);

impl World {
    /// A fresh file.
    pub(crate) async fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("store.db").display());
        Self::open(url, Some(directory)).await
    }

    /// A fresh database on the server that `cargo xtask test` started.
    pub(crate) async fn postgres() -> Self {
        Self::open(fresh_database().await, None).await
    }

    async fn open(url: String, directory: Option<tempfile::TempDir>) -> Self {
        let clock = Arc::new(ManualClock::at(START));
        let settings = Settings {
            url,
            durability: Durability::Process,
            clock: Some(Arc::<ManualClock>::clone(&clock)),
        };
        let ledger = Ledger::open_with(settings.clone()).await.unwrap();
        Self {
            ledger,
            clock,
            settings,
            people: People::default(),
            _directory: directory,
        }
    }

    /// Whatever the story did, the ledger must open again and hold together.
    pub(crate) async fn end(self) {
        self.ledger.close().await;
        let ledger = Ledger::open_with(self.settings).await.unwrap();
        let findings = ledger.read(integrity::check).await.unwrap();
        assert_eq!(findings, Vec::<String>::new());
        ledger.close().await;
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.ledger.write(work).await.unwrap()
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> T {
        self.ledger.read(work).await.unwrap()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// A new id of any kind.
    pub(crate) fn id<T>(&self, from_bytes: impl Fn([u8; 16]) -> T) -> T {
        from_bytes(*self.people.ids().next(self.now()).as_bytes())
    }

    /// What `who` writes in their direct chat.
    pub(crate) fn said(&self, who: &str, text: &str) -> Event {
        self.people.said(who, text, self.now())
    }

    /// The conversation that `who` has with us.
    pub(crate) fn opening(&self, who: &str) -> Opening {
        self.people.opening(who, self.now())
    }

    /// What `who` writes, as it would be accepted.
    pub(crate) fn arrival(&self, who: &str, text: &str) -> Arrival {
        self.people.arrival(who, text, self.now()).unwrap()
    }

    /// `who` writes, and it is accepted.
    pub(crate) async fn says(&self, who: &str, text: &str) -> (EventId, SessionId) {
        let event = self.said(who, text);
        let id = event.id;
        let arrival = Arrival::of(event, self.opening(who)).unwrap();
        match self.write(move |tx| inbox::record(tx, &arrival)).await {
            Recorded::Accepted { session, .. } => (id, session),
            Recorded::Duplicate { .. } => panic!("a new event was taken for an old one"),
        }
    }

    /// Takes the lease of a session's lane.
    pub(crate) async fn lane(&self, session: SessionId, owner: &str) -> Lease {
        self.lease(LeaseName::Lane(session), owner).await
    }

    pub(crate) async fn lease(&self, name: LeaseName, owner: &str) -> Lease {
        let owner = owner.into();
        self.write(move |tx| leases::claim(tx, &name, &owner, TTL))
            .await
    }

    /// How a job ends.
    pub(crate) fn job_end(state: JobState, result: &Json) -> JobEnd {
        JobEnd {
            state,
            text: format!("it is {}", state.as_str()),
            result: result.clone(),
        }
    }

    /// Where answers to `who` go.
    pub(crate) fn way_back(who: &str, session: SessionId) -> ReturnAddress {
        let (address, requester) = (direct_chat(who), person(who));
        ReturnAddress {
            address,
            requester,
            profile: "assistant".into(),
            session,
        }
    }
}

/// What stories about turns and answers do again and again.
impl World {
    /// Work that must not succeed, and why it did not.
    pub(crate) async fn refusal<T: Debug + Send + 'static>(
        &self,
        work: impl Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
    ) -> StoreError {
        self.ledger.write(work).await.unwrap_err()
    }

    /// A run for `who`, admitted under the lease of its lane.
    pub(crate) async fn admits(&self, who: &str, lane: &Lease) -> RunId {
        let LeaseName::Lane(session) = lane.name else {
            panic!("{lane:?} is not for a lane")
        };
        let admission = Admission {
            id: self.id(RunId::from_bytes),
            event: self.id(EventId::from_bytes),
            runner: "local".into(),
            attempt: 1,
            authority: Authority::default().into(),
            return_to: Self::way_back(who, session).into(),
            at: self.now(),
        };
        let (run, lane) = (admission.id, lane.clone());
        self.write(move |tx| runs::record(tx, &lane, &admission))
            .await;
        run
    }

    /// An answer to `who` begins.
    pub(crate) async fn answers(&self, who: &str, session: SessionId, kind: ReplyKind) -> ReplyId {
        let start = ReplyStart {
            id: self.id(ReplyId::from_bytes),
            run: None,
            kind,
            return_to: Self::way_back(who, session).into(),
            at: self.now(),
        };
        let reply = start.id;
        self.write(move |tx| outbox::record(tx, &start)).await;
        reply
    }

    /// The answer gets its next part.
    pub(crate) async fn shows(&self, reply: ReplyId, markdown: &str) -> PartId {
        let (id, at) = (self.id(PartId::from_bytes), self.now());
        let markdown = markdown.to_owned();
        self.write(move |tx| {
            let ordinal = u32::try_from(outbox::parts(tx, reply)?.len()).unwrap();
            let markdown = markdown.clone();
            let body = PartBody::Text { markdown };
            let part = Part {
                id,
                reply,
                ordinal,
                body,
            };
            outbox::add_part(tx, &part, at)
        })
        .await;
        id
    }

    /// The text of an answer is final.
    pub(crate) async fn finishes(&self, reply: ReplyId) {
        let at = self.now();
        self.write(move |tx| outbox::finish(tx, reply, at)).await;
    }

    /// Takes the parts that may be sent now.
    pub(crate) async fn sends(&self, epoch: i64) -> Vec<PartId> {
        let now = self.now();
        let claimed = self.write(move |tx| {
            let targets = outbox::open_targets(tx)?;
            let heads = targets
                .into_iter()
                .map(|target| outbox::claim(tx, target, epoch, now));
            heads.collect::<Result<Vec<Head>>>()
        });
        let part = |head: Head| match head {
            Head::Claimed(sending) => Some(sending.queued.part.id),
            _ => None,
        };
        let mut claimed: Vec<PartId> = claimed.await.into_iter().filter_map(part).collect();
        claimed.sort_unstable();
        claimed
    }

    /// What became of sending a part under an epoch.
    pub(crate) fn attempt(&self, part: PartId, epoch: i64, outcome: Outcome) -> Attempt {
        let at = self.now();
        Attempt {
            part,
            epoch,
            outcome,
            at,
        }
    }

    /// The platform has a part.
    pub(crate) async fn arrives(&self, part: PartId, epoch: i64) {
        let attempt = self.attempt(part, epoch, self.delivered(&["there"]));
        self.write(move |tx| outbox::deliver(tx, &attempt)).await;
    }

    /// The platform made these messages of a part.
    pub(crate) fn delivered(&self, messages: &[&str]) -> Outcome {
        let receipt = |message: &&str| Receipt {
            message: (*message).into(),
            at: self.now(),
        };
        let receipts = messages.iter().map(receipt).collect();
        Outcome::Delivered { receipts }
    }

    /// A part that is being sent is given up.
    pub(crate) async fn gives_up(&self, part: PartId, epoch: i64) -> DeadId {
        let (class, detail) = (Rejection::Gone, "the chat is gone".to_owned());
        let attempt = self.attempt(part, epoch, Outcome::Rejected { class, detail });
        let letter = self.id(DeadId::from_bytes);
        self.write(move |tx| outbox::fail(tx, &attempt, letter, "the chat is gone"))
            .await;
        letter
    }
}

/// How long leases in stories last.
pub(crate) const TTL: Duration = Duration::from_secs(30);

/// Somewhere to remember things in.
pub(crate) fn scope() -> ScopeKey {
    let (runner, binding) = ("r".into(), "b".into());
    let holder = ScopeHolder::Runner;
    ScopeIdentity {
        runner,
        binding,
        holder,
    }
    .key()
}

/// An empty database and its url.
pub(crate) async fn fresh_database() -> String {
    let made = tokio::task::spawn_blocking(talaria_sim::servers::fresh_database);
    made.await.unwrap().unwrap()
}
