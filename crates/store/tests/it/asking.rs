//! What people are asked: open while its run waits, answered once, and never left behind.

use std::time::Duration;

use talaria_domain::effects::Answer;
use talaria_domain::ids::{EventId, QuestionId, ReplyId, RunId, SessionId};
use talaria_domain::machine::{Machine as _, QuestionState, RunState};
use talaria_domain::question::{Approvers, PressToken};
use talaria_domain::run::{Action, RunEvent, RunOutcome, Usage};
use talaria_store::leases::{Ended, Lease};
use talaria_store::maintenance::integrity;
use talaria_store::maintenance::prune::{Retention, prune};
use talaria_store::maintenance::rescue::rescue;
use talaria_store::questions::{self, Asked, Given, Question};
use talaria_store::runs::{self, Conclusion};
use talaria_store::{Conflict, Result, StoreError, Tx, Wake, bind, leases};

use crate::world::{World, direct_chat, person};

/// `who` writes, and the run that answers them asks something back.
pub(crate) async fn asks(world: &World, who: &str) -> (Asked, Lease) {
    let (event, session) = world.says(who, "do it").await;
    let lane = world.lane(session, "north").await;
    let run = world.admits(who, &lane).await;
    let asked = question(world, who, (run, event, session));
    let (recorded, lease, at) = (asked.clone(), lane.clone(), world.now());
    world
        .write(move |tx| {
            runs::start(tx, &lease, run, at)?;
            questions::ask(tx, &recorded)?;
            runs::wait(tx, &lease, run, at)
        })
        .await;
    (asked, lane)
}

fn question(world: &World, who: &str, (run, event, session): (RunId, EventId, SessionId)) -> Asked {
    let id = world.id(QuestionId::from_bytes);
    Asked {
        id,
        session,
        run,
        event,
        reply: world.id(ReplyId::from_bytes),
        target: direct_chat(who).target(),
        token: PressToken::from_random(*id.as_bytes()).hash(),
        code: "K7QF".to_owned(),
        action: Action::Question {
            text: "Which colour, \"red\" or it's \u{1f980}?".to_owned(),
            choices: vec!["red".to_owned(), "blue".to_owned()],
        },
        approvers: Approvers::of(&person(who)),
        asked_at: world.now(),
        expires_at: world.now().plus(Duration::from_mins(10)),
    }
}

fn given(world: &World, who: &str, text: &str) -> Given {
    Given {
        answer: Answer::Said {
            text: text.to_owned(),
        },
        by: person(who).key(),
        event: world.id(EventId::from_bytes),
        at: world.now(),
    }
}

async fn stored(world: &World, question: QuestionId) -> Question {
    world.read(move |tx| questions::get(tx, question)).await
}

async fn state_of(world: &World, run: RunId) -> RunState {
    world.read(move |tx| runs::get(tx, run)).await.state
}

/// Every way in which a question ends.
type End = fn(&mut Tx<'_>, QuestionId, &Given) -> Result<()>;

const ENDS: [(&str, QuestionState, End); 3] = [
    ("answer", QuestionState::Answered, questions::answer),
    ("expire", QuestionState::Expired, |tx, question, given| {
        questions::expire(tx, question, given.at)
    }),
    (
        "withdraw",
        QuestionState::Withdrawn,
        |tx, question, given| questions::withdraw(tx, question, given.at),
    ),
];

both_engines! {
    async fn a_question_is_kept_as_it_was_asked(world) {
        let (asked, _) = asks(world, "ada").await;
        let expected = Question {
            asked: asked.clone(),
            state: QuestionState::Open,
            answer: None,
            answered_by: None,
            answer_event: None,
        };
        assert_eq!(stored(world, asked.id).await, expected);
        let (token, target, session, run) = (asked.token, asked.target, asked.session, asked.run);
        let reply = asked.reply;
        let found = world.read(move |tx| Ok([
            questions::by_token(tx, token)?.into_iter().collect::<Vec<_>>(),
            questions::by_reply(tx, reply)?.into_iter().collect(),
            questions::by_code(tx, target, "K7QF")?.into_iter().collect(),
            questions::last_at(tx, target)?.into_iter().collect(),
            questions::open_in(tx, session)?,
            questions::open_at(tx, target)?,
            questions::of_run(tx, run)?,
        ])).await;
        for found in found {
            assert_eq!(found, std::slice::from_ref(&expected));
        }
        let elsewhere = direct_chat("bob").target();
        let found = world.read(move |tx| Ok((questions::by_code(tx, elsewhere, "K7QF")?, questions::open_at(tx, elsewhere)?))).await;
        assert_eq!(found, (None, vec![]), "a code is one of its own place");
        assert!(world.read(move |tx| questions::is_awaited(tx, run)).await);
    }

    async fn every_verb_leads_where_the_table_says_and_nowhere_else(world) {
        for from in QuestionState::STATES.iter().copied() {
            for (verb, to, end) in ENDS {
                let (asked, _) = asks(world, "ada").await;
                let (id, name) = (asked.id, from.as_str());
                world.write(move |tx| {
                    tx.execute("UPDATE questions SET state = ?2, ended_at = ?3 WHERE question_id = ?1", bind![id, name, Some(1_i64).filter(|_| name != "open")])
                }).await;
                let given = given(world, "ada", "red");
                let before = stored(world, id).await;
                let ended = world.ledger.write(move |tx| end(tx, id, &given)).await;
                let after = stored(world, id).await;
                if from.may(verb, to) {
                    ended.unwrap();
                    assert_eq!(after.state, to, "{from:?} {verb}");
                } else {
                    let refused = matches!(ended, Err(StoreError::Conflict(Conflict::Transition { .. })));
                    assert!(refused, "{from:?} {verb} {ended:?}");
                    assert_eq!(after, before, "{from:?} {verb}");
                }
                // What was forced is set right, so that the ledger holds together at the end.
                let (session, lane) = (asked.session, leases::LeaseName::Lane(asked.session));
                let at = world.now();
                world.write(move |tx| {
                    leases::seize(tx, &lane)?;
                    runs::cancel(tx, session, at)
                }).await;
            }
        }
    }

    async fn of_many_answers_at_once_one_counts(world) {
        let (asked, _) = asks(world, "ada").await;
        let id = asked.id;
        let mut attempts = tokio::task::JoinSet::new();
        for number in 0..16 {
            let given = given(world, "ada", &format!("answer {number}"));
            let (ledger, kept) = (world.ledger.clone(), given.clone());
            attempts.spawn(async move { (given, ledger.write(move |tx| questions::answer(tx, id, &kept)).await) });
        }
        let attempts = attempts.join_all().await;
        let (won, lost): (Vec<_>, Vec<_>) = attempts.into_iter().partition(|(_, answered)| answered.is_ok());
        assert_eq!((won.len(), lost.len()), (1, 15));
        let is_told = |(_, answered): &(Given, Result<()>)| matches!(answered, Err(StoreError::Conflict(Conflict::Transition { from: "answered", .. })));
        assert!(lost.iter().all(is_told), "{lost:?}");
        let row = stored(world, id).await;
        let (winner, _) = &won[0];
        assert_eq!(row.answer.as_ref(), Some(&winner.answer));
        assert_eq!((row.answered_by, row.answer_event), (Some(winner.by), Some(winner.event)));
    }

    async fn an_answer_and_the_end_of_the_time_do_not_both_happen(world) {
        for _ in 0..8 {
            let (asked, _) = asks(world, "ada").await;
            let (id, given, at) = (asked.id, given(world, "ada", "red"), world.now());
            let (answered, expired) = tokio::join!(
                world.ledger.write(move |tx| questions::answer(tx, id, &given)),
                world.ledger.write(move |tx| questions::expire(tx, id, at)),
            );
            assert!(answered.is_ok() != expired.is_ok(), "{answered:?} {expired:?}");
            let row = stored(world, id).await;
            assert_eq!(row.state == QuestionState::Answered, answered.is_ok());
            assert_eq!(row.answer.is_some(), answered.is_ok());
            let (session, lane) = (asked.session, leases::LeaseName::Lane(asked.session));
            world.write(move |tx| {
                leases::seize(tx, &lane)?;
                runs::cancel(tx, session, at)
            }).await;
        }
    }

    async fn whoever_waits_hears_of_the_end_and_of_no_other(world) {
        let (asked, _) = asks(world, "ada").await;
        let mut wakes = world.ledger.subscribe();
        let (id, given) = (asked.id, given(world, "ada", "red"));
        world.write(move |tx| questions::answer(tx, id, &given)).await;
        let woken = tokio::time::timeout(Duration::from_secs(30), async {
            while wakes.next().await != Some(Wake::Question(id)) {}
        });
        woken.await.expect("whoever waits was woken");
    }

    async fn a_run_that_is_stopped_takes_its_questions_with_it(world) {
        let (asked, lane) = asks(world, "ada").await;
        let (session, at) = (asked.session, world.now());
        let name = lane.name.clone();
        world.write(move |tx| {
            leases::seize(tx, &name)?;
            runs::cancel(tx, session, at)
        }).await;
        assert_eq!(stored(world, asked.id).await.state, QuestionState::Withdrawn);
        assert_eq!(state_of(world, asked.run).await, RunState::Cancelled);
        let red = given(world, "ada", "red");
        let id = asked.id;
        let refused = world.refusal(move |tx| questions::answer(tx, id, &red)).await;
        assert!(matches!(refused, StoreError::Conflict(_)), "{refused:?}");
    }

    async fn a_process_that_dies_leaves_no_question_open(world) {
        let (ada, _) = asks(world, "ada").await;
        let (bob, _) = asks(world, "bob").await;
        let (id, red) = (bob.id, given(world, "bob", "red"));
        world.write(move |tx| questions::answer(tx, id, &red)).await;
        world.write(|tx| rescue(tx, &Ended::OwnedBy("north".into()))).await;
        assert_eq!(stored(world, ada.id).await.state, QuestionState::Withdrawn);
        assert_eq!(stored(world, bob.id).await.state, QuestionState::Answered, "what was answered stays answered");
        assert_eq!(state_of(world, ada.run).await, RunState::Interrupted);
    }

    async fn a_run_may_end_without_waiting_for_its_answer(world) {
        let (asked, lane) = asks(world, "ada").await;
        let (run, at) = (asked.run, world.now());
        world.write(move |tx| {
            let outcome = RunOutcome::completed(Usage::default());
            runs::conclude(tx, &lane, run, Conclusion { next: 1, events: &[], outcome: &outcome }, at)
        }).await;
        let journal = world.read(move |tx| runs::journal(tx, run, 0, 100)).await;
        assert!(matches!(journal.last(), Some((_, RunEvent::Ended(_)))), "{journal:?}");
        assert_eq!(stored(world, asked.id).await.state, QuestionState::Withdrawn);
        assert_eq!(state_of(world, run).await, RunState::Completed);
    }

    async fn a_run_that_waits_may_still_be_journalled(world) {
        let (asked, lane) = asks(world, "ada").await;
        let (run, at) = (asked.run, world.now());
        let event = RunEvent::Log { text: "still here".to_owned() };
        world.write(move |tx| runs::append(tx, &lane, run, &event, at)).await;
        assert_eq!(state_of(world, run).await, RunState::Waiting);
    }

    async fn what_was_asked_is_pruned_once_it_has_ended_and_not_before(world) {
        let (open, _) = asks(world, "ada").await;
        let (ended, _) = asks(world, "bob").await;
        let (id, red) = (ended.id, given(world, "bob", "red"));
        world.write(move |tx| questions::answer(tx, id, &red)).await;
        world.clock.advance(Duration::from_hours(30 * 24));
        let now = world.now();
        world.write(move |tx| prune(tx, Retention(Duration::ZERO), now, 100)).await;
        let (open, ended) = (open.id, ended.id);
        let left = world.read(move |tx| Ok((questions::find(tx, open)?.is_some(), questions::find(tx, ended)?.is_some()))).await;
        assert_eq!(left, (true, false));
    }

    async fn a_question_that_no_run_waits_for_is_found(world) {
        let (asked, lane) = asks(world, "ada").await;
        let (session, at) = (asked.session, world.now());
        let name = lane.name.clone();
        world.write(move |tx| {
            leases::seize(tx, &name)?;
            runs::cancel(tx, session, at)
        }).await;
        let found = world.refusal::<()>(|tx| {
            tx.execute("UPDATE questions SET state = 'open', ended_at = NULL", &[])?;
            Err(StoreError::Broken { why: integrity::check(tx)?.join(", ") })
        });
        let why = "1 open questions that no run waits for".to_owned();
        assert_eq!(found.await, StoreError::Broken { why });
    }
}
