//! Keys of entries: paths of parts, ordered by bytes.

use std::fmt;

use crate::error::{Problem, Result};
use crate::limits;

/// The key of an entry: parts with a `/` before each, such as `/k/https:%2F%2Fid.example/_set`.
///
/// A part is any non-empty text. `/`, `%` and control characters in it are escaped, so that the name of an
/// issuer cannot reach into other keys. Keys are ordered by their bytes.
///
/// ```
/// use jeton_store::{Key, Prefix};
///
/// let key = Key::of(["k", "https://id.example", "7"])?;
/// assert_eq!(key.as_str(), "/k/https:%2F%2Fid.example/7");
/// assert_eq!(key.parts().collect::<Vec<_>>(), ["k", "https://id.example", "7"]);
/// assert!(key.is_under(&Prefix::of(["k", "https://id.example"])?));
/// assert!(!key.is_under(&Prefix::of(["k", "https://id.exam"])?));
/// # Ok::<(), jeton_store::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Box<str>);

/// All keys that begin with certain whole parts: `/r/a/` does not contain `/r/ab/1`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Prefix(Box<str>);

impl Key {
    /// Creates the key with these parts.
    ///
    /// # Errors
    ///
    /// [`Problem::KeyPart`] for an empty part or none, [`Problem::KeyTooLong`] beyond
    /// [`limits::KEY_BYTES`].
    pub fn of<P: AsRef<str>>(parts: impl IntoIterator<Item = P>) -> Result<Key> {
        let text = join(parts)?;
        if text.is_empty() {
            return Err(Problem::KeyPart.into());
        }
        Ok(Key(text.into()))
    }

    /// Parses a key that [`as_str`](Key::as_str) returned.
    ///
    /// # Errors
    ///
    /// As [`of`](Key::of), and [`Problem::KeyPart`] for a text that is not an encoded key.
    pub fn parse(text: &str) -> Result<Key> {
        let path = text.strip_prefix('/').ok_or(Problem::KeyPart)?;
        let key = Key::of(path.split('/').map(unescaped))?;
        if key.as_str() == text {
            Ok(key)
        } else {
            Err(Problem::KeyPart.into())
        }
    }

    /// Returns the encoded key, by which keys are ordered.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the decoded parts.
    pub fn parts(&self) -> impl Iterator<Item = String> {
        self.0.split('/').skip(1).map(unescaped)
    }

    /// Returns whether the key begins with the parts of the prefix.
    pub fn is_under(&self, prefix: &Prefix) -> bool {
        self.0.starts_with(&*prefix.0)
    }
}

impl Prefix {
    /// Matches every key.
    pub fn all() -> Prefix {
        Prefix("/".into())
    }

    /// Matches all keys below these parts.
    ///
    /// # Errors
    ///
    /// As [`Key::of`]. No parts are equivalent to [`Prefix::all`].
    pub fn of<P: AsRef<str>>(parts: impl IntoIterator<Item = P>) -> Result<Prefix> {
        let mut text = join(parts)?;
        text.push('/');
        Ok(Prefix(text.into()))
    }

    /// Returns the bytes with which every matching key begins.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the end of the range: the first text after every matching key. In byte order `/` is followed
    /// by `0`.
    pub fn end(&self) -> String {
        let mut end = self.0[..self.0.len() - 1].to_owned();
        end.push('0');
        end
    }

    /// Parses a prefix that [`as_str`](Prefix::as_str) returned and this crate stored.
    pub(crate) fn written(text: &str) -> Option<Prefix> {
        (text.starts_with('/') && text.ends_with('/')).then(|| Prefix(text.into()))
    }
}

fn join<P: AsRef<str>>(parts: impl IntoIterator<Item = P>) -> Result<String> {
    let mut text = String::new();
    for part in parts {
        let part = part.as_ref();
        if part.is_empty() {
            return Err(Problem::KeyPart.into());
        }
        text.push('/');
        for c in part.chars() {
            match c {
                '/' => text.push_str("%2F"),
                '%' => text.push_str("%25"),
                c if c.is_ascii_control() => text.push_str(&format!("%{:02X}", u32::from(c))),
                c => text.push(c),
            }
        }
        if text.len() > limits::KEY_BYTES {
            return Err(Problem::KeyTooLong.into());
        }
    }
    Ok(text)
}

fn unescaped(part: &str) -> String {
    let mut plain = String::with_capacity(part.len());
    let mut rest = part;
    while let Some(at) = rest.find('%') {
        plain.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3);
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if byte.is_ascii() => {
                plain.push(char::from(byte));
                rest = &rest[at + 3..];
            }
            _ => {
                plain.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_key_gives_back_its_parts_and_its_text_gives_back_the_key(
            parts in proptest::collection::vec("\\PC{1,12}|[/%\\x00-\\x1f]{1,4}", 1..5)
        ) {
            let key = Key::of(&parts).unwrap();
            prop_assert_eq!(key.parts().collect::<Vec<_>>(), parts);
            prop_assert_eq!(Key::parse(key.as_str()).unwrap(), key);
        }

        #[test]
        fn a_prefix_and_its_end_enclose_what_is_under_it(
            one in proptest::collection::vec("[a-c/%0.]{1,3}", 1..4),
            other in proptest::collection::vec("[a-c/%0.]{1,3}", 0..3),
        ) {
            let (key, prefix) = (Key::of(&one).unwrap(), Prefix::of(&other).unwrap());
            let enclosed = key.as_str() >= prefix.as_str() && key.as_str() < prefix.end().as_str();
            prop_assert_eq!(key.is_under(&prefix), enclosed);
            prop_assert_eq!(key.is_under(&prefix), one.len() > other.len() && one.starts_with(&other));
        }
    }

    #[test]
    fn empty_key_or_part_is_rejected() {
        assert!(Key::of([""]).is_err());
        assert!(Key::of(["a", ""]).is_err());
        assert!(Key::of::<&str>([]).is_err());
        assert!(Key::of(["a".repeat(limits::KEY_BYTES)]).is_err());
        for text in ["", "/", "a", "/a/", "//a", "/a%2f", "/a%zz", "/%"] {
            assert!(Key::parse(text).is_err(), "{text}");
        }
    }
}
