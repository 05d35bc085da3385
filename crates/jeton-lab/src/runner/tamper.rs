//! Honest tokens with one bit changed.

use base64_simd::URL_SAFE_NO_PAD;

use crate::suite::Format;

/// Where a token is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Header,
    EncryptedKey,
    Nonce,
    Claims,
    /// The signature, or the tag of an encryption.
    Signature,
}

impl Part {
    /// The parts of a format's tokens, each as it is put in a sentence: "accepts …".
    pub(crate) fn of(format: Format) -> &'static [(&'static str, Part)] {
        match format {
            Format::Jwe => &[
                ("a token whose tag was changed", Part::Signature),
                ("a token whose ciphertext was changed", Part::Claims),
                ("a token whose header was changed", Part::Header),
                ("a token whose nonce was changed", Part::Nonce),
                (
                    "a token whose encrypted key was changed",
                    Part::EncryptedKey,
                ),
            ],
            Format::Opaque => &[("a token that was changed", Part::Signature)],
            _ => &[
                ("a token whose signature was changed", Part::Signature),
                ("a token whose claims were changed", Part::Claims),
                ("a token whose header was changed", Part::Header),
            ],
        }
    }

    /// Its place between the dots.
    fn place(self, format: Format) -> usize {
        match (format, self) {
            (_, Self::Header) | (Format::Opaque, _) => 0,
            (Format::Jwe, Self::EncryptedKey) => 1,
            (Format::Jwe, Self::Nonce) => 2,
            (Format::Jwe, Self::Claims) => 3,
            (Format::Jwe, Self::Signature) => 4,
            (_, Self::Signature) => 2,
            (_, Self::Claims | Self::Nonce | Self::EncryptedKey) => 1,
        }
    }
}

/// The token with one bit changed in one of its parts; it stays well-formed base64url, so that a
/// decoder does not refuse what only the signature should. `None` if there is no such part, or
/// nothing in it.
pub(crate) fn tamper(format: Format, token: &str, part: Part) -> Option<String> {
    let mut parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    if format.is_paseto() {
        if part == Part::Header {
            // The header is not base64 but two words; another version is the nearest lie.
            let other = if parts[0] == "v3" { "v4" } else { "v3" };
            parts[0] = other.into();
            return Some(parts.join("."));
        }
        // Claims (after a nonce, if encrypted) and signature or tag are one base64url text.
        let body = parts.get_mut(2)?;
        let bytes = URL_SAFE_NO_PAD.decode_to_vec(body.as_bytes()).ok()?;
        let at = match part {
            Part::Signature => bytes.len().checked_sub(10)?,
            _ => bytes.len().min(40).checked_sub(1)?,
        };
        *body = flipped(bytes, at)?;
    } else {
        let text = parts.get_mut(part.place(format))?;
        let bytes = URL_SAFE_NO_PAD.decode_to_vec(text.as_bytes()).ok()?;
        // Inside a string of the JSON, so that it stays JSON: `JWT`, `user-…`.
        let find = |needle: &[u8]| bytes.windows(needle.len()).position(|w| w == needle);
        let at = match part {
            Part::Header => find(b"JWT").map(|at| at + 2),
            Part::Claims => find(b"user-").map(|at| at + 4),
            Part::Signature | Part::Nonce | Part::EncryptedKey => None,
        };
        let at = at.unwrap_or(bytes.len() / 2);
        *text = flipped(bytes, at)?;
    }
    Some(parts.join("."))
}

fn flipped(mut bytes: Vec<u8>, at: usize) -> Option<String> {
    *bytes.get_mut(at)? ^= 1;
    Some(URL_SAFE_NO_PAD.encode_to_string(bytes))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_changed_header_is_still_json() {
        let header = json!({"alg": "HS256", "typ": "JWT"}).to_string();
        let token = format!("{}.e30.AAAA", URL_SAFE_NO_PAD.encode_to_string(header));
        let changed = tamper(Format::Jwt, &token, Part::Header).unwrap();
        let header = URL_SAFE_NO_PAD
            .decode_to_vec(changed.split('.').next().unwrap())
            .unwrap();
        let header: Value = serde_json::from_slice(&header).unwrap();
        assert_eq!(
            (&header["alg"], &header["typ"]),
            (&"HS256".into(), &"JWU".into())
        );
    }

    #[test]
    fn one_part_changes_and_the_others_stay() {
        for (_, part) in Part::of(Format::Jwe) {
            let token = "e30.AAAA.BBBB.CCCC.DDDD";
            let changed = tamper(Format::Jwe, token, *part).unwrap();
            let differ = token.split('.').zip(changed.split('.'));
            let differ: Vec<usize> = differ
                .enumerate()
                .filter(|(_, (a, b))| a != b)
                .map(|(i, _)| i)
                .collect();
            assert_eq!(differ, [part.place(Format::Jwe)], "{part:?}");
        }
        let direct = "e30..BBBB.CCCC.DDDD";
        assert_eq!(tamper(Format::Jwe, direct, Part::EncryptedKey), None);
    }
}
