//! A run asks a person. One answer counts, it is that person's, and whatever becomes of the run, nothing stays open.

use std::time::Duration;

use talaria_domain::address::{Address, ChatKind};
use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::effects::Answer;
use talaria_domain::event::{Event, EventKind, Wishes};
use talaria_domain::machine::{QuestionState, RunState};
use talaria_domain::profile::BusyPolicy;
use talaria_domain::question::{Button, Choice, TokenHash};
use talaria_domain::run::RunEvent;
use talaria_domain::session_key::Sharing;
use talaria_sim::people::{People, direct_chat};
use talaria_store::questions::{self, Given, Question};
use talaria_store::{inbox, runs};

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);

/// What is open at a place.
async fn open_at(world: &World, address: &Address) -> Vec<Question> {
    let target = address.target();
    world.read(move |tx| questions::open_at(tx, target)).await
}

/// What was last asked of `who`.
async fn last(world: &World, who: &str) -> Question {
    let target = direct_chat(who).target();
    let last = world.read(move |tx| questions::last_at(tx, target)).await;
    last.unwrap()
}

async fn state_of_run(world: &World, question: &Question) -> RunState {
    let run = question.asked.run;
    world.read(move |tx| runs::get(tx, run)).await.state
}

pub(crate) fn room() -> Address {
    Address {
        chat_kind: ChatKind::Group,
        chat: "room".into(),
        ..direct_chat("ada")
    }
}

fn shared_room() -> Setup {
    Setup {
        sharing: Sharing {
            group_per_user: false,
            thread_per_user: false,
        },
        ..Setup::default()
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_words_is_what_the_run_is_told() {
    let table = [
        ("ask 600 red|blue", "blue", "told blue"),
        ("ask 600 red|blue", "1", "told red"),
        ("ask 600 red|blue", "/answer BLUE", "told blue"),
        ("ask 600", "in May", "told in May"),
        ("ask 600", "/deny", "told no"),
        ("query 600 red|blue", "red", "told red"),
        ("may 600", "yes", "told yes"),
        ("may 600", "No.", "told no"),
        ("may 600", "/approve", "told yes"),
        ("may 600", "/deny", "told no"),
    ];
    for busy in [BusyPolicy::Queue, BusyPolicy::Steer, BusyPolicy::Interrupt] {
        for (asks, answer, told) in table {
            let world = World::begin(Setup {
                busy,
                ..Setup::default()
            })
            .await;
            world.says("ada", asks);
            world.passes(SOON).await;
            let question = last(&world, "ada").await;
            assert_eq!(state_of_run(&world, &question).await, RunState::Waiting);
            let shown = world.sees("ada");
            assert!(shown[0].contains(&question.asked.code), "{shown:?}");
            world.says("ada", answer);
            world.ends().await;
            let seen = world.sees("ada");
            let is_command = answer.starts_with('/');
            assert_eq!(seen.len(), 2 + usize::from(is_command), "{seen:?}");
            assert_eq!(seen.last().unwrap(), told, "{busy:?} {asks} {answer}");
            let pulled = world.script.effects().len();
            assert_eq!(pulled, usize::from(told == "told yes"));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_journal_tells_what_was_asked_and_what_came_of_it() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "ask 600 red|blue");
    world.passes(SOON).await;
    world.says("ada", "blue");
    world.ends().await;
    let question = last(&world, "ada").await;
    let run = question.asked.run;
    let journal = world.read(move |tx| runs::journal(tx, run, 0, 100)).await;
    let kinds: Vec<&str> = journal.iter().map(|(_, event)| event.as_str()).collect();
    assert_eq!(
        kinds,
        [
            "action_requested",
            "action_settled",
            "message_completed",
            "ended"
        ]
    );
    let is_settled = |event: &RunEvent| {
        matches!(event, RunEvent::ActionSettled { request, state, answer }
            if *request == question.asked.id.to_string() && *state == QuestionState::Answered && *answer == question.answer)
    };
    assert!(is_settled(&journal[1].1), "{journal:?}");
}

#[tokio::test(start_paused = true)]
async fn of_two_answers_the_first_counts_and_the_second_is_told() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "may 600");
    world.passes(SOON).await;
    let code = last(&world, "ada").await.asked.code;
    // Both are on their way before either is heard.
    world.says("ada", &format!("/approve {code}"));
    world.says("ada", &format!("/deny {code}"));
    world.ends().await;
    let seen = world.sees("ada");
    assert!(seen.contains(&"Approved. I go on.".to_owned()), "{seen:?}");
    assert!(
        seen.contains(&"That was answered already.".to_owned()),
        "{seen:?}"
    );
    assert!(seen.contains(&"told yes".to_owned()), "{seen:?}");
    assert_eq!(world.script.effects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_delivered_twice_answers_once() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "ask 600");
    world.passes(SOON).await;
    world.says("ada", "in May");
    world.passes(SOON).await;
    world.vendor.deliver_again(1);
    world.passes(SOON).await;
    world.says("ada", "ask 600");
    world.passes(SOON).await;
    world.vendor.deliver_again(1);
    world.passes(SOON).await;
    let question = last(&world, "ada").await;
    assert_eq!(
        question.state,
        QuestionState::Open,
        "an old answer does not answer a new question"
    );
    world.says("ada", "in June");
    world.ends().await;
    assert_eq!(world.sees("ada").last().unwrap(), "told in June");
}

#[tokio::test(start_paused = true)]
async fn another_member_of_the_group_may_not_answer() {
    for setup in [Setup::default(), shared_room()] {
        let world = World::begin(setup).await;
        world.says_at("ada", room(), "may 600");
        world.passes(SOON).await;
        let open = open_at(&world, &room()).await;
        let code = open[0].asked.code.clone();
        for attempt in ["yes", "/approve", "/deny", &format!("/approve {code}")] {
            world.says_at("bob", room(), attempt);
            world.passes(SOON).await;
            let open = open_at(&world, &room()).await;
            assert_eq!(
                open.len(),
                1,
                "{attempt} by another member counts for nothing"
            );
        }
        assert_eq!(world.script.effects(), []);
        world.says_at("ada", room(), "yes");
        world.ends().await;
        assert_eq!(world.script.effects().len(), 1);
        let seen = world.sees_in(&room());
        let foreign = "Only whoever this is done for, or an admin, may answer that.";
        assert!(seen.contains(&foreign.to_owned()), "{seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_by_itself_and_says_so() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "ask 600 red|blue");
    world.passes(Duration::from_secs(599)).await;
    assert_eq!(open_at(&world, &direct_chat("ada")).await.len(), 1);
    world.passes(SOON * 2).await;
    let question = last(&world, "ada").await;
    assert_eq!(question.state, QuestionState::Expired);
    let seen = world.sees("ada");
    assert!(
        seen[1].starts_with("Nobody answered for 10 minutes"),
        "{seen:?}"
    );
    assert_eq!(seen[2], "not told: expired");
    let code = &question.asked.code;
    world.says("ada", &format!("/answer {code} red"));
    world.says("ada", "/answer red");
    world.ends().await;
    let late = "That came too late: I did not wait any longer.";
    assert_eq!(world.sees("ada")[3..], [late, late]);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_person_is_neither_idle_nor_late() {
    let mut setup = Setup::default();
    setup.limits.no_progress = Duration::from_mins(2);
    setup.limits.turn_time = Duration::from_mins(5);
    let world = World::begin(setup).await;
    world.says("ada", "ask 3600");
    world.passes(Duration::from_mins(50)).await;
    world.says("ada", "at last");
    world.ends().await;
    assert_eq!(world.sees("ada").last().unwrap(), "told at last");
}

#[tokio::test(start_paused = true)]
async fn a_stopped_run_asks_nothing_any_more() {
    for word in ["/stop", "/new"] {
        let world = World::begin(Setup::default()).await;
        world.says("ada", "may 600");
        world.passes(SOON).await;
        world.says("ada", word);
        world.passes(SOON).await;
        let question = last(&world, "ada").await;
        assert_eq!(question.state, QuestionState::Withdrawn, "{word}");
        assert_eq!(state_of_run(&world, &question).await, RunState::Cancelled);
        world.says("ada", &format!("/approve {}", question.asked.code));
        world.says("ada", "/approve");
        world.ends().await;
        let closed =
            "That question is no longer open: what I asked it for was stopped or interrupted.";
        assert_eq!(world.sees("ada")[2..], [closed, closed], "{word}");
        assert_eq!(world.script.effects(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_crash_the_old_question_is_closed_and_the_new_one_counts() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "ask 600 red|blue");
    world.passes(SOON).await;
    let old = last(&world, "ada").await;
    world.crash().await;
    world.passes(SOON).await;
    let new = last(&world, "ada").await;
    assert_ne!(new.asked.id, old.asked.id, "it is asked again");
    let id = old.asked.id;
    let state = world.read(move |tx| questions::get(tx, id)).await.state;
    assert_eq!(state, QuestionState::Withdrawn);
    world.says("ada", &format!("/answer {} red", old.asked.code));
    world.passes(SOON).await;
    assert_eq!(last(&world, "ada").await.state, QuestionState::Open);
    world.says("ada", "blue");
    world.ends().await;
    let seen = world.sees("ada");
    assert!(
        seen.iter()
            .any(|text| text.starts_with("I was interrupted, and what I asked is no longer open")),
        "{seen:?}"
    );
    assert!(
        seen.iter()
            .any(|text| text.starts_with("That question is no longer open")),
        "{seen:?}"
    );
    assert_eq!(seen.last().unwrap(), "told blue");
}

#[tokio::test(start_paused = true)]
async fn a_crash_under_a_tool_that_asks_is_told() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "query 600 red|blue");
    world.passes(SOON).await;
    let code = last(&world, "ada").await.asked.code;
    world.crash().await;
    world.passes(SOON).await;
    assert_eq!(last(&world, "ada").await.state, QuestionState::Withdrawn);
    world.says("ada", &format!("/answer {code} red"));
    world.ends().await;
    let seen = world.sees("ada");
    let has = |start: &str| seen.iter().any(|text| text.starts_with(start));
    assert!(has("I was interrupted while I was using later"), "{seen:?}");
    assert!(
        has("I was interrupted, and what I asked is no longer open"),
        "{seen:?}"
    );
    assert!(has("That question is no longer open"), "{seen:?}");
    assert!(!has("told"), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_came_before_the_crash_is_not_forgotten() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "ask 600");
    world.passes(SOON).await;
    // The process dies between the commit that has the answer and the one by which the run goes on.
    world.gateway.kill().await;
    let question = last(&world, "ada").await;
    let people = People::starting_at(1_000);
    let arrival = people.arrival("ada", "in May", world.now()).unwrap();
    let (event, at) = (arrival.event().id, world.now());
    let given = Given {
        answer: Answer::Said {
            text: "in May".to_owned(),
        },
        by: arrival.event().principal.key(),
        event,
        at,
    };
    let committed = world.ledger.write(move |tx| {
        inbox::record(tx, &arrival)?;
        questions::answer(tx, question.asked.id, &given)?;
        inbox::merge(tx, event, question.asked.event, at)
    });
    committed.await.unwrap();
    world.crash().await;
    world.passes(SOON).await;
    let seen = world.script.seen();
    assert_eq!(
        seen.len(),
        2,
        "the run had not heard of it, and is done again"
    );
    assert!(seen[1].prompt.contains("in May"), "{:?}", seen[1]);
    world.says("ada", "in June");
    world.ends().await;
    assert_eq!(world.sees("ada").last().unwrap(), "told in June");
}

#[tokio::test(start_paused = true)]
async fn several_open_questions_are_told_apart_by_their_codes() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "both 600 red|blue");
    world.passes(SOON).await;
    let open = open_at(&world, &direct_chat("ada")).await;
    assert_eq!(open.len(), 2);
    let codes: Vec<&str> = open.iter().map(|one| one.asked.code.as_str()).collect();
    assert_ne!(codes[0], codes[1]);
    world.says("ada", "/answer red");
    world.passes(SOON).await;
    let seen = world.sees("ada");
    let which = seen.last().unwrap();
    assert!(
        which.starts_with("Several things are being asked"),
        "{which}"
    );
    assert!(codes.iter().all(|code| which.contains(code)), "{which}");
    assert_eq!(open_at(&world, &direct_chat("ada")).await.len(), 2);
    world.says("ada", &format!("/answer {} blue", codes[1].to_lowercase()));
    world.passes(SOON).await;
    assert_eq!(state_of_run(&world, &open[0]).await, RunState::Waiting);
    world.says("ada", "red");
    world.ends().await;
    assert_eq!(world.sees("ada").last().unwrap(), "told red, told blue");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_answer_is_a_message_like_any_other() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "ask 600 red|blue");
    world.passes(SOON).await;
    world.says("ada", "why do you ask?");
    world.passes(SOON).await;
    let seen = world.sees("ada");
    assert!(
        seen.iter()
            .any(|text| text.starts_with("I still wait for an answer")),
        "{seen:?}"
    );
    world.says("ada", "red");
    world.ends().await;
    let seen = world.sees("ada");
    assert_eq!(seen[seen.len() - 2..], ["told red", "re: why do you ask?"]);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_where_nobody_can_answer() {
    let world = World::begin(Setup::default()).await;
    let program = |may_be_asked| Wishes {
        window: Some(DeliveryWindow::InTurnOnly),
        may_be_asked,
        ..Wishes::default()
    };
    world.asks("ada", "ask 600", program(false));
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), ["not told: disabled"]);
    world.says("ada", "give ask 600");
    world.passes(SOON).await;
    let seen = world.sees("ada");
    assert!(
        seen.last().unwrap().contains("not told: disabled"),
        "{seen:?}"
    );
    world.asks("ada", "ask 600", program(true));
    world.passes(SOON).await;
    world.says("ada", "/answer in May");
    world.ends().await;
    assert_eq!(world.sees("ada").last().unwrap(), "told in May");
}

#[tokio::test(start_paused = true)]
async fn whoever_does_not_wait_for_the_answer_has_nothing_open() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "leave 600 red|blue");
    world.passes(SOON * 3).await;
    let question = last(&world, "ada").await;
    assert_eq!(question.state, QuestionState::Withdrawn);
    assert_eq!(state_of_run(&world, &question).await, RunState::Completed);
    world.ends().await;
    assert_eq!(world.sees("ada").last().unwrap(), "went on");
}

#[tokio::test(start_paused = true)]
async fn status_says_what_is_waited_for() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "may 600");
    world.passes(SOON).await;
    world.says("ada", "/status");
    world.passes(SOON).await;
    let seen = world.sees("ada");
    let status = seen.last().unwrap();
    assert!(
        status.starts_with("I wait for an answer (`/approve"),
        "{status}"
    );
    world.says("ada", "no");
    world.ends().await;
}

fn said(text: &str) -> Choice {
    let text = text.to_owned();
    Choice::Answer { text }
}

/// Somebody presses a button of what they see last.
fn presses(world: &World, who: &str, at: Address, (token, choice): (TokenHash, Choice)) -> Event {
    let pressed = EventKind::Pressed { token, choice };
    world.does(who, at, pressed)
}

#[tokio::test(start_paused = true)]
async fn a_button_answers_once_here_and_for_those_who_may() {
    let world = World::begin(Setup::default()).await;
    world.vendor.show_buttons();
    world.says_at("ada", room(), "may 600");
    world.passes(SOON).await;
    let shown = world.vendor.chat("room");
    let prompt = shown[0].prompt.clone().unwrap();
    let labels: Vec<&Button> = prompt.buttons.iter().collect();
    assert_eq!(labels.len(), 2, "{labels:?}");
    let token = TokenHash::of(prompt.token.expose());
    let attempts = [
        ("bob", room(), token, Choice::Approve),
        ("ada", direct_chat("ada"), token, Choice::Approve),
        ("ada", room(), TokenHash::of("made up"), Choice::Approve),
        ("ada", room(), token, said("maybe")),
    ];
    for (who, place, token, choice) in attempts {
        presses(&world, who, place.clone(), (token, choice.clone()));
        world.passes(SOON).await;
        assert_eq!(open_at(&world, &room()).await.len(), 1, "{who} {choice:?}");
    }
    presses(&world, "ada", room(), (token, Choice::Approve));
    world.passes(SOON).await;
    presses(&world, "ada", room(), (token, Choice::Deny));
    world.ends().await;
    assert_eq!(world.script.effects().len(), 1);
    let seen = world.sees_in(&room());
    let answered = seen
        .iter()
        .filter(|text| *text == "That was answered already.");
    assert_eq!(answered.count(), 1, "{seen:?}");
    assert!(seen.contains(&"told yes".to_owned()), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn the_token_is_nowhere_but_on_the_button() {
    let world = World::begin(Setup::default()).await;
    world.vendor.show_buttons();
    world.says("ada", "ask 600 red|blue");
    world.passes(SOON).await;
    let shown = world.vendor.chat("chat of ada");
    let prompt = shown[0].prompt.clone().unwrap();
    let token = prompt.token.expose().to_owned();
    presses(
        &world,
        "ada",
        direct_chat("ada"),
        (prompt.token.hash(), said("red")),
    );
    world.ends().await;
    let found = world
        .read(|tx| {
            let texts = [
                "SELECT event FROM inbox",
                "SELECT event FROM run_events",
                "SELECT COALESCE(last_words, '') FROM runs",
                "SELECT body FROM parts",
                "SELECT text FROM replies",
                "SELECT COALESCE(answer, '') FROM inbox",
                "SELECT entry FROM transcripts",
                "SELECT text FROM transcripts",
                "SELECT action FROM questions",
                "SELECT approvers FROM questions",
                "SELECT code FROM questions",
                "SELECT answer FROM questions",
                "SELECT value FROM state",
            ];
            let mut all = String::new();
            for sql in texts {
                for text in tx.rows(sql, &[], |row| row.get::<String>(0))? {
                    all.push_str(&text);
                }
            }
            Ok(all)
        })
        .await;
    assert!(
        found.contains("which one") || found.contains("Which one"),
        "it was looked at"
    );
    assert!(!found.contains(&token), "the token is stored");
    assert!(
        !format!("{shown:?}").contains(&token),
        "the token is printed"
    );
    assert_eq!(world.sees("ada").last().unwrap(), "told red");
}
