//! Revoked tokens by issuer, so that a feed of one issuer does not show others.

use std::sync::Arc;

use super::RevocationIndex;

/// Hashes copied at once from one index to another.
const HASHES_AT_ONCE: usize = 4096;

/// Revoked tokens of all issuers. Cloning copies a pointer.
#[derive(Debug, Clone, Default)]
pub(crate) struct RevokedTokens {
    /// Sorted by name. There are few, mostly one.
    issuers: Arc<Vec<(Arc<str>, RevocationIndex)>>,
    len: usize,
}

impl RevokedTokens {
    /// As [`RevocationIndex::insert`].
    pub(crate) fn insert(&mut self, iss: &str, minute: u32, hashes: &mut [u128]) {
        let issuers = Arc::make_mut(&mut self.issuers);
        let at = match position(issuers, iss) {
            Ok(at) => at,
            Err(at) => {
                issuers.insert(at, (iss.into(), RevocationIndex::default()));
                at
            }
        };
        let index = &mut issuers[at].1;
        let before = index.len();
        index.insert(minute, hashes);
        self.len += index.len() - before;
    }

    /// Adds hashes of another index that expire in that minute or later.
    pub(crate) fn add_from(&mut self, others: &RevokedTokens, first: u32) {
        for (iss, index) in others.issuers.iter() {
            // After every hash of the previous minute.
            let mut behind = first.checked_sub(1).map(|minute| (minute, u128::MAX));
            loop {
                let page = index.page(behind, HASHES_AT_ONCE);
                let Some((hash, minute)) = page.last() else {
                    break;
                };
                behind = Some((*minute, *hash));
                for of_minute in page.chunk_by(|(_, a), (_, b)| a == b) {
                    let mut hashes: Vec<u128> = of_minute.iter().map(|(hash, _)| *hash).collect();
                    self.insert(iss, of_minute[0].1, &mut hashes);
                }
            }
        }
    }

    pub(crate) fn contains(&self, iss: &str, minute: u32, hash: u128) -> bool {
        let index = self.of(iss);
        index.is_some_and(|index| index.contains(minute, hash))
    }

    /// As [`RevocationIndex::contains_near`].
    pub(crate) fn contains_near(&self, iss: &str, minute: u32, hash: u128) -> bool {
        let index = self.of(iss);
        index.is_some_and(|index| index.contains_near(minute, hash))
    }

    /// Returns the index of one issuer, if it has revocations.
    pub(crate) fn of(&self, iss: &str) -> Option<&RevocationIndex> {
        let at = position(&self.issuers, iss).ok()?;
        Some(&self.issuers[at].1)
    }

    /// As [`RevocationIndex::drop_before`].
    pub(crate) fn drop_before(&mut self, minute: u32) {
        let issuers = Arc::make_mut(&mut self.issuers);
        for (_, index) in issuers.iter_mut() {
            index.drop_before(minute);
        }
        issuers.retain(|(_, index)| !index.is_empty());
        self.len = issuers.iter().map(|(_, index)| index.len()).sum();
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }
}

fn position(issuers: &[(Arc<str>, RevocationIndex)], iss: &str) -> Result<usize, usize> {
    issuers.binary_search_by(|(known, _)| (**known).cmp(iss))
}
