//! Finds the encoding of an HMAC secret: the one in which it signed the token.
//!
//! Programs disagree about whether a secret is text or encoded bytes. Each encoding is tried, so that the answer is
//! computed and not guessed.

use std::path::Path;

use jeton::key::{Alg, MacAlg};
use jeton::{danger, jws::JwsVerifier};

use super::findings::{EVERYTHING, Section};
use crate::jose::Token;
use crate::keyfile::{KeyFile, Secret, SecretEncoding};
use crate::{input, shell};

/// Returns the encoding, other than that of a symmetric key, in which its secret signed a compact JWS. `secret` is the
/// secret of the key, if the key is not in a key file.
pub(super) fn other_encoding(
    key: &KeyFile,
    secret: Option<&Secret>,
    alg: &str,
    token: &str,
) -> Option<SecretEncoding> {
    let Alg::Mac(alg) = alg.parse().ok()? else {
        return None;
    };
    let of_jwk = match secret {
        Some(_) => Vec::new(),
        None => Secret::of_jwk(key),
    };
    let others = secret.into_iter().chain(&of_jwk);
    let mut others = others.flat_map(Secret::other_encodings);
    let found = others.find(|(_, bytes)| signed(bytes, alg, token));
    found.map(|(encoding, _)| encoding)
}

/// Verifies with a secret of any length: its owner should learn first that it is the right one.
fn signed(secret: &[u8], alg: MacAlg, token: &str) -> bool {
    danger::weak_mac_key(alg, secret).is_ok_and(|key| JwsVerifier::new(&key).verify(token).is_ok())
}

/// Reports a file that is no key file as a secret. Returns `None` if the file is not text, or if the token has no
/// algorithm for a secret.
pub(super) fn check_file(path: &Path, bytes: &[u8], token: &str) -> Option<Section> {
    std::str::from_utf8(bytes).ok()?;
    let Alg::Mac(alg) = Token::alg_of(token)?.parse().ok()? else {
        return None;
    };
    let name = input::name_of(path);
    let mut section = Section::named("keys", &name);
    let mut all = Secret::of_file(bytes).encodings().into_iter();
    let Some((encoding, secret)) = all.find(|(_, secret)| signed(secret, alg, token)) else {
        section.wrong_for(
            EVERYTHING,
            "not a key file, and not the secret that signed the token",
            "the secret was tried as text, base64, base64url and hex",
        );
        return Some(section);
    };
    // A name that is not shown can be a secret.
    let file = if path.to_str() == Some(&name) {
        shell::quoted(&name)
    } else {
        "FILE".into()
    };
    let encoding = encoding.name();
    section.wrong_for(
        EVERYTHING,
        format!("not a key file but a secret: read as {encoding}, it signed the token"),
        &format!(
            "instead of --key, pass `--secret-file {file} --secret-encoding {encoding} --alg {alg}`"
        ),
    );
    let (length, needed) = (secret.len(), alg.key_bytes());
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
        let token = |secret: &[u8]| {
            let key = MacKey::new(MacAlg::HS256, secret).unwrap();
            JwsSigner::new(&key).sign(b"{}").unwrap()
        };
        let secret: [u8; 32] = std::array::from_fn(|index| 200 + index as u8);
        let encoded = token(&secret);
        let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let base64 = base64_simd::STANDARD.encode_to_string(secret);
        let base64url = base64_simd::URL_SAFE.encode_to_string(secret);
        let text = "a text that is long enough for HS256".to_owned();
        for (file, token, encoding) in [
            (base64, &encoded, "base64"),
            (base64url, &encoded, "base64url"),
            (hex.to_uppercase(), &encoded, "hex"),
            (text.clone(), &token(text.as_bytes()), "text"),
        ] {
            for file in [file.clone(), format!("{file}\r\n")] {
                let found = check_file(Path::new("secret"), file.as_bytes(), token);
                let found = found.unwrap().to_text(None);
                let expected = format!("read as {encoding}, it signed the token");
                assert!(found.contains(&expected), "{found}");
                let advice =
                    format!("pass `--secret-file secret --secret-encoding {encoding} --alg HS256`");
                assert!(found.contains(&advice), "{found}");
            }
        }
        assert!(check_file(Path::new("secret"), &[0xff; 32], &encoded).is_none());
        for other in [&b"other"[..], b"", b"\n", b"abc"] {
            let found = check_file(Path::new("secret"), other, &encoded);
            let found = found.unwrap().to_text(None);
            assert!(found.contains("not the secret that signed"), "{found}");
        }
    }
}
