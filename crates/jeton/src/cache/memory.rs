//! A set-associative table of verified tokens. The hash of a token selects one small set, so that every
//! lookup and insertion touches one set only.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::verified::{RawClaims, Verified};

/// A keyed hash of a whole token.
pub(super) type TokenHash = [u8; 32];

/// Entries per set.
const SET_ENTRIES: usize = 8;

/// Number of locks. Threads with different tokens rarely use the same one.
const SHARDS: usize = 16;

/// A table with a fixed capacity.
pub(super) struct Memory {
    shards: Box<[Mutex<Vec<Set>>]>,
    sets: usize,
    set_entries: usize,
}

/// Tokens whose hashes select the same set.
#[derive(Default)]
struct Set(Vec<Entry>);

struct Entry {
    hash: TokenHash,
    generation: u64,
    is_used: bool,
    verified: Arc<Verified<RawClaims>>,
}

impl Memory {
    /// Creates a table for at least one entry.
    pub(super) fn new(entries: usize) -> Memory {
        let sets = (entries / SET_ENTRIES).max(1);
        let shards = sets.min(SHARDS);
        let shard = |index: usize| {
            // Set number `s` is in shard `s % shards`.
            let count = (sets - index).div_ceil(shards);
            Mutex::new((0..count).map(|_| Set::default()).collect())
        };
        Memory {
            shards: (0..shards).map(shard).collect(),
            sets,
            set_entries: entries.min(SET_ENTRIES),
        }
    }

    /// Returns the claims of this token, if they were verified in this generation.
    pub(super) fn find(
        &self,
        hash: &TokenHash,
        generation: u64,
    ) -> Option<Arc<Verified<RawClaims>>> {
        let (mut shard, set) = self.set_of(hash);
        let mut entries = shard[set].0.iter_mut();
        let entry = entries.find(|entry| entry.hash == *hash && entry.generation == generation)?;
        entry.is_used = true;
        Some(Arc::clone(&entry.verified))
    }

    /// Stores the claims of this token. May replace an entry of the same set.
    pub(super) fn keep(
        &self,
        hash: TokenHash,
        generation: u64,
        verified: Arc<Verified<RawClaims>>,
    ) {
        let entry = Entry {
            hash,
            generation,
            is_used: false,
            verified,
        };
        let (mut shard, set) = self.set_of(&hash);
        // Dropped after the lock is released, because freeing a payload takes time.
        let _replaced = shard[set].insert(entry, self.set_entries);
        drop(shard);
    }

    pub(super) fn forget(&self, hash: &TokenHash) {
        let (mut shard, set) = self.set_of(hash);
        shard[set].0.retain(|entry| entry.hash != *hash);
    }

    pub(super) fn len(&self) -> usize {
        let of_shard = |shard| {
            lock(shard)
                .iter()
                .map(|set: &Set| set.0.len())
                .sum::<usize>()
        };
        self.shards.iter().map(of_shard).sum()
    }

    fn set_of(&self, hash: &TokenHash) -> (MutexGuard<'_, Vec<Set>>, usize) {
        let (first, _) = hash.split_first_chunk::<8>().expect("a hash is longer");
        let index = (u64::from_le_bytes(*first) % self.sets as u64) as usize;
        let shards = self.shards.len();
        (lock(&self.shards[index % shards]), index / shards)
    }
}

impl Set {
    /// Inserts an entry and returns the one that it replaced. Entries of earlier generations are replaced
    /// first, then entries that were not found recently. Tokens that arrive once replace each other and leave
    /// frequent tokens in place.
    fn insert(&mut self, entry: Entry, room: usize) -> Option<Entry> {
        let entries = &mut self.0;
        let same = entries.iter().position(|old| old.hash == entry.hash);
        if same.is_none() && entries.len() < room {
            entries.push(entry);
            return None;
        }
        let outdated = |old: &Entry| old.generation < entry.generation;
        let place = same
            .or_else(|| entries.iter().position(outdated))
            .or_else(|| entries.iter().position(|old| !old.is_used))
            .unwrap_or_else(|| {
                entries.iter_mut().for_each(|old| old.is_used = false);
                0
            });
        Some(std::mem::replace(&mut entries[place], entry))
    }
}

/// No code of the caller runs under the lock, so a poisoned lock still guards a consistent table.
fn lock(shard: &Mutex<Vec<Set>>) -> MutexGuard<'_, Vec<Set>> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}
