//! Recognizes the form of a DER key by its first elements.

use der::asn1::AnyRef;
use der::{Decode as _, Reader as _, Tag, Tagged as _};

use crate::error::PemLabel;

/// A form of a key, or of a file that contains one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DerForm {
    /// PKCS#8 (RFC 5208, RFC 5958).
    Pkcs8,
    /// An encrypted PKCS#8 (RFC 5958, section 3).
    EncryptedPkcs8,
    /// RSAPrivateKey (RFC 8017, appendix A.1.2).
    Pkcs1Private,
    /// RSAPublicKey (RFC 8017, appendix A.1.1).
    Pkcs1Public,
    /// ECPrivateKey (RFC 5915).
    Sec1,
    /// SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
    Spki,
    /// A certificate or a certificate request.
    Certificate,
    /// A PKCS#12 file (RFC 7292).
    Pkcs12,
}

impl DerForm {
    /// Returns the form, or `None` if the bytes are none of them. The readers check the rest.
    pub(super) fn of(der: &[u8]) -> Option<DerForm> {
        let all = AnyRef::from_der(der).ok()?;
        all.sequence(|parts| {
            let first: AnyRef<'_> = parts.decode()?;
            let second: AnyRef<'_> = parts.decode()?;
            let third = if parts.is_finished() {
                None
            } else {
                Some(parts.decode::<AnyRef<'_>>()?.tag())
            };
            while !parts.is_finished() {
                let _: AnyRef<'_> = parts.decode()?;
            }
            let number = match first.value() {
                [number] => Some(*number),
                _ => None,
            };
            Ok::<_, der::Error>(match (first.tag(), second.tag(), third) {
                (Tag::Integer, Tag::Sequence, _) if number == Some(3) => Some(DerForm::Pkcs12),
                (Tag::Integer, Tag::Sequence, Some(Tag::OctetString)) => Some(DerForm::Pkcs8),
                (Tag::Integer, Tag::OctetString, _) if number == Some(1) => Some(DerForm::Sec1),
                (Tag::Integer, Tag::Integer, None) => Some(DerForm::Pkcs1Public),
                (Tag::Integer, Tag::Integer, Some(Tag::Integer)) => Some(DerForm::Pkcs1Private),
                (Tag::Sequence, Tag::BitString, None) => Some(DerForm::Spki),
                (Tag::Sequence, Tag::OctetString, None) => Some(DerForm::EncryptedPkcs8),
                (Tag::Sequence, Tag::Sequence, Some(Tag::BitString)) => Some(DerForm::Certificate),
                _ => None,
            })
        })
        .ok()
        .flatten()
    }

    /// Returns the PEM label of the form.
    pub(super) fn label(self) -> PemLabel {
        match self {
            DerForm::Pkcs8 => PemLabel::PrivateKey,
            DerForm::EncryptedPkcs8 => PemLabel::EncryptedPrivateKey,
            DerForm::Pkcs1Private => PemLabel::RsaPrivateKey,
            DerForm::Pkcs1Public => PemLabel::RsaPublicKey,
            DerForm::Sec1 => PemLabel::EcPrivateKey,
            DerForm::Spki => PemLabel::PublicKey,
            DerForm::Certificate => PemLabel::Certificate,
            DerForm::Pkcs12 => PemLabel::Pkcs12,
        }
    }
}
