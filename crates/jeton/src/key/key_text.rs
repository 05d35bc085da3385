//! Detects the encoding of a key that is passed as a secret.
//!
//! A random secret must never be detected as a key, because a generated key must load again. So DER is only
//! detected if all bytes belong to it, and PASERK only in text. OpenSSH is only detected if a word is the
//! base64 of a key. Keys in base64 are detected too: identity providers publish keys and `x5c` contains certificates in
//! this form, and environment variables often do. The same applies to hexadecimal, percent-encoding, quotation
//! marks and UTF-16, which some shells write to files.

use der::asn1::{AnyRef, OctetStringRef};
use der::{Decode, Reader as _, Tag, Tagged as _};
use pkcs1::{RsaPrivateKeyRef, RsaPublicKeyRef};
use pkcs8::PrivateKeyInfoRef;
use sec1::EcPrivateKey;
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use zeroize::Zeroizing;

/// Whether the bytes are the encoding of a public or private key, or of a certificate. Base64, hexadecimal
/// and percent-encoding are decoded, also one inside another, in UTF-8, UTF-16 or UTF-32.
pub(crate) fn is_key_text(bytes: &[u8]) -> bool {
    is_key_text_within(bytes, 2)
}

/// The same with a maximum number of outer encodings.
fn is_key_text_within(bytes: &[u8], layers: u8) -> bool {
    let is_inside = |text: &[u8]| {
        let mut decoders = [base64, hexadecimal, percent_decoded].into_iter();
        decoders
            .any(|decode| decode(text).is_some_and(|inner| is_key_text_within(&inner, layers - 1)))
    };
    let is = |text: &[u8]| is_bare_key_text(text) || (layers > 0 && is_inside(text));
    is(bytes) || narrowed(bytes).is_some_and(|text| is(&text))
}

/// Whether the bytes are text in UTF-16 or UTF-32.
pub(super) fn is_wide(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xff\xfe")
        || bytes.starts_with(b"\xfe\xff")
        || narrowed(bytes).is_some_and(|text| text.is_ascii())
}

/// Decodes UTF-16 and UTF-32 of ASCII text in both byte orders. At least a third of such bytes are zero,
/// which does not happen in a random secret.
fn narrowed(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let zeros = bytes.iter().filter(|byte| **byte == 0).count();
    let narrow = || bytes.iter().copied().filter(|byte| *byte != 0);
    (zeros >= bytes.len().div_ceil(3) && zeros > 0).then(|| Zeroizing::new(narrow().collect()))
}

fn is_bare_key_text(bytes: &[u8]) -> bool {
    let text = trimmed(bytes);
    has_frame(text)
        || is_jwk(text)
        || has_paserk(text)
        || has_open_ssh_key(text)
        || has_xml_key(text)
        || is_der(bytes)
}

/// Whether there is a PEM line: hyphens before BEGIN or END. The space after the hyphens is not checked. PEM
/// has five hyphens, public keys of SSH (RFC 4716, section 3.1) have four and a space.
fn has_frame(text: &[u8]) -> bool {
    let is_word = |at: &usize| {
        let mut words = [&b"BEGIN"[..], b"END"].into_iter();
        words.any(|word| {
            let there = text.get(*at..at + word.len());
            there.is_some_and(|there| there.eq_ignore_ascii_case(word))
        })
    };
    let mut words = (0..text.len()).filter(is_word);
    words.any(|at| text[..at].trim_ascii_end().ends_with(b"----"))
}

/// Whether the text contains a key type as in JSON: in an object or a list, or in an object inside a string,
/// a script or a configuration.
fn is_jwk(text: &[u8]) -> bool {
    let is = match text.first() {
        Some(b'{' | b'[') => has_quoted_kty,
        _ => has_kty,
    };
    is(text) || (text.contains(&b'\\') && unescaped(text).is_some_and(|text| is(text.as_bytes())))
}

fn has_quoted_kty(text: &[u8]) -> bool {
    let mut names = [b"\"kty\"", b"'kty'"].into_iter();
    names.any(|name| memchr::memmem::find(text, name).is_some()) || has_kty(text)
}

/// Whether the text contains this name, with or without quotes, followed by a colon.
fn has_kty(text: &[u8]) -> bool {
    const NAME: &[u8] = b"kty";
    let is_name = |at: usize| {
        let mut behind = text[at + NAME.len()..].iter();
        let quote = |byte: &&u8| matches!(byte, b'\\' | b'"' | b'\'') || byte.is_ascii_whitespace();
        !text[..at].last().is_some_and(u8::is_ascii_alphanumeric)
            && behind.find(|byte| !quote(byte)) == Some(&b':')
    };
    memchr::memmem::find_iter(text, NAME).any(is_name) && std::str::from_utf8(text).is_ok()
}

/// Replaces each `\uXXXX` of an ASCII character with the character.
fn unescaped(text: &[u8]) -> Option<Zeroizing<String>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut plain = Zeroizing::new(String::with_capacity(text.len()));
    let mut pieces = text.split("\\u");
    plain.push_str(pieces.next()?);
    for piece in pieces {
        let code = (piece.get(..4)).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) if code.is_ascii() => {
                plain.push(char::from(code));
                plain.push_str(&piece[4..]);
            }
            _ => plain.push_str(piece),
        }
    }
    Some(plain)
}

/// Whether a word of the text is a PASERK: `k4.public.…`.
fn has_paserk(text: &[u8]) -> bool {
    const KINDS: [&[u8]; 7] = [
        b"local", b"public", b"secret", b"seal.", b"lid.", b"pid.", b"sid.",
    ];
    fn kind(word: &[u8]) -> Option<&[u8]> {
        match word {
            [b'k', b'1'..=b'4', b'.', kind @ ..] if kind.contains(&b'.') => Some(kind),
            _ => None,
        }
    }
    let is_known = |word: &[u8]| {
        kind(word).is_some_and(|kind| KINDS.iter().any(|known| kind.starts_with(known)))
    };
    text.is_ascii()
        && (kind(text).is_some_and(|kind| kind[0].is_ascii_lowercase())
            || words(text).any(is_known))
}

/// Whether the text contains an RSA key in the XML form of .NET (XML Signature, section 4.5.2.2).
fn has_xml_key(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"RSAKeyValue>").is_some()
}

/// Whether a word is an OpenSSH public key: a line of `authorized_keys` or `known_hosts`, or only the base64
/// of the key. That starts with a length of four bytes, which is small, and the name of the algorithm (RFC
/// 4253, section 6.6).
pub(super) fn has_open_ssh_key(text: &[u8]) -> bool {
    const NAMES: [&[u8]; 5] = [b"ssh-", b"ecdsa-sh", b"sk-ssh-", b"sk-ecdsa", b"webauthn"];
    let is_key = |word: &[u8]| {
        let Some(start) = word.get(..16).filter(|start| start.starts_with(b"AAAA")) else {
            return false;
        };
        base64(start).is_some_and(|bytes| {
            matches!(bytes.split_first_chunk(), Some(([0, 0, 0, 0..64], name))
                if NAMES.iter().any(|start| name.starts_with(start)))
        })
    };
    words(text).any(is_key)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b',' | b'=' | b':' | b'\\')
    })
}

/// Removes byte order marks, white space, quotation marks and line continuations around the text.
fn trimmed(bytes: &[u8]) -> &[u8] {
    const BYTE_ORDER_MARKS: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let is_around =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0 | b'"' | b'\'' | b',' | b';');
    let mut text = bytes;
    while let Some((last, rest)) = text.split_last()
        && is_around(last)
    {
        text = rest;
    }
    loop {
        let mark = BYTE_ORDER_MARKS.iter().find(|mark| text.starts_with(mark));
        text = match (text.first(), mark) {
            (_, Some(mark)) => &text[mark.len()..],
            (Some(first), None) if is_around(first) => &text[1..],
            _ => return text,
        };
    }
}

/// Decodes base64 if all bytes belong to it: either alphabet, with or without padding, with line breaks, which
/// may be written as `\n`, or in a `data:` URL (RFC 2397).
pub(super) fn base64(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    const BEFORE: &[u8] = b";base64,";
    let text = trimmed(bytes);
    let text = match memchr::memmem::find(text, BEFORE) {
        Some(at) => &text[at + BEFORE.len()..],
        None => text,
    };
    let is_line_end = |at: usize| {
        let is = |at: usize| matches!(text.get(at..at + 2), Some(b"\\n" | b"\\r"));
        is(at) || (at > 0 && is(at - 1))
    };
    let kept = text.iter().enumerate().filter(|(at, _)| !is_line_end(*at));
    let standard = kept.map(|(_, byte)| match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => *other,
    });
    let mut text = Zeroizing::new(Vec::with_capacity(text.len()));
    text.extend(standard);
    let length = base64_simd::forgiving_decode_inplace(&mut text).ok()?.len();
    text.truncate(length);
    Some(text)
}

/// Decodes hexadecimal if all bytes belong to it, with optional colons or white space.
fn hexadecimal(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let text = trimmed(bytes);
    let text = text.strip_prefix(b"0x").unwrap_or(text);
    let digits = text
        .iter()
        .filter(|byte| **byte != b':' && !byte.is_ascii_whitespace());
    let mut inner = Zeroizing::new(Vec::with_capacity(text.len() / 2));
    let mut high = None;
    for digit in digits {
        let digit = hex_digit(*digit)?;
        match high.take() {
            None => high = Some(digit),
            Some(high) => inner.push(high << 4 | digit),
        }
    }
    high.is_none().then_some(inner)
}

/// Decodes percent-encoding (RFC 3986, section 2.1), if there is any.
fn percent_decoded(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let mut inner = Zeroizing::new(Vec::with_capacity(bytes.len()));
    let mut left = bytes;
    while let Some((first, rest)) = left.split_first() {
        let byte = match rest {
            [high, low, ..] if *first == b'%' => hex_digit(*high).zip(hex_digit(*low)),
            _ => None,
        };
        match byte {
            Some((high, low)) => inner.push(high << 4 | low),
            None => inner.push(*first),
        }
        left = if byte.is_some() { &rest[2..] } else { rest };
    }
    (inner.len() < bytes.len()).then_some(inner)
}

fn hex_digit(digit: u8) -> Option<u8> {
    let digit = char::from(digit).to_digit(16)?;
    u8::try_from(digit).ok()
}

/// Whether all bytes are the DER of a key, ignoring what may surround a text.
fn is_der(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    AnyRef::from_der_partial(start).is_ok_and(|(_, rest)| {
        trimmed(rest).is_empty() && is_bare_der(&start[..start.len() - rest.len()])
    })
}

fn is_bare_der(bytes: &[u8]) -> bool {
    fn is<'d, T: Decode<'d>>(bytes: &'d [u8]) -> bool {
        T::from_der(bytes).is_ok()
    }
    is::<SubjectPublicKeyInfoRef<'_>>(bytes)
        || is::<PrivateKeyInfoRef<'_>>(bytes)
        || is::<RsaPublicKeyRef<'_>>(bytes)
        || is::<RsaPrivateKeyRef<'_>>(bytes)
        || is::<EcPrivateKey<'_>>(bytes)
        || is_encrypted_private_key(bytes)
        || is_long_sequence(bytes)
}

/// `EncryptedPrivateKeyInfo` (RFC 5208, section 6).
fn is_encrypted_private_key(bytes: &[u8]) -> bool {
    let read = AnyRef::from_der(bytes).and_then(|all| {
        all.sequence(|parts| {
            let _: AlgorithmIdentifierRef<'_> = parts.decode()?;
            let _: &OctetStringRef = parts.decode()?;
            Ok::<(), der::Error>(())
        })
    });
    read.is_ok()
}

/// Whether the bytes are a sequence of more than 127 bytes with complete elements, the first of which is a
/// number or a sequence. That is a certificate, PKCS#12, an EC key with curve parameters, or DSA. Random bytes
/// would need at least four exact bytes and matching lengths.
fn is_long_sequence(bytes: &[u8]) -> bool {
    let read = AnyRef::from_der(bytes).and_then(|all| {
        all.sequence(|parts| {
            let first: AnyRef<'_> = parts.decode()?;
            while !parts.is_finished() {
                let _: AnyRef<'_> = parts.decode()?;
            }
            Ok::<Tag, der::Error>(first.tag())
        })
    });
    bytes.len() > 128 && matches!(read, Ok(Tag::Integer | Tag::Sequence))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use sha2::{Digest as _, Sha256};

    use super::*;
    use crate::key::{SigAlg, SigningKey};

    /// Returns deterministic pseudo-random bytes.
    fn secret(number: u32, length: usize) -> Vec<u8> {
        let blocks = (0u32..).flat_map(|block| {
            let input = [number.to_be_bytes(), block.to_be_bytes()];
            Sha256::digest(input.concat())
        });
        blocks.take(length).collect()
    }

    /// One of 65,536 random secrets of 32 bytes starts with `30 1e`. If it were detected, the key could be
    /// generated, but not loaded again.
    #[test]
    fn random_secret_with_der_prefix_is_not_key_text() {
        let der = [
            (32, &[0x30, 30][..]),
            (48, &[0x30, 46]),
            (64, &[0x30, 62]),
            (130, &[0x30, 0x81, 127]),
            (258, &[0x30, 0x81, 255]),
            (300, &[0x30, 0x82, 0x01, 0x28]),
        ];
        let texts = [
            &b"k4."[..],
            b"  k1.",
            b"ssh-",
            b"ecdsa-sha2-",
            b"AAAA",
            b"{",
            b"----",
            b"\xff\xfe",
            b"\xfe\xff\0",
        ];
        let starts = der.into_iter().chain(texts.map(|text| (32, text)));
        for (length, start) in starts {
            for number in 0..10_000 {
                let mut secret = secret(number, length);
                secret[..start.len()].copy_from_slice(start);
                assert!(!is_key_text(&secret), "{secret:02x?}");
                let text = crate::base64::encode(&secret);
                assert!(!is_key_text(text.as_bytes()), "{text}");
            }
        }
    }

    #[test]
    fn random_secret_of_any_length_is_not_key_text() {
        for length in 32..=512 {
            for number in 0..20 {
                let secret = secret(number, length);
                assert!(!is_key_text(&secret), "{secret:02x?}");
                let text = crate::base64::encode(&secret);
                assert!(!is_key_text(text.as_bytes()), "{text}");
                let text: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
                assert!(!is_key_text(text.as_bytes()), "{text}");
            }
        }
        for text in [
            "correct horse battery staple, end of the list",
            "kty and other words that are in no key at all",
            "100%25 percent of what was asked for: 0x00ff",
            "qrstuvwxyz of the k4.local-host and its kind",
        ] {
            assert!(!is_key_text(text.as_bytes()), "{text}");
        }
        for byte in 0..=255 {
            for length in [16, 32, 64, 256] {
                assert!(!is_key_text(&vec![byte; length]), "{byte:02x}");
            }
        }
    }

    /// Transformations of key text by scripts, settings and web pages.
    #[test]
    fn quoted_or_reencoded_key_is_detected() {
        let key = SigningKey::generate(SigAlg::ES256).unwrap().verifying_key();
        let (jwk, pem, der) = (key.to_jwk(), key.to_pem().unwrap(), key.to_der().unwrap());
        let base64 = base64_simd::STANDARD.encode_to_string(&der);
        let hex = |bytes: &[u8], between: &str| {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            bytes.join(between)
        };
        let quoted = serde_json::Value::from(jwk.as_str()).to_string();
        let paserk = "k4.public.cHFyc3R1dnd4eXp7fH1-f4CBgoOEhYaHiImKi4yNjo8";
        for text in [
            quoted.clone(),
            serde_json::Value::from(quoted).to_string(),
            format!("'{jwk}'"),
            format!("key = {jwk}"),
            format!("\u{feff}\u{feff}\0{jwk}"),
            format!("// public\n{jwk}"),
            jwk.replace("\"kty\"", "kty"),
            "kty: EC\ncrv: P-256\nx: AAAAAAAAAAAAAAAAAAAA".to_owned(),
            jwk.replace('{', "%7B")
                .replace('"', "%22")
                .replace(':', "%3A"),
            pem.replace(' ', "%20").replace('\n', "%0A"),
            pem.replace(' ', "+").replace('\n', ""),
            pem.replace(' ', ""),
            hex(&der, ""),
            hex(&der, ":").to_uppercase(),
            hex(&der, " "),
            format!("0x{}", hex(&der, "")),
            hex(pem.as_bytes(), ""),
            format!("\"{base64}\","),
            format!("{}\\n{}\\n", &base64[..64], &base64[64..]),
            format!("data:application/x-pem-file;base64,{base64}"),
            format!("\"{paserk}\""),
            format!("KEY={paserk}"),
            "<RSAKeyValue><Modulus>AAAA</Modulus><Exponent>AQAB</Exponent></RSAKeyValue>"
                .to_owned(),
        ] {
            assert!(is_key_text(text.as_bytes()), "{text}");
        }
        assert!(is_key_text(&[&der[..], b"\0"].concat()));
        assert!(is_key_text(&[b"\xef\xbb\xbf", &der[..]].concat()));
    }

    #[test]
    fn every_key_encoding_is_detected() {
        for &alg in SigAlg::ALL {
            let key = SigningKey::generate(alg).unwrap();
            let public = key.verifying_key().to_der().unwrap();
            let private = key.to_der().unwrap();
            assert!(is_key_text(&public) && is_key_text(&private), "{alg}");
            // PKCS#8 and SubjectPublicKeyInfo contain PKCS#1 and SEC1.
            let public = SubjectPublicKeyInfoRef::from_der(&public).unwrap();
            let private = PrivateKeyInfoRef::from_der(&private).unwrap();
            let (public, private) = (
                public.subject_public_key.raw_bytes(),
                private.private_key.as_bytes(),
            );
            match alg.name() {
                name if name.starts_with("RS") || name.starts_with("PS") => {
                    assert!(is_key_text(public) && is_key_text(private), "{alg}");
                }
                name if name.starts_with("ES") => assert!(is_key_text(private), "{alg}"),
                _ => {}
            }
        }
        let sequence = |parts: &[&[u8]]| {
            let parts = parts.concat();
            let length = u8::try_from(parts.len()).unwrap();
            let head = match length {
                ..0x80 => vec![0x30, length],
                _ => vec![0x30, 0x81, length],
            };
            [head, parts].concat()
        };
        let ed25519 = sequence(&[b"\x06\x03\x2b\x65\x70"]);
        let ends_in_space = sequence(&[&ed25519, b"\x03\x21\x00", &[7; 31], b" "]);
        assert!(is_key_text(&ends_in_space));
        assert!(is_key_text(
            &[&b"\n"[..], &ends_in_space, b" \r\n"].concat()
        ));
        assert!(!is_key_text(&[&ends_in_space[..], b"\n7"].concat()));
        let pbes2 = sequence(&[b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d"]);
        assert!(
            is_key_text(&sequence(&[&pbes2, b"\x04\x02ab"])),
            "encrypted"
        );
        let part = sequence(&[&[&[0x04, 120][..], &[7; 120]].concat()]);
        assert!(
            is_key_text(&sequence(&[&part, &pbes2, b"\x03\x03\x00ab"])),
            "a certificate"
        );
        assert!(
            is_key_text(&sequence(&[b"\x02\x01\x03", &part, &pbes2])),
            "PKCS#12"
        );
        assert!(
            !is_key_text(&sequence(&[b"\x05\x00", &part, &pbes2])),
            "no key"
        );
    }
}
