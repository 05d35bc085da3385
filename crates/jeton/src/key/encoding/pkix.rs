//! Keys as PEM (RFC 7468) and DER: PKCS#8 (RFC 5208, RFC 5958), PKCS#1 (RFC 8017, appendix A.1), SEC1
//! (RFC 5915), SubjectPublicKeyInfo (RFC 5280), and ML-DSA (RFC 9881).

use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier};
use der::pem::{self, LineEnding};
use der::{Decode, Encode};
use pkcs1::RsaPublicKeyRef;
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};
use zeroize::Zeroizing;

use super::oid::{
    EC, ED25519, ML_DSA_44, ML_DSA_65, ML_DSA_87, P256, P384, P521, RSA, SECP256K1, curve,
    malformed, named_curve, parameters,
};
use super::pem::{Pem, not_der};
use super::private_key_info::{PrivateKey, are_null, ec_pair};
use super::rsa_private_key::parts_from_pkcs1;
use crate::crypto::ml_dsa::ParameterSet;
use crate::crypto::rsa::Strength;
use crate::crypto::{Curve, ed25519, rsa};
use crate::error::{Error, FoundInput, KeyError, KeyProblem, Result};
use crate::key::algorithm::Scheme;
use crate::key::der_form::DerForm;
use crate::key::mismatch::wrong_type;
use crate::key::signing::Pair;
use crate::key::verifying::Public;
use crate::key::{SigAlg, SigningKey, VerifyingKey};
use crate::limits;

impl SigningKey {
    /// Reads a PEM private key: PKCS#8 (`PRIVATE KEY`), SEC1 (`EC PRIVATE KEY`) or PKCS#1 (`RSA PRIVATE KEY`),
    /// without encryption. An RSA key in PEM has no algorithm; use [`from_pem_as`](Self::from_pem_as).
    ///
    /// ```
    /// use jeton::key::{SigAlg, SigningKey, VerifyingKey};
    ///
    /// let key = SigningKey::generate(SigAlg::ES256)?;
    /// let pem = key.to_pem()?;
    /// assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----"));
    /// assert_eq!(SigningKey::from_pem(&pem)?.alg(), SigAlg::ES256);
    /// let public = key.verifying_key();
    /// assert_eq!(VerifyingKey::from_pem(&public.to_pem()?)?.thumbprint(), public.thumbprint());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_pem(text: &str) -> Result<SigningKey> {
        Ok(read_private_pem(text, None)?)
    }

    /// Reads a PEM private key for this algorithm.
    pub fn from_pem_as(text: &str, alg: SigAlg) -> Result<SigningKey> {
        Ok(read_private_pem(text, Some(alg))?)
    }

    /// Reads a DER private key in PKCS#8 (RFC 5208, RFC 5958).
    pub fn from_der(der: &[u8]) -> Result<SigningKey> {
        Ok(read_private_der(der, None)?)
    }

    /// Reads a DER private key in PKCS#8 for this algorithm.
    pub fn from_der_as(der: &[u8], alg: SigAlg) -> Result<SigningKey> {
        Ok(read_private_der(der, Some(alg))?)
    }

    /// Returns the key as PEM PKCS#8 (`PRIVATE KEY`), which contains the secret. It does not contain the key id,
    /// nor the algorithm of an RSA key.
    pub fn to_pem(&self) -> Result<Zeroizing<String>> {
        write_private_pem(&self.to_der()?)
    }

    /// Returns an RSA key as PEM PKCS#1 (`RSA PRIVATE KEY`), which contains the secret, for programs that read no
    /// other form.
    ///
    /// # Errors
    /// [`KeyProblem::WrongKeyType`] for a key of another type.
    ///
    /// ```
    /// use jeton::key::{SigAlg, SigningKey};
    ///
    /// let key = SigningKey::generate(SigAlg::RS256)?;
    /// let same = SigningKey::from_pem_as(&key.to_pkcs1_pem()?, SigAlg::RS256)?;
    /// assert_eq!(same.verifying_key().to_pkcs1_pem()?, key.verifying_key().to_pkcs1_pem()?);
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn to_pkcs1_pem(&self) -> Result<Zeroizing<String>> {
        match &self.pair {
            Pair::Rsa(pair) => write_private_pkcs1_pem(&pair.pkcs8()?),
            _ => Err(wrong_type(self.pair.key_type(), "RSA").into()),
        }
    }

    /// Returns the key as DER PKCS#8, which contains the secret. It does not contain the key id, nor the algorithm
    /// of an RSA key.
    pub fn to_der(&self) -> Result<Zeroizing<Vec<u8>>> {
        match &self.pair {
            Pair::Rsa(pair) => pair.pkcs8(),
            Pair::Ecdsa(pair) => pair.pkcs8(),
            Pair::Ed25519(pair) => Ok(ed25519_pkcs8(pair)),
            Pair::MlDsa(pair) => pair.pkcs8(),
        }
    }
}

impl VerifyingKey {
    /// Reads a PEM public key: SPKI (`PUBLIC KEY`) or PKCS#1 (`RSA PUBLIC KEY`). An RSA key in PEM has no
    /// algorithm; use [`from_pem_as`](Self::from_pem_as).
    pub fn from_pem(text: &str) -> Result<VerifyingKey> {
        Ok(read_public_pem(text, None, Strength::Current)?)
    }

    /// Reads a PEM public key for this algorithm.
    pub fn from_pem_as(text: &str, alg: SigAlg) -> Result<VerifyingKey> {
        Ok(read_public_pem(text, Some(alg), Strength::Current)?)
    }

    /// Reads a DER SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7).
    pub fn from_der(der: &[u8]) -> Result<VerifyingKey> {
        Ok(read_public_der(der, None, Strength::Current)?)
    }

    /// Reads a DER SubjectPublicKeyInfo for this algorithm.
    pub fn from_der_as(der: &[u8], alg: SigAlg) -> Result<VerifyingKey> {
        Ok(read_public_der(der, Some(alg), Strength::Current)?)
    }

    /// Returns the key as PEM SPKI (`PUBLIC KEY`), without the key id and the algorithm of an RSA key.
    pub fn to_pem(&self) -> Result<String> {
        write_public_pem(&self.public)
    }

    /// Returns an RSA key as PEM PKCS#1 (`RSA PUBLIC KEY`), for programs that read no other form.
    ///
    /// # Errors
    /// [`KeyProblem::WrongKeyType`] for a key of another type.
    pub fn to_pkcs1_pem(&self) -> Result<String> {
        write_public_pkcs1_pem(&self.public)
    }

    /// Returns the key as DER SubjectPublicKeyInfo, without the key id and the algorithm of an RSA key.
    pub fn to_der(&self) -> Result<Vec<u8>> {
        write_spki(&self.public)
    }

    pub(crate) fn weak_from_pem(text: &str, alg: SigAlg) -> Result<VerifyingKey, KeyError> {
        read_public_pem(text, Some(alg), Strength::Legacy)
    }

    pub(crate) fn weak_from_der(der: &[u8], alg: SigAlg) -> Result<VerifyingKey, KeyError> {
        read_public_der(der, Some(alg), Strength::Legacy)
    }
}

/// The key type according to the key itself.
enum Kind {
    Rsa,
    Ec(Curve),
    Ed25519,
    MlDsa(ParameterSet),
}

impl Kind {
    fn of(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Kind, KeyError> {
        let kind = match algorithm.oid {
            RSA => Kind::Rsa,
            ED25519 => Kind::Ed25519,
            ML_DSA_44 => Kind::MlDsa(ParameterSet::MlDsa44),
            ML_DSA_65 => Kind::MlDsa(ParameterSet::MlDsa65),
            ML_DSA_87 => Kind::MlDsa(ParameterSet::MlDsa87),
            EC => Kind::Ec(curve(named_curve(algorithm)?)?),
            _ => {
                return Err(KeyError::at("algorithm", KeyProblem::Unsupported)
                    .with_expected("RSA, EC, Ed25519 or ML-DSA"));
            }
        };
        let are_right = match &kind {
            Kind::Rsa => are_null(algorithm.parameters),
            Kind::Ed25519 | Kind::MlDsa(_) => algorithm.parameters.is_none(),
            Kind::Ec(_) => true,
        };
        are_right.then_some(kind).ok_or_else(|| parameters(()))
    }

    /// Returns the type of the key, for messages.
    fn name(&self) -> &'static str {
        match self {
            Kind::Rsa => "RSA",
            Kind::Ec(curve) => Scheme::Ecdsa(*curve).key_type(),
            Kind::Ed25519 => Scheme::Ed25519.key_type(),
            Kind::MlDsa(set) => Scheme::MlDsa(*set).key_type(),
        }
    }

    /// Returns the algorithm of the caller, if it matches, or the only possible one.
    fn algorithm(&self, wanted: Option<SigAlg>) -> Result<SigAlg, KeyError> {
        let implied = match self {
            Kind::Rsa => None,
            Kind::Ec(curve) => SigAlg::of_scheme(Scheme::Ecdsa(*curve)),
            Kind::Ed25519 => SigAlg::of_scheme(Scheme::Ed25519),
            Kind::MlDsa(set) => SigAlg::of_scheme(Scheme::MlDsa(*set)),
        };
        match (wanted, implied) {
            (Some(wanted), Some(implied)) if wanted.scheme() == implied.scheme() => Ok(wanted),
            (Some(wanted), None) if matches!(wanted.scheme(), Scheme::Rsa(..)) => Ok(wanted),
            (Some(wanted), _) => Err(wrong_type(self.name(), wanted.required_key())),
            (None, Some(implied)) => Ok(implied),
            (None, None) => Err(KeyError::at("alg", KeyProblem::AlgorithmNeeded)),
        }
    }
}

pub(super) fn read_private_pem(text: &str, wanted: Option<SigAlg>) -> Result<SigningKey, KeyError> {
    let pem = Pem::labelled(text)?;
    read_private(pem.form, &pem.der, wanted)
        .map_err(|error| pem.check_label().err().unwrap_or(error))
}

fn read_public_pem(
    text: &str,
    wanted: Option<SigAlg>,
    strength: Strength,
) -> Result<VerifyingKey, KeyError> {
    let pem = Pem::labelled(text)?;
    read_public(pem.form, &pem.der, wanted, strength)
        .map_err(|error| pem.check_label().err().unwrap_or(error))
}

/// Reads a DER private key in any form.
pub(super) fn read_private_der(der: &[u8], wanted: Option<SigAlg>) -> Result<SigningKey, KeyError> {
    bounded(der)?;
    let form = DerForm::of(der).ok_or_else(|| not_der(der))?;
    read_private(form, der, wanted)
}

/// Reads a DER public key in any form.
pub(super) fn read_public_der(
    der: &[u8],
    wanted: Option<SigAlg>,
    strength: Strength,
) -> Result<VerifyingKey, KeyError> {
    bounded(der)?;
    let form = DerForm::of(der).ok_or_else(|| not_der(der))?;
    read_public(form, der, wanted, strength)
}

pub(super) fn read_private(
    form: DerForm,
    der: &[u8],
    wanted: Option<SigAlg>,
) -> Result<SigningKey, KeyError> {
    match form {
        DerForm::Pkcs8 => read_pkcs8(der, wanted),
        DerForm::Sec1 => read_sec1(der, wanted),
        DerForm::Pkcs1Private => {
            let alg = Kind::Rsa.algorithm(wanted)?;
            of_rsa_parts(&parts_from_pkcs1(der)?, alg)
        }
        DerForm::Spki | DerForm::Pkcs1Public => Err(KeyError::new(KeyProblem::PublicGiven)),
        DerForm::EncryptedPkcs8 | DerForm::Certificate | DerForm::Pkcs12 => Err(no_key(form)),
    }
}

pub(super) fn read_public(
    form: DerForm,
    der: &[u8],
    wanted: Option<SigAlg>,
    strength: Strength,
) -> Result<VerifyingKey, KeyError> {
    match form {
        DerForm::Spki => read_spki(der, wanted, strength),
        DerForm::Pkcs1Public => read_rsa_public(der, Kind::Rsa.algorithm(wanted)?, strength),
        DerForm::Pkcs8 | DerForm::Sec1 | DerForm::Pkcs1Private => {
            Err(KeyError::new(KeyProblem::PrivateGiven))
        }
        DerForm::EncryptedPkcs8 | DerForm::Certificate | DerForm::Pkcs12 => Err(no_key(form)),
    }
}

/// Returns the error for a form that is no readable key.
pub(super) fn no_key(form: DerForm) -> KeyError {
    match form {
        DerForm::EncryptedPkcs8 => KeyError::input(FoundInput::EncryptedPkcs8),
        DerForm::Certificate => KeyError::input(FoundInput::Certificate),
        DerForm::Pkcs12 => KeyError::input(FoundInput::Pkcs12),
        _ => KeyError::new(KeyProblem::Malformed),
    }
}

fn read_pkcs8(der: &[u8], wanted: Option<SigAlg>) -> Result<SigningKey, KeyError> {
    bounded(der)?;
    let key = PrivateKey::read(der)?;
    let kind = Kind::of(&key.algorithm)?;
    let alg = kind.algorithm(wanted)?;
    let pair = match kind {
        Kind::Rsa => return of_rsa_parts(&key.rsa_parts()?, alg),
        Kind::Ec(curve) => Pair::Ecdsa(key.ecdsa(curve)?),
        Kind::MlDsa(set) => Pair::MlDsa(key.ml_dsa(set)?),
        Kind::Ed25519 => {
            let pair = ed25519::Pair::from_seed(key.octets_32()?).map_err(KeyError::new)?;
            key.check_public(&pair.public_bytes())?;
            Pair::Ed25519(pair)
        }
    };
    SigningKey::of_pair(alg, pair)
}

fn of_rsa_parts(parts: &rsa::Parts, alg: SigAlg) -> Result<SigningKey, KeyError> {
    // The error of the public key names the invalid member.
    Public::rsa(alg, Strength::Current, &parts.n, &parts.e)?;
    let pair = rsa::Pair::from_parts(parts).map_err(KeyError::new)?;
    SigningKey::of_pair(alg, Pair::Rsa(pair))
}

fn read_sec1(der: &[u8], wanted: Option<SigAlg>) -> Result<SigningKey, KeyError> {
    let pair = ec_pair(der, None, None)?;
    let alg = Kind::Ec(pair.curve()).algorithm(wanted)?;
    SigningKey::of_pair(alg, Pair::Ecdsa(pair))
}

fn read_spki(
    der: &[u8],
    wanted: Option<SigAlg>,
    strength: Strength,
) -> Result<VerifyingKey, KeyError> {
    bounded(der)?;
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(malformed)?;
    let kind = Kind::of(&info.algorithm)?;
    let alg = kind.algorithm(wanted)?;
    let bits = info
        .subject_public_key
        .as_bytes()
        .ok_or(KeyError::new(KeyProblem::Malformed))?;
    let public = match kind {
        Kind::Rsa => return read_rsa_public(bits, alg, strength),
        Kind::Ec(curve) if matches!(bits.first(), Some(2 | 3)) => {
            Public::ecdsa_compressed(curve, bits)
        }
        Kind::Ec(curve) => Public::ecdsa(curve, bits),
        Kind::Ed25519 => Public::ed25519(bits),
        Kind::MlDsa(set) => Public::ml_dsa(set, bits),
    };
    let public = public.map_err(|problem| KeyError::at("subjectPublicKey", problem))?;
    Ok(VerifyingKey::from_parts(alg, public, None))
}

fn read_rsa_public(der: &[u8], alg: SigAlg, strength: Strength) -> Result<VerifyingKey, KeyError> {
    let key = RsaPublicKeyRef::from_der(der).map_err(malformed)?;
    let (n, e) = (key.modulus.as_bytes(), key.public_exponent.as_bytes());
    let public = Public::rsa(alg, strength, n, e)?;
    Ok(VerifyingKey::from_parts(alg, public, None))
}

pub(super) fn bounded(der: &[u8]) -> Result<(), KeyError> {
    if der.len() > limits::KEY_BYTES {
        return Err(KeyError::too_large("DER", der.len(), limits::KEY_BYTES));
    }
    Ok(())
}

/// Returns PKCS#8 version 1 (RFC 8410, section 7), which all implementations support.
fn ed25519_pkcs8(pair: &ed25519::Pair) -> Zeroizing<Vec<u8>> {
    let prefix: [u8; 16] = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    let mut der = Zeroizing::new(Vec::with_capacity(prefix.len() + ed25519::SEED_BYTES));
    der.extend_from_slice(&prefix);
    der.extend_from_slice(pair.seed());
    der
}

pub(super) fn write_private_pem(pkcs8: &[u8]) -> Result<Zeroizing<String>> {
    pem::encode_string("PRIVATE KEY", LineEnding::LF, pkcs8)
        .map(Zeroizing::new)
        .map_err(|_| Error::Primitive)
}

fn write_public_pem(public: &Public) -> Result<String> {
    pem::encode_string("PUBLIC KEY", LineEnding::LF, &write_spki(public)?)
        .map_err(|_| Error::Primitive)
}

fn write_public_pkcs1_pem(public: &Public) -> Result<String> {
    let Public::Rsa { n, e, .. } = public else {
        return Err(wrong_type(public.key_type(), "RSA").into());
    };
    let encode = || -> der::Result<Vec<u8>> {
        let key = RsaPublicKeyRef {
            modulus: der::asn1::UintRef::new(n)?,
            public_exponent: der::asn1::UintRef::new(e)?,
        };
        key.to_der()
    };
    let der = encode().map_err(|_| Error::Primitive)?;
    pem::encode_string("RSA PUBLIC KEY", LineEnding::LF, &der).map_err(|_| Error::Primitive)
}

fn write_private_pkcs1_pem(pkcs8: &[u8]) -> Result<Zeroizing<String>> {
    let pkcs1 = rsa::own_pkcs1(pkcs8)?;
    pem::encode_string("RSA PRIVATE KEY", LineEnding::LF, pkcs1)
        .map(Zeroizing::new)
        .map_err(|_| Error::Primitive)
}

pub(super) fn write_spki(public: &Public) -> Result<Vec<u8>> {
    let encode = || -> der::Result<Vec<u8>> {
        let curve_oid;
        let rsa_der;
        let (oid, parameters, bits): (_, Option<AnyRef<'_>>, &[u8]) = match public {
            Public::Rsa { n, e, .. } => {
                let key = RsaPublicKeyRef {
                    modulus: der::asn1::UintRef::new(n)?,
                    public_exponent: der::asn1::UintRef::new(e)?,
                };
                rsa_der = key.to_der()?;
                (RSA, Some(AnyRef::NULL), &rsa_der)
            }
            Public::Ecdsa(key) => {
                curve_oid = match key.curve() {
                    Curve::P256 => P256,
                    Curve::P384 => P384,
                    Curve::P521 => P521,
                    Curve::Secp256k1 => SECP256K1,
                };
                (EC, Some((&curve_oid).into()), key.point())
            }
            Public::Ed25519(key) => (ED25519, None, key.bytes()),
            Public::MlDsa(key) => (ml_dsa_oid(key.parameter_set()), None, key.bytes()),
        };
        SubjectPublicKeyInfoRef {
            algorithm: AlgorithmIdentifierRef { oid, parameters },
            subject_public_key: BitStringRef::from_bytes(bits)?,
        }
        .to_der()
    };
    encode().map_err(|_| Error::Primitive)
}

fn ml_dsa_oid(set: ParameterSet) -> ObjectIdentifier {
    match set {
        ParameterSet::MlDsa44 => ML_DSA_44,
        ParameterSet::MlDsa65 => ML_DSA_65,
        ParameterSet::MlDsa87 => ML_DSA_87,
    }
}
