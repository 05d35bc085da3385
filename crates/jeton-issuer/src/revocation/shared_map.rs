//! A map whose copies share what has not changed.
//!
//! A 16-way tree by the digits of the key, with sorted leaves. A change copies one leaf and its path, about a kilobyte
//! at any size. Keys must be evenly distributed, as hashes are.

use std::sync::Arc;

/// Maximum entries of a leaf before it is split.
const LEAF_ENTRIES: usize = 16;
/// A key has 32 digits of four bits. Leaves below the last one cannot be split.
const DIGITS: u32 = 32;

/// Cloning copies a pointer.
#[derive(Debug, Clone)]
pub(super) struct SharedMap<V> {
    root: Node<V>,
    len: usize,
}

#[derive(Debug, Clone)]
enum Node<V> {
    Leaf(Arc<Vec<(u128, V)>>),
    Branch(Arc<[Node<V>; 16]>),
}

impl<V> Default for SharedMap<V> {
    fn default() -> SharedMap<V> {
        SharedMap {
            root: Node::Leaf(Arc::default()),
            len: 0,
        }
    }
}

impl<V: Copy> SharedMap<V> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn get(&self, key: u128) -> Option<&V> {
        let mut node = &self.root;
        let mut depth = 0;
        loop {
            match node {
                Node::Branch(children) => node = &children[digit(key, depth)],
                Node::Leaf(entries) => {
                    let at = entries.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                    return Some(&entries[at].1);
                }
            }
            depth += 1;
        }
    }

    /// Returns the value that was there.
    pub(super) fn insert(&mut self, key: u128, value: V) -> Option<V> {
        let before = self.root.set(key, Some(value), 0);
        self.len += usize::from(before.is_none());
        before
    }

    /// Returns the value that was there.
    pub(super) fn remove(&mut self, key: u128) -> Option<V> {
        // Without a copy if there is nothing to remove.
        self.get(key)?;
        self.len -= 1;
        self.root.set(key, None, 0)
    }

    /// In order of the keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u128, V)> + '_ {
        let mut left = vec![&self.root];
        std::iter::from_fn(move || {
            loop {
                match left.pop()? {
                    Node::Leaf(entries) => return Some(entries.iter().copied()),
                    Node::Branch(children) => left.extend(children.iter().rev()),
                }
            }
        })
        .flatten()
    }
}

impl SharedMap<usize> {
    /// Adds to a number. It leaves when it is zero.
    pub(super) fn count(&mut self, key: u128, by: isize) {
        let count = self.get(key).copied().unwrap_or_default();
        match count.saturating_add_signed(by) {
            0 => drop(self.remove(key)),
            count => drop(self.insert(key, count)),
        }
    }
}

impl<V: Copy> Node<V> {
    /// Replaces the value of a key and returns the former one.
    fn set(&mut self, key: u128, value: Option<V>, depth: u32) -> Option<V> {
        let entries = match self {
            Node::Branch(children) => {
                let child = &mut Arc::make_mut(children)[digit(key, depth)];
                return child.set(key, value, depth + 1);
            }
            Node::Leaf(entries) => Arc::make_mut(entries),
        };
        let before = match (entries.binary_search_by_key(&key, |(key, _)| *key), value) {
            (Ok(at), Some(value)) => Some(std::mem::replace(&mut entries[at].1, value)),
            (Ok(at), None) => Some(entries.remove(at).1),
            (Err(at), Some(value)) => {
                entries.insert(at, (key, value));
                None
            }
            (Err(_), None) => None,
        };
        if entries.len() > LEAF_ENTRIES && depth < DIGITS {
            let mut children = std::array::from_fn(|_| Vec::new());
            for entry in entries.drain(..) {
                children[digit(entry.0, depth)].push(entry);
            }
            *self = Node::Branch(Arc::new(children.map(|part| Node::Leaf(Arc::new(part)))));
        }
        before
    }
}

fn digit(key: u128, depth: u32) -> usize {
    ((key >> (4 * (DIGITS - 1 - depth))) & 15) as usize
}

#[cfg(test)]
impl<V> SharedMap<V> {
    /// Counts the entries and children that this map does not share with another one.
    pub(super) fn copied_since(&self, before: &SharedMap<V>) -> usize {
        self.root.copied_since(&before.root)
    }
}

#[cfg(test)]
impl<V> Node<V> {
    fn copied_since(&self, before: &Node<V>) -> usize {
        match (self, before) {
            (Node::Leaf(now), Node::Leaf(before)) if Arc::ptr_eq(now, before) => 0,
            (Node::Branch(now), Node::Branch(before)) if Arc::ptr_eq(now, before) => 0,
            (Node::Branch(now), Node::Branch(before)) => {
                let parts = now.iter().zip(before.iter());
                let below: usize = parts.map(|(now, before)| now.copied_since(before)).sum();
                now.len() + below
            }
            (Node::Leaf(now), _) => now.len(),
            (Node::Branch(now), Node::Leaf(_)) => {
                let below: usize = now.iter().map(|child| child.copied_since(before)).sum();
                now.len() + below
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shared_map_holds_what_a_sorted_map_holds(
            steps in proptest::collection::vec((0_u8..4, 0_u128..40, any::<u32>()), 1..300),
        ) {
            let mut map = SharedMap::default();
            let mut model = BTreeMap::new();
            let mut copies = Vec::new();
            for (step, key, value) in steps {
                // Keys that share all digits but the last two, and keys that differ in the first.
                let key = if key % 2 == 0 { key } else { key.wrapping_mul(u128::MAX / 37) };
                match step {
                    0 => prop_assert_eq!(map.remove(key), model.remove(&key)),
                    1 => copies.push((map.clone(), model.clone())),
                    _ => prop_assert_eq!(map.insert(key, value), model.insert(key, value)),
                }
                prop_assert_eq!(map.get(key), model.get(&key));
                prop_assert_eq!(map.len(), model.len());
            }
            copies.push((map, model));
            for (map, model) in copies {
                prop_assert!(map.iter().eq(model));
            }
        }
    }
}
