//! Takes the public key of a certificate (RFC 5280, section 4.1). Nothing else of the certificate is read or checked.

use der::asn1::AnyRef;
use der::{Decode as _, Encode as _, Reader as _, Tag, Tagged as _};

use super::pem;
use crate::error::{FoundInput, KeyError, KeyProblem};
use crate::key::der_form::DerForm;
use crate::limits;

/// Returns the SubjectPublicKeyInfo of a certificate in PEM or DER. In PEM it is the first certificate, which is the
/// owner's in a chain.
pub(super) fn public_key(bytes: &[u8]) -> Result<Vec<u8>, KeyError> {
    if bytes.len() > limits::KEY_BYTES {
        let (bytes, limit) = (bytes.len(), limits::KEY_BYTES);
        return Err(KeyError::too_large("certificate", bytes, limit));
    }
    let malformed = || KeyError::at("certificate", KeyProblem::Malformed);
    if DerForm::of(bytes) == Some(DerForm::Certificate) {
        return subject_public_key(bytes).ok_or_else(malformed);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| malformed())?;
    match pem::certificate(text)? {
        Some(der) if DerForm::of(&der) == Some(DerForm::Certificate) => {
            subject_public_key(&der).ok_or_else(malformed)
        }
        Some(_) => Err(malformed()),
        None if text.trim().is_empty() => Err(KeyError::input(FoundInput::Empty)),
        None => Err(KeyError::at("certificate", KeyProblem::Missing)),
    }
}

fn subject_public_key(der: &[u8]) -> Option<Vec<u8>> {
    let certificate = AnyRef::from_der(der).ok()?;
    let key = certificate.sequence(|parts| {
        let signed: AnyRef<'_> = parts.decode()?;
        while !parts.is_finished() {
            let _: AnyRef<'_> = parts.decode()?;
        }
        signed.sequence(|parts| {
            let first: AnyRef<'_> = parts.decode()?;
            // The version is absent in version 1.
            let serial = match first.tag() {
                Tag::Integer => first,
                _ => parts.decode()?,
            };
            // Algorithm, issuer, validity, subject.
            let mut sequences = serial.tag() == Tag::Integer;
            for _ in 0..4 {
                sequences &= parts.decode::<AnyRef<'_>>()?.tag() == Tag::Sequence;
            }
            let key: AnyRef<'_> = parts.decode()?;
            while !parts.is_finished() {
                let _: AnyRef<'_> = parts.decode()?;
            }
            Ok::<_, der::Error>(sequences.then_some(key))
        })
    });
    let key = key.ok()??.to_der().ok()?;
    (DerForm::of(&key) == Some(DerForm::Spki)).then_some(key)
}
