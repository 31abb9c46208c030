//! A message goes in and is answered once, in the place it came from.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use talaria_domain::capabilities::DeliveryWindow;
use talaria_domain::event::{Hearing, Wishes};
use talaria_domain::machine::PartState;
use talaria_domain::runner::{Said, Speaker};
use talaria_gateway::settings::DoubtPolicy;
use talaria_sim::chat::{Mood, Moods, Offer};
use talaria_store::dead;

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);

/// A vendor that feels like this in turn, and fine ever after.
struct Lately(Vec<Mood>, AtomicUsize);

impl Lately {
    fn felt(moods: &[Mood]) -> Arc<dyn Moods> {
        Arc::new(Self(moods.to_vec(), AtomicUsize::new(0)))
    }
}

impl Moods for Lately {
    fn next(&self) -> Mood {
        let index = self.1.fetch_add(1, Ordering::SeqCst);
        self.0.get(index).copied().unwrap_or(Mood::Fine)
    }
}

#[tokio::test(start_paused = true)]
async fn everybody_is_answered_where_they_asked() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "one");
    world.says("bob", "two");
    world.passes(SOON).await;
    world.says("ada", "three");
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: one", "re: three"]);
    assert_eq!(world.sees("bob"), ["re: two"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_delivered_again_is_answered_once() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "one");
    world.passes(SOON).await;
    world.vendor.deliver_again(0);
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: one"]);
}

#[tokio::test(start_paused = true)]
async fn strangers_hear_nothing() {
    let world = World::begin(Setup::default()).await;
    world.says("mallory", "hello");
    world.ends().await;
    assert_eq!(world.vendor.all(), []);
    assert_eq!(world.script.seen(), []);
}

#[tokio::test(start_paused = true)]
async fn a_growing_answer_is_one_message_that_changes() {
    let setup = Setup {
        offer: Offer::Edits,
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    world.says("ada", "think 5 please");
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), ["hm… "]);
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: think 5 please"]);
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_arrives_complete_and_in_order() {
    let setup = Setup {
        limit: 1_000,
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    world.says("ada", "long 9000");
    world.ends().await;
    let parts = world.sees("ada");
    assert!(
        parts.len() > 8 && parts.iter().all(|part| part.len() <= 1_000),
        "{}",
        parts.len()
    );
    assert_eq!(parts.concat().len(), 9_000);
}

#[tokio::test(start_paused = true)]
async fn a_flooded_chat_is_left_alone_for_as_long_as_it_says() {
    let moods = Lately::felt(&[Mood::Flooded(Duration::from_secs(30))]);
    let world = World::begin(Setup {
        moods,
        ..Setup::default()
    })
    .await;
    world.says("ada", "one");
    world.passes(Duration::from_secs(29)).await;
    assert_eq!(world.sees("ada"), [""; 0]);
    world.passes(Duration::from_secs(2)).await;
    assert_eq!(world.sees("ada"), ["re: one"]);
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_it_is_sent_again_only_where_that_is_safe() {
    for (offer, felt, seen) in [
        (Offer::Keys, Mood::Mute, vec!["re: one"]),
        (Offer::Keys, Mood::Deaf, vec!["re: one"]),
        (Offer::Plain, Mood::Mute, vec!["re: one"]),
        (Offer::Plain, Mood::Deaf, vec![]),
        (Offer::Edits, Mood::Mute, vec!["…", "re: one"]),
        (Offer::Edits, Mood::Deaf, vec!["re: one"]),
    ] {
        let setup = Setup {
            offer,
            moods: Lately::felt(&[felt]),
            ..Setup::default()
        };
        let world = World::begin(setup).await;
        world.says("ada", "one");
        world.ends().await;
        assert_eq!(world.sees("ada"), seen, "{offer:?} {felt:?}");
        let letters = world.read(|tx| dead::list(tx, None, 10)).await;
        assert_eq!(
            letters.len(),
            usize::from(offer == Offer::Plain),
            "{offer:?} {felt:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn who_prefers_a_double_to_a_loss_gets_it() {
    let setup = Setup {
        offer: Offer::Plain,
        moods: Lately::felt(&[Mood::Mute]),
        doubt: DoubtPolicy::PreferDuplicate,
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    world.says("ada", "one");
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: one", "re: one"]);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_a_dead_letter_and_the_next_answer_goes_out() {
    let setup = Setup {
        moods: Lately::felt(&[Mood::Refusing]),
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    let event = world.says("ada", "one");
    world.passes(SOON).await;
    world.says("ada", "two");
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: two"]);
    let reply = talaria_domain::ids::ReplyId::from_bytes(*event.id.as_bytes());
    let parts = world
        .read(move |tx| talaria_store::outbox::parts(tx, reply))
        .await;
    assert_eq!(
        parts.iter().map(|part| part.state).collect::<Vec<_>>(),
        [PartState::Failed]
    );
}

#[tokio::test(start_paused = true)]
async fn rapid_messages_become_one_turn() {
    let setup = Setup {
        merge_window: Duration::from_secs(2),
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    world.says("ada", "one");
    world.passes(SOON).await;
    world.says("ada", "two");
    world.passes(SOON * 5).await;
    world.says("ada", "three");
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: one\n\ntwo", "re: three"]);
}

#[tokio::test(start_paused = true)]
async fn the_model_is_shown_what_was_said_before() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "one");
    world.says("bob", "secret");
    world.passes(SOON).await;
    world.says("ada", "two");
    world.ends().await;
    let seen = world.script.seen();
    let last = seen.last().unwrap();
    let said: Vec<&str> = last.history.iter().map(|said| said.text.as_str()).collect();
    assert_eq!(
        (said.as_slice(), last.prompt.as_str()),
        (["one", "re: one"].as_slice(), "two")
    );
}

#[tokio::test(start_paused = true)]
async fn a_history_that_outgrew_the_model_is_summed_up_for_good() {
    let setup = Setup {
        window: 400,
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    for number in 0..12 {
        world.says("ada", &format!("{number} {}", "words ".repeat(20)));
        world.passes(SOON).await;
    }
    world.ends().await;
    assert_eq!(world.sees("ada").len(), 12);
    let seen = world.script.seen();
    let longest = seen.iter().map(|seen| seen.history.len()).max().unwrap();
    assert!(longest < 12, "{longest}");
    let first = seen.last().unwrap().history.first().unwrap().text.clone();
    assert!(first.contains("things were said"), "{first}");
}

#[tokio::test(start_paused = true)]
async fn a_failure_is_told_once_and_a_broken_runner_is_tried_again_then_given_up() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "please fail");
    world.says("bob", "panic");
    world.ends().await;
    assert_eq!(world.sees("ada"), ["I could not finish this: told to."]);
    let told = world.sees("bob");
    assert!(
        told.len() == 1 && told[0].contains("broke 3 times"),
        "{told:?}"
    );
    assert_eq!(world.script.seen().len(), 1 + 3);
    assert_eq!(world.read(|tx| dead::list(tx, None, 10)).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_hangs_is_ended_and_the_next_one_comes() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "deaf");
    world.passes(SOON).await;
    world.says("ada", "next");
    world.passes(Duration::from_mins(11)).await;
    let seen = world.sees("ada");
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(seen[0].starts_with("Queued"), "{seen:?}");
    assert_eq!(
        seen[1],
        "I could not finish this: nothing happened for 10 minutes."
    );
    assert_eq!(seen[2], "re: next");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_turn_is_done_again_if_it_only_thought() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "think 60");
    world.passes(SOON).await;
    world.crash().await;
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: think 60"]);
    assert_eq!(world.script.seen().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_turn_that_used_a_tool_is_told_and_not_done_again() {
    let mut world = World::begin(Setup::default()).await;
    world.says("ada", "tool 60");
    world.passes(SOON).await;
    world.crash().await;
    world.ends().await;
    let seen = world.sees("ada");
    assert!(
        seen.len() == 1 && seen[0].contains("interrupted while I was using lever"),
        "{seen:?}"
    );
    assert_eq!(world.script.effects().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn threads_of_one_chat_are_conversations_of_their_own() {
    let world = World::begin(Setup::default()).await;
    let thread = |name: &str| talaria_domain::address::Address {
        thread: Some(name.into()),
        ..talaria_sim::people::direct_chat("ada")
    };
    world.says_at("ada", thread("north"), "one");
    world.says_at("ada", thread("south"), "two");
    world.ends().await;
    let shown: Vec<(Option<String>, String)> = world
        .vendor
        .all()
        .into_iter()
        .map(|shown| (shown.thread, shown.text))
        .collect();
    assert_eq!(shown.len(), 2);
    assert!(shown.contains(&(Some("north".to_owned()), "re: one".to_owned())));
    assert!(shown.contains(&(Some("south".to_owned()), "re: two".to_owned())));
    assert!(
        world
            .script
            .seen()
            .iter()
            .all(|seen| seen.history.is_empty())
    );
}

#[tokio::test(start_paused = true)]
async fn code_emoji_and_endless_lines_arrive_complete_in_order_and_within_limits() {
    const LIMIT: usize = 4_096;
    let code: Vec<String> = (0..500)
        .map(|number| format!("let line_{number} = {number};"))
        .collect();
    let (crabs, endless) = ("🦀".repeat(3_000), "x".repeat(20_000));
    let text = format!(
        "Look:\n\n```rust\n{}\n```\n\n{crabs}\n\n{endless}\n",
        code.join("\n")
    );
    assert!(
        code.join("\n").len() > 9_000,
        "the fence crosses the limit more than once"
    );
    for offer in [Offer::Keys, Offer::Edits, Offer::Plain] {
        let setup = Setup {
            offer,
            limit: LIMIT,
            ..Setup::default()
        };
        let world = World::begin(setup).await;
        world.says("ada", &text);
        world.ends().await;
        let parts = world.sees("ada");
        for part in &parts {
            assert!(part.encode_utf16().count() <= LIMIT, "{offer:?}");
            assert_eq!(
                part.matches("```").count() % 2,
                0,
                "each part is whole: {part}"
            );
        }
        let all = parts.concat();
        let lines: Vec<&str> = all
            .lines()
            .filter(|line| line.starts_with("let "))
            .collect();
        assert_eq!(lines, code, "{offer:?}");
        assert_eq!(all.matches('🦀').count(), 3_000, "{offer:?}");
        assert_eq!(all.matches('x').count(), 20_000, "{offer:?}");
        assert!(all.find("line_499") < all.find('🦀') && all.find('🦀') < all.find("xxx"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_program_asks_for_counts_for_its_turn_and_no_other() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "one");
    world.passes(SOON).await;
    let remembered = vec![Said::plain(Speaker::User, "we met before")];
    let wishes = Wishes {
        instructions: Some("Answer in French.".to_owned()),
        history: Some(remembered.clone()),
        options: [("temperature".to_owned(), 0.into())].into(),
        window: Some(DeliveryWindow::InTurnOnly),
        may_be_asked: false,
        hearing: Hearing::Left,
        profile: None,
        callback: None,
    };
    world.asks("ada", "two", wishes.clone());
    world.passes(SOON).await;
    world.says("ada", "three");
    world.ends().await;
    let seen = world.script.seen();
    assert_eq!(seen[1].instructions, "Be brief.\n\nAnswer in French.");
    assert_eq!(
        (&seen[1].history, &seen[1].options),
        (&remembered, &wishes.options)
    );
    assert_eq!(seen[2].instructions, "Be brief.");
    assert_eq!((seen[2].history.len(), seen[2].options.len()), (4, 0));
    let windows: Vec<_> = seen.iter().map(|seen| seen.window).collect();
    let (always, in_turn) = (DeliveryWindow::Always, DeliveryWindow::InTurnOnly);
    assert_eq!(windows, [always, in_turn, always]);
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_in_without_anybody_hearing_of_it_is_answered_once() {
    let world = World::begin(Setup::default()).await;
    world.calls.lose_next_answer();
    world.says("ada", "one");
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: one"]);
}
