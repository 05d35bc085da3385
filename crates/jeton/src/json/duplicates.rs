use std::borrow::Cow;
use std::collections::HashSet;

use super::Text;

/// The names that an object has had so far.
///
/// Few names are compared with each other in place. Many, and any written with escapes, go to a
/// hash set with a random seed, so that no choice of names makes the search quadratic.
pub(super) struct Names<'a> {
    few: [(u64, &'a str); Names::FEW],
    count: usize,
    many: Option<HashSet<Cow<'a, str>>>,
}

impl<'a> Names<'a> {
    const FEW: usize = 16;

    pub(super) fn new() -> Self {
        Names {
            few: [(0, ""); Names::FEW],
            count: 0,
            many: None,
        }
    }

    /// Takes a name in; false if the object has it already.
    pub(super) fn insert(&mut self, name: Text<'a>) -> bool {
        if let (None, Some(plain)) = (&self.many, name.plain())
            && self.count < Names::FEW
        {
            let mark = mark(plain);
            let known = &self.few[..self.count];
            // The marks of nearly all names differ, so that hardly ever a name is compared.
            if known
                .iter()
                .any(|(other, name)| *other == mark && *name == plain)
            {
                return false;
            }
            self.few[self.count] = (mark, plain);
            self.count += 1;
            return true;
        }
        let few = &self.few[..self.count];
        self.many
            .get_or_insert_with(|| few.iter().map(|(_, name)| Cow::Borrowed(*name)).collect())
            .insert(name.to_cow())
    }
}

/// A name's last seven bytes and its length. Equal names have equal marks.
fn mark(name: &str) -> u64 {
    let tail = name.as_bytes().iter().rev().take(7);
    tail.fold(name.len() as u64, |mark, byte| mark << 8 | u64::from(*byte))
}
