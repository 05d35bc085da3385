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

/// Ends of former epochs that the counter keeps. A token of a lost history with an older epoch has no proof.
const ENDED_EPOCHS: usize = 32;

/// The stored counter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counter {
    /// The stamp of the newest rule, or the start of an epoch.
    #[serde(flatten)]
    pub(crate) stamp: Stamp,
    /// The last stamps of former epochs, oldest first. A token of one of them with a higher stamp was issued by a
    /// node whose history the store has lost.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ended: Vec<Stamp>,
}

impl Counter {
    /// Starts a counter at that second.
    pub(crate) fn begin(now: i64) -> Counter {
        Counter {
            stamp: Stamp::begin(now),
            ended: Vec::new(),
        }
    }

    /// Returns the counter after the next rule, as [`Stamp::next`].
    pub(crate) fn next(self, at: Revision) -> Counter {
        Counter {
            stamp: self.stamp.next(at),
            ..self
        }
    }

    /// Begins an epoch above this one and above a known stamp.
    ///
    /// This is right at any time: a rule of the new epoch rejects every token issued before it.
    pub(crate) fn new_epoch(mut self, now: i64, known: Stamp) -> Counter {
        if self.stamp != Stamp::default() {
            self.ended.push(self.stamp);
        }
        let more = self.ended.len().saturating_sub(ENDED_EPOCHS);
        self.ended.drain(..more);
        self.stamp = self.stamp.max(known).restored(now);
        self
    }
}

/// Returns whether a token with this stamp was certainly issued by a node whose history the store has lost, given
/// former epochs and the counter at a time when the token had existed for longer than any view lags.
pub(crate) fn is_of_lost_history(token: Stamp, ended: &[Stamp], counter: Stamp) -> bool {
    if token.epoch >= counter.epoch {
        return token > counter;
    }
    let end = ended.iter().find(|end| end.epoch == token.epoch);
    end.is_some_and(|end| token.number > end.number)
}

impl Stamp {
    /// Parses the stamp in a `jti`: `<32 digits>-<epoch>-<number>`, in lower-case hexadecimal without
    /// leading zeros. Any other text has no stamp.
    pub fn of_token(token_id: &str) -> Option<Stamp> {
        let (random, stamp) = token_id.split_at_checked(RANDOM_DIGITS)?;
        let (epoch, number) = stamp.strip_prefix('-')?.split_once('-')?;
        // All bytes at once, in vector instructions: nearly every token has digits only.
        if !(random.bytes()).fold(true, |digits, byte| digits & is_digit(byte)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counter_of_an_older_version_is_read_and_written_alike() {
        let old = r#"{"epoch":7,"number":9}"#;
        let counter: Counter = serde_json::from_str(old).expect("it is a counter");
        assert_eq!((counter.stamp.epoch, counter.stamp.number), (7, 9));
        assert_eq!(serde_json::to_string(&counter).expect("numbers"), old);
        // And the reverse: an older version reads the stamp.
        let text = serde_json::to_string(&counter.new_epoch(8, Stamp::default()));
        let read: Stamp = serde_json::from_str(&text.expect("numbers")).expect("it is a stamp");
        assert_eq!((read.epoch, read.number), (9, 0));
    }

    #[test]
    fn stamp_that_the_store_never_had_proves_a_lost_history() {
        let stamp = |epoch, number| Stamp { epoch, number };
        let counter = Counter::default();
        let counter = counter.new_epoch(100, Stamp::default());
        assert_eq!((counter.stamp, counter.ended.len()), (stamp(101, 0), 0));
        let mut counter = counter.next(Revision::from_number(40));
        counter = counter.new_epoch(100, stamp(105, 3));
        assert_eq!(counter.stamp, stamp(106, 0));
        let is_lost = |token| is_of_lost_history(token, &counter.ended, counter.stamp);
        for (token, lost) in [
            (stamp(101, 41), false),
            (stamp(101, 42), true),
            (stamp(106, 0), false),
            (stamp(106, 1), true),
            (stamp(107, 0), true),
            // An epoch that the counter does not know.
            (stamp(99, 5), false),
        ] {
            assert_eq!(is_lost(token), lost, "{token:?}");
        }
        let many = (0..100).fold(counter, |counter, _| counter.new_epoch(0, Stamp::default()));
        assert_eq!(many.ended.len(), ENDED_EPOCHS);
    }
}
