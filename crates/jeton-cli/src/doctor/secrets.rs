//! Finds the encoding of an HMAC secret: the one in which it signed the token.
//!
//! Programs disagree about whether a secret is text or encoded bytes. Each encoding is tried, so that the answer is
//! computed and not guessed.

use jeton::key::{Alg, MacAlg};
use jeton::{danger, jws::JwsVerifier};
use zeroize::Zeroizing;

use super::findings::{EVERYTHING, Section};
use crate::input;
use crate::jose::{self, Token};
use crate::json::Members;
use crate::keyfile::{Form, KeyFile};

/// How a secret is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SecretEncoding {
    Text,
    Base64,
    Base64url,
    Hex,
}

const ALL: [SecretEncoding; 4] = [
    SecretEncoding::Text,
    SecretEncoding::Base64,
    SecretEncoding::Base64url,
    SecretEncoding::Hex,
];

impl SecretEncoding {
    pub(super) fn name(self) -> &'static str {
        match self {
            SecretEncoding::Text => "text",
            SecretEncoding::Base64 => "base64",
            SecretEncoding::Base64url => "base64url",
            SecretEncoding::Hex => "hex",
        }
    }

    fn decode(self, text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        if self == SecretEncoding::Text {
            return Some(Zeroizing::new(text.to_vec()));
        }
        let mut symbols = Zeroizing::new(Vec::with_capacity(text.len()));
        symbols.extend(text.iter().filter(|byte| !byte.is_ascii_whitespace()));
        while symbols.last() == Some(&b'=') {
            symbols.pop();
        }
        let decoded = match self {
            SecretEncoding::Base64 => base64_simd::STANDARD_NO_PAD.decode_to_vec(&*symbols).ok(),
            SecretEncoding::Base64url => base64_simd::URL_SAFE_NO_PAD.decode_to_vec(&*symbols).ok(),
            SecretEncoding::Hex | SecretEncoding::Text => hexadecimal(&symbols),
        };
        decoded.map(Zeroizing::new)
    }
}

fn hexadecimal(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = text.as_chunks::<2>();
    let bytes = pairs
        .iter()
        .map(|[high, low]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok());
    rest.is_empty().then(|| bytes.collect())?
}

/// Returns the encoding in which a secret signed a compact JWS, and the number of its bytes.
pub(super) fn encoding_that_signed(
    secret: &[u8],
    alg: MacAlg,
    token: &str,
) -> Option<(SecretEncoding, usize)> {
    ALL.into_iter().find_map(|encoding| {
        let bytes = encoding.decode(secret)?;
        signed(&bytes, alg, token).then_some((encoding, bytes.len()))
    })
}

/// Verifies with a secret of any length: its owner should learn first that it is the right one.
fn signed(secret: &[u8], alg: MacAlg, token: &str) -> bool {
    danger::weak_mac_key(alg, secret).is_ok_and(|key| JwsVerifier::new(&key).verify(token).is_ok())
}

/// Returns the encoding of the text in `k` of a JWK, if `k` holds more than the base64url of the secret: the text
/// itself, or the base64url of an encoded secret.
pub(super) fn encoding_of_jwk(key: &KeyFile, alg: &str, token: &str) -> Option<SecretEncoding> {
    let Alg::Mac(alg) = alg.parse().ok()? else {
        return None;
    };
    let Form::Jwk(text) = key.form() else {
        return None;
    };
    let Members(members) = Members::loose(text)?;
    let (_, k) = members.iter().find(|(name, _)| name == "k")?;
    let k: Zeroizing<String> = Zeroizing::new(serde_json::from_str(k.get()).ok()?);
    if signed(k.as_bytes(), alg, token) {
        return Some(SecretEncoding::Text);
    }
    let inner = Zeroizing::new(jose::decode(&k)?);
    encoding_that_signed(&inner, alg, token).map(|(encoding, _)| encoding)
}

/// Reports a file that is no key file as a secret. Returns `None` if the token has no algorithm for a secret.
pub(super) fn check_file(name: &str, bytes: &[u8], token: &str) -> Option<Section> {
    let Alg::Mac(alg) = Token::alg_of(token)?.parse().ok()? else {
        return None;
    };
    let mut section = Section::named("keys", name);
    let secret = input::without_line_end(bytes);
    let Some((encoding, length)) = encoding_that_signed(secret, alg, token) else {
        section.wrong_for(
            EVERYTHING,
            "not a key file, and not the secret that signed the token",
            "the secret was tried as text, base64, base64url and hex",
        );
        return Some(section);
    };
    section.wrong_for(
        EVERYTHING,
        format!(
            "not a key file but a secret: read as {}, it signed the token",
            encoding.name()
        ),
        "to verify with it, write a JWK with `kty` oct and the base64url of the bytes of the secret as `k`",
    );
    let needed = alg.key_bytes();
    if length < needed {
        section.wrong(
            format!("the secret has {length} bytes, minimum {needed}"),
            "anyone who has a token can find such a secret: replace it; until then, add `--allow weak-keys`",
        );
    }
    Some(section)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton::jws::JwsSigner;
    use jeton::key::MacKey;

    use super::*;

    #[test]
    fn secret_encoding_is_the_one_that_signed() {
        let secret: [u8; 32] = std::array::from_fn(|index| 200 + index as u8);
        let token = JwsSigner::new(&MacKey::new(MacAlg::HS256, &secret).unwrap())
            .sign(b"{}")
            .unwrap();
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let base64 = base64_simd::STANDARD.encode_to_string(secret);
        for (text, encoding) in [
            (base64.clone().into_bytes(), SecretEncoding::Base64),
            (
                base64.replace('+', "-").replace('/', "_").into_bytes(),
                SecretEncoding::Base64url,
            ),
            (hex.to_uppercase().into_bytes(), SecretEncoding::Hex),
            (secret.to_vec(), SecretEncoding::Text),
        ] {
            let found = encoding_that_signed(&text, MacAlg::HS256, &token);
            assert_eq!(found, Some((encoding, 32)));
        }
        assert_eq!(encoding_that_signed(b"other", MacAlg::HS256, &token), None);
        assert_eq!(encoding_that_signed(b"", MacAlg::HS256, &token), None);
        assert_eq!(encoding_that_signed(b"abc", MacAlg::HS256, &token), None);
    }
}
