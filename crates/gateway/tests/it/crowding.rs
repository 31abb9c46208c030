//! Many conversations at once: each has a word of its own that nobody else may ever see, and all of them together are
//! answered no faster than the account may write.

use std::collections::BTreeMap;
use std::time::Duration;

use talaria_gateway::access::AccessPolicy;
use talaria_gateway::delivery::pace::Rate;
use talaria_sim::people::person;
use talaria_store::{search, sessions, transcripts};

use crate::world::{Setup, World, known};

const CROWD: usize = 1_000;

fn words(who: usize) -> [String; 2] {
    [format!("first{who}canary"), format!("second{who}canary")]
}

/// Everything in a text that is somebody's word.
fn canaries(text: &str) -> impl Iterator<Item = &str> {
    text.split(|char: char| !char.is_alphanumeric())
        .filter(|word| word.ends_with("canary"))
}

#[tokio::test(start_paused = true)]
async fn no_word_is_seen_outside_its_conversation() {
    let setup = Setup {
        access: AccessPolicy {
            anyone: true,
            ..known()
        },
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    let owner: BTreeMap<String, usize> = (0..CROWD)
        .flat_map(|who| words(who).map(|word| (word, who)))
        .collect();
    for turn in 0..2 {
        for who in 0..CROWD {
            world.says(&format!("p{who}"), &words(who)[turn]);
        }
        world.passes(Duration::from_mins(5)).await;
    }
    world.ends().await;

    for seen in world.script.seen() {
        let said = seen.history.iter().map(|said| said.text.as_str());
        let all: Vec<&str> = said
            .chain([seen.prompt.as_str()])
            .flat_map(canaries)
            .collect();
        let whose = owner[all[0]];
        assert!(all.iter().all(|word| owner[*word] == whose), "{all:?}");
    }
    for who in 0..CROWD {
        let (name, own) = (format!("p{who}"), words(who));
        assert_eq!(
            world.sees(&name),
            own.clone().map(|word| format!("re: {word}"))
        );
        let (key, wanted, stranger) = (
            person(&name).key(),
            own[0].clone(),
            words((who + 1) % CROWD)[0].clone(),
        );
        let (said, found, foreign) = world
            .read(move |tx| {
                let session = sessions::list(tx, key, None, 10)?[0].id;
                let said = transcripts::page(tx, session, 0, 100)?;
                let found = search::search(tx, key, &wanted, 10)?;
                Ok((said, found, search::search(tx, key, &stranger, 10)?))
            })
            .await;
        let all: Vec<&str> = said
            .iter()
            .flat_map(|entry| canaries(&entry.text))
            .collect();
        assert_eq!(all.len(), 4, "each asked and answered");
        assert!(all.iter().all(|word| owner[*word] == who), "{all:?}");
        assert_eq!((found.len(), foreign.len()), (2, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_crowd_is_answered_as_fast_as_the_account_may_write_and_nobody_asks_in_vain() {
    const ASKERS: usize = 200;
    let setup = Setup {
        access: AccessPolicy {
            anyone: true,
            ..known()
        },
        account_rate: Rate {
            burst: 5,
            every: Duration::from_millis(40),
        },
        ..Setup::default()
    };
    let world = World::begin(setup).await;
    let before = world.calls.count();
    for who in 0..ASKERS {
        world.says(&format!("p{who}"), "hello");
    }
    let mut answered = Vec::new();
    while answered.last() != Some(&ASKERS) {
        world.passes(Duration::from_secs(1)).await;
        let answers = (0..ASKERS).map(|who| world.sees(&format!("p{who}")).len());
        answered.push(answers.sum());
        assert!(answered.len() < 10, "{answered:?}");
    }
    let calls = world.calls.count() - before;
    let in_each = answered.windows(2).map(|pair| pair[1] - pair[0]);
    assert!(
        in_each.chain([answered[0]]).all(|count| count <= 30),
        "{answered:?}"
    );
    assert!(calls < 10 * ASKERS, "{calls} calls for {ASKERS} answers");
    world.ends().await;
}
