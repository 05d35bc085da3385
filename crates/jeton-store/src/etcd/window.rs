//! Chooses the ranges that a scan reads.
//!
//! For each page etcd counts all keys up to the end of the requested range, also beyond the limit. So a scan
//! that requests everything that is left takes time in the square of its keys. A [`Window`] ends near
//! instead: at the last key that shares some first bytes with its first.

use crate::limits::PAGE_ENTRIES;

/// Keys in a window above which the next one is narrower.
const WIDE: u64 = 4 * PAGE_ENTRIES as u64;

/// Keys in a window below which the next one is wider.
const NARROW: u64 = PAGE_ENTRIES as u64 / 4;

/// The next range of a scan.
#[derive(Debug, Clone)]
pub(super) struct Window {
    from: Vec<u8>,
    /// How many of its first bytes all keys of the window share.
    shared: usize,
    /// The end of the whole scan.
    end: Vec<u8>,
    /// It is the rest of what shares fewer bytes, and not what follows the window before at the same depth.
    is_rest: bool,
    /// How often shared bytes were given up since the last window with keys.
    given_up: u32,
}

impl Window {
    /// The first window is the whole range: nothing is known about its keys.
    pub(super) fn new(from: String, end: String) -> Window {
        Window {
            from: from.into_bytes(),
            shared: 0,
            end: end.into_bytes(),
            is_rest: false,
            given_up: 0,
        }
    }

    /// Returns the first key of the window, and its end.
    pub(super) fn range(&self) -> (Vec<u8>, Vec<u8>) {
        let end = successor(&self.from[..self.shared]);
        let end = end.filter(|end| *end < self.end);
        (self.from.clone(), end.unwrap_or_else(|| self.end.clone()))
    }

    /// Moves on after an answer: the first and last key that were read, and how many keys the window has.
    /// Returns false after the last window.
    pub(super) fn advance(&mut self, read: Option<(&[u8], &[u8])>, keys: u64) -> bool {
        if let Some((first, last)) = read
            && keys > PAGE_ENTRIES as u64
        {
            if keys > WIDE {
                // The page had all keys of this window that share more.
                self.shared = common(first, last) + 1;
            }
            // No key sorts between these two.
            self.from = [last, b"\0"].concat();
            self.given_up = 0;
            return true;
        }
        let (_, end) = self.range();
        if end == self.end {
            return false;
        }
        let given_up = match keys {
            // Most often the next number has a carry. A long name without neighbours takes larger steps.
            0 if !self.is_rest => 1 << self.given_up.saturating_sub(3),
            0 => 0,
            keys => usize::from(keys < NARROW),
        };
        self.is_rest = given_up > 0;
        self.given_up = match keys {
            0 => self.given_up + u32::from(self.is_rest),
            _ => 0,
        };
        self.shared = end.len().saturating_sub(given_up);
        self.from = end;
        true
    }
}

/// Returns the first text after all that begin with this. None: all its bytes are 255.
fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != u8::MAX)?;
    let mut after = prefix[..=last].to_vec();
    after[last] += 1;
    Some(after)
}

fn common(one: &[u8], other: &[u8]) -> usize {
    let same = one
        .iter()
        .zip(other)
        .take_while(|(one, other)| one == other);
    same.count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// What etcd does for one page: returns the first keys, and counts all.
    struct Scanned {
        keys: Vec<Vec<u8>>,
        requests: usize,
        counted: u64,
    }

    fn scanned(all: &BTreeSet<Vec<u8>>) -> Scanned {
        let mut window = Window::new("/".into(), "0".into());
        let mut scanned = Scanned {
            keys: Vec::new(),
            requests: 0,
            counted: 0,
        };
        loop {
            let (from, end) = window.range();
            assert!(from < end, "{from:?} {end:?}");
            let found: Vec<_> = all.range(from..end).cloned().collect();
            let keys = found.len() as u64;
            scanned.requests += 1;
            scanned.counted += keys;
            let page: Vec<_> = found.into_iter().take(PAGE_ENTRIES).collect();
            let ends = page.first().zip(page.last());
            let is_next = window.advance(ends.map(|(a, b)| (&a[..], &b[..])), keys);
            scanned.keys.extend(page);
            if !is_next {
                return scanned;
            }
        }
    }

    /// Revocations of tokens: hashes, by issuer and minute.
    fn revocations(issuers: usize, minutes: usize, each: usize) -> BTreeSet<Vec<u8>> {
        let mut state = 7_u64;
        let mut keys = BTreeSet::new();
        for issuer in 0..issuers {
            for minute in 0..minutes {
                for _ in 0..each {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    let iss = format!("https:%2F%2Fid.example%2Frealms%2F{issuer:04}");
                    let hash = u128::from(state) << 64;
                    let key = format!("/r/{iss}/{:010}/{hash:032x}", 29_712_345 + minute);
                    keys.insert(key.into_bytes());
                }
            }
        }
        keys
    }

    #[test]
    fn work_for_each_key_does_not_grow_with_the_keys() {
        let numbered = (0..100_000).map(|number| format!("/a/{number:020}").into_bytes());
        for (what, keys) in [
            ("numbers", numbered.collect()),
            ("one minute", revocations(1, 1, 100_000)),
            ("many minutes", revocations(1, 1_000, 100)),
            ("sparse minutes", revocations(1, 20_000, 1)),
            ("many issuers", revocations(1_000, 10, 5)),
        ] {
            let all: BTreeSet<Vec<u8>> = keys;
            let count = all.len() as u64;
            let scanned = scanned(&all);
            assert!(scanned.keys.iter().eq(&all), "{what}");
            // The first request counts all.
            let again = scanned.counted - count;
            assert!(again <= 6 * count, "{what}: {again} of {count}");
            let least = all.len() / PAGE_ENTRIES + 1;
            assert!(
                scanned.requests <= 4 * least + 50,
                "{what}: {} of {least}",
                scanned.requests
            );
        }
    }

    proptest! {
        #[test]
        fn each_key_is_read_once_and_in_order(
            all in proptest::collection::btree_set("/[ab]{0,3}(/[a-c0\u{7f}ü]{1,6}){1,3}", 0..3_000)
        ) {
            let all: BTreeSet<Vec<u8>> = all.into_iter().map(String::into_bytes).collect();
            prop_assert!(scanned(&all).keys.iter().eq(&all));
        }
    }
}
