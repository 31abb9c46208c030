//! A gateway in the test's hand: it records what it accepts, tells what it is told to tell, and sends what it is given.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use talaria_domain::adapter::{
    Accepted, Disconnected, HookAnswer, HookCall, Identity, Intake, NotAccepted, Pending,
};
use talaria_domain::address::{Address, ChatKind, ReturnAddress};
use talaria_domain::authority::Revocation;
use talaria_domain::clock::{Clock, ManualClock, Timestamp};
use talaria_domain::delivery::{Part, PartBody, ReplyKind};
use talaria_domain::event::Event;
use talaria_domain::ids::{Ids, PartId, RandomIds, ReplyId, RunId, ScheduleId, SessionId};
use talaria_domain::live::{Happening, Live, Watch};
use talaria_domain::machine::ScheduleState;
use talaria_domain::names::{AccountName, PlatformName};
use talaria_domain::principal::Role;
use talaria_domain::profile::Account;
use talaria_domain::schedule::{Schedule, Zone};
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_server::courier::{Courier, NotDispatched, Parcel};
use talaria_server::doorkeeper::{
    Access, Approval, Doorkeeper, Granted, Listing, NotSettled, Person, Step, Supposed, Told,
    Waiting, Whom,
};
use talaria_server::health::{Condition, Health, PartReport, Report};
use talaria_server::hooks::Hooks;
use talaria_server::rights::Rights;
use talaria_server::timetable::{Deed, NotPlanned, Timetable, Wanted};
use talaria_store::inbox::{self, Arrival, Recorded};
use talaria_store::outbox::{self, ReplyStart};
use talaria_store::schedules::Outcome;
use talaria_store::sessions::{self, Opening};
use talaria_store::{Ledger, StoreError, Tx, runs, schedules};
use tokio::sync::{Notify, mpsc};

/// How much a watch holds.
const BEHIND: usize = 16;

/// What stands in for the gateway.
pub(crate) struct Gateway {
    pub(crate) ledger: Ledger,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) ids: Arc<RandomIds>,
    /// What intake says instead of recording.
    pub(crate) refusal: Mutex<Option<Result<Accepted, NotAccepted>>>,
    pub(crate) accepted: Mutex<Vec<Event>>,
    pub(crate) report: Mutex<Report>,
    watches: Mutex<HashMap<SessionId, mpsc::Sender<Happening>>>,
    watched: Notify,
}

impl Gateway {
    pub(crate) fn over(ledger: Ledger, clock: Arc<ManualClock>) -> Self {
        Self {
            ledger,
            clock,
            ids: Arc::new(RandomIds::default()),
            refusal: Mutex::default(),
            accepted: Mutex::default(),
            report: Mutex::default(),
            watches: Mutex::default(),
            watched: Notify::new(),
        }
    }

    /// Tells whoever watches a session, once somebody does.
    pub(crate) async fn tell(&self, session: SessionId, happening: Happening) {
        loop {
            let told = self.watches.lock().unwrap().get(&session).cloned();
            if let Some(told) = told {
                told.send(happening).await.unwrap();
                return;
            }
            self.watched.notified().await;
        }
    }

    /// A part of the gateway that is in some condition.
    pub(crate) fn reports(&self, name: &str, state: Condition) {
        let part = PartReport {
            name: name.to_owned(),
            state,
            detail: Some("because".to_owned()),
            last_receive: Some(self.clock.now()),
            last_send: None,
        };
        let mut report = self.report.lock().unwrap();
        report.parts = vec![part];
        report.lanes_running = 3;
    }

    fn opening(&self, event: &Event) -> Opening {
        let source = Source::of(&event.address, &event.principal);
        let key = SessionKey::derive(&"assistant".into(), &source, Sharing::default());
        let (owner, now) = (event.principal.key(), self.clock.now());
        Opening::of(key, owner, SessionId::next(&*self.ids, now), now)
    }

    async fn record(&self, event: Event) -> Result<Accepted, NotAccepted> {
        if let Some(refusal) = self.refusal.lock().unwrap().clone() {
            return refusal;
        }
        self.accepted.lock().unwrap().push(event.clone());
        let id = event.id;
        let opening = self.opening(&event);
        let arrival = Arrival::of(event, opening).unwrap();
        let recorded = self
            .ledger
            .write(move |tx| inbox::record(tx, &arrival))
            .await;
        Ok(match recorded.unwrap() {
            Recorded::Accepted { session, .. } => Accepted::Recorded { event: id, session },
            Recorded::Duplicate { first } => Accepted::Duplicate { first },
        })
    }

    async fn post(&self, parcel: Parcel) -> Result<ReplyId, NotDispatched> {
        let platform = parcel.to.platform.as_str();
        assert_ne!(platform, "trap", "the courier fell into a trap");
        let chat = parcel.to.chat.filter(|_| platform == "example");
        let chat = chat.ok_or_else(|| NotDispatched::NotFound {
            reason: format!("{platform} has no account, or no home"),
        })?;
        let now = self.clock.now();
        let address = Address {
            platform: parcel.to.platform,
            account: "bot".into(),
            chat_kind: ChatKind::Direct,
            chat,
            thread: parcel.to.thread,
            reply_to: None,
        };
        let source = Source::of(&address, &parcel.requester);
        let key = SessionKey::derive(&"assistant".into(), &source, Sharing::default());
        let (owner, session) = (parcel.requester.key(), SessionId::next(&*self.ids, now));
        let opening = Opening::of(key, owner, session, now);
        let (id, part) = (
            ReplyId::next(&*self.ids, now),
            PartId::next(&*self.ids, now),
        );
        let (requester, text) = (parcel.requester, parcel.text);
        let work = move |tx: &mut Tx<'_>| {
            let return_to = ReturnAddress {
                address: address.clone(),
                requester: requester.clone(),
                profile: "assistant".into(),
                session: sessions::resolve(tx, &opening)?,
            };
            let (run, kind, at) = (None, ReplyKind::Notice, now);
            outbox::record(
                tx,
                &ReplyStart {
                    id,
                    run,
                    kind,
                    return_to: return_to.into(),
                    at,
                },
            )?;
            outbox::set_text(tx, id, &text)?;
            let body = PartBody::Text {
                markdown: text.clone(),
            };
            let part = Part {
                id: part,
                reply: id,
                ordinal: 0,
                body,
            };
            outbox::add_part(tx, &part, now)?;
            outbox::finish(tx, id, now)
        };
        self.ledger.write(work).await.unwrap();
        Ok(id)
    }
}

impl Intake for Gateway {
    fn connected(&self, _: &Account, _: &Identity) -> Result<(), Disconnected> {
        Ok(())
    }

    fn alive(&self, _: &Account) {}

    fn kept<'a>(&'a self, _: &'a Account) -> Pending<'a, Result<Option<String>, NotAccepted>> {
        Box::pin(std::future::ready(Ok(None)))
    }

    fn keep<'a>(&'a self, _: &'a Account, _: String) -> Pending<'a, Result<(), NotAccepted>> {
        Box::pin(std::future::ready(Ok(())))
    }

    fn accept(&self, event: Event) -> Pending<'_, Result<Accepted, NotAccepted>> {
        Box::pin(self.record(event))
    }
}

impl Hooks for Gateway {
    fn take(
        &self,
        (platform, account): (PlatformName, AccountName),
        call: HookCall,
    ) -> Pending<'_, Option<HookAnswer>> {
        let is_known = (platform.as_str(), account.as_str()) == ("example", "bot");
        let signature = call.header("x-signature").unwrap_or("none").to_owned();
        let answer = is_known.then(|| HookAnswer {
            status: 200,
            media_type: "application/json",
            body: serde_json::json!({ "signature": signature, "bytes": call.body.len() })
                .to_string(),
        });
        Box::pin(std::future::ready(answer))
    }
}

impl Live for Gateway {
    fn watch(&self, session: SessionId) -> Box<dyn Watch> {
        let (told, heard) = mpsc::channel(BEHIND);
        self.watches.lock().unwrap().insert(session, told);
        self.watched.notify_waiters();
        Box::new(Heard(heard))
    }
}

struct Heard(mpsc::Receiver<Happening>);

impl Watch for Heard {
    fn next(&mut self) -> Pending<'_, Option<Happening>> {
        Box::pin(self.0.recv())
    }
}

impl Health for Gateway {
    fn report(&self) -> Report {
        self.report.lock().unwrap().clone()
    }
}

fn waits(who: &Person) -> Waiting {
    Waiting {
        principal: format!("{}/{}/{}", who.platform, who.account, who.user),
        name: Some("Dora".to_owned()),
        asked_at: Timestamp::from_millis(1),
        expires_at: Timestamp::from_millis(2),
    }
}

fn dora() -> Person {
    Person {
        platform: "example".into(),
        account: "bot".into(),
        user: "dora".into(),
    }
}

/// Whom `whom` stands for: the one code, or anybody by name.
fn meant(whom: Whom) -> Result<Person, NotSettled> {
    match whom {
        Whom::Code(code) if code == "ABCD2345" => Ok(dora()),
        Whom::Code(code) if code == "LOCKED" => Err(NotSettled::Locked {
            reason: "too many were wrong".to_owned(),
        }),
        Whom::Code(_) => Err(NotSettled::NotFound {
            reason: "nobody waits".to_owned(),
        }),
        Whom::Person(person) => Ok(person),
    }
}

fn granted(who: &Person, role: Role, by: &str) -> Granted {
    Granted {
        principal: waits(who).principal,
        name: None,
        role,
        approved_by: by.to_owned(),
        approved_at: Timestamp::from_millis(3),
    }
}

impl Doorkeeper for Gateway {
    fn list(&self) -> Pending<'_, Result<Listing, NotSettled>> {
        Box::pin(std::future::ready(Ok(Listing {
            pending: vec![waits(&dora())],
            granted: vec![granted(&dora(), Role::Guest, "operator")],
            locked_until: None,
        })))
    }

    fn approve(&self, approval: Approval) -> Pending<'_, Result<Granted, NotSettled>> {
        let Approval { whom, role, by } = approval;
        let approved = meant(whom).map(|who| granted(&who, role, &by));
        Box::pin(std::future::ready(approved))
    }

    fn deny(&self, whom: Whom) -> Pending<'_, Result<Waiting, NotSettled>> {
        Box::pin(std::future::ready(meant(whom).map(|who| waits(&who))))
    }

    fn revoke(&self, who: Person) -> Pending<'_, Result<(), NotSettled>> {
        let revoked = if who == dora() {
            Ok(())
        } else {
            Err(NotSettled::NotFound {
                reason: "nobody was paired".to_owned(),
            })
        };
        Box::pin(std::future::ready(revoked))
    }

    fn why(&self, supposed: Supposed) -> Result<Told, NotSettled> {
        let place = [
            supposed.chat.map(|it| it.to_string()),
            supposed.thread.map(|it| it.to_string()),
            supposed.command,
        ];
        Ok(Told {
            access: Access {
                allowed: true,
                decision: "allowed".to_owned(),
                role: Some(Role::Member),
                reason: place.into_iter().flatten().collect::<Vec<_>>().join(" "),
                steps: vec![Step {
                    source: "allow".to_owned(),
                    found: "member".to_owned(),
                }],
                grant: Some(granted(&supposed.who, Role::Guest, "operator")),
            },
            profile: "assistant".into(),
            route: None,
        })
    }
}

impl Courier for Gateway {
    fn dispatch(&self, parcel: Parcel) -> Pending<'_, Result<ReplyId, NotDispatched>> {
        Box::pin(self.post(parcel))
    }
}

impl Gateway {
    /// A new id of any kind, from the source that the server uses, too.
    pub(crate) fn id<T>(&self, from_bytes: impl Fn([u8; 16]) -> T) -> T {
        from_bytes(*self.ids.next(self.clock.now()).as_bytes())
    }
}

impl Timetable for Gateway {
    fn create(&self, wanted: Wanted) -> Pending<'_, Result<Schedule, NotPlanned>> {
        Box::pin(self.plan(wanted))
    }

    fn change(&self, id: ScheduleId, deed: Deed) -> Pending<'_, Result<Schedule, NotPlanned>> {
        let (ledger, now) = (self.ledger.clone(), self.clock.now());
        let work = move |tx: &mut Tx<'_>| {
            match deed {
                Deed::Pause => schedules::pause(tx, id, now)?,
                Deed::Resume => schedules::resume(tx, id, now, now)?,
                Deed::Remove => schedules::remove(tx, id, now)?,
                Deed::Run => {
                    let why = Outcome::Skipped("nothing is said here".to_owned());
                    schedules::record_occurrence(tx, (id, now), &why, now)?;
                }
            }
            schedules::get(tx, id)
        };
        Box::pin(async move {
            ledger.write(work).await.map_err(|error| match error {
                StoreError::NotFound { .. } => NotPlanned::NotFound {
                    reason: "there is no such schedule".to_owned(),
                },
                error => NotPlanned::Refused {
                    reason: error.to_string(),
                },
            })
        })
    }
}

impl Gateway {
    async fn plan(&self, wanted: Wanted) -> Result<Schedule, NotPlanned> {
        let refused = |reason: String| NotPlanned::Refused { reason };
        let chat = wanted.to.chat.clone();
        let chat = chat.ok_or_else(|| refused("say which chat".to_owned()))?;
        let now = self.clock.now();
        let plan = wanted.order.understand(&Zone::default(), now);
        let plan = plan.map_err(refused)?;
        let address = Address {
            platform: wanted.to.platform,
            account: "bot".into(),
            chat_kind: ChatKind::Direct,
            chat,
            thread: wanted.to.thread,
            reply_to: None,
        };
        let source = Source::of(&address, &wanted.requester);
        let key = SessionKey::derive(&"assistant".into(), &source, Sharing::default());
        let (owner, session) = (wanted.requester.key(), SessionId::next(&*self.ids, now));
        let schedule = Schedule {
            id: ScheduleId::next(&*self.ids, now),
            name: plan.name,
            when: plan.when,
            zone: plan.zone,
            what: plan.what,
            return_to: ReturnAddress {
                address,
                requester: wanted.requester,
                profile: "assistant".into(),
                session,
            },
            key: key.id(),
            state: ScheduleState::Active,
            next_at: Some(plan.next_at),
            created_at: now,
        };
        let opening = Opening::of(key, owner, session, now);
        let kept = schedule.clone();
        let work = move |tx: &mut Tx<'_>| {
            sessions::resolve(tx, &opening)?;
            schedules::record(tx, &kept)
        };
        self.ledger.write(work).await.unwrap();
        Ok(schedule)
    }
}

impl Rights for Gateway {
    fn revoke(
        &self,
        run: RunId,
        what: Revocation,
    ) -> Pending<'_, talaria_store::Result<Vec<RunId>>> {
        let (ledger, now) = (self.ledger.clone(), self.clock.now());
        Box::pin(async move {
            let taken = ledger.write(move |tx| runs::revoke(tx, run, &what, now));
            taken.await.map(|_| vec![run])
        })
    }
}
