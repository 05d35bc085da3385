//! The Argon2id comparisons of an attempt to authenticate with a secret.
//!
//! They take so long that their number tells clients apart. So each attempt makes the same comparisons, whether the
//! client has such hashes, others, or does not exist.

use crate::client_secret::SecretHash;

/// For each cost, as many hashes as the client with the most of that cost has.
#[derive(Debug, Default)]
pub(crate) struct SlowComparisons(Vec<SecretHash>);

impl SlowComparisons {
    /// Those for clients with these hashes.
    pub(crate) fn for_clients<'h>(clients: impl Iterator<Item = &'h [SecretHash]>) -> Self {
        let mut all: Vec<SecretHash> = Vec::new();
        for hashes in clients {
            for (index, hash) in hashes.iter().enumerate() {
                let Some(cost) = hash.cost() else { continue };
                let count = |hashes: &[SecretHash]| {
                    hashes
                        .iter()
                        .filter(|other| other.cost() == Some(cost))
                        .count()
                };
                if count(&all) < count(&hashes[..=index]) {
                    all.push(hash.clone());
                }
            }
        }
        SlowComparisons(all)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The comparisons for a client with these hashes: each with the index of the client's own hash, or with a hash
    /// of another client, whose result does not count.
    pub(crate) fn of_client(&self, hashes: &[SecretHash]) -> Vec<(Option<usize>, SecretHash)> {
        let mut used = vec![false; hashes.len()];
        let mut comparison = |other: &SecretHash| {
            let is_own = |index: &usize| !used[*index] && hashes[*index].cost() == other.cost();
            let own = (0..hashes.len()).find(is_own);
            if let Some(index) = own {
                used[index] = true;
            }
            let hash = own.map_or(other, |index| &hashes[index]);
            (own, hash.clone())
        };
        self.0.iter().map(&mut comparison).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn hash(passes: u32, salt: &str) -> SecretHash {
        let text = format!("$argon2id$v=19$m=1024,t={passes},p=1${salt}$c29tZXNhbHRzb21lc2FsdA");
        text.parse().unwrap()
    }

    #[test]
    fn every_client_has_the_same_comparisons() {
        let (a, b) = ("c29tZXNhbHQ", "c29tZXNhbHQx");
        let quick: SecretHash = format!("sha256:{}", "0".repeat(64)).parse().unwrap();
        let clients = [
            vec![hash(1, a), quick.clone(), hash(1, b)],
            vec![hash(2, a)],
            vec![quick],
            vec![hash(1, b), hash(2, b)],
            vec![],
        ];
        let all = SlowComparisons::for_clients(clients.iter().map(Vec::as_slice));
        assert_eq!(all.count(), 3);
        let costs = |comparisons: &[(Option<usize>, SecretHash)]| {
            let costs = comparisons.iter().map(|(_, hash)| hash.cost().unwrap());
            costs.collect::<Vec<_>>()
        };
        let expected = costs(&all.of_client(&[]));
        for hashes in &clients {
            let comparisons = all.of_client(hashes);
            assert_eq!(costs(&comparisons), expected);
            // Each slow hash of the client is compared once.
            let mut own: Vec<usize> = comparisons.iter().filter_map(|(own, _)| *own).collect();
            own.sort_unstable();
            let slow = (0..hashes.len()).filter(|index| hashes[*index].cost().is_some());
            assert_eq!(own, slow.collect::<Vec<_>>());
            for (own, hash) in comparisons {
                assert!(own.is_none_or(|index| hashes[index] == hash));
            }
        }
    }
}
