//! Two processes on one ledger. The clock jumps past the lease of the first while it thinks, somebody writes, and the
//! second takes over: from then on both believe that the lane is theirs. Pure: choices in, a plan out.

use std::time::Duration;

use talaria_domain::profile::BusyPolicy;

use super::{Act, Choices, Deed, Meddling, Plan, choices};
use crate::universe::cast::{ACCOUNTS, Place, Room, canary};
use crate::universe::chance::Chance;
use crate::universe::faults::{Drag, Temper};
use crate::universe::{Flaw, Staging};

pub(super) fn plan(seed: u64, staging: Staging, chance: &mut Chance) -> Plan {
    let usual = choices(chance, staging.flaw);
    let mut limits = usual.limits;
    (limits.turns, limits.queue) = (256, 50);
    Plan {
        seed,
        staging,
        nodes: 2,
        settings: Choices {
            busy: BusyPolicy::Queue,
            merge_window: Duration::ZERO,
            limits,
            ..usual
        },
        temper: Temper(0),
        drag: Drag(0),
        lives: Vec::new(),
        acts: (0..chance.between(1, 4))
            .flat_map(|round| takeover(chance, round, staging.flaw))
            .collect(),
        chance: chance.fork(),
    }
}

/// One conversation: a turn that thinks and then does something, a jump, and a knock that lets the other process see it.
fn takeover(chance: &mut Chance, round: u64, flaw: Flaw) -> Vec<Act> {
    let number = u32::try_from(round * 2).unwrap_or(0) + 1;
    let who = "ada";
    let place = Place {
        account: chance.index(ACCOUNTS.len()),
        room: Room::Alone(who),
        thread: None,
    };
    let write = |number, words: &str| Deed::Write {
        number,
        who,
        place,
        text: format!("{} {words}", canary(number, who)),
    };
    let think = chance.between(10, 15);
    let jump = chance.millis(61_000, 600_000);
    let mut acts = vec![
        act(60_000, write(number, &format!("think {think} tool 3"))),
        act(2_000, Deed::Jump(jump)),
        act(500, write(number + 1, "")),
    ];
    if flaw == Flaw::Unfenced {
        // The first does it after `think`, the second after `think` and what passed until it took over.
        acts.push(act(1_000, Deed::Meddle(Meddling::Earlier)));
        acts.push(act(
            (think - 3) * 1_000 + 1_000,
            Deed::Meddle(Meddling::Later),
        ));
    }
    acts
}

const fn act(after: u64, deed: Deed) -> Act {
    Act {
        after: Duration::from_millis(after),
        deed,
    }
}
