//! The credentials of HTTP Basic (RFC 7617).
//!
//! OAuth encodes both as in a form (RFC 6749, section 2.3.1). curl and several libraries send them as they are. So both
//! readings count: the decoded one, and if decoding changes the text, the text as it came.

use base64ct::{Base64, Encoding as _};
use zeroize::Zeroizing;

/// The credentials of a request. Malformed ones belong to no client.
pub(crate) struct Basic {
    decoded: Credentials,
    as_sent: Option<Credentials>,
}

/// A `client_id` and a secret.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    pub(crate) client_id: String,
    pub(crate) secret: Zeroizing<String>,
}

impl Basic {
    /// Reads the value of a header. `None`: another scheme.
    pub(crate) fn read(header: &[u8]) -> Option<Basic> {
        let (scheme, encoded) = header.split_at_checked(6)?;
        if !scheme.eq_ignore_ascii_case(b"basic ") {
            return None;
        }
        let malformed = || Basic {
            decoded: Credentials::nobody(),
            as_sent: None,
        };
        Some(Basic::parse(encoded).unwrap_or_else(malformed))
    }

    fn parse(encoded: &[u8]) -> Option<Basic> {
        let encoded = std::str::from_utf8(encoded).ok()?.trim();
        let text = Zeroizing::new(Base64::decode_vec(encoded).ok()?);
        let text = std::str::from_utf8(&text).ok()?;
        let (client_id, secret) = text.split_once(':')?;
        if client_id.is_empty() || secret.is_empty() {
            return None;
        }
        let as_sent = Credentials {
            client_id: client_id.to_owned(),
            secret: Zeroizing::new(secret.to_owned()),
        };
        let decoded = match (decode(client_id), decode(secret)) {
            (Some(client_id), Some(secret)) => Credentials {
                client_id: client_id.to_string(),
                secret,
            },
            // The text only looks encoded.
            _ => as_sent.clone(),
        };
        Some(Basic {
            as_sent: (as_sent != decoded).then_some(as_sent),
            decoded,
        })
    }

    /// The readings: one, or two if decoding changes the text.
    pub(crate) fn readings(&self) -> impl Iterator<Item = &Credentials> {
        std::iter::once(&self.decoded).chain(&self.as_sent)
    }

    pub(crate) fn is_malformed(&self) -> bool {
        self.decoded == Credentials::nobody()
    }
}

impl Credentials {
    fn nobody() -> Credentials {
        Credentials {
            client_id: String::new(),
            secret: Zeroizing::default(),
        }
    }
}

/// Decodes `%XX` and `+`. `None` if the result is not UTF-8.
fn decode(text: &str) -> Option<Zeroizing<String>> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let byte = digits.and_then(|digits| Some(digit(digits[0])? * 16 + digit(digits[1])?));
        match byte.and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(if *first == b'+' { b' ' } else { *first });
                rest = after;
            }
        }
    }
    let text = std::str::from_utf8(&bytes).ok()?;
    Some(Zeroizing::new(text.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn readings(text: &str) -> Vec<(String, String)> {
        let header = format!("Basic {}", Base64::encode_string(text.as_bytes()));
        let basic = Basic::read(header.as_bytes()).unwrap();
        let pair = |read: &Credentials| (read.client_id.clone(), read.secret.to_string());
        basic.readings().map(pair).collect()
    }

    fn pair(a: &str, b: &str) -> (String, String) {
        (a.to_owned(), b.to_owned())
    }

    #[test]
    fn text_that_decoding_changes_has_two_readings() {
        for plain in [
            "ci:secret",
            "a:b:c",
            "ci:a=b",
            "ci:a&b/c",
            "ci:50%",
            "ci:%zz",
        ] {
            let (client_id, secret) = plain.split_once(':').unwrap();
            assert_eq!(readings(plain), [pair(client_id, secret)], "{plain}");
        }
        for (text, decoded) in [
            ("a%3Ab:c%20d", pair("a:b", "c d")),
            ("a:b+c", pair("a", "b c")),
            ("a:b%2Bc%3D%3D", pair("a", "b+c==")),
            ("a+b:c", pair("a b", "c")),
        ] {
            let (client_id, secret) = text.split_once(':').unwrap();
            assert_eq!(readings(text), [decoded, pair(client_id, secret)], "{text}");
        }
        // Not UTF-8 after decoding.
        assert_eq!(readings("a:b%ff+"), [pair("a", "b%ff+")]);
    }

    #[test]
    fn malformed_credentials_belong_to_nobody() {
        for malformed in ["", "ci", ":", "ci:", ":secret"] {
            assert_eq!(readings(malformed), [pair("", "")], "{malformed}");
        }
        assert!(Basic::read(b"Bearer abc").is_none());
        assert!(Basic::read(b"Basic").is_none());
        assert!(Basic::read(b"basic !").unwrap().is_malformed());
    }
}
