//! The counter of revocation rules, and what a token's `jti` says of it.

use jeton_store::Revision;
use serde::{Deserialize, Serialize};

/// A state of the store's counter of revocation rules. Each transaction that writes rules has the next one,
/// and a token's `jti` has that of the last rule that its node had seen. A rule rejects lower ones.
///
/// A store that is made from a backup begins a new epoch, which is higher than every one before.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Stamp {
    /// When the counter began, seconds since 1970, or later.
    pub epoch: u64,
    /// Rises with every transaction that writes rules.
    pub number: u64,
}

/// Hexadecimal digits of the random part of a `jti`.
pub(crate) const RANDOM_DIGITS: usize = 32;

impl Stamp {
    /// The stamp of the token with that `jti`: `<32 digits>-<epoch>-<number>`, in lower-case hexadecimal
    /// without leading zeros. What is written in another way is no stamp.
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

    /// The stamp of what is written next, where this is the counter at that revision of the store.
    ///
    /// An etcd that is restored from a snapshot goes back to an older counter and on with higher revisions:
    /// a number is never lower than the revision, so that none is used again.
    pub(crate) fn next(self, at: Revision) -> Stamp {
        Stamp {
            epoch: self.epoch,
            number: self.number.max(at.number()).saturating_add(1),
        }
    }

    /// A counter that begins at that second.
    pub(crate) fn begin(now: i64) -> Stamp {
        Stamp {
            epoch: u64::try_from(now).unwrap_or(0),
            number: 0,
        }
    }

    /// The counter of a store that is made at that second from a backup with this one.
    pub(crate) fn restored(self, now: i64) -> Stamp {
        Stamp {
            // One more than the second: the counter that is lost may have begun in it.
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
    match is_written_so {
        // More than 16 digits do not fit.
        true => u64::from_str_radix(digits, 16).ok(),
        false => None,
    }
}

/// A stamp as the end of a `jti`, written once for all tokens of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StampText {
    bytes: [u8; StampText::BYTES],
    length: u8,
}

impl StampText {
    /// Two numbers of 16 digits, each behind a hyphen.
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
