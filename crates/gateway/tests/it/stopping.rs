//! Commands act at once, and nothing of a stopped turn happens after.

use std::time::Duration;

use talaria_domain::ids::{EventId, RunId};
use talaria_domain::profile::BusyPolicy;
use talaria_sim::chat::Offer;
use talaria_store::transcripts::{self, Speaker, Utterance};
use talaria_store::{inbox, runs, sessions};

use crate::world::{Setup, World};

const SOON: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn stop_works_in_every_mode_against_every_kind_of_turn() {
    for busy in [BusyPolicy::Queue, BusyPolicy::Steer, BusyPolicy::Interrupt] {
        for word in ["/stop", "/stop@bot", "@bot /stop"] {
            for turn in ["hang", "deaf", "think 900", "tool 900"] {
                let world = World::begin(Setup {
                    busy,
                    ..Setup::default()
                })
                .await;
                world.says("ada", turn);
                world.passes(SOON).await;
                world.says("ada", word);
                world.passes(SOON * 2).await;
                assert_eq!(world.sees("ada"), ["Stopped."], "{busy:?} {word} {turn}");
                world.says("ada", "next");
                world.passes(SOON * 5).await;
                assert_eq!(
                    world.sees("ada"),
                    ["Stopped.", "re: next"],
                    "{busy:?} {word} {turn}"
                );
                world.passes(Duration::from_mins(20)).await;
                world.ends().await;
                assert_eq!(
                    world.sees("ada").len(),
                    2,
                    "nothing of the stopped turn comes after"
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn with_nothing_to_stop_that_is_said() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "/stop");
    world.says("ada", "/nonsense");
    world.ends().await;
    let seen = world.sees("ada");
    assert_eq!(seen[0], "There is nothing to stop.");
    assert!(seen[1].contains("I do not know /nonsense"), "{seen:?}");
}

/// The event and the run of the turn that is under way.
async fn under_way(world: &World) -> (EventId, RunId) {
    let lanes = world.read(inbox::open_lanes).await;
    assert_eq!(lanes.len(), 1, "{lanes:?}");
    let session = lanes[0];
    let run = world.read(move |tx| runs::last(tx, session)).await.unwrap();
    (run.event, run.id)
}

#[tokio::test(start_paused = true)]
async fn a_stop_that_names_its_turn_touches_no_other() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "think 60 a");
    world.passes(SOON).await;
    let (first, run) = under_way(&world).await;
    // It ends by itself, and the next one begins, before the command is there.
    world.says("ada", "hang");
    world.passes(Duration::from_mins(2)).await;
    let (second, _) = under_way(&world).await;
    assert_ne!(second, first);
    let ended = "That has ended already: nothing was stopped.";
    for named in [first.to_string(), run.to_string()] {
        world.says("ada", &format!("/stop {named}"));
        world.passes(SOON).await;
        assert_eq!(world.sees("ada").last().unwrap(), ended);
        assert_eq!(under_way(&world).await.0, second, "the next one goes on");
    }
    // Somebody else's is not theirs to stop.
    world.says("bob", &format!("/stop {second}"));
    world.passes(SOON).await;
    assert_eq!(world.sees("bob"), [ended]);
    assert_eq!(under_way(&world).await.0, second);
    world.says("ada", &format!("/stop {second}"));
    world.passes(SOON).await;
    assert_eq!(world.sees("ada").last().unwrap(), "Stopped.");
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_stopped_by_the_name_of_its_run_and_by_any_other_word() {
    let world = World::begin(Setup::default()).await;
    for by_name in [true, false] {
        world.says("ada", "hang");
        world.passes(SOON).await;
        let (_, run) = under_way(&world).await;
        let what = if by_name {
            run.to_string()
        } else {
            "please".to_owned()
        };
        world.says("ada", &format!("/stop {what}"));
        world.passes(SOON).await;
        assert_eq!(world.sees("ada").last().unwrap(), "Stopped.");
    }
    world.ends().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_of_a_stopped_answer_says_so() {
    let world = World::begin(Setup {
        offer: Offer::Edits,
        ..Setup::default()
    })
    .await;
    world.says("ada", "think 900");
    world.passes(SOON * 3).await;
    world.says("ada", "/stop");
    world.ends().await;
    assert_eq!(world.sees("ada"), ["hm… \n\n(stopped)", "Stopped."]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_comes_while_busy_waits_steers_or_interrupts() {
    let table = [
        (
            BusyPolicy::Queue,
            vec![
                "Queued: I will read this after what I am doing. /stop ends that now.",
                "re: think 60 a",
                "re: b",
            ],
        ),
        (
            BusyPolicy::Steer,
            vec![
                "Noted: I will take this into account in what I am doing.",
                "re: think 60 a + b",
            ],
        ),
        (
            BusyPolicy::Interrupt,
            vec!["I stopped what I was doing for your new message.", "re: b"],
        ),
    ];
    for (busy, expected) in table {
        let world = World::begin(Setup {
            busy,
            ..Setup::default()
        })
        .await;
        world.says("ada", "think 60 a");
        world.passes(SOON).await;
        world.says("ada", "b");
        world.ends().await;
        assert_eq!(world.sees("ada"), expected, "{busy:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_meanwhile_is_taken_up_in_order_and_once() {
    let world = World::begin(Setup {
        busy: BusyPolicy::Steer,
        ..Setup::default()
    })
    .await;
    world.says("ada", "think 60 a");
    world.passes(SOON).await;
    for text in ["b", "c", "d"] {
        world.says("ada", text);
        world.passes(SOON).await;
    }
    world.ends().await;
    let seen = world.sees("ada");
    assert_eq!(seen.last().unwrap(), "re: think 60 a + b + c + d");
    let answers = seen.iter().filter(|text| text.starts_with("re: "));
    assert_eq!(answers.count(), 1, "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn only_what_is_said_in_the_same_conversation_and_thread_steers_a_run() {
    let world = World::begin(Setup {
        busy: BusyPolicy::Steer,
        ..Setup::default()
    })
    .await;
    let thread = |name: &str| talaria_domain::address::Address {
        thread: Some(name.into()),
        ..talaria_sim::people::direct_chat("ada")
    };
    world.says_at("ada", thread("north"), "think 60 a");
    world.passes(SOON).await;
    world.says_at("ada", thread("south"), "b");
    world.says("ada", "c");
    world.says("bob", "d");
    world.ends().await;
    assert_eq!(world.sees_in(&thread("north")), ["re: think 60 a"]);
    assert_eq!(world.sees_in(&thread("south")), ["re: b"]);
    assert_eq!(world.sees("bob"), ["re: d"]);
    assert!(world.sees("ada").contains(&"re: c".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn the_sender_may_choose_and_so_may_the_chat() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "think 60 a");
    world.passes(SOON).await;
    world.says("ada", "/steer b");
    world.passes(Duration::from_mins(2)).await;
    assert_eq!(world.sees("ada").last().unwrap(), "re: think 60 a + b");
    world.says("ada", "/interrupt");
    world.passes(SOON).await;
    world.says("ada", "think 60 c");
    world.passes(SOON).await;
    world.says("ada", "d");
    world.ends().await;
    assert_eq!(world.sees("ada").last().unwrap(), "re: d");
    assert!(!world.sees("ada").contains(&"re: think 60 c".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_is_told_to_whoever_comes_too_late() {
    let mut setup = Setup::default();
    setup.limits.queue = 2;
    let world = World::begin(setup).await;
    world.says("ada", "think 60");
    world.passes(SOON).await;
    for text in ["a", "b", "c"] {
        world.says("ada", text);
    }
    world.ends().await;
    let seen = world.sees("ada");
    assert!(
        seen.iter()
            .any(|text| text.starts_with("I could not take this message")),
        "{seen:?}"
    );
    assert!(
        seen.contains(&"re: a".to_owned()) && seen.contains(&"re: b".to_owned()),
        "{seen:?}"
    );
    assert!(!seen.contains(&"re: c".to_owned()), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn conversations_are_begun_left_and_gone_back_to() {
    let world = World::begin(Setup::default()).await;
    for text in [
        "one",
        "/title first",
        "/new",
        "two",
        "/sessions",
        "/resume",
        "three",
    ] {
        world.says("ada", text);
        world.passes(SOON).await;
    }
    world.ends().await;
    let seen = world.script.seen();
    let histories: Vec<usize> = seen.iter().map(|seen| seen.history.len()).collect();
    assert_eq!(
        histories,
        [0, 0, 2],
        "a new one knows nothing, the old one still does"
    );
    let listed = world
        .sees("ada")
        .into_iter()
        .find(|text| text.contains("(this one)"))
        .unwrap();
    assert!(listed.contains("first"), "{listed}");
}

#[tokio::test(start_paused = true)]
async fn the_last_turn_is_forgotten_or_done_again() {
    let world = World::begin(Setup::default()).await;
    for text in ["one", "two", "/undo", "three", "/retry"] {
        world.says("ada", text);
        world.passes(SOON).await;
    }
    world.ends().await;
    let seen = world.script.seen();
    let prompts: Vec<(usize, &str)> = seen
        .iter()
        .map(|seen| (seen.history.len(), seen.prompt.as_str()))
        .collect();
    assert_eq!(
        prompts,
        [(0, "one"), (2, "two"), (2, "three"), (2, "three")]
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_said_elsewhere_since_the_last_turn_is_part_of_the_next() {
    let world = World::begin(Setup::default()).await;
    for text in ["one", "two"] {
        world.says("ada", text);
        world.passes(SOON).await;
    }
    let session = world.recorded().await[0].session;
    let elsewhere = Utterance {
        speaker: Speaker::User,
        text: "from another node".to_owned(),
        detail: serde_json::Value::Null,
        run: None,
        at: world.now(),
    };
    let appended = world
        .ledger
        .write(move |tx| transcripts::append(tx, session, &elsewhere));
    appended.await.unwrap();
    world.says("ada", "three");
    world.ends().await;
    let seen = world.script.seen();
    let told = seen.iter().map(|seen| seen.history.len());
    assert_eq!(told.collect::<Vec<_>>(), [0, 2, 5]);
    let last = seen[2].history.last().unwrap();
    assert_eq!(last.text, "from another node");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_was_steered_is_forgotten_and_done_again_as_a_whole() {
    let world = World::begin(Setup {
        busy: BusyPolicy::Steer,
        ..Setup::default()
    })
    .await;
    world.says("ada", "zero");
    world.passes(SOON).await;
    world.says("ada", "think 5 one");
    world.passes(SOON).await;
    world.says("ada", "two");
    world.passes(SOON * 10).await;
    world.says("ada", "/retry");
    world.passes(SOON * 10).await;
    world.says("ada", "/undo");
    world.passes(SOON).await;
    world.says("ada", "three");
    world.ends().await;
    let seen = world.script.seen();
    let prompts: Vec<(usize, &str)> = seen
        .iter()
        .map(|seen| (seen.history.len(), seen.prompt.as_str()))
        .collect();
    assert_eq!(
        prompts,
        [
            (0, "zero"),
            (2, "think 5 one"),
            (2, "think 5 one\n\ntwo"),
            (2, "three")
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_resumes_what_is_not_theirs() {
    let world = World::begin(Setup::default()).await;
    world.says("ada", "secret");
    world.passes(SOON).await;
    let owner = talaria_sim::people::person("ada").key();
    let hers = world
        .read(move |tx| sessions::list(tx, owner, None, 1))
        .await[0]
        .id;
    world.says("bob", &format!("/resume {hers}"));
    world.says("bob", "hello");
    world.ends().await;
    let seen = world.sees("bob");
    assert!(
        seen[0].contains("no such conversation of yours"),
        "{seen:?}"
    );
    assert_eq!(world.script.seen().last().unwrap().history, []);
}

#[tokio::test(start_paused = true)]
async fn a_branch_goes_on_from_the_same_past() {
    let world = World::begin(Setup::default()).await;
    for text in [
        "one",
        "/branch other",
        "two",
        "/whoami",
        "/status",
        "/trace",
        "/help",
    ] {
        world.says("ada", text);
        world.passes(SOON).await;
    }
    world.ends().await;
    let seen = world.script.seen();
    assert_eq!(seen.last().unwrap().history.len(), 2);
    let told = world.sees("ada");
    assert!(
        told.iter().any(|text| text.contains("You are `ada`")),
        "{told:?}"
    );
    assert!(
        told.iter().any(|text| text.starts_with("I am idle")),
        "{told:?}"
    );
    assert!(
        told.iter().any(|text| text.contains("Answer: delivered")),
        "{told:?}"
    );
    assert!(
        told.iter().any(|text| text.contains("`/resume [ID]`")),
        "{told:?}"
    );
}
