use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::encryption_algorithm::Management;
use super::jwk::{self, Members};
use super::mismatch::{another_algorithm, another_kind, wrong_jwk_type, wrong_type};
use super::{KeyId, KeyManagementAlg};
use crate::base64;
use crate::crypto::ecdh::{self, Group};
use crate::crypto::rsa_encryption;
use crate::error::{KeyError, KeyProblem, Result};

/// A public key that encrypts with one key management algorithm.
///
/// ```
/// use jeton::key::{DecryptionKey, EncryptionKey, KeyManagementAlg};
///
/// let key = DecryptionKey::generate_x25519(KeyManagementAlg::EcdhEsA256Kw)?.encryption_key();
/// let same = EncryptionKey::from_jwk(&key.to_jwk())?;
/// assert_eq!(same, key);
/// # Ok::<(), jeton::Error>(())
/// ```
///
/// Two keys are equal if the algorithm and the key material are. The key id does not count.
#[derive(Clone)]
pub struct EncryptionKey {
    alg: KeyManagementAlg,
    public: Arc<Public>,
    key_id: Option<KeyId>,
}

/// The public key material of each key type, ready to use and as bytes.
pub(crate) enum Public {
    Rsa {
        key: rsa_encryption::Public,
        n: Vec<u8>,
        e: Vec<u8>,
    },
    Ecdh(ecdh::Public),
}

impl Public {
    /// Returns the type, and the bytes that, with the algorithm, make the key.
    fn material(&self) -> (&'static str, [&[u8]; 2]) {
        match self {
            Public::Rsa { n, e, .. } => ("RSA", [n, e]),
            Public::Ecdh(key) => (crv(key.group()), [key.bytes(), &[]]),
        }
    }
}

impl EncryptionKey {
    /// Reads a public JWK with `alg`. Without `alg`, an X25519 key, or a key on another curve with `use: enc`, is
    /// for plain ECDH-ES. `use`, if present, must be `enc`. `key_ops`, if present, must contain `encrypt` or
    /// `wrapKey` for RSA, `deriveKey` or `deriveBits` for ECDH.
    pub fn from_jwk(text: &str) -> Result<EncryptionKey> {
        Ok(Self::from_members(&Members::parse(text)?, None)?)
    }

    /// Reads a public JWK for this algorithm. A different `alg` is rejected.
    pub fn from_jwk_as(text: &str, alg: KeyManagementAlg) -> Result<EncryptionKey> {
        Ok(Self::from_members(&Members::parse(text)?, Some(alg))?)
    }

    /// Returns the key as a JWK with `use: enc`.
    pub fn to_jwk(&self) -> String {
        self.public_members().finish().as_str().to_owned()
    }

    /// Returns the algorithm.
    pub fn alg(&self) -> KeyManagementAlg {
        self.alg
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_ref().map(KeyId::as_str)
    }

    /// Returns the same key with a key id of 1 to 1,024 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<EncryptionKey> {
        self.key_id = Some(KeyId::from_caller(key_id)?);
        Ok(self)
    }

    /// Returns the SHA-256 thumbprint, base64url (RFC 7638).
    pub fn thumbprint(&self) -> String {
        match &*self.public {
            Public::Rsa { n, e, .. } => jwk::thumbprint(&[
                ("e", &base64::encode(e)),
                ("kty", "RSA"),
                ("n", &base64::encode(n)),
            ]),
            Public::Ecdh(key) => match key.group() {
                Group::P256 | Group::P384 | Group::P521 => {
                    let (x, y) = key.bytes()[1..].split_at(key.group().bytes());
                    jwk::thumbprint(&[
                        ("crv", crv(key.group())),
                        ("kty", "EC"),
                        ("x", &base64::encode(x)),
                        ("y", &base64::encode(y)),
                    ])
                }
                Group::X25519 => jwk::thumbprint(&[
                    ("crv", crv(key.group())),
                    ("kty", "OKP"),
                    ("x", &base64::encode(key.bytes())),
                ]),
            },
        }
    }

    /// Returns the thumbprint as a URI (RFC 9278).
    pub fn thumbprint_uri(&self) -> String {
        jwk::thumbprint_uri(&self.thumbprint())
    }

    pub(crate) fn from_members(
        members: &Members<'_>,
        wanted: Option<KeyManagementAlg>,
    ) -> Result<EncryptionKey, KeyError> {
        members.no_private_member()?;
        let alg = algorithm(members, wanted)?;
        members.permit_one_of(
            "enc",
            match alg.management() {
                Management::Rsa(_) => &["encrypt", "wrapKey"],
                Management::Ecdh(_) => &["deriveKey", "deriveBits"],
            },
        )?;
        let public = Public::from_members(members, alg)?;
        Ok(Self::from_parts(alg, public, members.key_id()?))
    }

    pub(super) fn from_parts(
        alg: KeyManagementAlg,
        public: Public,
        key_id: Option<KeyId>,
    ) -> EncryptionKey {
        EncryptionKey {
            alg,
            public: Arc::new(public),
            key_id,
        }
    }

    /// Starts a JWK with all members except the private ones.
    pub(super) fn public_members(&self) -> jwk::Writer {
        let kty = match &*self.public {
            Public::Rsa { .. } => "RSA",
            Public::Ecdh(key) if key.group() == Group::X25519 => "OKP",
            Public::Ecdh(_) => "EC",
        };
        let writer = jwk::Writer::new(kty)
            .word("alg", self.alg.name())
            .word("use", "enc")
            .key_id(self.key_id());
        match &*self.public {
            Public::Rsa { n, e, .. } => writer.bytes("n", n).bytes("e", e),
            Public::Ecdh(key) => {
                let writer = writer.word("crv", crv(key.group()));
                match key.group() {
                    Group::P256 | Group::P384 | Group::P521 => {
                        let (x, y) = key.bytes()[1..].split_at(key.group().bytes());
                        writer.bytes("x", x).bytes("y", y)
                    }
                    Group::X25519 => writer.bytes("x", key.bytes()),
                }
            }
        }
    }

    pub(crate) fn public(&self) -> &Public {
        &self.public
    }

    /// Returns the modulus of an RSA key.
    pub(super) fn modulus(&self) -> Option<&[u8]> {
        match &*self.public {
            Public::Rsa { n, .. } => Some(n),
            Public::Ecdh(_) => None,
        }
    }

    pub(super) fn with_id(mut self, key_id: Option<KeyId>) -> EncryptionKey {
        self.key_id = key_id;
        self
    }

    pub(super) fn id(&self) -> Option<&KeyId> {
        self.key_id.as_ref()
    }
}

impl Public {
    pub(super) fn from_members(
        members: &Members<'_>,
        alg: KeyManagementAlg,
    ) -> Result<Public, KeyError> {
        match alg.management() {
            Management::Rsa(_) => {
                let (n, e) = (members.integer("n")?, members.integer("e")?);
                Public::rsa(alg, &n, &e)
            }
            Management::Ecdh(_) => {
                let group = group(members)?;
                Public::ecdh(group, &public_bytes(members, group)?)
                    .map_err(|problem| KeyError::at("x", problem))
            }
        }
    }

    pub(super) fn rsa(alg: KeyManagementAlg, n: &[u8], e: &[u8]) -> Result<Public, KeyError> {
        let Management::Rsa(padding) = alg.management() else {
            return Err(wrong_type("RSA", alg.required_key()));
        };
        Ok(Public::Rsa {
            key: rsa_encryption::Public::from_parts(padding, n, e)?,
            n: n.to_vec(),
            e: e.to_vec(),
        })
    }

    /// Reads a point to encrypt to. It must be on its curve, and its shared secrets must not always be zero.
    pub(super) fn ecdh(group: Group, bytes: &[u8]) -> Result<Public, KeyProblem> {
        let public = ecdh::Public::from_bytes(group, bytes)?;
        if public.is_of_small_order() {
            return Err(KeyProblem::Invalid);
        }
        Ok(Public::Ecdh(public))
    }
}

/// Returns whether an optional member has this value. Null counts as absent.
fn is(members: &Members<'_>, name: &'static str, value: &str) -> Result<bool, KeyError> {
    Ok(members.has_value(name) && members.optional(name)?.as_deref() == Some(value))
}

/// Determines the algorithm of an asymmetric JWK from `alg` and the caller. Both must agree with each other
/// and with `kty`.
pub(super) fn algorithm(
    members: &Members<'_>,
    wanted: Option<KeyManagementAlg>,
) -> Result<KeyManagementAlg, KeyError> {
    let declared = members.optional("alg")?;
    let alg = match (&declared, wanted) {
        // A curve that is only for key agreement, or a key with `use: enc`.
        (None, None)
            if is(members, "crv", "X25519")?
                || (is(members, "use", "enc")? && members.has_value("crv")) =>
        {
            KeyManagementAlg::EcdhEs
        }
        (None, None) => return Err(KeyError::at("alg", KeyProblem::AlgorithmNeeded)),
        (None, Some(wanted)) => wanted,
        // Compared by name, because names from the `danger` module do not parse.
        (Some(declared), Some(wanted)) if *declared == wanted.name() => wanted,
        (Some(declared), Some(wanted)) => return Err(another_algorithm(declared, wanted.name())),
        (Some(declared), None) => {
            (declared.parse()).map_err(|_| another_kind(declared, "a key management algorithm"))?
        }
    };
    match (&*members.required("kty")?, alg.management()) {
        ("RSA", Management::Rsa(_)) | ("EC" | "OKP", Management::Ecdh(_)) => Ok(alg),
        ("RSA" | "EC" | "OKP" | "oct", _) => Err(wrong_jwk_type(members, alg.required_key())),
        _ => Err(KeyError::at("kty", KeyProblem::Unsupported).with_expected("EC, OKP or RSA")),
    }
}

/// Returns the group that `kty` and `crv` name.
pub(crate) fn group(members: &Members<'_>) -> Result<Group, KeyError> {
    match (&*members.required("kty")?, &*members.required("crv")?) {
        ("EC", "P-256") => Ok(Group::P256),
        ("EC", "P-384") => Ok(Group::P384),
        ("EC", "P-521") => Ok(Group::P521),
        ("OKP", "X25519") => Ok(Group::X25519),
        ("EC" | "OKP", _) => Err(KeyError::at("crv", KeyProblem::Unsupported)
            .with_expected("P-256, P-384, P-521 or X25519")),
        _ => Err(wrong_jwk_type(members, "EC or OKP")),
    }
}

/// Returns `x` and `y` as an uncompressed point, or `x` alone.
pub(crate) fn public_bytes(members: &Members<'_>, group: Group) -> Result<Vec<u8>, KeyError> {
    let x = members.coordinate("x", crv(group), group.bytes())?;
    match group {
        Group::P256 | Group::P384 | Group::P521 => {
            let y = members.coordinate("y", crv(group), group.bytes())?;
            Ok([&[4], x.as_slice(), y.as_slice()].concat())
        }
        Group::X25519 => Ok(x.to_vec()),
    }
}

pub(crate) fn crv(group: Group) -> &'static str {
    match group {
        Group::P256 => "P-256",
        Group::P384 => "P-384",
        Group::P521 => "P-521",
        Group::X25519 => "X25519",
    }
}

impl PartialEq for EncryptionKey {
    fn eq(&self, other: &Self) -> bool {
        self.alg == other.alg && self.public.material() == other.public.material()
    }
}

impl Eq for EncryptionKey {}

impl Hash for EncryptionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.alg.hash(state);
        self.public.material().hash(state);
    }
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptionKey")
            .field("alg", &self.alg)
            .field("key_id", &self.key_id())
            .finish_non_exhaustive()
    }
}
