//! Shared by the PASETO and PASERK vectors: the encodings of their keys.

use jeton::paserk::{Form, Kind, Paserk, PaserkVersion};
use libtest_mimic::Failed;

/// The bytes of a key as in its PASERK, from hexadecimal or PEM; `None` if it is neither.
pub(crate) fn key_bytes(written: &str) -> Option<Vec<u8>> {
    if !written.starts_with("-----") {
        return Some(hex(written));
    }
    let (label, der) = der::pem::decode_vec(written.as_bytes()).ok()?;
    if label != "EC PRIVATE KEY" {
        return Some(der);
    }
    let key = <sec1::EcPrivateKey<'_> as der::Decode<'_>>::from_der(&der).ok()?;
    Some(key.private_key.to_vec())
}

/// The PASERK of a valid key.
pub(crate) fn paserk(version: PaserkVersion, form: Form, written: &str) -> Result<String, Failed> {
    let bytes = key_bytes(written).ok_or("neither hexadecimal nor PEM")?;
    let paserk = Paserk::from_bytes(Kind::of(version, form), &bytes)?;
    Ok(paserk.to_text().to_string())
}

pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits = digits.as_bytes().chunks(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(one: T, other: T) -> Result<(), Failed> {
    if one == other {
        return Ok(());
    }
    Err(format!("{one:?} is not {other:?}").into())
}
