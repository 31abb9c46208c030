//! A ledger of its own for each test, on either engine, with the clock in hand; people who say things in it; and
//! at the end, a look whether it still holds together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::clock::{Clock as _, ManualClock, Timestamp};
use talaria_domain::event::{Content, DedupeKey, Event, EventKind};
use talaria_domain::ids::{EventId, Ids as _, RandomIds, SessionId};
use talaria_domain::principal::{Principal, Role};
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_store::inbox::{self, Arrival, Recorded};
use talaria_store::leases::{self, Lease, LeaseName};
use talaria_store::maintenance::integrity;
use talaria_store::sessions::Opening;
use talaria_store::{Durability, Ledger, Result, Settings, Tx};

/// Makes a story into two tests, one for each engine.
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
    ids: RandomIds,
    tokens: AtomicU32,
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
        let (ids, tokens) = (RandomIds::default(), AtomicU32::new(0));
        Self {
            ledger,
            clock,
            settings,
            ids,
            tokens,
            _directory: directory,
        }
    }

    /// The ledger must hold together whatever the story did to it.
    pub(crate) async fn end(self) {
        assert_eq!(
            self.ledger.read(integrity::check).await.unwrap(),
            Vec::<String>::new()
        );
        self.ledger.close().await;
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
        from_bytes(*self.ids.next(self.now()).as_bytes())
    }

    /// What `who` writes in their direct chat.
    pub(crate) fn said(&self, who: &str, text: &str) -> Event {
        let token = self.tokens.fetch_add(1, Ordering::Relaxed);
        let (address, principal) = (direct_chat(who), person(who));
        Event {
            id: self.id(EventId::from_bytes),
            dedupe: DedupeKey::derive(&address.platform, &address.account, &token.to_string()),
            address,
            principal,
            message: Some(format!("m{token}").into()),
            kind: EventKind::Message(Content {
                text: text.to_owned(),
                ..Content::default()
            }),
            sent_at: None,
            received_at: self.now(),
        }
    }

    /// The conversation that `who` has with us.
    pub(crate) fn opening(&self, who: &str) -> Opening {
        let source = Source::of(&direct_chat(who), &person(who));
        let key = SessionKey::derive(&"assistant".into(), &source, Sharing::default());
        Opening::of(
            key,
            person(who).key(),
            self.id(SessionId::from_bytes),
            self.now(),
        )
    }

    /// What `who` writes, as it would be accepted.
    pub(crate) fn arrival(&self, who: &str, text: &str) -> Arrival {
        Arrival::of(self.said(who, text), self.opening(who)).unwrap()
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

/// How long leases in stories last.
pub(crate) const TTL: Duration = Duration::from_secs(30);

pub(crate) fn person(who: &str) -> Principal {
    Principal {
        platform: "example".into(),
        account: "bot".into(),
        user: who.into(),
        alternate: None,
        display_name: None,
        role: Role::Member,
    }
}

pub(crate) fn direct_chat(who: &str) -> Address {
    Address {
        platform: "example".into(),
        account: "bot".into(),
        chat_kind: ChatKind::Direct,
        chat: format!("chat of {who}").into(),
        thread: None,
        reply_to: None,
    }
}

/// What the runner of these tests was told about PostgreSQL.
#[expect(
    clippy::disallowed_methods,
    reason = "how `cargo xtask test` tells where its server is"
)]
pub(crate) fn told(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// An empty database and its url.
pub(crate) async fn fresh_database() -> String {
    let server = told("TALARIA_TEST_POSTGRES").expect(
        "TALARIA_TEST_POSTGRES is not set: run `cargo xtask test`, which starts PostgreSQL",
    );
    let name = format!(
        "t{}",
        RandomIds::default()
            .next(talaria_domain::clock::SystemClock.now())
            .simple()
    );
    let (admin, create) = (server.clone(), format!("CREATE DATABASE {name}"));
    let created = tokio::task::spawn_blocking(move || {
        let mut client = postgres::Client::connect(&admin, postgres::NoTls).unwrap();
        client.batch_execute(&create)
    });
    created.await.unwrap().unwrap();
    let (host, _) = server.rsplit_once('/').unwrap();
    format!("{host}/{name}")
}
