//! The kinds of PASERK. [`paserk`](crate::paserk) has the documentation.

use std::fmt;
use std::ops::RangeInclusive;

/// Length of a local key of any version, bytes.
pub(crate) const LOCAL_KEY_BYTES: usize = 32;

/// Length of a public key of version 1, a SubjectPublicKeyInfo with RSA of 2,048 bits, bytes.
pub(crate) const K1_PUBLIC_BYTES: usize = 294;

/// Length of a secret key of version 1, an RSAPrivateKey of 2,048 bits, bytes: about 1,190. It varies with
/// the sign bytes and leading zeros of its numbers.
const K1_SECRET_BYTES: RangeInclusive<usize> = 1_160..=1_200;

/// A version of PASETO and PASERK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaserkVersion {
    /// RSA-PSS, and AES-CTR with HMAC-SHA-384. Deprecated.
    V1,
    /// Ed25519, and XChaCha20-Poly1305. Deprecated.
    V2,
    /// ECDSA on P-384, and AES-CTR with HMAC-SHA-384. For systems that require NIST algorithms.
    V3,
    /// Ed25519, and XChaCha20 with BLAKE2b. Recommended.
    V4,
}

/// The algorithms of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Nist,
    Sodium,
}

impl Family {
    pub(crate) fn of(version: PaserkVersion) -> Family {
        match version {
            PaserkVersion::V1 | PaserkVersion::V3 => Family::Nist,
            PaserkVersion::V2 | PaserkVersion::V4 => Family::Sodium,
        }
    }
}

/// The contents of a PASERK: a key, an encrypted key, or the id of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Form {
    /// `local`: a key that encrypts and decrypts.
    Local,
    /// `secret`: a key that signs.
    Secret,
    /// `public`: a key that verifies.
    Public,
    /// `lid`: the id of a local key.
    LocalId,
    /// `sid`: the id of a secret key.
    SecretId,
    /// `pid`: the id of a public key.
    PublicId,
    /// `local-wrap`: a local key, encrypted with another key.
    LocalWrap,
    /// `secret-wrap`: a secret key, encrypted with another key.
    SecretWrap,
    /// `local-pw`: a local key, encrypted with a password.
    LocalPassword,
    /// `secret-pw`: a secret key, encrypted with a password.
    SecretPassword,
    /// `seal`: a local key, encrypted to a public key.
    Seal,
}

/// Version and form of a PASERK: the text before its second dot.
///
/// All kinds of the specification are known, so that errors can name them.
/// [`Paserk::parse`](crate::paserk::Paserk::parse) accepts only those that contain an unencrypted key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind {
    version: PaserkVersion,
    form: Form,
}

impl Kind {
    /// `k3.local`
    pub const K3_LOCAL: Kind = Kind::of(PaserkVersion::V3, Form::Local);
    /// `k3.secret`
    pub const K3_SECRET: Kind = Kind::of(PaserkVersion::V3, Form::Secret);
    /// `k3.public`
    pub const K3_PUBLIC: Kind = Kind::of(PaserkVersion::V3, Form::Public);
    /// `k4.local`
    pub const K4_LOCAL: Kind = Kind::of(PaserkVersion::V4, Form::Local);
    /// `k4.secret`
    pub const K4_SECRET: Kind = Kind::of(PaserkVersion::V4, Form::Secret);
    /// `k4.public`
    pub const K4_PUBLIC: Kind = Kind::of(PaserkVersion::V4, Form::Public);

    /// Length of the longest prefix, `k4.secret-wrap.`.
    pub(crate) const PREFIX_BYTES_MAX: usize = 15;

    /// Returns the kind with this version and form.
    ///
    /// ```
    /// use jeton::paserk::{Form, Kind, PaserkVersion};
    /// assert_eq!(Kind::of(PaserkVersion::V3, Form::Seal).to_string(), "k3.seal");
    /// ```
    pub const fn of(version: PaserkVersion, form: Form) -> Kind {
        Kind { version, form }
    }

    /// Returns the version.
    pub fn version(self) -> PaserkVersion {
        self.version
    }

    /// Returns the form.
    pub fn form(self) -> Form {
        self.form
    }

    /// Whether the text is secret: it contains an unencrypted secret key.
    pub fn is_secret(self) -> bool {
        matches!(self.form, Form::Local | Form::Secret)
    }

    /// Splits a text into its kind and the part after the dot.
    pub(crate) fn split(text: &str) -> Option<(Kind, &str)> {
        let version = PaserkVersion::ALL
            .into_iter()
            .find(|version| text.starts_with(version.name()))?;
        let after = text[version.name().len()..].strip_prefix('.')?;
        Form::ALL.into_iter().find_map(|form| {
            let rest = after.strip_prefix(form.name())?.strip_prefix('.')?;
            Some((Kind::of(version, form), rest))
        })
    }

    pub(crate) fn write_prefix(self, text: &mut String) {
        text.push_str(self.version.name());
        text.push('.');
        text.push_str(self.form.name());
        text.push('.');
    }

    /// Returns the length of the key, bytes, if the kind contains an unencrypted key. Only RSA secret keys have
    /// several lengths, because of sign bytes.
    pub(crate) fn key_bytes(self) -> Option<RangeInclusive<usize>> {
        let bytes = match (self.version, self.form) {
            (_, Form::Local) => LOCAL_KEY_BYTES,
            (PaserkVersion::V2 | PaserkVersion::V4, Form::Public) => 32,
            (PaserkVersion::V2 | PaserkVersion::V4, Form::Secret) => 64,
            (PaserkVersion::V3, Form::Public) => 49,
            (PaserkVersion::V3, Form::Secret) => 48,
            (PaserkVersion::V1, Form::Public) => K1_PUBLIC_BYTES,
            (PaserkVersion::V1, Form::Secret) => return Some(K1_SECRET_BYTES),
            _ => return None,
        };
        Some(bytes..=bytes)
    }

    /// Returns the kind of the id of such a key.
    pub(crate) fn id_kind(self) -> Option<Kind> {
        let form = match self.form {
            Form::Local => Form::LocalId,
            Form::Secret => Form::SecretId,
            Form::Public => Form::PublicId,
            _ => return None,
        };
        Some(Kind::of(self.version, form))
    }

    /// Whether this is the kind of an id.
    pub(crate) fn is_id(self) -> bool {
        matches!(self.form, Form::LocalId | Form::SecretId | Form::PublicId)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.version.name(), self.form.name())
    }
}

impl PaserkVersion {
    /// Returns the name of the module with its keys, which is also the start of its tokens.
    pub(crate) const fn module(self) -> &'static str {
        match self {
            PaserkVersion::V1 => "v1",
            PaserkVersion::V2 => "v2",
            PaserkVersion::V3 => "v3",
            PaserkVersion::V4 => "v4",
        }
    }

    const ALL: [PaserkVersion; 4] = [
        PaserkVersion::V1,
        PaserkVersion::V2,
        PaserkVersion::V3,
        PaserkVersion::V4,
    ];

    const fn name(self) -> &'static str {
        match self {
            PaserkVersion::V1 => "k1",
            PaserkVersion::V2 => "k2",
            PaserkVersion::V3 => "k3",
            PaserkVersion::V4 => "k4",
        }
    }
}

impl Form {
    const ALL: [Form; 11] = [
        Form::Local,
        Form::Secret,
        Form::Public,
        Form::LocalId,
        Form::SecretId,
        Form::PublicId,
        Form::LocalWrap,
        Form::SecretWrap,
        Form::LocalPassword,
        Form::SecretPassword,
        Form::Seal,
    ];

    const fn name(self) -> &'static str {
        match self {
            Form::Local => "local",
            Form::Secret => "secret",
            Form::Public => "public",
            Form::LocalId => "lid",
            Form::SecretId => "sid",
            Form::PublicId => "pid",
            Form::LocalWrap => "local-wrap",
            Form::SecretWrap => "secret-wrap",
            Form::LocalPassword => "local-pw",
            Form::SecretPassword => "secret-pw",
            Form::Seal => "seal",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_round_trips_through_its_prefix() {
        for version in PaserkVersion::ALL {
            for form in Form::ALL {
                let kind = Kind::of(version, form);
                let mut prefix = String::new();
                kind.write_prefix(&mut prefix);
                assert!(prefix.len() <= Kind::PREFIX_BYTES_MAX, "{prefix}");
                assert_eq!(Kind::split(&prefix), Some((kind, "")));
                assert_eq!(prefix, format!("{kind}."));
            }
        }
        for text in [
            "",
            "k4",
            "k4.",
            "k4.local",
            "k5.local.",
            "K4.local.",
            "k4.Local.",
            " k4.local.",
            "k4local.",
            "v4.local.",
        ] {
            assert_eq!(Kind::split(text), None, "{text:?}");
        }
    }
}
