//! What a seed decides before anything happens: the settings, who writes what and when, how each process ends. Pure: a
//! seed in, a plan out. What the gateway does changes nothing of it.

mod takeover;
mod talk;

use std::time::Duration;

use talaria_domain::profile::BusyPolicy;
use talaria_domain::session_key::Sharing;
use talaria_gateway::delivery::pace::Rate;
use talaria_gateway::settings::{Limits, Reset, ResumePolicy};
use talaria_store::ledger::Fate;

use super::cast::{Place, canary};
use super::chance::Chance;
use super::faults::{Doom, Drag, Temper};
use super::{Flaw, Plot, Staging};

/// All that is decided beforehand.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) staging: Staging,
    /// How many processes share the ledger.
    pub(crate) nodes: u16,
    pub(crate) settings: Choices,
    pub(crate) temper: Temper,
    pub(crate) drag: Drag,
    /// What is left of the seed, for moods.
    pub(crate) chance: Chance,
    /// The processes that end badly. One more follows, which does not.
    pub(crate) lives: Vec<Life>,
    pub(crate) acts: Vec<Act>,
}

/// What an operator would decide.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choices {
    pub(crate) busy: BusyPolicy,
    pub(crate) sharing: Sharing,
    pub(crate) merge_window: Duration,
    pub(crate) rate: Rate,
    pub(crate) limits: Limits,
    pub(crate) reset: Reset,
    /// How long messages may be.
    pub(crate) text: usize,
    /// How much history the model can be shown.
    pub(crate) window: usize,
}

/// One process, from its start to its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Life {
    pub(crate) doom: Option<Doom>,
    /// If nothing ends it before.
    pub(crate) time: Duration,
    pub(crate) end: End,
    /// How long it takes until the next one starts.
    pub(crate) rest: Duration,
    /// How much people write meanwhile.
    pub(crate) meanwhile: u64,
}

/// How a process ends if it gets that far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// At once.
    Killed,
    /// It was asked to.
    Drained,
    /// It was asked to, and did not wait for its turns.
    Stopped,
}

/// Something that happens.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    /// So long after the one before.
    pub(crate) after: Duration,
    pub(crate) deed: Deed,
}

/// What happens.
#[derive(Debug, Clone)]
pub(crate) enum Deed {
    /// Somebody writes.
    Write {
        number: u32,
        who: &'static str,
        place: Place,
        text: String,
    },
    /// A vendor delivers something again that was acknowledged.
    DeliverAgain { account: usize, which: u64 },
    /// An operator looks at a dead letter, if there is one.
    Settle { which: u64, how: Settling },
    /// The ledger's clock moves under everybody.
    Jump(Duration),
    /// An operator takes the tool away from every run that is under way.
    Revoke,
    /// Somebody meddles with the ledger; only in universes that are broken on purpose.
    Meddle(Meddling),
}

/// What an operator does with a dead letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settling {
    /// Sends the thing on its way again.
    Replay,
    /// Lays it to rest.
    Drop,
}

/// How somebody meddles with the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meddling {
    /// The epoch before the current one counts.
    Earlier,
    /// The current one counts again.
    Later,
}

impl Plan {
    /// The plan of a seed.
    pub(crate) fn of(seed: u64, staging: Staging) -> Self {
        let mut chance = Chance::from_seed(seed);
        match staging.plot {
            Plot::Storm => Self::storm(seed, staging, &mut chance),
            Plot::Takeover => takeover::plan(seed, staging, &mut chance),
        }
    }

    fn storm(seed: u64, staging: Staging, chance: &mut Chance) -> Self {
        let settings = choices(&mut chance.fork(), staging.flaw);
        let mut weather = chance.fork();
        // Some days are quiet, some have one kind of trouble, most have both.
        let (has_moods, has_ends) = weather.weigh(&[
            (2, (false, false)),
            (1, (true, false)),
            (2, (false, true)),
            (7, (true, true)),
        ]);
        let temper = if has_moods {
            weather.pick(&[3, 10, 30])
        } else {
            0
        };
        let ends = if has_ends { weather.between(1, 6) } else { 0 };
        let mut dying = chance.fork();
        Self {
            seed,
            staging,
            nodes: weather.weigh(&[(5, 1), (1, 2)]),
            settings,
            temper: Temper(temper),
            drag: Drag(weather.weigh(&[(2, 0), (1, 10), (2, 60)])),
            lives: (0..ends).map(|_| life(&mut dying)).collect(),
            acts: planning(
                (seed, staging.flaw),
                revoking(seed, talk::acts(&mut chance.fork(), staging.flaw)),
            ),
            chance: chance.fork(),
        }
    }

    /// Whether an operator has taken the tool out of the profile for this life.
    pub(crate) const fn is_without_lever(&self, life: u64) -> bool {
        matches!(self.staging.plot, Plot::Storm) && self.seed.wrapping_add(life).is_multiple_of(5)
    }
}

/// In one universe of three an operator takes the tool away from runs under way, soon after somebody wrote. The choices
/// are from a stream of their own: everything else stays what the seed makes it.
fn revoking(seed: u64, acts: Vec<Act>) -> Vec<Act> {
    let mut chance = Chance::from_seed(!seed);
    if !chance.is_one_in(3) {
        return acts;
    }
    let mut revoke = || {
        let after = chance.millis(0, 3_000);
        let deed = Deed::Revoke;
        chance.is_one_in(4).then_some(Act { after, deed })
    };
    let acts = acts.into_iter();
    acts.flat_map(|act| [Some(act), revoke()])
        .flatten()
        .collect()
}

/// What people plan is numbered from here on.
const PLANNED: u32 = 501;

/// In one sound universe of three people plan something where they have just written. The choices are from a stream of
/// their own, too.
fn planning((seed, flaw): (u64, Flaw), acts: Vec<Act>) -> Vec<Act> {
    let mut chance = Chance::from_seed(seed.rotate_left(32));
    if flaw != Flaw::default() || !chance.is_one_in(3) {
        return acts;
    }
    let mut numbers = PLANNED..;
    let mut plan = |act: &Act| {
        let Deed::Write { who, place, .. } = act.deed else {
            return None;
        };
        let number = numbers.next().filter(|_| chance.is_one_in(3))?;
        let time = chance.weigh(&[(2, 2), (3, 20), (1, 400)]);
        let what = chance.pick(&["say", "ask"]);
        let words = chance.weigh(&[(3, ""), (1, "think 5"), (1, "tool 2"), (1, "fail")]);
        let text = format!(
            "/schedule add in {time}s {what} j-{} {words}",
            canary(number, who)
        );
        let deed = Deed::Write {
            number,
            who,
            place,
            text,
        };
        let after = chance.millis(0, 3_000);
        Some(Act { after, deed })
    };
    let mut planned = Vec::new();
    for act in acts {
        let plan = plan(&act);
        planned.push(act);
        planned.extend(plan);
    }
    planned
}

fn choices(chance: &mut Chance, flaw: Flaw) -> Choices {
    let sharing = chance.weigh(&[
        (3, Sharing::default()),
        (1, sharing(false, false)),
        (1, sharing(true, true)),
    ]);
    let unhurried = Rate {
        burst: 3,
        every: Duration::from_secs(1),
    };
    let merge_window = match flaw {
        Flaw::MixedSenders => Duration::from_secs(2),
        _ => chance.pick(&[Duration::ZERO, Duration::from_secs(2)]),
    };
    Choices {
        busy: chance.pick(&[BusyPolicy::Queue, BusyPolicy::Steer, BusyPolicy::Interrupt]),
        sharing,
        merge_window,
        rate: chance.weigh(&[(3, Rate::UNLIMITED), (1, unhurried)]),
        limits: limits(chance),
        reset: Reset {
            idle: chance.weigh(&[(4, None), (1, Some(Duration::from_mins(30)))]),
            at_hour: None,
        },
        text: chance.pick(&[400, 4_096]),
        window: chance.weigh(&[(5, 1_000_000), (1, 300)]),
    }
}

const fn sharing(group_per_user: bool, thread_per_user: bool) -> Sharing {
    Sharing {
        group_per_user,
        thread_per_user,
    }
}

fn limits(chance: &mut Chance) -> Limits {
    Limits {
        turns: chance.weigh(&[(4, 256), (1, 2)]),
        queue: chance.weigh(&[(4, 50), (1, 2)]),
        delivery: chance.weigh(&[(4, Duration::from_hours(24)), (1, Duration::from_mins(10))]),
        resume: chance.weigh(&[(7, ResumePolicy::Auto), (1, ResumePolicy::Tell)]),
        ..Limits::default()
    }
}

fn life(chance: &mut Chance) -> Life {
    let (acts, most) = chance.pick(&[(0, 6), (0, 40), (0, 250), (1, 6), (3, 6), (5, 20)]);
    let doom = Doom {
        acts: chance.below(acts + 1),
        calls: chance.below(most),
        fate: chance.pick(&[Fate::LostBefore, Fate::LostAfter]),
    };
    let end = chance.weigh(&[(5, End::Killed), (2, End::Drained), (1, End::Stopped)]);
    let time = if chance.is_one_in(6) {
        Duration::ZERO
    } else {
        chance.millis(0, 60_000)
    };
    let rest = chance.weigh(&[(7, 5_000), (2, 300_000), (1, 6 * 60 * 60 * 1_000)]);
    Life {
        doom: (!chance.is_one_in(3)).then_some(doom),
        time,
        end,
        // Nothing starts again within the same millisecond.
        rest: chance.millis(1, rest),
        meanwhile: chance.weigh(&[(3, 0), (1, 1), (1, 3)]),
    }
}
