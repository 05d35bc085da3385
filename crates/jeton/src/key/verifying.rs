use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::algorithm::Scheme;
use super::jwk::{self, Members, Metadata, Operation};
use super::mismatch::{another_algorithm, another_kind, wrong_jwk_type, wrong_type};
use super::{Headers, KeyId, SigAlg};
use crate::base64;
use crate::crypto::rsa::Strength;
use crate::crypto::{Curve, ecdsa, ed25519, ml_dsa, rsa};
use crate::error::{KeyError, KeyProblem, Result};

/// A public key that verifies signatures of one algorithm.
///
/// ```
/// use jeton::key::{SigAlg, SigningKey, VerifyingKey};
///
/// let key = SigningKey::generate(SigAlg::ES256)?.verifying_key();
/// let same = VerifyingKey::from_pem(&key.to_pem()?)?;
/// assert_eq!(same, key);
/// # Ok::<(), jeton::Error>(())
/// ```
///
/// Two keys are equal if the algorithm and the key material are. The key id, the permitted use and the certificates do
/// not count.
#[derive(Clone)]
pub struct VerifyingKey {
    alg: SigAlg,
    pub(super) public: Arc<Public>,
    key_id: Option<KeyId>,
    metadata: Metadata,
    headers: Headers,
}

/// The public key material of each key type, ready to use and as bytes.
pub(super) enum Public {
    Rsa {
        key: rsa::Public,
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// Its point is uncompressed.
    Ecdsa(ecdsa::Public),
    Ed25519(ed25519::Public),
    MlDsa(ml_dsa::Public),
}

impl Public {
    /// Returns the type of the key, for messages.
    pub(super) const fn key_type(&self) -> &'static str {
        match self {
            Public::Rsa { .. } => "RSA",
            Public::Ecdsa(_) => "EC",
            Public::Ed25519(_) => "Ed25519",
            Public::MlDsa(_) => "ML-DSA",
        }
    }
}

impl VerifyingKey {
    /// Reads a public JWK. The algorithm is its `alg`, or the one that the curve implies. An RSA key without
    /// `alg` needs [`from_jwk_as`](Self::from_jwk_as).
    pub fn from_jwk(text: &str) -> Result<VerifyingKey> {
        Ok(Self::from_members(&Members::parse(text)?, None)?)
    }

    /// Reads a public JWK for this algorithm. A different `alg` is rejected.
    pub fn from_jwk_as(text: &str, alg: SigAlg) -> Result<VerifyingKey> {
        Ok(Self::from_members(&Members::parse(text)?, Some(alg))?)
    }

    /// Returns the key as a JWK. It has `use`, `key_ops` and `x5c` if the key was read from a JWK that had them.
    pub fn to_jwk(&self) -> String {
        self.begin_jwk(Operation::Verify)
            .finish()
            .as_str()
            .to_owned()
    }

    /// Returns the key as a JWK with `use: sig`, as in a published key set. Some verifiers skip keys without it.
    ///
    /// ```
    /// use jeton::key::{SigAlg, SigningKey};
    ///
    /// let key = SigningKey::generate(SigAlg::ES256)?.verifying_key();
    /// assert!(key.to_jwk_with_use().contains(r#""use":"sig""#));
    /// assert!(!key.to_jwk().contains("\"use\""));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn to_jwk_with_use(&self) -> String {
        let mut key = self.clone();
        key.metadata.set_use();
        key.to_jwk()
    }

    /// Returns the same key with certificates, which [`to_jwk`](Self::to_jwk) writes as `x5c` (RFC 7517, section
    /// 4.7). Each is a certificate in DER; the first is that of the key. They are neither validated nor trusted.
    ///
    /// ```
    /// use jeton::key::{SigAlg, SigningKey};
    ///
    /// let key = SigningKey::generate(SigAlg::ES256)?.verifying_key();
    /// # let (leaf, issuer) = ([0x30, 0x00], [0x30, 0x00]);
    /// let key = key.with_certificates(&[&leaf, &issuer]);
    /// assert!(key.to_jwk().contains(r#""x5c":["MAA=","MAA="]"#));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn with_certificates(mut self, chain: &[&[u8]]) -> VerifyingKey {
        self.metadata.set_certificates(chain);
        self
    }

    /// Returns the algorithm.
    pub fn alg(&self) -> SigAlg {
        self.alg
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_ref().map(KeyId::as_str)
    }

    /// Returns the same key with a key id of 1 to 1,024 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<VerifyingKey> {
        self.key_id = Some(KeyId::from_caller(key_id)?);
        self.headers = Headers::new(self.alg.name(), self.key_id());
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
            Public::Ecdsa(key) => {
                let (x, y) = coordinates(key);
                jwk::thumbprint(&[
                    ("crv", key.curve().name()),
                    ("kty", "EC"),
                    ("x", &base64::encode(x)),
                    ("y", &base64::encode(y)),
                ])
            }
            Public::Ed25519(key) => jwk::thumbprint(&[
                ("crv", "Ed25519"),
                ("kty", "OKP"),
                ("x", &base64::encode(key.bytes())),
            ]),
            Public::MlDsa(key) => jwk::thumbprint(&[
                ("alg", self.alg.name()),
                ("kty", "AKP"),
                ("pub", &base64::encode(key.bytes())),
            ]),
        }
    }

    /// Returns the thumbprint as a URI (RFC 9278).
    pub fn thumbprint_uri(&self) -> String {
        jwk::thumbprint_uri(&self.thumbprint())
    }

    pub(crate) fn from_members(
        members: &Members<'_>,
        wanted: Option<SigAlg>,
    ) -> Result<VerifyingKey, KeyError> {
        let alg = Self::public_algorithm(members, wanted)?;
        let public = Public::from_members(members, alg)?;
        Self::from_rest(members, alg, public)
    }

    /// Reads the remaining members of a key whose key material was already read.
    pub(super) fn from_rest(
        members: &Members<'_>,
        alg: SigAlg,
        public: Public,
    ) -> Result<VerifyingKey, KeyError> {
        Ok(VerifyingKey {
            metadata: Metadata::of(members),
            ..Self::from_parts(alg, public, members.key_id()?)
        })
    }

    /// Reads an RSA key below the minimum strength. For [`danger`](crate::danger).
    pub(crate) fn weak_from_members(
        members: &Members<'_>,
        alg: SigAlg,
    ) -> Result<VerifyingKey, KeyError> {
        let alg = Self::public_algorithm(members, Some(alg))?;
        let (n, e) = (members.integer("n")?, members.integer("e")?);
        let public = Public::rsa(alg, Strength::Legacy, &n, &e)?;
        Self::from_rest(members, alg, public)
    }

    /// Returns the algorithm of a public JWK for verification.
    fn public_algorithm(members: &Members<'_>, wanted: Option<SigAlg>) -> Result<SigAlg, KeyError> {
        members.no_private_member()?;
        members.permit(Operation::Verify)?;
        algorithm(members, wanted)
    }

    pub(super) fn from_parts(alg: SigAlg, public: Public, key_id: Option<KeyId>) -> VerifyingKey {
        VerifyingKey {
            alg,
            public: Arc::new(public),
            headers: Headers::new(alg.name(), key_id.as_ref().map(KeyId::as_str)),
            key_id,
            metadata: Metadata::default(),
        }
    }

    /// Starts a public JWK for this operation: the public members and the metadata.
    pub(super) fn begin_jwk(&self, operation: Operation) -> jwk::Writer {
        let writer = jwk::Writer::new(self.alg.scheme().kty())
            .word("alg", self.alg.name())
            .key_id(self.key_id())
            .metadata(&self.metadata, operation);
        match &*self.public {
            Public::Rsa { n, e, .. } => writer.bytes("n", n).bytes("e", e),
            Public::Ecdsa(key) => {
                let (x, y) = coordinates(key);
                let writer = writer.word("crv", key.curve().name());
                writer.bytes("x", x).bytes("y", y)
            }
            Public::Ed25519(key) => writer.word("crv", "Ed25519").bytes("x", key.bytes()),
            Public::MlDsa(key) => writer.bytes("pub", key.bytes()),
        }
    }

    /// Does what the first verification with the key of a pair would do.
    pub(super) fn prepare(&self) {
        if let Public::Ecdsa(key) = &*self.public {
            key.prepare();
        }
    }

    pub(crate) fn headers(&self) -> &Headers {
        &self.headers
    }

    pub(crate) fn id(&self) -> Option<&KeyId> {
        self.key_id.as_ref()
    }

    pub(crate) fn signature_bytes(&self) -> usize {
        match &*self.public {
            Public::Rsa { key, .. } => key.signature_bytes(),
            Public::Ecdsa(key) => key.signature_bytes(),
            Public::Ed25519(_) => ed25519::SIGNATURE_BYTES,
            Public::MlDsa(key) => key.parameter_set().signature_bytes(),
        }
    }

    pub(crate) fn verify_bytes(&self, message: &[u8], signature: &[u8]) -> bool {
        match &*self.public {
            Public::Rsa { key, .. } => key.verify(message, signature),
            Public::Ecdsa(key) => key.verify(message, signature),
            Public::Ed25519(key) => signature
                .try_into()
                .is_ok_and(|signature| key.verify(message, signature)),
            Public::MlDsa(key) => key.verify(message, signature),
        }
    }
}

impl Public {
    /// Returns the bytes that, with the algorithm, make the key.
    fn material(&self) -> [&[u8]; 2] {
        match self {
            Public::Rsa { n, e, .. } => [n, e],
            Public::Ecdsa(key) => [key.point(), &[]],
            Public::Ed25519(key) => [key.bytes(), &[]],
            Public::MlDsa(key) => [key.bytes(), &[]],
        }
    }

    /// Reads the public members for this algorithm.
    pub(super) fn from_members(members: &Members<'_>, alg: SigAlg) -> Result<Public, KeyError> {
        match alg.scheme() {
            Scheme::Rsa(..) => {
                let (n, e) = (members.integer("n")?, members.integer("e")?);
                Public::rsa(alg, Strength::Current, &n, &e)
            }
            Scheme::Ecdsa(curve) => {
                let point = Public::point(members, curve)?;
                Public::ecdsa(curve, &point).map_err(|problem| KeyError::at("x", problem))
            }
            Scheme::Ed25519 => {
                Public::ed25519(&members.coordinate("x", "Ed25519", ed25519::PUBLIC_BYTES)?)
                    .map_err(|problem| KeyError::at("x", problem))
            }
            Scheme::MlDsa(set) => Public::ml_dsa(set, &members.bytes("pub")?)
                .map_err(|problem| KeyError::at("pub", problem)),
        }
    }

    /// Reads the coordinates, and returns an uncompressed point: 4, x, y. It may be off the curve.
    pub(super) fn point(members: &Members<'_>, curve: Curve) -> Result<Vec<u8>, KeyError> {
        let x = members.coordinate("x", curve.name(), curve.bytes())?;
        let y = members.coordinate("y", curve.name(), curve.bytes())?;
        Ok([&[4], x.as_slice(), y.as_slice()].concat())
    }

    pub(super) fn rsa(
        alg: SigAlg,
        strength: Strength,
        n: &[u8],
        e: &[u8],
    ) -> Result<Public, KeyError> {
        let Scheme::Rsa(padding, hash) = alg.scheme() else {
            return Err(wrong_type("RSA", alg.required_key()));
        };
        Ok(Public::Rsa {
            key: rsa::Public::from_parts(padding, hash, strength, n, e)?,
            n: n.to_vec(),
            e: e.to_vec(),
        })
    }

    pub(super) fn ecdsa(curve: Curve, point: &[u8]) -> Result<Public, KeyProblem> {
        Ok(Public::Ecdsa(ecdsa::Public::from_point(curve, point)?))
    }

    /// Reads a compressed point (SEC 1, section 2.3.3; RFC 5480, section 2.2). It is kept uncompressed.
    pub(super) fn ecdsa_compressed(curve: Curve, point: &[u8]) -> Result<Public, KeyProblem> {
        let point = ecdsa::Public::from_compressed(curve, point)?.uncompressed()?;
        Public::ecdsa(curve, &point)
    }

    pub(super) fn ed25519(bytes: &[u8]) -> Result<Public, KeyProblem> {
        Ok(Public::Ed25519(ed25519::Public::from_bytes(bytes)?))
    }

    pub(super) fn ml_dsa(set: ml_dsa::ParameterSet, bytes: &[u8]) -> Result<Public, KeyProblem> {
        Ok(Public::MlDsa(ml_dsa::Public::from_bytes(set, bytes)?))
    }
}

const fn unsupported(member: &'static str, expected: &'static str) -> KeyError {
    KeyError::at(member, KeyProblem::Unsupported).with_expected(expected)
}

/// Determines the algorithm of an asymmetric JWK from `alg`, the curve and the caller. None may contradict
/// another.
pub(super) fn algorithm(members: &Members<'_>, wanted: Option<SigAlg>) -> Result<SigAlg, KeyError> {
    let kty = members.required("kty")?;
    let implied = match &*kty {
        "RSA" => None,
        "EC" => {
            let found = SigAlg::of_curve(&members.required("crv")?);
            let expected = "P-256, P-384, P-521 or secp256k1";
            Some(found.ok_or(unsupported("crv", expected))?)
        }
        "OKP" => Some(match &*members.required("crv")? {
            "Ed25519" => SigAlg::EdDSA,
            _ => return Err(unsupported("crv", "Ed25519")),
        }),
        // Only `alg` names the parameter set, so it is required.
        "AKP" => {
            let alg = members.required("alg")?.parse::<SigAlg>();
            Some(alg.map_err(|_| unsupported("alg", "ML-DSA-44, ML-DSA-65 or ML-DSA-87"))?)
        }
        "oct" => {
            let expected = wanted.map_or("a public key", SigAlg::required_key);
            return Err(wrong_jwk_type(members, expected));
        }
        _ => return Err(unsupported("kty", "EC, OKP, RSA or AKP")),
    };
    let declared = match members.optional("alg")? {
        None => None,
        Some(name) => Some(
            name.parse::<SigAlg>()
                .map_err(|_| another_kind(&name, "a signature algorithm"))?,
        ),
    };
    // Two names of one operation agree.
    let agree = |one: SigAlg, other: SigAlg| one == other || one.scheme() == other.scheme();
    if let (Some(declared), Some(wanted)) = (declared, wanted)
        && !agree(declared, wanted)
    {
        return Err(another_algorithm(declared.name(), wanted.name()));
    }
    let named = declared.or(wanted);
    let alg = (named.or(implied)).ok_or(KeyError::at("alg", KeyProblem::AlgorithmNeeded))?;
    // RSA and AKP keys have no curve that could contradict the algorithm.
    if implied.is_some_and(|implied| !agree(alg, implied)) || alg.scheme().kty() != kty {
        return Err(wrong_jwk_type(members, alg.required_key()));
    }
    Ok(alg)
}

fn coordinates(key: &ecdsa::Public) -> (&[u8], &[u8]) {
    key.point()[1..].split_at(key.curve().bytes())
}

impl From<&VerifyingKey> for VerifyingKey {
    fn from(key: &VerifyingKey) -> Self {
        key.clone()
    }
}

impl PartialEq for VerifyingKey {
    fn eq(&self, other: &Self) -> bool {
        self.alg == other.alg && self.public.material() == other.public.material()
    }
}

impl Eq for VerifyingKey {}

impl Hash for VerifyingKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.alg.hash(state);
        self.public.material().hash(state);
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyingKey")
            .field("alg", &self.alg)
            .field("key_id", &self.key_id())
            .finish_non_exhaustive()
    }
}
