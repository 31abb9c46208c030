//! What people see of a turn before it answers, and what a closed chat is spared.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use talaria_domain::adapter::{Mark, Sign};
use talaria_domain::address::{Address, ChatKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::event::ReactionChange;
use talaria_gateway::delivery::pace::Rate;
use talaria_sim::chat::{Courteous, Courtesy, Mood, Moods, Offer};
use talaria_sim::people::direct_chat;

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);

fn topic() -> Address {
    Address {
        chat_kind: ChatKind::Forum,
        chat: "room".into(),
        thread: Some("42".into()),
        ..direct_chat("ada")
    }
}

fn signs(world: &World) -> Vec<(Sign, Option<String>)> {
    let sign = |courtesy: Courtesy| match courtesy.what {
        Courteous::Sign(sign) => {
            let thread = courtesy.place.thread.map(|thread| thread.to_string());
            Some((sign, thread))
        }
        Courteous::Mark(..) => None,
    };
    let courtesies = world.vendor.courtesies();
    courtesies.into_iter().filter_map(sign).collect()
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_seen_typing_in_its_thread_for_as_long_as_it_lasts() {
    let world = World::begin(Setup::default()).await;
    world.vendor.show_courtesies();
    world.says_at("ada", topic(), "think 10");
    world.passes(Duration::from_secs(30)).await;
    let thread = Some("42".to_owned());
    let on = (Sign::On, thread.clone());
    let expected = [on.clone(), on.clone(), on, (Sign::Off, thread)];
    assert_eq!(
        signs(&world),
        expected,
        "every four seconds, then never again"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_stopped_or_asks_somebody_is_not_seen_typing() {
    let world = World::begin(Setup::default()).await;
    world.vendor.show_courtesies();
    world.says("ada", "hang");
    world.passes(SOON).await;
    world.says("ada", "/stop");
    world.passes(Duration::from_mins(1)).await;
    assert_eq!(signs(&world), [(Sign::On, None), (Sign::Off, None)]);
    world.says("ada", "ask 60");
    world.passes(Duration::from_secs(50)).await;
    let shown = signs(&world).len();
    assert!(
        shown <= 3,
        "nobody types while somebody else has to answer: {shown}"
    );
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_message_is_marked_as_seen_and_then_as_answered_or_failed() {
    for (text, last) in [("one", Mark::Done), ("fail", Mark::Failed)] {
        let world = World::begin(Setup {
            marks: true,
            ..Setup::default()
        })
        .await;
        world.vendor.show_courtesies();
        let event = world.says("ada", text);
        world.ends().await;
        let marks: Vec<_> = world
            .vendor
            .courtesies()
            .into_iter()
            .filter_map(|courtesy| match courtesy.what {
                Courteous::Mark(message, mark, change) => Some((message, mark, change)),
                Courteous::Sign(_) => None,
            })
            .collect();
        let message = event.message.unwrap();
        let mark = |mark, change| (message.clone(), mark, change);
        let expected = [
            mark(Mark::Seen, ReactionChange::Added),
            mark(Mark::Seen, ReactionChange::Removed),
            mark(last, ReactionChange::Added),
        ];
        assert_eq!(marks, expected, "{text}");
    }
}

/// Says "in 37 seconds" to the second request, and counts all of them.
#[derive(Default)]
struct Flooded(AtomicUsize);

impl Moods for Flooded {
    fn next(&self) -> Mood {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            1 => Mood::Flooded(Duration::from_secs(37)),
            _ => Mood::Fine,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_closed_chat_gets_nothing_of_any_kind_and_others_are_served() {
    let moods = Arc::new(Flooded::default());
    let world = World::begin(Setup {
        moods: Arc::<Flooded>::clone(&moods),
        marks: true,
        ..Setup::default()
    })
    .await;
    let asked = |world: &World| {
        let here = |courtesy: &Courtesy| courtesy.place.chat.as_str() == "room";
        let courtesies = world.vendor.courtesies();
        let shown = world.vendor.chat("room").len();
        (courtesies.into_iter().filter(here).count(), shown)
    };
    world.vendor.show_courtesies();
    // The first request marks the message as seen, the second is told to come back.
    world.says_at("ada", topic(), "think 5");
    world.passes(SOON).await;
    let before = asked(&world);
    let other = Address {
        thread: Some("another topic".into()),
        ..topic()
    };
    world.says_at("bob", other, "think 2");
    world.says("cyd", "hello");
    world.passes(Duration::from_secs(35)).await;
    assert_eq!(asked(&world), before, "not even in another topic of it");
    assert_eq!(world.sees("cyd"), ["re: hello"]);
    world.passes(Duration::from_secs(3)).await;
    let shown = world.vendor.chat("room").into_iter();
    let mut seen: Vec<String> = shown.map(|shown| shown.text).collect();
    seen.sort();
    let expected = [
        "re: [ada the person] think 5",
        "re: [bob the person] think 2",
    ];
    assert_eq!(seen, expected, "once and whole");
    world.ends().await;
}

/// Counts requests and is always fine.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Moods for Counting {
    fn next(&self) -> Mood {
        self.0.fetch_add(1, Ordering::SeqCst);
        Mood::Fine
    }
}

#[tokio::test(start_paused = true)]
async fn five_hundred_pieces_are_one_message_and_as_many_changes_as_are_allowed() {
    let moods = Arc::new(Counting::default());
    let world = World::begin(Setup {
        offer: Offer::Edits,
        moods: Arc::<Counting>::clone(&moods),
        rate: Rate {
            burst: 1,
            every: SOON,
        },
        ..Setup::default()
    })
    .await;
    let begun: Timestamp = world.now();
    world.says("ada", "trickle 500");
    world.passes(Duration::from_secs(20)).await;
    let pieces: Vec<String> = (1..=500).map(|number| format!("p{number} ")).collect();
    let expected = pieces.concat();
    let seen = world.sees("ada");
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert_eq!(seen[0].trim_end(), expected.trim_end());
    let seconds = usize::try_from(world.now().since(begun).as_secs()).unwrap();
    let asked = moods.0.load(Ordering::SeqCst);
    // A placeholder and its first filling count as one.
    assert!(
        asked <= seconds.min(10) + 3,
        "{asked} requests for ten seconds of talk"
    );
    assert!(asked >= 5, "it grows where people can see it: {asked}");
    world.ends().await;
}

fn editing() -> Setup {
    Setup {
        offer: Offer::Edits,
        ..Setup::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_seen_while_it_runs_and_nothing_of_it_is_left() {
    let world = World::begin(editing()).await;
    world.says("ada", "tool 60");
    world.passes(SOON).await;
    assert_eq!(world.sees("ada"), ["_lever: 60…_"]);
    world.passes(Duration::from_mins(1)).await;
    assert_eq!(world.sees("ada"), ["re: tool 60"]);
    world.says("ada", "and?");
    world.ends().await;
    let remembered = &world.script.seen()[1].history;
    let texts: Vec<&str> = remembered.iter().map(|said| said.text.as_str()).collect();
    assert_eq!(texts, ["tool 60", "", "pulled", "re: tool 60"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_starts_too_soon_to_be_shown_is_shown_as_soon_as_it_may_be() {
    let world = World::begin(editing()).await;
    // The thought is seen at once, the tool starts a second later, and messages change every 1.2 seconds.
    world.says("ada", "think 1 tool 60");
    world.passes(Duration::from_millis(1_100)).await;
    assert_eq!(world.sees("ada"), ["hm… "]);
    world.passes(Duration::from_millis(200)).await;
    assert_eq!(world.sees("ada"), ["_lever: 60…_"]);
    world.ends().await;
    assert_eq!(world.sees("ada"), ["re: think 1 tool 60"]);
}

#[tokio::test(start_paused = true)]
async fn what_was_going_on_does_not_stay_when_a_turn_ends_without_words() {
    let world = World::begin(editing()).await;
    world.says("ada", "tool 5 silent");
    world.says("bob", "tool 60");
    world.passes(Duration::from_secs(10)).await;
    assert_eq!(world.sees("ada"), ["…"]);
    world.says("bob", "/stop");
    world.ends().await;
    let seen = world.sees("bob");
    assert_eq!(seen[0], "(stopped)", "{seen:?}");
}
