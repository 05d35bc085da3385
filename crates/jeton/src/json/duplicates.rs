use std::borrow::Cow;
use std::collections::HashSet;

use super::Text;

/// The member names of an object so far.
///
/// A few names are compared with each other in place. Many names, and names with escapes, go to a hash set
/// with a random seed, so that an attacker cannot make the search quadratic.
pub(super) struct Names<'a> {
    few: [&'a [u8]; Names::FEW],
    /// Almost always different for different names, so that names are rarely compared.
    fingerprints: [u64; Names::FEW],
    count: usize,
    many: Option<HashSet<Cow<'a, [u8]>>>,
}

impl<'a> Names<'a> {
    const FEW: usize = 16;

    #[inline]
    pub(super) fn new() -> Self {
        Names {
            few: [&[]; Names::FEW],
            fingerprints: [0; Names::FEW],
            count: 0,
            many: None,
        }
    }

    /// Inserts a name. Returns false if the object already has it.
    #[inline(always)]
    pub(super) fn insert(&mut self, name: Text<'a>) -> bool {
        if self.many.is_some() || name.has_escapes() || self.count >= Names::FEW {
            return self.insert_among_many(name);
        }
        let name = name.written_bytes();
        let fingerprint = fingerprint(name);
        let (fingerprints, few) = (&self.fingerprints[..self.count], &self.few[..self.count]);
        if fingerprints.contains(&fingerprint) && few.contains(&name) {
            return false;
        }
        self.few[self.count] = name;
        self.fingerprints[self.count] = fingerprint;
        self.count += 1;
        true
    }

    #[inline(never)]
    fn insert_among_many(&mut self, name: Text<'a>) -> bool {
        let few = &self.few[..self.count];
        let many = self
            .many
            .get_or_insert_with(|| few.iter().copied().map(Cow::Borrowed).collect());
        many.insert(match name.to_cow() {
            Cow::Borrowed(plain) => plain.as_bytes().into(),
            Cow::Owned(unescaped) => unescaped.into_bytes().into(),
        })
    }
}

/// The last seven bytes of a name, or all if it is shorter, and its length. Equal names have equal
/// fingerprints.
fn fingerprint(name: &[u8]) -> u64 {
    let tail = if let Some(eight) = name.last_chunk() {
        u64::from_be_bytes(*eight)
    } else if let (Some(first), Some(last)) = (name.first_chunk(), name.last_chunk()) {
        // Where the two reads overlap, they contain the same bytes.
        let shift = 8 * (name.len() - last.len());
        u64::from(u32::from_be_bytes(*first)) << shift | u64::from(u32::from_be_bytes(*last))
    } else {
        name.iter()
            .fold(0, |tail, byte| tail << 8 | u64::from(*byte))
    };
    tail << 8 | name.len() as u64 & 0xff
}
