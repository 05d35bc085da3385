//! Records of the embedded engine. Each has a checksum, so that a damaged page is an error and never
//! another value.

use crate::entry::{Entry, Event};
use crate::error::{Error, Result};
use crate::key::{Key, Prefix};
use crate::revision::Revision;

const PUT: u8 = 1;
const DELETED: u8 = 2;
const DELETED_PREFIX: u8 = 3;

const CHECKSUM_BYTES: usize = 4;
const REVISION_BYTES: usize = 8;

/// Encodes a value: checksum, revision, value. The checksum covers the key too.
pub(crate) fn value_record(key: &str, changed: Revision, value: &[u8]) -> Vec<u8> {
    let mut record = vec![0; CHECKSUM_BYTES];
    record.extend_from_slice(&changed.number().to_le_bytes());
    record.extend_from_slice(value);
    let checksum = checksum(key.as_bytes(), &record[CHECKSUM_BYTES..]);
    record[..CHECKSUM_BYTES].copy_from_slice(&checksum);
    record
}

/// Number of entries and the sum of their checksums. A damaged branch of the tree can hide entries whose
/// own checksums are correct. This sum detects that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    pub(crate) entries: u64,
    pub(crate) checksums: u64,
}

impl Tally {
    /// Adds a record.
    pub(crate) fn add(&mut self, record: &[u8]) {
        self.entries = self.entries.wrapping_add(1);
        self.checksums = self.checksums.wrapping_add(own_checksum(record));
    }

    /// Removes a record.
    pub(crate) fn remove(&mut self, record: &[u8]) {
        self.entries = self.entries.wrapping_sub(1);
        self.checksums = self.checksums.wrapping_sub(own_checksum(record));
    }
}

fn own_checksum(record: &[u8]) -> u64 {
    let first = record.first_chunk().copied().unwrap_or_default();
    u64::from(u32::from_le_bytes(first))
}

/// Decodes the entry of a record.
pub(crate) fn entry(key: &[u8], record: &[u8]) -> Result<Entry> {
    let (changed, value) = checked(key, record)
        .and_then(|body| body.split_first_chunk::<REVISION_BYTES>())
        .ok_or_else(|| damaged("a value does not match its checksum"))?;
    let key = std::str::from_utf8(key)
        .ok()
        .and_then(|text| Key::parse(text).ok())
        .ok_or_else(|| damaged("a key that jeton never writes"))?;
    Ok(Entry {
        key,
        value: value.to_vec(),
        changed: Revision::from_number(u64::from_le_bytes(*changed)),
    })
}

/// Encodes the changes of a transaction for the history.
pub(crate) fn history_record(revision: Revision, events: &[Event]) -> Vec<u8> {
    let mut record = vec![0; CHECKSUM_BYTES];
    for event in events {
        let (tag, name, value): (u8, &str, &[u8]) = match event {
            Event::Put(entry) => (PUT, entry.key.as_str(), &entry.value),
            Event::Deleted(key) => (DELETED, key.as_str(), &[]),
            Event::DeletedPrefix(prefix) => (DELETED_PREFIX, prefix.as_str(), &[]),
        };
        record.push(tag);
        for part in [name.as_bytes(), value] {
            let bytes =
                u32::try_from(part.len()).expect("keys and values are bounded far below 4 GiB");
            record.extend_from_slice(&bytes.to_le_bytes());
            record.extend_from_slice(part);
        }
    }
    let checksum = checksum(&revision.number().to_le_bytes(), &record[CHECKSUM_BYTES..]);
    record[..CHECKSUM_BYTES].copy_from_slice(&checksum);
    record
}

/// Decodes the changes of a history record.
pub(crate) fn events(revision: Revision, record: &[u8]) -> Result<Vec<Event>> {
    let read = || {
        let mut rest = checked(&revision.number().to_le_bytes(), record)?;
        let mut events = Vec::new();
        while let Some((tag, after)) = rest.split_first() {
            let (name, after) = part(after)?;
            let (value, after) = part(after)?;
            let name = std::str::from_utf8(name).ok()?;
            events.push(match *tag {
                PUT => Event::Put(Entry {
                    key: Key::parse(name).ok()?,
                    value: value.to_vec(),
                    changed: revision,
                }),
                DELETED => Event::Deleted(Key::parse(name).ok()?),
                DELETED_PREFIX => Event::DeletedPrefix(Prefix::written(name)?),
                _ => return None,
            });
            rest = after;
        }
        Some(events)
    };
    read().ok_or_else(|| damaged("a transaction in the history does not match its checksum"))
}

fn part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    rest.split_at_checked(usize::try_from(u32::from_le_bytes(*length)).ok()?)
}

fn checked<'r>(name: &[u8], record: &'r [u8]) -> Option<&'r [u8]> {
    let (found, body) = record.split_first_chunk::<CHECKSUM_BYTES>()?;
    (*found == checksum(name, body)).then_some(body)
}

fn checksum(name: &[u8], body: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(name);
    hasher.update(body);
    hasher.finalize().to_le_bytes()
}

fn damaged(what: &str) -> Error {
    Error::Damaged(what.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn flipped_bit_is_detected() {
        let revision = Revision::from_number(300);
        let key = Key::of(["r", "i", "1"]).unwrap();
        let value = value_record(key.as_str(), revision, b"until then");
        let put = Event::Put(entry(key.as_str().as_bytes(), &value).unwrap());
        let all = [
            put,
            Event::Deleted(key.clone()),
            Event::DeletedPrefix(Prefix::of(["r"]).unwrap()),
        ];
        let history = history_record(revision, &all);
        assert_eq!(events(revision, &history).unwrap(), all);
        assert!(events(Revision::from_number(301), &history).is_err());
        assert!(entry(b"/r/i/2", &value).is_err());
        for at in 0..value.len() * 8 {
            let mut flipped = value.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            assert!(entry(key.as_str().as_bytes(), &flipped).is_err(), "{at}");
        }
        for at in 0..history.len() * 8 {
            let mut flipped = history.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            assert!(events(revision, &flipped).is_err(), "{at}");
        }
        for bytes in 0..history.len() {
            let cut = events(revision, &history[..bytes]);
            assert!(cut.is_err(), "{bytes}");
        }
    }
}
