//! Where the choices of a simulated world come from: one number decides all of them. Pure: the same seed gives the same
//! choices, on every machine and in every release.

use std::time::Duration;

/// A stream of choices (splitmix64).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chance(u64);

impl Chance {
    /// The choices of this seed.
    pub const fn from_seed(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// A stream of its own, so that how much one part of the world chooses does not change what another does.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        Self(self.number())
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`; zero if there is none.
    pub fn below(&mut self, limit: u64) -> u64 {
        // Slightly uneven for large limits, which nobody here minds.
        self.number() % limit.max(1)
    }

    /// A number from `from` to `to`, both included.
    pub fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.below(to.saturating_sub(from) + 1)
    }

    /// A time of so many milliseconds.
    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(self.between(from, to))
    }

    /// Whether something that happens once in `times` happens now.
    pub fn is_one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    /// A place in something that is so long.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// One of several that are not equally likely: each with its weight.
    pub fn weigh<T: Copy>(&mut self, from: &[(u64, T)]) -> T {
        let total: u64 = from.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for (weight, thing) in from {
            if left < *weight {
                return *thing;
            }
            left -= weight;
        }
        from[0].1
    }
}

#[cfg(test)]
mod tests {
    //! Choices.

    use super::*;

    #[test]
    fn the_same_seed_chooses_the_same_and_another_does_not() {
        let stream = |seed| {
            let mut chance = Chance::from_seed(seed);
            (0..8).map(|_| chance.number()).collect::<Vec<_>>()
        };
        assert_eq!(stream(7), stream(7));
        assert_ne!(stream(7), stream(8));
    }

    #[test]
    fn every_choice_is_made_at_some_time_and_by_its_weight() {
        let mut chance = Chance::from_seed(1);
        let mut counts = [0; 3];
        for _ in 0..1_000 {
            counts[chance.weigh(&[(1, 0_usize), (8, 1), (1, 2)])] += 1;
        }
        assert!(counts[0] > 50 && counts[2] > 50, "{counts:?}");
        assert!(counts[1] > 700, "{counts:?}");
        assert!((0..100).all(|_| (3..=5).contains(&chance.between(3, 5))));
    }
}
