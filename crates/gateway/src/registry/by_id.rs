//! Maps by id. Ids are made here and hold random bytes, so they need no hash that keeps strangers from choosing
//! collisions: whoever asks for an id of their own puts nothing into the map. Pure.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are ids of ours.
pub(super) type ById<K, V> = HashMap<K, V, BuildHasherDefault<Folded>>;

/// An odd number whose bits are spread evenly: what differs in a few bits differs in many after it.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Sixteen bytes, folded into eight.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Folded(u64);

impl Folded {
    const fn add(&mut self, word: u64) {
        let spread = (self.0 ^ word).wrapping_mul(SPREAD);
        // A product's lower half knows nothing of what was above it.
        self.0 = spread ^ (spread >> 32);
    }
}

impl Hasher for Folded {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            for (to, from) in word.iter_mut().zip(chunk) {
                *to = *from;
            }
            // The last bytes of an id differ most: they come where a product takes them everywhere.
            self.add(u64::from_be_bytes(word));
        }
    }

    fn write_usize(&mut self, _: usize) {
        // How long an id is says nothing: all of them are of one length.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    //! Ids that follow each other are spread over the whole map.

    use std::collections::BTreeSet;
    use std::hash::BuildHasher as _;

    use talaria_domain::clock::Timestamp;
    use talaria_domain::ids::{Ids, RandomIds, RunId, SeededIds};

    use super::*;

    const COUNT: usize = 4_096;

    fn spread(ids: &dyn Ids) -> (usize, usize) {
        let hashes = (0..COUNT).map(|_| {
            let id = RunId::next(ids, Timestamp::from_millis(1_790_000_000_000));
            BuildHasherDefault::<Folded>::default().hash_one(id)
        });
        let hashes: Vec<u64> = hashes.collect();
        let low: BTreeSet<u64> = hashes.iter().map(|hash| hash % COUNT as u64).collect();
        let high: BTreeSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        (low.len(), high.len())
    }

    #[test]
    fn ids_of_one_moment_are_spread_evenly() {
        for ids in [&RandomIds::default() as &dyn Ids, &SeededIds::from_seed(1)] {
            let (low, high) = spread(ids);
            // As many places as balls thrown at random find: about 63 of 100.
            assert!(low > COUNT / 2, "{low} of {COUNT}");
            assert_eq!(
                high, 128,
                "a map tells entries apart by these seven bits first"
            );
        }
    }

    #[test]
    fn every_byte_of_an_id_counts() {
        let hash = |bytes: [u8; 16]| {
            let id = RunId::from_bytes(bytes);
            BuildHasherDefault::<Folded>::default().hash_one(id)
        };
        let plain = hash([7; 16]);
        for place in 0..16 {
            let mut bytes = [7; 16];
            bytes[place] = 8;
            assert_ne!(hash(bytes), plain, "{place}");
        }
    }
}
