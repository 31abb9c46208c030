//! Asking the registry: what a run in hand may, and the whole way of a callback, which finds its run by its id.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use talaria_domain::authority::{Authority, Frozen, Grant, ResourceKind};
use talaria_domain::clock::Timestamp;
use talaria_domain::ids::{RunId, SessionId};
use talaria_gateway::registry::{IDLE, Registration, Registry};
use tokio_util::sync::CancellationToken;

use crate::{GRANTS, Plan};

const START: Timestamp = Timestamp::from_millis(1_790_000_000_000);
/// Measured so often; the best counts, since everything else is somebody else's doing.
const TIMES: u32 = 5;
/// One run of so many has all the grants; the others have a few, as most runs do.
const LARGE: u32 = 100;
const FEW: u32 = 10;

/// Nanoseconds of the whole way of a check: found, asked, touched.
pub(crate) fn measure(plan: Plan) -> f64 {
    let registry = Registry::default();
    let start = Instant::now();
    for number in 0..plan.runs {
        registry.register(registration(number)).unwrap();
    }
    let registered = start.elapsed().as_nanos() as f64 / f64::from(plan.runs);
    let large: Vec<RunId> = (0..plan.runs).step_by(LARGE as usize).map(run).collect();
    let names: Vec<String> = (0..GRANTS).map(tool).collect();
    let active = registry.get(run(0)).unwrap();
    let in_hand = best(plan.checks, |number| {
        let name = at(&names, number);
        active
            .check(ResourceKind::Tool, black_box(name), "call")
            .is_ok()
    });
    let by_id = best(plan.checks, |number| {
        let found = registry.get(black_box(*at(&large, number))).unwrap();
        found.touch(START);
        let name = at(&names, number);
        found.check(ResourceKind::Tool, name, "call").is_ok()
    });
    let start = Instant::now();
    assert_eq!(black_box(registry.list()).len(), plan.runs as usize);
    let listed = start.elapsed().as_secs_f64() * 1e3;
    println!("registry with {} runs under way", registry.len());
    println!("register, with its authority:          {registered:>8.0} ns");
    println!("check of {GRANTS} grants, run in hand:      {in_hand:>8.0} ns (target: under 200)");
    println!("the same, run found by id and touched: {by_id:>8.0} ns");
    println!("list all:                              {listed:>8.2} ms");
    by_id
}

fn at<T>(all: &[T], number: u32) -> &T {
    &all[number as usize % all.len()]
}

fn best(count: u32, mut is_allowed: impl FnMut(u32) -> bool) -> f64 {
    let mut once = || {
        let start = Instant::now();
        let allowed = (0..count).filter(|number| is_allowed(*number)).count();
        let time = start.elapsed().as_nanos() as f64 / f64::from(count);
        assert_eq!(allowed, count as usize, "all of it is granted");
        time
    };
    (0..TIMES).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn run(number: u32) -> RunId {
    let mut bytes = [7; 16];
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    RunId::from_bytes(bytes)
}

fn tool(number: u32) -> String {
    format!("tool number {number}")
}

fn authority(grants: u32) -> Arc<Frozen> {
    let with = |authority: Authority, number| {
        authority.with(
            ResourceKind::Tool,
            tool(number),
            Grant::of(["call", "detail"]),
        )
    };
    Arc::new((0..grants).fold(Authority::default(), with).freeze())
}

fn registration(number: u32) -> Registration {
    let grants = if number.is_multiple_of(LARGE) {
        GRANTS
    } else {
        FEW
    };
    Registration {
        run: run(number),
        session: SessionId::from_bytes(*run(number).as_bytes()),
        runner: "plugin:acme/agent/main".into(),
        binding: "profile:assistant".into(),
        authority: authority(grants),
        idle: IDLE,
        at: START,
        stop: CancellationToken::new(),
    }
}
