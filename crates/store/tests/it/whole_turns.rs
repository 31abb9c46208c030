//! A turn that has one row, its event's: whoever reads it sees what they would see if it had a row for each thing, and it
//! goes when its event goes.

use std::time::Duration;

use talaria_domain::address::{Address, ReturnAddress};
use talaria_domain::authority::{Authority, ResourceKind, Revocation};
use talaria_domain::delivery::ReplyKind;
use talaria_domain::event::{DedupeKey, Event};
use talaria_domain::ids::{EventId, ReplyId, RunId, SessionId};
use talaria_domain::machine::RunState;
use talaria_domain::run::{FailureCode, RunEvent, RunOutcome, Usage};
use talaria_domain::session_key::{SessionKey, Sharing, Source};
use talaria_store::erasure::{self, Erased};
use talaria_store::inbox::{self, Arrival};
use talaria_store::maintenance::prune::{self, Retention};
use talaria_store::outbox::{self, ReplyStart};
use talaria_store::runs::{self, Admission, Conclusion};
use talaria_store::sessions::{self, Opening};
use talaria_store::views::{self, Wanted};
use talaria_store::whole::{self, Whole};
use talaria_store::{Result, StoreError, Tx};

use crate::world::{World, direct_chat, person};

/// The epoch that a lease would have had.
const EPOCH: i64 = 7;

/// A turn of a conversation that begins with it.
struct Turn {
    event: Event,
    admission: Admission,
    events: Vec<RunEvent>,
    outcome: RunOutcome,
    answer: Option<String>,
}

impl Turn {
    fn of(world: &World) -> Self {
        let id = world.id(EventId::from_bytes);
        let event = Event {
            id,
            dedupe: DedupeKey::own(id),
            address: Address {
                chat: id.to_string().into(),
                ..direct_chat("ada")
            },
            ..world.said("ada", "where is the heron?")
        };
        let return_to = ReturnAddress {
            address: event.address.clone(),
            requester: event.principal.clone(),
            profile: "assistant".into(),
            session: id.opens(),
        };
        let text = "behind the 'reeds'".to_owned();
        Self {
            admission: Admission {
                id: id.begins(),
                event: id,
                runner: "native".into(),
                attempt: 1,
                authority: Authority::default().into(),
                return_to: return_to.into(),
                at: event.received_at,
            },
            event,
            events: vec![RunEvent::MessageCompleted { text: text.clone() }],
            outcome: RunOutcome::completed(Usage::default()),
            answer: Some(text),
        }
    }

    /// One that says nothing.
    fn silent(world: &World) -> Self {
        Self {
            events: Vec::new(),
            answer: None,
            ..Self::of(world)
        }
    }

    fn conclusion(&self) -> Conclusion<'_> {
        Conclusion {
            next: 1,
            events: &self.events,
            outcome: &self.outcome,
        }
    }

    fn in_one_row(&self) -> Option<Whole> {
        let answer = self.answer.as_deref();
        Whole::of(&self.event, &self.admission, self.conclusion(), answer).unwrap()
    }

    fn arrival(&self) -> Arrival {
        let Event {
            address, principal, ..
        } = &self.event;
        let source = Source::of(address, principal);
        let key = SessionKey::derive(&"assistant".into(), &source, Sharing::default());
        let (session, at) = (self.event.id.opens(), self.event.received_at);
        let opening = Opening::of(key, principal.key(), session, at);
        Arrival::of(self.event.clone(), opening).unwrap()
    }

    /// Writes it down in one row.
    fn write(&self, tx: &mut Tx<'_>) -> Result<()> {
        let (arrival, at) = (self.arrival(), self.event.received_at);
        sessions::open_with(tx, arrival.opening(), 0, at)?;
        whole::record(tx, &arrival, (EPOCH, &self.in_one_row().unwrap()), at)
    }

    /// Writes it down with a row for each thing.
    fn write_out(&self, tx: &mut Tx<'_>) -> Result<()> {
        let (arrival, at) = (self.arrival(), self.event.received_at);
        let session = sessions::open_with(tx, arrival.opening(), 0, at)?;
        let admission = &self.admission;
        inbox::record_completed(tx, &arrival, session, (EPOCH, admission.id), at)?;
        runs::record_ended(tx, EPOCH, admission, self.conclusion(), at)?;
        let Some(answer) = &self.answer else {
            return Ok(());
        };
        let start = ReplyStart {
            id: ReplyId::from_bytes(*self.event.id.as_bytes()),
            run: Some(admission.id),
            kind: ReplyKind::Final,
            return_to: admission.return_to.clone(),
            at,
        };
        outbox::record_shown(tx, &start, answer)
    }
}

async fn writes(world: &World, turn: Turn) -> EventId {
    let event = turn.event.id;
    world.write(move |tx| turn.write(tx)).await;
    event
}

/// Everything that can be read of a turn, without its ids.
async fn read_of(world: &World, event: EventId) -> Vec<String> {
    let (session, run) = (event.opens(), event.begins());
    let reply = ReplyId::from_bytes(*event.as_bytes());
    let read = world.read(move |tx| {
        let tries = views::tries(tx, event)?;
        let mut journal = Vec::new();
        for (after, limit) in [(0, 100), (0, 1), (1, 1), (1, 100), (2, 1), (3, 1)] {
            journal.push(runs::journal(tx, run, after, limit)?);
        }
        let wanted = |after| Wanted { after, limit: 5 };
        let event_row = inbox::get(tx, event)?;
        Ok(vec![
            format!("{:?}", runs::get(tx, run)?),
            format!("{:?}", runs::last(tx, session)?),
            format!("{:?}", runs::for_event(tx, event)?),
            format!("{journal:?}"),
            format!("{:?}", views::run(tx, run)?),
            format!("{:?}", views::journal(tx, run, 10)?),
            format!("{:?}", views::journal(tx, run, 1)?),
            format!("{:?}", views::reply(tx, reply).ok()),
            format!("{:?}", outbox::get(tx, reply).ok()),
            format!(
                "{:?}",
                views::replies_to(tx, session, (event, None), &tries)?
            ),
            format!("{tries:?}"),
            format!("{:?}", views::runs(tx, None, Some(session), wanted(None))?),
            format!(
                "{:?}",
                views::runs(tx, Some(RunState::Completed), Some(session), wanted(None))?
            ),
            format!(
                "{:?}",
                views::runs(tx, None, Some(session), wanted(Some(run)))?
            ),
            format!(
                "{:?}",
                views::runs(tx, Some(RunState::Failed), Some(session), wanted(None))?
            ),
            format!("{:?}", views::running(tx, session)?),
            format!("{:?}", views::notices(tx, session, 5)?),
            format!(
                "{:?}",
                (
                    event_row.state,
                    event_row.run,
                    event_row.epoch,
                    event_row.attempts
                )
            ),
            format!("{:?}", views::event(tx, event)?.ended_at),
            format!("{:?}", runs::revocations_for(tx, event)?),
        ])
    });
    let id = event.to_string();
    let read = read.await.into_iter();
    read.map(|line| line.replace(&id, "ID")).collect()
}

/// All runs, newest first, so many at a time.
async fn listed(world: &World, limit: u32, state: Option<RunState>) -> Vec<RunId> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = world.read(move |tx| views::runs(tx, state, None, Wanted { after, limit }));
        let page = page.await;
        assert!(page.rows.len() <= limit as usize);
        all.extend(page.rows.iter().map(|view| view.run.id));
        match page.next {
            Some(next) => after = Some(next),
            None => return all,
        }
    }
}

fn not_found<T>(read: &Result<T>) -> bool {
    matches!(read, Err(StoreError::NotFound { .. }))
}

/// Whether nothing of a turn can be found any more.
async fn is_gone(world: &World, event: EventId) -> bool {
    let reply = ReplyId::from_bytes(*event.as_bytes());
    let look = world.read(move |tx| {
        Ok(not_found(&runs::get(tx, event.begins()))
            && not_found(&outbox::get(tx, reply))
            && not_found(&inbox::get(tx, event))
            && runs::for_event(tx, event)?.is_empty()
            && runs::journal(tx, event.begins(), 0, 10)?.is_empty())
    });
    look.await
}

both_engines! {
    async fn whoever_reads_it_sees_the_same(world) {
        for make in [Turn::of, Turn::silent] {
            let (short, long) = (make(world), make(world));
            let (one, other) = (short.event.id, long.event.id);
            world.write(move |tx| short.write(tx)).await;
            world.write(move |tx| long.write_out(tx)).await;
            let (read, expected) = (read_of(world, one).await, read_of(world, other).await);
            for (read, expected) in read.iter().zip(&expected) {
                assert_eq!(read, expected);
            }
        }
    }

    async fn what_a_row_cannot_tell_is_not_told_by_one(world) {
        let refused = |change: fn(&mut Turn)| {
            let mut turn = Turn::of(world);
            change(&mut turn);
            turn.in_one_row().is_none()
        };
        assert!(!refused(|_| ()));
        assert!(refused(|turn| turn.answer = Some("something else".to_owned())));
        assert!(refused(|turn| turn.answer = None));
        assert!(refused(|turn| {
            let odd = "behind the \u{0} reeds".to_owned();
            turn.events = vec![RunEvent::MessageCompleted { text: odd.clone() }];
            turn.answer = Some(odd);
        }));
        assert!(refused(|turn| turn.events.clear()));
        assert!(refused(|turn| turn.events.insert(0, RunEvent::Log { text: "a step".to_owned() })));
        assert!(refused(|turn| turn.outcome = RunOutcome::Cancelled));
        assert!(refused(|turn| turn.outcome = RunOutcome::failed(FailureCode::ModelRefused, "broken")));
        assert!(refused(|turn| turn.admission.attempt = 2));
        assert!(refused(|turn| turn.admission.id = RunId::from_bytes([9; 16])));
        assert!(refused(|turn| turn.event.received_at = turn.event.received_at.plus(Duration::from_millis(1))));
        assert!(refused(|turn| turn.event.address.reply_to = Some("a message".into())));
        assert!(refused(|turn| turn.event.principal = person("bob")));
        assert!(refused(|turn| {
            let elsewhere = ReturnAddress {
                session: SessionId::from_bytes([9; 16]),
                ..(*turn.admission.return_to).clone()
            };
            turn.admission.return_to = elsewhere.into();
        }));
        let turn = Turn::of(world);
        let later = Conclusion { next: 2, ..turn.conclusion() };
        assert_eq!(Whole::of(&turn.event, &turn.admission, later, turn.answer.as_deref()).unwrap(), None);
    }

    async fn all_runs_are_listed_whichever_rows_they_have(world) {
        let mut expected = Vec::new();
        for in_one_row in [true, false, false, true, true, false, true] {
            world.says("bob", "no turn of its own").await;
            let turn = Turn::of(world);
            expected.insert(0, turn.admission.id);
            world.write(move |tx| if in_one_row { turn.write(tx) } else { turn.write_out(tx) }).await;
        }
        for limit in [1, 2, 3, 7, 50] {
            assert_eq!(listed(world, limit, None).await, expected, "{limit} at a time");
            assert_eq!(listed(world, limit, Some(RunState::Completed)).await, expected);
            assert_eq!(listed(world, limit, Some(RunState::Failed)).await, []);
        }
    }

    async fn a_list_goes_on_where_its_windows_end(world) {
        let (oldest, before) = (Turn::of(world), Turn::of(world));
        let mut expected = vec![before.admission.id, oldest.admission.id];
        world.write(move |tx| oldest.write_out(tx).and_then(|()| before.write(tx))).await;
        // More than a window of events that have no runs, then a window of runs and one more.
        let plain: Vec<Turn> = (0..2_001).map(|_| Turn::of(world)).collect();
        world.write(move |tx| {
            plain.iter().try_for_each(|turn| {
                let (arrival, at) = (turn.arrival(), turn.event.received_at);
                let session = sessions::open_with(tx, arrival.opening(), 0, at)?;
                inbox::record_completed(tx, &arrival, session, (EPOCH, turn.admission.id), at)
            })
        }).await;
        let newest: Vec<Turn> = (0..2_001).map(|_| Turn::of(world)).collect();
        expected.splice(0..0, newest.iter().rev().map(|turn| turn.admission.id));
        world.write(move |tx| {
            let (first, rest) = newest.split_first().unwrap();
            first.write(tx)?;
            rest.iter().try_for_each(|turn| turn.write_out(tx))
        }).await;
        assert_eq!(listed(world, 1_500, None).await, expected);
    }

    async fn it_goes_with_its_event(world) {
        let event = writes(world, Turn::of(world)).await;
        let session = event.opens();
        world.clock.advance(Duration::from_hours(91 * 24));
        let now = world.now();
        world.write(move |tx| prune::prune(tx, Retention::default(), now, 10)).await;
        assert!(is_gone(world, event).await);
        assert_eq!(world.read(move |tx| sessions::get(tx, session)).await.id, session, "its conversation stays");
    }

    async fn it_goes_with_its_conversation(world) {
        let event = writes(world, Turn::of(world)).await;
        let (owner, session) = (person("ada").key(), event.opens());
        let estate = world.read(move |tx| erasure::survey(tx, owner, session)).await;
        assert_eq!(world.write(move |tx| erasure::erase(tx, &estate)).await, Erased::Gone);
        assert!(is_gone(world, event).await);
    }

    async fn nothing_about_it_changes_any_more(world) {
        let event = writes(world, Turn::of(world)).await;
        let before = read_of(world, event).await;
        let (run, at) = (event.begins(), world.now());
        let reply = ReplyId::from_bytes(*event.as_bytes());
        let terminal = Revocation::Resource { kind: ResourceKind::Tool, name: "terminal".to_owned(), operation: None };
        let refused = world.refusal(move |tx| runs::revoke(tx, run, &terminal, at)).await;
        assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
        let refused = world.refusal(move |tx| outbox::set_text(tx, reply, "another")).await;
        assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
        let refused = world.refusal(move |tx| outbox::finish(tx, reply, at)).await;
        assert!(matches!(refused, StoreError::Conflict(_)), "{refused}");
        let session = event.opens();
        assert_eq!(world.write(move |tx| runs::cancel(tx, session, at)).await, 0);
        assert_eq!(read_of(world, event).await, before);
    }

    async fn what_is_said_later_in_its_conversation_is_no_answer_to_it(world) {
        let event = writes(world, Turn::of(world)).await;
        let session = event.opens();
        let notice = world.answers("ada", session, ReplyKind::Notice).await;
        let said = world.read(move |tx| {
            let tries = views::tries(tx, event)?;
            Ok((views::replies_to(tx, session, (event, None), &tries)?, views::notices(tx, session, 5)?))
        }).await;
        let ids = |views: &[views::ReplyView]| views.iter().map(|view| view.reply.id).collect::<Vec<_>>();
        assert_eq!(ids(&said.0), [ReplyId::from_bytes(*event.as_bytes())]);
        assert_eq!(ids(&said.1), [notice]);
    }
}
