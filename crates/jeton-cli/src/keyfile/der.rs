//! Converts DER in PKCS#1 (RFC 8017, appendix A.1) and SEC1 (RFC 5915) to PEM.
//!
//! `openssl pkey -outform DER -traditional` writes these forms. The library reads them as PEM, whose label names
//! the form. In DER, the first elements of the key identify the form.

use zeroize::Zeroizing;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const OCTET_STRING: u8 = 0x04;
/// The characters on one line of PEM (RFC 7468, section 2).
const LINE: usize = 64;

/// Returns whether bytes are DER. No key in text form begins with this byte ("0").
pub(super) fn is(bytes: &[u8]) -> bool {
    bytes.first() == Some(&SEQUENCE)
}

/// Converts a key to PEM, if it has one of these forms.
pub(super) fn in_pem(der: &[u8]) -> Option<Zeroizing<String>> {
    let (parts, _) = part(der, SEQUENCE)?;
    let (first, rest) = part(parts, INTEGER)?;
    let label = match (first, rest.first().copied()?) {
        // A version, 0 or 1. In PKCS#8 a SEQUENCE follows it.
        (&[0 | 1], INTEGER) => "RSA PRIVATE KEY",
        (&[1], OCTET_STRING) => "EC PRIVATE KEY",
        (_, INTEGER) => "RSA PUBLIC KEY",
        _ => return None,
    };
    let base64 = Zeroizing::new(base64_simd::STANDARD.encode_to_string(der));
    let mut pem = Zeroizing::new(String::with_capacity(base64.len() * 2 + 128));
    pem.push_str("-----BEGIN ");
    pem.push_str(label);
    pem.push_str("-----\n");
    let mut left = &base64[..];
    while !left.is_empty() {
        let (line, others) = left.split_at(left.len().min(LINE));
        pem.push_str(line);
        pem.push('\n');
        left = others;
    }
    pem.push_str("-----END ");
    pem.push_str(label);
    pem.push_str("-----\n");
    Some(pem)
}

/// Returns the content of the first element if it has this tag, and the rest.
fn part(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&found, rest) = der.split_first()?;
    let (&length, rest) = rest.split_first()?;
    let (length, rest) = match length {
        0..=0x7f => (usize::from(length), rest),
        0x81 => (usize::from(*rest.first()?), rest.get(1..)?),
        0x82 => {
            let (high, low) = (usize::from(*rest.first()?), usize::from(*rest.get(1)?));
            (high << 8 | low, rest.get(2..)?)
        }
        _ => return None,
    };
    (found == tag && length <= rest.len()).then(|| rest.split_at(length))
}
