//! Encryption keys as PEM and DER. The encodings are those of [`pkix`](super::pkix), with X25519 (RFC 8410)
//! instead of Ed25519.

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier, UintRef};
use der::pem::{self, LineEnding};
use der::{Decode, Encode};
use pkcs1::RsaPublicKeyRef;
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use zeroize::Zeroizing;

use super::oid::{EC, P256, P384, P521, RSA, malformed, named_curve, parameters};
use super::pem::{Pem, not_der};
use super::pkix::{bounded, no_key, write_private_pem};
use super::private_key_info::{PrivateKey, are_null, ec_pair};
use super::rsa_private_key::parts_from_pkcs1;
use crate::crypto::ecdh::{self, Group};
use crate::crypto::ecdsa;
use crate::error::{Error, KeyError, KeyProblem, Result};
use crate::key::decryption::Private;
use crate::key::der_form::DerForm;
use crate::key::encryption::Public;
use crate::key::encryption_algorithm::Management;
use crate::key::mismatch::wrong_type;
use crate::key::{DecryptionKey, EncryptionKey, KeyManagementAlg};

const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");

impl EncryptionKey {
    /// Reads a PEM public key for this algorithm: SPKI (`PUBLIC KEY`) or PKCS#1 (`RSA PUBLIC KEY`).
    ///
    /// ```
    /// use jeton::key::{DecryptionKey, EncryptionKey, KeyManagementAlg};
    ///
    /// let alg = KeyManagementAlg::EcdhEs;
    /// let key = DecryptionKey::generate(alg)?;
    /// let public = EncryptionKey::from_pem_as(&key.encryption_key().to_pem()?, alg)?;
    /// assert_eq!(public.thumbprint(), key.encryption_key().thumbprint());
    /// assert!(DecryptionKey::from_pem_as(&key.to_pem()?, alg).is_ok());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_pem_as(text: &str, alg: KeyManagementAlg) -> Result<EncryptionKey> {
        Ok(read_public_pem(text, alg)?)
    }

    /// Reads a DER SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7) for this algorithm.
    pub fn from_der_as(der: &[u8], alg: KeyManagementAlg) -> Result<EncryptionKey> {
        Ok(read_public_der(der, alg)?)
    }

    /// Returns the key as PEM SPKI (`PUBLIC KEY`), without the algorithm and the key id.
    pub fn to_pem(&self) -> Result<String> {
        write_public_pem(self.public())
    }

    /// Returns the key as DER SubjectPublicKeyInfo, without the algorithm and the key id.
    pub fn to_der(&self) -> Result<Vec<u8>> {
        write_spki(self.public())
    }
}

impl DecryptionKey {
    /// Reads a PEM private key for this algorithm: PKCS#8 (`PRIVATE KEY`), SEC1 (`EC PRIVATE KEY`) or PKCS#1
    /// (`RSA PRIVATE KEY`), without encryption.
    pub fn from_pem_as(text: &str, alg: KeyManagementAlg) -> Result<DecryptionKey> {
        Ok(read_private_pem(text, alg)?)
    }

    /// Reads a DER private key in PKCS#8 (RFC 5208, RFC 5958) for this algorithm.
    pub fn from_der_as(der: &[u8], alg: KeyManagementAlg) -> Result<DecryptionKey> {
        Ok(read_private_der(der, alg)?)
    }

    /// Returns the key as PEM PKCS#8 (`PRIVATE KEY`), which contains the secret, but not the algorithm and the
    /// key id.
    pub fn to_pem(&self) -> Result<Zeroizing<String>> {
        write_private_pem(&self.to_der()?)
    }

    /// Returns the key as DER PKCS#8, which contains the secret, but not the algorithm and the key id.
    pub fn to_der(&self) -> Result<Zeroizing<Vec<u8>>> {
        match self.private() {
            Private::Rsa { pkcs8, .. } => Ok(pkcs8.clone()),
            Private::Ecdh(key) => match key.group().curve() {
                None => Ok(x25519_pkcs8(key.secret())),
                Some(curve) => ecdsa::Pair::from_halves(curve, key.secret(), key.public())
                    .map_err(|_| Error::Primitive)?
                    .pkcs8(),
            },
        }
    }
}

/// The key type according to the key itself.
enum Kind {
    Rsa,
    Ecdh(Group),
}

impl Kind {
    /// Returns the key type, which must match the algorithm.
    fn of(algorithm: &AlgorithmIdentifierRef<'_>, alg: KeyManagementAlg) -> Result<Kind, KeyError> {
        let kind = match algorithm.oid {
            RSA => Kind::Rsa,
            X25519 => Kind::Ecdh(Group::X25519),
            EC => Kind::Ecdh(group(named_curve(algorithm)?)?),
            _ => {
                return Err(KeyError::at("algorithm", KeyProblem::Unsupported)
                    .with_expected("RSA, EC or X25519"));
            }
        };
        let are_right = match &kind {
            Kind::Rsa => are_null(algorithm.parameters),
            Kind::Ecdh(Group::X25519) => algorithm.parameters.is_none(),
            Kind::Ecdh(_) => true,
        };
        if !are_right {
            return Err(parameters(()));
        }
        match (&kind, alg.management()) {
            (Kind::Rsa, Management::Rsa(_)) | (Kind::Ecdh(_), Management::Ecdh(_)) => Ok(kind),
            (Kind::Rsa, _) => Err(wrong_type("RSA", alg.required_key())),
            (Kind::Ecdh(group), _) => Err(wrong_type(group.key_type(), alg.required_key())),
        }
    }
}

const fn unsupported_curve() -> KeyError {
    KeyError::at("curve", KeyProblem::Unsupported).with_expected("P-256, P-384 or P-521")
}

fn group(curve: ObjectIdentifier) -> Result<Group, KeyError> {
    match curve {
        P256 => Ok(Group::P256),
        P384 => Ok(Group::P384),
        P521 => Ok(Group::P521),
        _ => Err(unsupported_curve()),
    }
}

pub(super) fn read_private_pem(
    text: &str,
    alg: KeyManagementAlg,
) -> Result<DecryptionKey, KeyError> {
    let Pem { form, der } = Pem::read(text)?;
    read_private(form, &der, alg)
}

pub(super) fn read_public_pem(
    text: &str,
    alg: KeyManagementAlg,
) -> Result<EncryptionKey, KeyError> {
    let Pem { form, der } = Pem::read(text)?;
    read_public(form, &der, alg)
}

/// Reads a DER private key in any form.
pub(super) fn read_private_der(
    der: &[u8],
    alg: KeyManagementAlg,
) -> Result<DecryptionKey, KeyError> {
    bounded(der)?;
    let form = DerForm::of(der).ok_or_else(|| not_der(der))?;
    read_private(form, der, alg)
}

/// Reads a DER public key in any form.
pub(super) fn read_public_der(
    der: &[u8],
    alg: KeyManagementAlg,
) -> Result<EncryptionKey, KeyError> {
    bounded(der)?;
    let form = DerForm::of(der).ok_or_else(|| not_der(der))?;
    read_public(form, der, alg)
}

pub(super) fn read_private(
    form: DerForm,
    der: &[u8],
    alg: KeyManagementAlg,
) -> Result<DecryptionKey, KeyError> {
    match form {
        DerForm::Pkcs8 => read_pkcs8(der, alg),
        DerForm::Sec1 => read_sec1(der, alg),
        DerForm::Pkcs1Private => DecryptionKey::of_rsa_parts(alg, &parts_from_pkcs1(der)?),
        DerForm::Spki | DerForm::Pkcs1Public => Err(KeyError::new(KeyProblem::PublicGiven)),
        DerForm::EncryptedPkcs8 | DerForm::Certificate | DerForm::Pkcs12 => Err(no_key(form)),
    }
}

pub(super) fn read_public(
    form: DerForm,
    der: &[u8],
    alg: KeyManagementAlg,
) -> Result<EncryptionKey, KeyError> {
    match form {
        DerForm::Spki => read_spki(der, alg),
        DerForm::Pkcs1Public => read_rsa_public(der, alg),
        DerForm::Pkcs8 | DerForm::Sec1 | DerForm::Pkcs1Private => {
            Err(KeyError::new(KeyProblem::PrivateGiven))
        }
        DerForm::EncryptedPkcs8 | DerForm::Certificate | DerForm::Pkcs12 => Err(no_key(form)),
    }
}

fn read_pkcs8(der: &[u8], alg: KeyManagementAlg) -> Result<DecryptionKey, KeyError> {
    let key = PrivateKey::read(der)?;
    let private = match Kind::of(&key.algorithm, alg)? {
        Kind::Rsa => return DecryptionKey::of_rsa_parts(alg, &key.rsa_parts()?),
        Kind::Ecdh(group) => match group.curve() {
            Some(curve) => of_pair(group, &key.ecdsa(curve)?)?,
            None => {
                let private =
                    ecdh::Private::from_secret(group, key.octets_32()?).map_err(KeyError::new)?;
                key.check_public(private.public())?;
                private
            }
        },
    };
    DecryptionKey::of_ecdh(alg, private)
}

fn read_sec1(der: &[u8], alg: KeyManagementAlg) -> Result<DecryptionKey, KeyError> {
    let pair = ec_pair(der, None, None)?;
    let mut groups = [Group::P256, Group::P384, Group::P521].into_iter();
    let group = groups
        .find(|group| group.curve() == Some(pair.curve()))
        .ok_or(unsupported_curve())?;
    DecryptionKey::of_ecdh(alg, of_pair(group, &pair)?)
}

fn of_pair(group: Group, pair: &ecdsa::Pair) -> Result<ecdh::Private, KeyError> {
    let scalar = pair
        .scalar()
        .map_err(|_| KeyError::new(KeyProblem::Invalid))?;
    ecdh::Private::from_secret(group, &scalar).map_err(KeyError::new)
}

fn read_spki(der: &[u8], alg: KeyManagementAlg) -> Result<EncryptionKey, KeyError> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(malformed)?;
    let bits = info
        .subject_public_key
        .as_bytes()
        .ok_or(KeyError::new(KeyProblem::Malformed))?;
    match Kind::of(&info.algorithm, alg)? {
        Kind::Rsa => read_rsa_public(bits, alg),
        Kind::Ecdh(group) => {
            let public = public_point(group, bits)
                .map_err(|problem| KeyError::at("subjectPublicKey", problem))?;
            Ok(EncryptionKey::from_parts(alg, public, None))
        }
    }
}

/// Reads a point that may be compressed (RFC 5480, section 2.2).
fn public_point(group: Group, bits: &[u8]) -> Result<Public, KeyProblem> {
    match (group.curve(), bits.first()) {
        (Some(curve), Some(2 | 3)) => {
            let point = ecdsa::Public::from_compressed(curve, bits)?.uncompressed()?;
            Public::ecdh(group, &point)
        }
        _ => Public::ecdh(group, bits),
    }
}

fn read_rsa_public(der: &[u8], alg: KeyManagementAlg) -> Result<EncryptionKey, KeyError> {
    let key = RsaPublicKeyRef::from_der(der).map_err(malformed)?;
    let public = Public::rsa(alg, key.modulus.as_bytes(), key.public_exponent.as_bytes())?;
    Ok(EncryptionKey::from_parts(alg, public, None))
}

/// Returns PKCS#8 version 1 (RFC 8410, section 7), which all implementations support.
fn x25519_pkcs8(secret: &[u8]) -> Zeroizing<Vec<u8>> {
    let prefix: [u8; 16] = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x6e, 0x04, 0x22, 0x04,
        0x20,
    ];
    let mut der = Zeroizing::new(Vec::with_capacity(prefix.len() + secret.len()));
    der.extend_from_slice(&prefix);
    der.extend_from_slice(secret);
    der
}

fn write_public_pem(public: &Public) -> Result<String> {
    pem::encode_string("PUBLIC KEY", LineEnding::LF, &write_spki(public)?)
        .map_err(|_| Error::Primitive)
}

fn write_spki(public: &Public) -> Result<Vec<u8>> {
    let encode = || -> der::Result<Vec<u8>> {
        let curve;
        let rsa_der;
        let (oid, parameters, bits): (_, Option<AnyRef<'_>>, &[u8]) = match public {
            Public::Rsa { n, e, .. } => {
                let key = RsaPublicKeyRef {
                    modulus: UintRef::new(n)?,
                    public_exponent: UintRef::new(e)?,
                };
                rsa_der = key.to_der()?;
                (RSA, Some(AnyRef::NULL), &rsa_der)
            }
            Public::Ecdh(key) => {
                curve = match key.group() {
                    Group::P256 => Some(P256),
                    Group::P384 => Some(P384),
                    Group::P521 => Some(P521),
                    Group::X25519 => None,
                };
                match &curve {
                    Some(curve) => (EC, Some(curve.into()), key.bytes()),
                    None => (X25519, None, key.bytes()),
                }
            }
        };
        SubjectPublicKeyInfoRef {
            algorithm: AlgorithmIdentifierRef { oid, parameters },
            subject_public_key: BitStringRef::from_bytes(bits)?,
        }
        .to_der()
    };
    encode().map_err(|_| Error::Primitive)
}
