//! Programs that open a conversation and wait on the line for the end of its turn. The ledger hears of it when it lasts,
//! when it does something, or when it is over; and nobody is told anything before.

use std::sync::Arc;
use std::time::Duration;

use talaria_domain::adapter::{Accepted, Intake as _, NotAccepted};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::event::{DedupeKey, Event, EventKind, Hearing, Wishes};
use talaria_domain::ids::{ReplyId, SessionId};
use talaria_domain::live::{Happening, Watch};
use talaria_domain::machine::{InboxState, RunState};
use talaria_domain::run::RunEvent;
use talaria_sim::chat::{AlwaysFine, Offer, Vendor};
use talaria_store::ledger::Fate;
use talaria_store::maintenance::integrity;
use talaria_store::{Ledger, inbox, outbox, runs, sessions, transcripts};

use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use crate::world::{Setup, World, a_file};

const MOMENT: Duration = Duration::from_millis(5);
const SOON: Duration = Duration::from_secs(1);
const LATER: Duration = Duration::from_secs(5);

pub(crate) fn line() -> Setup {
    Setup {
        has_line: true,
        ..Setup::default()
    }
}

/// What a program asks that waits for the end.
pub(crate) fn asked(world: &World, text: &str) -> Event {
    asked_and(world, text, Hearing::AtItsEnd)
}

/// What a program asks that hears of it so.
pub(crate) fn asked_and(world: &World, text: &str, hearing: Hearing) -> Event {
    let mut event = world.draft("ada", text);
    event.address = Address {
        platform: "api".into(),
        account: "default".into(),
        chat_kind: ChatKind::Direct,
        chat: event.id.to_string().into(),
        thread: None,
        reply_to: None,
    };
    event.dedupe = DedupeKey::own(event.id);
    let EventKind::Message(content) = &mut event.kind else {
        unreachable!()
    };
    content.wishes = Some(Box::new(Wishes {
        hearing,
        ..Wishes::default()
    }));
    event
}

type Answer = Result<Accepted, NotAccepted>;

/// Somebody on the line: what is asked, and where its answer will be.
struct Call {
    session: SessionId,
    watch: Box<dyn Watch>,
    answer: JoinHandle<Answer>,
}

fn call(world: &World, event: Event) -> Call {
    let session = event.id.opens();
    let watch = world.gateway.live().watch(session);
    let intake = world.gateway.intake();
    let answer = TaskTracker::new().spawn(async move { intake.accept(event).await });
    Call {
        session,
        watch,
        answer,
    }
}

impl Call {
    /// What was heard so far, in short.
    async fn heard(&mut self) -> Vec<String> {
        let mut heard = Vec::new();
        while let Ok(next) = tokio::time::timeout(MOMENT, self.watch.next()).await {
            heard.push(match next.unwrap() {
                Happening::Started { .. } => "started".to_owned(),
                Happening::Yielded { seq, what, .. } => format!("{seq} {}", what.as_str()),
                Happening::Said { text, .. } => format!("said {text}"),
                Happening::Missed => "missed".to_owned(),
            });
        }
        heard
    }

    async fn was_let_in(self) -> bool {
        matches!(self.answer.await.unwrap(), Ok(Accepted::Recorded { .. }))
    }
}

/// The states of everything that was recorded.
async fn states(world: &World) -> Vec<InboxState> {
    let rows = world.recorded().await.into_iter();
    rows.map(|row| row.state).collect()
}

/// The answer to what opened a conversation: it has the same id.
async fn answer(world: &World, session: SessionId) -> Option<String> {
    let reply = ReplyId::from_bytes(*session.as_bytes());
    let found = world.ledger.read(move |tx| outbox::get(tx, reply)).await;
    found.ok().map(|reply| reply.text)
}

#[tokio::test(start_paused = true)]
async fn what_is_over_at_once_is_written_down_once_and_whole() {
    let world = World::begin(line()).await;
    world.passes(SOON).await;
    let before = world.calls.count();
    let event = asked(&world, "one at once");
    let mut call = call(&world, event.clone());
    world.passes(SOON).await;
    assert_eq!(world.calls.count() - before, 1, "one commit holds it all");
    let heard = call.heard().await;
    let all = [
        "started",
        "1 message_completed",
        "2 ended",
        "said re: one at once",
    ];
    assert_eq!(heard, all);
    let session = call.session;
    assert!(call.was_let_in().await);
    let (row, run, said, conversation) = world
        .read(move |tx| {
            let row = inbox::get(tx, event.id)?;
            let run = runs::last(tx, session)?.unwrap();
            let said = transcripts::shown(tx, session, 0, 10)?;
            Ok((row, run, said, sessions::get(tx, session)?))
        })
        .await;
    assert_eq!((row.state, row.attempts), (InboxState::Completed, 1));
    assert_eq!((row.run, row.epoch), (Some(run.id), run.epoch));
    assert_eq!(run.state, RunState::Completed);
    let said: Vec<_> = said.iter().map(|it| (it.seq, it.text.as_str())).collect();
    assert_eq!(said, [(1, "one at once"), (2, "re: one at once")]);
    assert_eq!(conversation.last_seq, 2);
    let answer = answer(&world, session).await;
    assert_eq!(answer.as_deref(), Some("re: one at once"));
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_heard_as_it_grows_is_written_down_with_its_first_words() {
    let world = World::begin(line()).await;
    world.passes(SOON).await;
    let before = world.calls.count();
    let event = asked_and(&world, "one", Hearing::AsItGrows);
    let mut call = call(&world, event);
    world.passes(SOON).await;
    let commits = world.calls.count() - before;
    assert_eq!(commits, 3, "the beginning, more words, the end");
    let heard = call.heard().await;
    let all = [
        "started",
        "1 message_delta",
        "2 message_delta",
        "3 message_completed",
        "4 ended",
        "said re: one",
    ];
    assert_eq!(heard, all);
    let session = call.session;
    assert!(call.was_let_in().await);
    let journal = world
        .read(move |tx| {
            let run = runs::last(tx, session)?.unwrap().id;
            runs::journal(tx, run, 0, 10)
        })
        .await;
    let numbers: Vec<i64> = journal.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn first_words_are_heard_once_they_are_written_down() {
    let world = World::begin(line()).await;
    world.passes(SOON).await;
    world.calls.next_is(Fate::Slow {
        before: SOON,
        after: SOON,
    });
    let mut call = call(&world, asked_and(&world, "one", Hearing::AsItGrows));
    world.passes(SOON + SOON / 2).await;
    assert_eq!(call.heard().await, [""; 0], "they are on their way");
    world.passes(LATER).await;
    assert_eq!(call.heard().await[..2], ["started", "1 message_delta"]);
    assert!(call.was_let_in().await);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_over_first_words_leaves_something_to_do_or_nothing() {
    for (fate, rows, runs) in [
        (Fate::LostBefore, &[] as &[InboxState], 1),
        (Fate::LostAfter, &[InboxState::Completed], 2),
    ] {
        let mut world = World::begin(line()).await;
        world.passes(SOON).await;
        world.calls.next_is(fate);
        let mut call = call(&world, asked_and(&world, "one", Hearing::AsItGrows));
        world.passes(SOON).await;
        assert_eq!(call.heard().await, [""; 0], "{fate:?}: nobody hears");
        assert!(!call.answer.is_finished(), "{fate:?}: nobody is told");
        world.crash().await;
        world.ends().await;
        assert_eq!(states(&world).await, rows, "{fate:?}");
        assert_eq!(world.script.seen().len(), runs, "{fate:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_conversation_goes_on_from_there() {
    let world = World::begin(line()).await;
    let event = asked(&world, "one at once");
    assert!(call(&world, event.clone()).was_let_in().await);
    let mut next = asked(&world, "two at once");
    next.address = event.address;
    assert!(call(&world, next).was_let_in().await);
    world.ends().await;
    let last = world.script.seen().pop().unwrap();
    let before: Vec<&str> = last.history.iter().map(|said| &*said.text).collect();
    assert_eq!(before, ["one at once", "re: one at once"]);
}

#[tokio::test(start_paused = true)]
async fn what_lasts_is_written_down_while_it_does() {
    let world = World::begin(line()).await;
    let mut call = call(&world, asked(&world, "hang"));
    world.passes(MOMENT).await;
    assert_eq!(world.script.seen().len(), 1, "it thinks");
    assert_eq!(states(&world).await, [], "nobody knows");
    assert!(!call.answer.is_finished());
    world.passes(SOON).await;
    assert_eq!(states(&world).await, [InboxState::Claimed]);
    assert_eq!(call.heard().await, ["started"]);
    let session = call.session;
    assert!(call.was_let_in().await, "and whoever asks is told");
    let mut stop = asked(&world, "/stop");
    stop.address.chat = session.to_string().into();
    world.gateway.accept(stop).await.unwrap();
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn whatever_it_does_comes_after_its_beginning() {
    for text in [
        "one",
        "tool 2 at once",
        "think 2 at once",
        "job 2 x at once",
    ] {
        let world = World::begin(line()).await;
        let slow = Fate::Slow {
            before: SOON,
            after: SOON,
        };
        world.passes(SOON).await;
        world.calls.next_is(slow);
        let mut call = call(&world, asked(&world, text));
        world.passes(SOON + SOON / 2).await;
        assert!(world.script.effects().is_empty(), "{text}: it waits");
        assert_eq!(call.heard().await, [""; 0], "{text}");
        world.passes(LATER).await;
        let heard = call.heard().await;
        assert_eq!(heard.first().map(String::as_str), Some("started"), "{text}");
        let yielded = heard
            .iter()
            .filter_map(|it| it.split_once(' ')?.0.parse().ok());
        let numbers: Vec<usize> = yielded.collect();
        let in_order: Vec<usize> = (1..=numbers.len()).collect();
        assert!(
            numbers.len() > 1 && numbers == in_order,
            "{text}: {heard:?}"
        );
        assert!(call.was_let_in().await, "{text}");
        world.ends().await;
        assert_eq!(states(&world).await.len(), 1, "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_ends_badly_is_told_as_always() {
    for (text, states_then, said) in [
        (
            "fail",
            InboxState::Completed,
            "I could not finish this: told to.",
        ),
        ("silent", InboxState::Completed, ""),
        ("panic", InboxState::Dead, "I could not answer this"),
    ] {
        let world = World::begin(line()).await;
        let call = call(&world, asked(&world, text));
        let session = call.session;
        assert!(call.was_let_in().await, "{text}");
        world.passes(10 * 60 * SOON).await;
        assert_eq!(states(&world).await, [states_then], "{text}");
        let told = answer(&world, session).await;
        let is_told = match said {
            "" => told.is_none(),
            said => told.as_ref().is_some_and(|told| told.starts_with(said)),
        };
        assert!(is_told, "{text}: {told:?}");
        world.gateway.drain().await;
    }
}

#[tokio::test(start_paused = true)]
async fn who_is_not_told_that_it_is_in_hears_why() {
    let world = World::begin(line()).await;
    world.passes(SOON).await;
    world.calls.lose_next_answer();
    let mut call = call(&world, asked(&world, "one at once"));
    world.passes(SOON).await;
    assert_eq!(call.heard().await, [""; 0], "nobody knows whether it is in");
    assert!(call.answer.await.unwrap().is_err());
    world.passes(LATER).await;
    assert_eq!(world.script.seen().len(), 1, "it is over, wherever it is");
    assert_eq!(world.gateway.load().turns, 0);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn an_end_that_is_written_though_nobody_hears_of_it_is_the_end() {
    for text in ["fail", "one", "think 1", "silent"] {
        let world = World::begin(line()).await;
        world.passes(SOON).await;
        let call = call(&world, asked_and(&world, text, Hearing::AsItGrows));
        world.calls.next_is(Fate::Answered);
        if text != "fail" && text != "silent" {
            // More words come between the first and the end.
            world.calls.next_is(Fate::Answered);
        }
        world.calls.next_is(Fate::Uncertain);
        world.passes(LATER).await;
        assert!(call.was_let_in().await, "{text}");
        world.passes(LATER).await;
        assert_eq!(world.gateway.load().turns, 0, "{text}");
        world.ends().await;
        assert_eq!(states(&world).await, [InboxState::Completed], "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_process_that_dies_leaves_all_of_it_or_nothing() {
    for (fate, rows) in [
        (Fate::LostBefore, &[] as &[InboxState]),
        (Fate::LostAfter, &[InboxState::Completed]),
    ] {
        let mut world = World::begin(line()).await;
        world.passes(SOON).await;
        world.calls.next_is(fate);
        let call = call(&world, asked(&world, "one at once"));
        world.passes(SOON).await;
        assert!(!call.answer.is_finished(), "{fate:?}: nobody is told");
        world.crash().await;
        world.passes(LATER).await;
        assert_eq!(states(&world).await, rows, "{fate:?}");
        assert_eq!(
            world.script.seen().len(),
            1,
            "{fate:?}: nothing is left to do"
        );
        world.ends().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_lasts_is_done_again_after_a_crash() {
    let mut world = World::begin(line()).await;
    let call = call(&world, asked(&world, "think 2"));
    world.passes(SOON).await;
    assert!(call.was_let_in().await);
    world.crash().await;
    world.ends().await;
    assert_eq!(states(&world).await, [InboxState::Completed]);
    assert_eq!(world.script.seen().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_is_answered_all_the_same() {
    for text in ["one at once", "one", "tool 2"] {
        let world = World::begin(line()).await;
        tokio::select! {
            biased;
            accepted = world.gateway.accept(asked(&world, text)) => panic!("too soon: {accepted:?}"),
            () = std::future::ready(()) => {}
        }
        world.ends().await;
        assert_eq!(states(&world).await, [InboxState::Completed], "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_stops_does_not_wait_for_it() {
    let world = World::begin(line()).await;
    let call = call(&world, asked(&world, "hang"));
    world.passes(MOMENT).await;
    world.gateway.stop().await;
    // It was taken in before the gateway went, or whoever asked was told that it was not.
    let was_let_in = call.was_let_in().await;
    assert_eq!(states(&world).await.len(), usize::from(was_let_in));
}

#[tokio::test(start_paused = true)]
async fn everything_else_is_written_down_first() {
    let elsewhere: fn(&mut Event) = |event| event.address.chat = "another".into();
    let again: fn(&mut Event) = |event| {
        let address = &event.address;
        event.dedupe = DedupeKey::derive(&address.platform, &address.account, "token");
    };
    let followed: fn(&mut Event) = |event| {
        let EventKind::Message(content) = &mut event.kind else {
            unreachable!()
        };
        content.wishes = None;
    };
    let with_a_file: fn(&mut Event) = |event| {
        let EventKind::Message(content) = &mut event.kind else {
            unreachable!()
        };
        content.attachments.push(a_file());
    };
    let seen: fn(&mut Event) = |event| {
        event.address.platform = "example".into();
        event.address.account = "bot".into();
    };
    for change in [elsewhere, again, followed, with_a_file, seen] {
        let world = World::begin(line()).await;
        let mut event = asked(&world, "hang");
        change(&mut event);
        let call = call(&world, event);
        world.passes(MOMENT).await;
        assert_eq!(states(&world).await, [InboxState::Claimed]);
        assert!(call.was_let_in().await);
        world.gateway.stop().await;
    }
    let world = World::begin(Setup {
        has_line: false,
        ..line()
    })
    .await;
    let refused = world.gateway.accept(asked(&world, "hang")).await;
    assert!(matches!(refused, Ok(Accepted::Refused { .. })), "no line");
}

/// What is said in the end.
async fn said(watch: &mut dyn Watch) -> String {
    loop {
        if let Some(Happening::Said { text, .. }) = watch.next().await {
            return text;
        }
    }
}

#[tokio::test]
async fn it_is_the_same_on_real_stores() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let made = tokio::task::spawn_blocking(talaria_sim::servers::fresh_database);
    let postgres = made.await.unwrap().unwrap();
    for url in [format!("sqlite:{}", path.display()), postgres] {
        let vendor = Vendor::offering(Offer::Keys, Arc::new(AlwaysFine));
        let ledger = Ledger::open(&url).await.unwrap();
        let world = World::beside(line(), &vendor, ledger).await;
        for text in ["one at once", "two", "tool 0 at once"] {
            let event = asked(&world, text);
            let (id, session) = (event.id, event.id.opens());
            let mut watch = world.gateway.live().watch(session);
            assert!(call(&world, event).was_let_in().await, "{url}: {text}");
            let said = tokio::time::timeout(Duration::from_mins(1), said(&mut *watch)).await;
            assert_eq!(said.unwrap(), format!("re: {text}"), "{url}");
            let look = move |tx: &mut talaria_store::Tx<'_>| {
                let run = runs::last(tx, session)?.unwrap();
                let journal = runs::journal(tx, run.id, 0, 100)?;
                let end = journal.into_iter().next_back();
                Ok((inbox::get(tx, id)?.state, end, integrity::check(tx)?))
            };
            let (state, end, findings) = world.ledger.read(look).await.unwrap();
            assert_eq!(state, InboxState::Completed, "{url}: {text}");
            let is_ended = matches!(end, Some((_, RunEvent::Ended(_))));
            assert!(is_ended, "{url}: {text}");
            assert_eq!(findings, Vec::<String>::new(), "{url}: {text}");
        }
        world.gateway.drain().await;
        world.ledger.close().await;
    }
}
