//! Mutations that keep the shape of a token. Decoded parts are changed and encoded again, so that the change
//! reaches the check that must detect it.

#[path = "../../crates/jeton/src/base64.rs"]
#[allow(dead_code)]
mod base64;

/// The source of mutations: the bytes of the fuzzer, followed by zeros.
pub struct Bytes<'d>(pub &'d [u8]);

impl<'d> Bytes<'d> {
    pub fn byte(&mut self) -> usize {
        match self.0 {
            [first, rest @ ..] => {
                self.0 = rest;
                usize::from(*first)
            }
            [] => 0,
        }
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.byte() << 8 | self.byte()) % limit
    }

    fn take(&mut self, count: usize) -> &'d [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }
}

/// Returns the token with up to four mutations. `other` is a second token of the same key.
pub fn mutate(token: &str, other: &str, bytes: &mut Bytes<'_>) -> String {
    let mut token = token.to_owned();
    for _ in 0..=bytes.below(4) {
        token = match bytes.byte() % 4 {
            0 => splice(token, bytes),
            _ => change_part(&token, other, bytes),
        };
    }
    token
}

/// Removes bytes and inserts bytes of the fuzzer.
fn splice(token: String, bytes: &mut Bytes<'_>) -> String {
    let at = bytes.below(token.len() + 1);
    let end = (at + bytes.byte() % 16).min(token.len());
    let count = bytes.byte() % 16;
    let mut changed = token.clone().into_bytes();
    changed.splice(at..end, bytes.take(count).iter().copied());
    String::from_utf8(changed).unwrap_or(token)
}

/// The separators of parts; in JSON, a part is the text between quotes.
fn is_between(character: char) -> bool {
    character == '.' || character == '"'
}

fn change_part(token: &str, other: &str, bytes: &mut Bytes<'_>) -> String {
    let mut parts: Vec<&str> = token.split_inclusive(is_between).collect();
    let count = parts.len();
    if count == 0 {
        return token.to_owned();
    }
    let index = bytes.below(count);
    let part = parts[index].trim_end_matches(is_between);
    let end = &parts[index][part.len()..];
    let changed = match bytes.byte() % 8 {
        0 => {
            parts.remove(index);
            return parts.concat();
        }
        1 => {
            parts.insert(index, parts[bytes.below(count)]);
            return parts.concat();
        }
        2 => {
            parts.swap(index, bytes.below(count));
            return parts.concat();
        }
        3 => {
            let others: Vec<&str> = other.split(is_between).collect();
            others[bytes.below(others.len())].to_owned()
        }
        4 => String::new(),
        _ => within(part, bytes),
    };
    let changed = changed + end;
    parts[index] = &changed;
    parts.concat()
}

/// Changes the decoded contents of a part.
fn within(part: &str, bytes: &mut Bytes<'_>) -> String {
    let Ok(mut decoded) = base64::decode(part.as_bytes()) else {
        return splice(part.to_owned(), bytes);
    };
    match bytes.byte() % 4 {
        0 => {
            let length = bytes.below(decoded.len() + 1);
            decoded.truncate(length);
        }
        1 => {
            let count = bytes.byte() % 32;
            decoded.extend_from_slice(bytes.take(count));
        }
        2 => {
            let at = bytes.below(decoded.len() + 1);
            let end = (at + bytes.byte() % 8).min(decoded.len());
            let count = bytes.byte() % 32;
            decoded.splice(at..end, bytes.take(count).iter().copied());
        }
        _ if decoded.is_empty() => {}
        _ => {
            let at = bytes.below(decoded.len());
            decoded[at] ^= 1 << (bytes.byte() % 8);
        }
    }
    base64::encode(&decoded)
}
