//! A Bloom filter of single words, so that a lookup is one memory access.
//!
//! Bits are only set, never cleared, and old and new snapshots share them. An old snapshot may get more
//! false positives, never a false negative. Deleted hashes keep their bits until the filter is rebuilt.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bits per hash in a full filter. About one lookup in eighty is then a false positive.
const BITS_A_HASH: usize = 12;
/// Bits that a hash sets in its word.
const MARKS: u32 = 4;

#[derive(Debug, Clone, Default)]
pub(super) struct Filter {
    words: Arc<[AtomicU64]>,
    /// Hashes that fit before there are too many false positives.
    room: usize,
}

impl Filter {
    /// Creates a filter for this many hashes and half as many again.
    pub(super) fn with_room_for(len: usize) -> Filter {
        let room = len + len / 2 + 64;
        let words = (room * BITS_A_HASH).div_ceil(64);
        Filter {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            room,
        }
    }

    pub(super) fn has_room_for(&self, more: usize) -> bool {
        more <= self.room
    }

    pub(super) fn add(&mut self, hashes: &[u128]) {
        for hash in hashes {
            let (at, marks) = self.place(*hash);
            // The snapshot that needs these bits is published later.
            if let Some(word) = self.words.get(at) {
                word.fetch_or(marks, Ordering::Relaxed);
            }
        }
        self.room = self.room.saturating_sub(hashes.len());
    }

    /// Returns false if the hash was never added.
    pub(super) fn may_hold(&self, hash: u128) -> bool {
        let (at, marks) = self.place(hash);
        let word = self.words.get(at);
        word.is_some_and(|word| word.load(Ordering::Relaxed) & marks == marks)
    }

    /// The lower half of a hash selects the word and the bits. The tree uses the upper half.
    fn place(&self, hash: u128) -> (usize, u64) {
        let half = hash as u64;
        let at = (u128::from(half) * self.words.len() as u128) >> 64;
        let marks = (0..MARKS).fold(0, |marks, i| marks | 1 << ((half >> (6 * i)) & 63));
        (at as usize, marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distributed as evenly as SHA-256.
    fn hash(i: u64) -> u128 {
        crate::token_hash("https://id.example", &i.to_string())
    }

    #[test]
    fn filter_has_no_false_negatives() {
        let mut filter = Filter::with_room_for(20_000);
        assert!(!Filter::default().may_hold(hash(0)));
        let added: Vec<u128> = (0..30_000).map(hash).collect();
        assert!(filter.has_room_for(added.len()));
        filter.add(&added);
        assert!(added.iter().all(|hash| filter.may_hold(*hash)));
        let in_vain = (0..30_000).filter(|i| filter.may_hold(hash(100_000 + i)));
        let in_vain = in_vain.count();
        assert!((1..600).contains(&in_vain), "{in_vain} of 30,000");
        assert!(!filter.has_room_for(100));
    }

    #[test]
    fn filter_clone_has_no_false_negatives() {
        let mut filter = Filter::with_room_for(10);
        filter.add(&[hash(1)]);
        let older = filter.clone();
        filter.add(&[hash(2)]);
        assert!(older.may_hold(hash(1)) && filter.may_hold(hash(1)) && filter.may_hold(hash(2)));
    }
}
