//! Gateways that are broken on purpose are caught, each for the promise that it breaks; so what the checks do not find
//! is not there, as far as these seeds reach.

use talaria_sim::universe::{self, Flaw, Invariant, Plot, Staging};

/// The first seed of so many whose universe breaks a promise, and which ones it breaks.
fn first_caught(staging: Staging, seeds: u64) -> Option<(u64, Vec<Invariant>)> {
    (1..=seeds).find_map(|seed| {
        let chronicle = universe::live(seed, staging).unwrap();
        let mut broken: Vec<_> = chronicle
            .violations
            .iter()
            .map(|violation| violation.invariant)
            .collect();
        broken.dedup();
        (!broken.is_empty()).then_some((seed, broken))
    })
}

fn storm(flaw: Flaw) -> Staging {
    Staging {
        plot: Plot::Storm,
        flaw,
    }
}

fn takeover(flaw: Flaw) -> Staging {
    Staging {
        plot: Plot::Takeover,
        flaw,
    }
}

#[test]
fn acknowledged_before_it_is_recorded() {
    let caught = first_caught(storm(Flaw::AcknowledgedFirst), 40);
    let (_, broken) = caught.expect("it is caught");
    assert_eq!(broken, [Invariant::Recorded]);
}

#[test]
fn sent_again_although_it_may_be_there() {
    let caught = first_caught(storm(Flaw::ResendUnknown), 40);
    let (_, broken) = caught.expect("it is caught");
    // What is sent twice is an answer, or the news of a job, or one of each.
    let double = [Invariant::AnsweredOnce, Invariant::ToldLater];
    assert!(broken.iter().all(|it| double.contains(it)), "{broken:?}");
}

#[test]
fn a_stale_owner_that_is_not_fenced_off() {
    assert_eq!(
        first_caught(takeover(Flaw::Sound), 20),
        None,
        "with fencing the other node takes over and nothing happens twice"
    );
    let caught = first_caught(takeover(Flaw::Unfenced), 20);
    let (_, broken) = caught.expect("it is caught");
    assert!(broken.contains(&Invariant::EffectOnce), "{broken:?}");
}

#[test]
fn processes_that_nobody_takes_up_again() {
    let caught = first_caught(storm(Flaw::ForgottenJobs), 40);
    let (_, broken) = caught.expect("it is caught");
    assert!(broken.contains(&Invariant::Ends), "{broken:?}");
}

#[test]
fn effects_that_nobody_checks() {
    let caught = first_caught(storm(Flaw::Unchecked), 40);
    let (_, broken) = caught.expect("it is caught");
    assert_eq!(broken, [Invariant::WithinAuthority]);
    let refusals = |seed| {
        let chronicle = universe::live(seed, storm(Flaw::Sound)).unwrap();
        assert_eq!(chronicle.violations, [], "seed {seed}");
        let has = |words: &str| chronicle.trace.contains(words);
        (has("loses the lever"), has("may not pull the lever"))
    };
    let seen: Vec<_> = (1..=40).map(refusals).collect();
    assert!(seen.contains(&(true, true)), "a revocation is in the plans");
    assert!(seen.contains(&(false, true)), "so is a profile without it");
}

#[test]
fn senders_that_are_merged_with_others() {
    let caught = first_caught(storm(Flaw::MixedSenders), 40);
    let (_, broken) = caught.expect("it is caught");
    assert!(broken.contains(&Invariant::Identity), "{broken:?}");
}
