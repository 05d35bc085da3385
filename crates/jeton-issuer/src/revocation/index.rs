//! An in-memory index of millions of revoked tokens, by expiry. It uses little more than 16 bytes per
//! token.
//!
//! It consists of days, minutes, and per minute a 16-way tree with sorted leaves. Old and new snapshots
//! share nodes: a revocation copies one leaf and its path, a few kilobytes at any size. An expired minute
//! is dropped as a whole.
//!
//! Nearly all lookups are for tokens that are not revoked, and a descent into a tree of 200 MB costs
//! several cache misses. So a filter per day answers most lookups with one.

use std::sync::Arc;

use super::filter::Filter;
use crate::limits::CLAIMED_EXPIRY_SECONDS;

/// Maximum hashes of a leaf before it is split. Larger leaves waste less memory and cost more to copy.
const LEAF_HASHES: usize = 256;
const MINUTES_A_DAY: u32 = 24 * 60;
/// Minutes by which a claimed expiry may be off.
const NEAR: u32 = (CLAIMED_EXPIRY_SECONDS / 60) as u32;
/// A hash has 32 digits of four bits. Leaves below the last one cannot be split.
const DIGITS: u32 = 32;

/// Hashes of revoked tokens, by the minute of their expiry. Cloning copies a pointer.
///
/// ```
/// use jeton_issuer::RevocationIndex;
/// let mut index = RevocationIndex::default();
/// index.insert(29_000_000, &mut [7, 8]);
/// let before = index.clone();
/// index.insert(29_000_000, &mut [9]);
/// assert!(index.contains(29_000_000, 9) && !before.contains(29_000_000, 9));
/// index.drop_before(29_000_001);
/// assert_eq!(index.len(), 0);
/// ```
#[derive(Debug, Clone, Default)]
pub struct RevocationIndex {
    days: Arc<Vec<(u32, Arc<Day>)>>,
    len: usize,
}

#[derive(Debug, Clone, Default)]
struct Day {
    minutes: Vec<(u32, Node)>,
    len: usize,
    filter: Filter,
}

#[derive(Debug, Clone)]
enum Node {
    Leaf(Arc<[u128]>),
    Branch(Arc<[Node; 16]>),
}

impl RevocationIndex {
    /// Adds hashes of tokens that expire in that minute (seconds since 1970, divided by 60). Sorts the
    /// slice. Duplicates are ignored.
    pub fn insert(&mut self, minute: u32, hashes: &mut [u128]) {
        hashes.sort_unstable();
        let days = Arc::make_mut(&mut self.days);
        let number = minute / MINUTES_A_DAY;
        let at = days.partition_point(|(day, _)| *day < number);
        if days.get(at).is_none_or(|(day, _)| *day != number) {
            days.insert(at, (number, Arc::default()));
        }
        let day = Arc::make_mut(&mut days[at].1);
        let at = day.minutes.partition_point(|(known, _)| *known < minute);
        if day
            .minutes
            .get(at)
            .is_none_or(|(known, _)| *known != minute)
        {
            day.minutes.insert(at, (minute, Node::empty()));
        }
        let added = day.minutes[at].1.insert(hashes, 0);
        day.len += added;
        self.len += added;
        if day.filter.has_room_for(hashes.len()) {
            day.filter.add(hashes);
        } else {
            day.filter = day.new_filter();
        }
    }

    /// Returns whether a token that expires in that minute is revoked.
    pub fn contains(&self, minute: u32, hash: u128) -> bool {
        let Some(day) = find(&self.days, minute / MINUTES_A_DAY) else {
            return false;
        };
        day.filter.may_hold(hash)
            && find(&day.minutes, minute).is_some_and(|node| node.contains(hash))
    }

    /// Returns whether a token that expires about that minute is revoked: the expiry that the caller claimed may be off
    /// by [`CLAIMED_EXPIRY_SECONDS`].
    pub fn contains_near(&self, minute: u32, hash: u128) -> bool {
        let (first, last) = (minute.saturating_sub(NEAR), minute.saturating_add(NEAR));
        let of_day = |number: u32| {
            let day = find(&self.days, number).filter(|day| day.filter.may_hold(hash));
            day.is_some_and(|day| {
                // Nearly always the caller is right.
                find(&day.minutes, minute).is_some_and(|node| node.contains(hash))
                    || (day.minutes.iter())
                        .filter(|(known, _)| (first..=last).contains(known))
                        .any(|(_, node)| node.contains(hash))
            })
        };
        (first / MINUTES_A_DAY..=last / MINUTES_A_DAY).any(of_day)
    }

    /// Returns up to `most` hashes with their minutes, in order, after a given one.
    pub(crate) fn page(&self, behind: Option<(u32, u128)>, most: usize) -> Vec<(u128, u32)> {
        let mut page = Vec::new();
        let from = behind.map_or(0, |(minute, _)| minute);
        let first = (self.days).partition_point(|(day, _)| *day < from / MINUTES_A_DAY);
        for (_, day) in &self.days[first..] {
            let first = day.minutes.partition_point(|(minute, _)| *minute < from);
            for (minute, node) in &day.minutes[first..] {
                let behind = behind.filter(|(known, _)| known == minute);
                let is_read = node.each_behind(behind.map(|(_, hash)| hash), 0, &mut |hash| {
                    page.push((hash, *minute));
                    page.len() < most
                });
                if !is_read {
                    return page;
                }
            }
        }
        page
    }

    /// Drops every minute before that one.
    pub fn drop_before(&mut self, minute: u32) {
        let first = |day: &(u32, Arc<Day>)| day.1.minutes.first().map(|(known, _)| *known);
        if self
            .days
            .first()
            .and_then(first)
            .is_none_or(|known| known >= minute)
        {
            return;
        }
        let days = Arc::make_mut(&mut self.days);
        let today = minute / MINUTES_A_DAY;
        days.retain(|(day, _)| *day >= today);
        if let Some((day, minutes)) = days.first_mut()
            && *day == today
        {
            let day = Arc::make_mut(minutes);
            day.minutes.retain(|(known, _)| *known >= minute);
            day.len = day.minutes.iter().map(|(_, node)| node.len()).sum();
        }
        self.len = days.iter().map(|(_, day)| day.len).sum();
    }

    /// Returns the number of hashes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the index is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Day {
    fn new_filter(&self) -> Filter {
        let mut filter = Filter::with_room_for(self.len);
        for (_, node) in &self.minutes {
            node.each_leaf(&mut |hashes| filter.add(hashes));
        }
        filter
    }
}

/// Finds the entry of a number in a sorted list. Consecutive days and minutes usually have no gap, so the
/// first guess is right.
fn find<T>(sorted: &[(u32, T)], number: u32) -> Option<&T> {
    let first = sorted.first()?.0;
    let guess = usize::try_from(number.checked_sub(first)?).ok()?;
    match sorted.get(guess) {
        Some((known, found)) if *known == number => return Some(found),
        _ => {}
    }
    let found = sorted.binary_search_by_key(&number, |(known, _)| *known);
    found.ok().map(|at| &sorted[at].1)
}

impl Node {
    fn empty() -> Node {
        Node::Leaf(Arc::from([]))
    }

    fn len(&self) -> usize {
        match self {
            Node::Leaf(hashes) => hashes.len(),
            Node::Branch(children) => children.iter().map(Node::len).sum(),
        }
    }

    fn each_leaf(&self, visit: &mut impl FnMut(&[u128])) {
        match self {
            Node::Leaf(hashes) => visit(hashes),
            Node::Branch(children) => children.iter().for_each(|child| child.each_leaf(visit)),
        }
    }

    /// Visits hashes in order after a given one, while `visit` returns true. Returns false if it stopped.
    fn each_behind(
        &self,
        behind: Option<u128>,
        depth: u32,
        visit: &mut impl FnMut(u128) -> bool,
    ) -> bool {
        match self {
            Node::Leaf(sorted) => {
                let first = sorted.partition_point(|hash| behind.is_some_and(|last| *hash <= last));
                sorted[first..].iter().all(|hash| visit(*hash))
            }
            Node::Branch(children) => {
                let first = behind.map_or(0, |hash| digit(hash, depth));
                let mut children = children.iter().enumerate().skip(first);
                children.all(|(at, child)| {
                    child.each_behind(behind.filter(|_| at == first), depth + 1, visit)
                })
            }
        }
    }

    /// Adds sorted hashes and returns how many were new.
    fn insert(&mut self, new: &[u128], depth: u32) -> usize {
        if new.is_empty() {
            return 0;
        }
        match self {
            Node::Branch(children) => {
                let children = Arc::make_mut(children);
                parts(new, depth)
                    .map(|(digit, part)| children[digit].insert(part, depth + 1))
                    .sum()
            }
            Node::Leaf(old) => {
                let all = merged(old, new);
                let added = all.len() - old.len();
                *self = Node::of(&all, depth);
                added
            }
        }
    }

    fn of(sorted: &[u128], depth: u32) -> Node {
        if sorted.len() <= LEAF_HASHES || depth == DIGITS {
            return Node::Leaf(Arc::from(sorted));
        }
        let mut children = std::array::from_fn(|_| Node::empty());
        for (digit, part) in parts(sorted, depth) {
            children[digit] = Node::of(part, depth + 1);
        }
        Node::Branch(Arc::new(children))
    }

    fn contains(&self, hash: u128) -> bool {
        let mut node = self;
        let mut depth = 0;
        loop {
            match node {
                Node::Branch(children) => node = &children[digit(hash, depth)],
                Node::Leaf(sorted) => return holds(sorted, hash, depth),
            }
            depth += 1;
        }
    }
}

/// Searches from the expected position: hashes are evenly distributed.
fn holds(sorted: &[u128], hash: u128, depth: u32) -> bool {
    let Some(last) = sorted.len().checked_sub(1) else {
        return false;
    };
    let within = hash.checked_shl(4 * depth).unwrap_or(0) >> 64;
    let guess = ((within * sorted.len() as u128) >> 64) as usize;
    let mut at = guess.min(last);
    while sorted[at] < hash && at < last {
        at += 1;
    }
    while sorted[at] > hash && at > 0 {
        at -= 1;
    }
    sorted[at] == hash
}

fn digit(hash: u128, depth: u32) -> usize {
    ((hash >> (4 * (DIGITS - 1 - depth))) & 15) as usize
}

/// Splits sorted hashes by a digit.
fn parts(sorted: &[u128], depth: u32) -> impl Iterator<Item = (usize, &[u128])> {
    sorted
        .chunk_by(move |a, b| digit(*a, depth) == digit(*b, depth))
        .map(move |part| (digit(part[0], depth), part))
}

fn merged(old: &[u128], new: &[u128]) -> Vec<u128> {
    let mut all = Vec::with_capacity(old.len() + new.len());
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let next = match (old.peek(), new.peek()) {
            (Some(a), Some(b)) if a <= b => old.next(),
            (Some(_), None) => old.next(),
            (_, Some(_)) => new.next(),
            (None, None) => return all,
        };
        if let Some(hash) = next
            && all.last() != Some(hash)
        {
            all.push(*hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn index_contains_exactly_inserted_hashes(
            steps in proptest::collection::vec((0_u32..4, 0_u64..3, 0_usize..900, any::<bool>()), 1..12),
        ) {
            let mut index = RevocationIndex::default();
            let mut model = BTreeSet::new();
            let mut state = 1_u128;
            for (minute, shape, count, drops) in steps {
                let minute = 29_000_000 + minute * 800;
                let mut hashes: Vec<u128> = (0..count).map(|_| {
                    state = state.wrapping_mul(0xda94_2042_e4dd_58b5_da94_2042_e4dd_58b5).wrapping_add(7);
                    match shape { 0 => state, 1 => state >> 100, _ => state << 112 }
                }).collect();
                index.insert(minute, &mut hashes);
                model.extend(hashes.iter().map(|hash| (minute, *hash)));
                if drops {
                    index.drop_before(29_000_800);
                    model.retain(|(minute, _)| *minute >= 29_000_800);
                }
                prop_assert_eq!(index.len(), model.len());
                for (known, hash) in &model {
                    prop_assert!(index.contains(*known, *hash));
                    prop_assert_eq!(index.contains(*known, hash ^ 1), model.contains(&(*known, hash ^ 1)));
                }
                for hash in &hashes {
                    prop_assert_eq!(index.contains(minute + 1, *hash), false);
                }
                let mut paged = Vec::new();
                loop {
                    let behind = paged.last().map(|(hash, minute)| (*minute, *hash));
                    let page = index.page(behind, 100);
                    prop_assert!(page.len() <= 100);
                    if page.is_empty() { break; }
                    paged.extend(page);
                }
                let known = model.iter().map(|(minute, hash)| (*hash, *minute));
                prop_assert_eq!(paged, known.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn claimed_expiry_that_is_off_is_found() {
        let mut index = RevocationIndex::default();
        // At the end of a day, so that a near minute is on the next one.
        let claimed = 29_000_000 / MINUTES_A_DAY * MINUTES_A_DAY + MINUTES_A_DAY - 5;
        index.insert(claimed, &mut [7]);
        for (off, is_found) in [(0, true), (1, true), (NEAR, true), (NEAR + 1, false)] {
            for minute in [claimed - off, claimed + off] {
                assert_eq!(index.contains_near(minute, 7), is_found, "{off}");
                assert!(!index.contains_near(minute, 8));
            }
        }
    }

    #[test]
    fn index_clone_is_unchanged() {
        let mut index = RevocationIndex::default();
        let mut hashes: Vec<u128> = (0..5000_u128).map(|i| i << 112).collect();
        index.insert(10, &mut hashes);
        let before = index.clone();
        index.insert(10, &mut [1]);
        index.insert(2_000, &mut [1]);
        index.drop_before(11);
        assert_eq!((before.len(), index.len()), (5000, 1));
        assert!(before.contains(10, 4999 << 112) && !before.contains(10, 1));
    }
}
