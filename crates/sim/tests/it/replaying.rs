//! The same seed is the same run: every line of its trace, with every id and every time in it.

use talaria_sim::universe::{self, Flaw, Plot, Staging};

#[test]
fn a_seed_replays_to_the_same_trace() {
    for seed in 1..=40 {
        let [first, second] = [(), ()].map(|()| universe::live(seed, Staging::default()).unwrap());
        assert!(first.trace.lines().count() > 5, "{}", first.trace);
        assert_eq!(first, second, "seed {seed}");
    }
}

#[test]
fn two_nodes_replay_to_the_same_trace() {
    for seed in 1..=10 {
        let staging = Staging {
            plot: Plot::Takeover,
            flaw: Flaw::Unfenced,
        };
        let [first, second] = [(), ()].map(|()| universe::live(seed, staging).unwrap());
        assert_eq!(first, second, "seed {seed}");
    }
}
