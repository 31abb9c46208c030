//! Every verb from every state: what the machines' tables have happens, and nothing else does.

use std::fmt::Debug;

use serde_json::json;
use talaria_domain::clock::Timestamp;
use talaria_domain::delivery::{Outcome, PartBody, Receipt, ReplyKind};
use talaria_domain::ids::{DeadId, EventId, JobId, PartId, ReplyId, RunId, SessionId};
use talaria_domain::machine::{
    DeadState, InboxState, JobState, Machine, PartState, ReplyState, RunState, SessionState,
};
use talaria_domain::run::{RunOutcome, Usage};
use talaria_store::jobs::{self, Order};
use talaria_store::leases::{Ended, Lease, LeaseName};
use talaria_store::maintenance::rescue::rescue;
use talaria_store::outbox::{self, Attempt};
use talaria_store::sessions::Opening;
use talaria_store::{Conflict, Result, StoreError, Tx, bind, dead, inbox, runs, sessions};

use crate::world::{World, direct_chat, person};

/// One of everything that has a state.
#[derive(Clone)]
struct Cast {
    session: SessionId,
    opening: Opening,
    next: SessionId,
    earlier: EventId,
    event: EventId,
    lane: Lease,
    target: Lease,
    run: RunId,
    reply: ReplyId,
    part: PartId,
    job: JobId,
    /// Dead letters about the event and about the part, and one to be written.
    letters: [DeadId; 3],
    at: Timestamp,
}

/// What a verb does, in terms of the table.
struct Verb<M> {
    name: &'static str,
    to: M,
    /// Where it deliberately does nothing and does not complain.
    skips: Vec<M>,
    act: fn(&mut Tx<'_>, &Cast) -> Result<()>,
}

/// One thing with a state: how to put it there, how to look at it, and what can be done to it.
struct Script<M> {
    put: fn(&mut Tx<'_>, &Cast, M) -> Result<u64>,
    look: fn(&mut Tx<'_>, &Cast) -> Result<(M, String)>,
    verbs: Vec<Verb<M>>,
}

fn verb<M>(name: &'static str, to: M, act: fn(&mut Tx<'_>, &Cast) -> Result<()>) -> Verb<M> {
    let skips = Vec::new();
    Verb {
        name,
        to,
        skips,
        act,
    }
}

impl<M: Machine> Verb<M> {
    fn skipping(self, skips: &[M]) -> Self {
        let skips = skips.to_vec();
        Self { skips, ..self }
    }

    fn only_from(self, states: &[M]) -> Self {
        let others = M::STATES.iter().filter(|state| !states.contains(state));
        let skips = others.copied().collect();
        Self { skips, ..self }
    }
}

async fn play<M: Machine + Debug + Send>(world: &World, script: Script<M>) {
    let cast = gather(world).await;
    let mut walked = Vec::new();
    for &from in M::STATES {
        for verb in &script.verbs {
            if tries(world, &cast, (&script, verb), from).await {
                walked.push((from, verb.to));
            }
        }
    }
    for (from, name, to) in M::ARROWS {
        assert!(
            walked.contains(&(*from, *to)),
            "nothing here takes the arrow {name} from {from:?} to {to:?}"
        );
    }
    let mend = cast.clone();
    world.write(move |tx| reset(tx, &mend)).await;
}

/// Tries a verb from a state; gives whether it took an arrow.
async fn tries<M: Machine + Debug + Send>(
    world: &World,
    cast: &Cast,
    (script, verb): (&Script<M>, &Verb<M>),
    from: M,
) -> bool {
    let (put, look, act) = (script.put, script.look, verb.act);
    let (a, b, c) = (cast.clone(), cast.clone(), cast.clone());
    let before = world.write(move |tx| {
        reset(tx, &a)?;
        assert_eq!(put(tx, &a, from)?, 1);
        look(tx, &a)
    });
    let before = before.await;
    let outcome = world.ledger.write(move |tx| act(tx, &b)).await;
    let after = world.read(move |tx| look(tx, &c)).await;
    let arrow = |(start, _, end): &(M, &str, M)| *start == from && *end == verb.to;
    let (is_skipped, has_arrow) = (verb.skips.contains(&from), M::ARROWS.iter().any(arrow));
    let what = format!("{} {} from {from:?}: {outcome:?}", verb.name, M::THING);
    if has_arrow && !is_skipped {
        assert_eq!((&outcome, after.0), (&Ok(()), verb.to), "{what}");
        return true;
    }
    assert_eq!(after, before, "{what}");
    match outcome {
        Ok(()) => assert!(is_skipped, "{what}"),
        Err(StoreError::Conflict(Conflict::Transition {
            thing, from: f, to, ..
        })) => {
            let (wrong, wanted) = ((thing, f, to), (M::THING, from.as_str(), verb.to.as_str()));
            assert!(!is_skipped && wrong == wanted, "{what}");
        }
        Err(_) => panic!("{what}"),
    }
    false
}

async fn gather(world: &World) -> Cast {
    let (earlier, session) = world.says("ada", "one").await;
    let (event, _) = world.says("ada", "two").await;
    let next = world.id(SessionId::from_bytes);
    let source = world.opening("ada");
    let lane = world.lane(session, "north").await;
    let target = LeaseName::Target(direct_chat("ada").target());
    let target = world.lease(target, "north").await;
    let run = world.admits("ada", &lane).await;
    let reply = world.answers("ada", session, ReplyKind::Final).await;
    let order = Order {
        id: world.id(JobId::from_bytes),
        run: None,
        kind: "process".to_owned(),
        return_to: World::way_back("ada", session),
        work: json!({}),
        at: world.now(),
    };
    let job = order.id;
    world.write(move |tx| jobs::record(tx, &order)).await;
    Cast {
        session,
        opening: source,
        next,
        earlier,
        event,
        lane,
        target,
        run,
        reply,
        part: world.shows(reply, "text").await,
        job,
        letters: [(); 3].map(|()| world.id(DeadId::from_bytes)),
        at: world.now(),
    }
}
