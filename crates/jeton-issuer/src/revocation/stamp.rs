//! The counter of revocation rules, and its value in a token's `jti`.

use jeton_store::Revision;
use serde::{Deserialize, Serialize};

/// A value of the store's counter of revocation rules. Each transaction that writes rules increments it. A
/// token's `jti` contains the value of the newest rule that its node had seen. A rule rejects tokens with a
/// lower value.
///
/// A store restored from a backup begins a new epoch, higher than all before.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Stamp {
    /// Start of the counter, seconds since 1970, or later.
    pub epoch: u64,
    /// Incremented by every transaction that writes rules.
    pub number: u64,
}

/// Hexadecimal digits of the random part of a `jti`.
pub(crate) const RANDOM_DIGITS: usize = 32;

impl Stamp {
    /// Parses the stamp in a `jti`: `<32 digits>-<epoch>-<number>`, in lower-case hexadecimal without
    /// leading zeros. Any other text has no stamp.
    pub fn of_token(token_id: &str) -> Option<Stamp> {
        let (random, stamp) = token_id.split_at_checked(RANDOM_DIGITS)?;
        let (epoch, number) = stamp.strip_prefix('-')?.split_once('-')?;
        if !random.bytes().all(is_digit) {
            return None;
        }
        Some(Stamp {
            epoch: read(epoch)?,
            number: read(number)?,
        })
    }

    /// Returns the next stamp, for a counter read at that revision.
    ///
    /// An etcd restored from a snapshot has an older counter and higher revisions. The number is never
    /// below the revision, so no number is used twice.
    pub(crate) fn next(self, at: Revision) -> Stamp {
        Stamp {
            epoch: self.epoch,
            number: self.number.max(at.number()).saturating_add(1),
        }
    }

    /// Starts a counter at that second.
    pub(crate) fn begin(now: i64) -> Stamp {
        Stamp {
            epoch: u64::try_from(now).unwrap_or(0),
            number: 0,
        }
    }

    /// Returns the counter of a store restored at that second from a backup with this counter.
    pub(crate) fn restored(self, now: i64) -> Stamp {
        Stamp {
            // Incremented: the lost counter may have begun in this second.
            epoch: self.epoch.max(Stamp::begin(now).epoch).saturating_add(1),
            number: 0,
        }
    }
}

fn is_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

fn read(digits: &str) -> Option<u64> {
    let is_written_so = digits.bytes().all(is_digit) && (digits == "0" || !digits.starts_with('0'));
    if is_written_so {
        u64::from_str_radix(digits, 16).ok()
    } else {
        None
    }
}

/// An encoded stamp, the end of a `jti`, shared by all tokens of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StampText {
    bytes: [u8; StampText::BYTES],
    length: u8,
}

impl StampText {
    /// Two numbers of 16 digits, each after a hyphen.
    pub(crate) const BYTES: usize = 2 * (1 + 16);

    pub(crate) fn as_array(&self) -> &[u8; StampText::BYTES] {
        &self.bytes
    }

    pub(crate) fn length(&self) -> usize {
        usize::from(self.length)
    }
}

impl From<Stamp> for StampText {
    fn from(stamp: Stamp) -> StampText {
        let text = format!("-{:x}-{:x}", stamp.epoch, stamp.number);
        let mut bytes = [0; StampText::BYTES];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        StampText {
            bytes,
            length: u8::try_from(text.len()).expect("there are 34 bytes at most"),
        }
    }
}

impl Default for StampText {
    fn default() -> StampText {
        StampText::from(Stamp::default())
    }
}
