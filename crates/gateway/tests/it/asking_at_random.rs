//! Several people are asked at once, answer for themselves and for each other, stop, wait and crash, in any order.

use std::time::Duration;

use talaria_domain::effects::Answer;
use talaria_domain::machine::QuestionState;
use talaria_store::questions::{self, Question};
use talaria_store::{bind, inbox};

use crate::asking::room;
use crate::world::{Setup, World};

/// Numbers that look random and are the same for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % sides
    }
}

/// Something happens to people who are being asked.
async fn shake(world: &mut World, dice: &mut Dice) {
    let people = ["ada", "bob", "cyd"];
    let pick = |number: u64| people[usize::try_from(number).unwrap_or(0)];
    let (who, other) = (pick(dice.roll(3)), pick(dice.roll(3)));
    match dice.roll(10) {
        0 | 1 => drop(world.says_at(who, room(), "may 30")),
        2 => drop(world.says_at(who, room(), "yes")),
        3 => drop(world.says_at(who, room(), "no")),
        4 => drop(world.says_at(who, room(), "/stop")),
        5 => drop(world.says_at(who, room(), "/approve")),
        6 | 7 => {
            // Somebody tries somebody's code, their own or another's, perhaps an old one.
            let target = room().target();
            let codes = world.read(move |tx| {
                tx.rows(
                    "SELECT code FROM questions WHERE target = ?1 ORDER BY question_id DESC LIMIT 4",
                    bind![target],
                    |row| row.get::<String>(0),
                )
            });
            for code in codes.await {
                world.says_at(other, room(), &format!("/approve {code}"));
            }
        }
        8 => world.passes(Duration::from_secs(dice.roll(40))).await,
        _ => world.crash().await,
    }
    if dice.roll(2) == 0 {
        world.passes(Duration::from_millis(dice.roll(2_000))).await;
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_happens_an_answer_counts_once_and_for_the_run_that_asked() {
    let mut approved = 0;
    for seed in 0..40 {
        let mut world = World::begin(Setup::default()).await;
        let mut dice = Dice(seed);
        for _ in 0..30 {
            shake(&mut world, &mut dice).await;
        }
        world.passes(Duration::from_mins(10)).await;
        let all = world.read(|tx| {
            let ids = tx.rows("SELECT question_id FROM questions", &[], |row| row.get(0))?;
            ids.into_iter()
                .map(|id| questions::get(tx, id))
                .collect::<talaria_store::Result<Vec<Question>>>()
        });
        let all = all.await;
        let mut events = Vec::new();
        for question in &all {
            assert_ne!(
                question.state,
                QuestionState::Open,
                "seed {seed}: {question:?}"
            );
            if let Some(event) = question.answer_event {
                events.push(event);
                let row = world.read(move |tx| inbox::get(tx, event)).await;
                let by = row.event.principal.key();
                assert_eq!(by, question.asked.approvers.requester, "seed {seed}");
                assert_eq!(Some(by), question.answered_by, "seed {seed}");
            }
        }
        events.sort_unstable();
        let answers = events.len();
        events.dedup();
        assert_eq!(
            events.len(),
            answers,
            "seed {seed}: one event answered twice"
        );
        let effects = world.script.effects();
        approved += effects.len();
        for (run, _) in &effects {
            let yes = all.iter().filter(|question| {
                question.asked.run == *run && question.answer == Some(Answer::Approved)
            });
            assert_eq!(yes.count(), 1, "seed {seed}: run {run} was told yes once");
            let pulls = effects.iter().filter(|(other, _)| other == run);
            assert_eq!(pulls.count(), 1, "seed {seed}: run {run} acted once");
        }
        world.ends().await;
    }
    assert!(
        approved > 40,
        "only {approved} of them were allowed anything"
    );
}
