use std::fmt;

use zeroize::Zeroizing;

use super::algorithm::Scheme;
use super::jwk::{Members, Operation};
use super::mismatch::wrong_type;
use super::verifying::{self, Public};
use super::{Headers, RsaSize, SigAlg, VerifyingKey};
use crate::crypto::{Curve, SignatureBuffer, ecdsa, ed25519, ml_dsa, rsa};
use crate::error::{Error, KeyError, KeyProblem, Result};

/// A private key that signs with one algorithm.
///
/// ```
/// use jeton::key::{SigAlg, SigningKey};
///
/// let key = SigningKey::generate(SigAlg::EdDSA)?.with_key_id("2026-11")?;
/// let same = SigningKey::from_jwk(&key.to_jwk()?)?;
/// assert_eq!(same.verifying_key().thumbprint(), key.verifying_key().thumbprint());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct SigningKey {
    pub(super) pair: Pair,
    public: VerifyingKey,
}

/// The private key material of each key type.
pub(super) enum Pair {
    Rsa(rsa::Pair),
    Ecdsa(ecdsa::Pair),
    Ed25519(ed25519::Pair),
    MlDsa(ml_dsa::Pair),
}

impl Pair {
    /// Returns the type of the key, for messages.
    pub(super) const fn key_type(&self) -> &'static str {
        match self {
            Pair::Rsa(_) => "RSA",
            Pair::Ecdsa(_) => "EC",
            Pair::Ed25519(_) => "Ed25519",
            Pair::MlDsa(_) => "ML-DSA",
        }
    }
}

impl SigningKey {
    /// Generates a key. RSA keys have 2,048 bits.
    pub fn generate(alg: SigAlg) -> Result<SigningKey> {
        let pair = match alg.scheme() {
            Scheme::Rsa(..) => Pair::Rsa(rsa::Pair::generate(RsaSize::default())?),
            Scheme::Ecdsa(curve) => Pair::Ecdsa(ecdsa::Pair::generate(curve)?),
            Scheme::Ed25519 => Pair::Ed25519(ed25519::Pair::generate()?),
            Scheme::MlDsa(set) => Pair::MlDsa(ml_dsa::Pair::generate(set)?),
        };
        Ok(Self::of_pair(alg, pair)?)
    }

    /// Generates an RSA key of another size than [`generate`](Self::generate). If the algorithm does not use
    /// RSA, this returns [`KeyProblem::WrongKeyType`].
    ///
    /// ```
    /// use jeton::key::{RsaSize, SigAlg, SigningKey};
    /// assert!(SigningKey::generate_rsa(SigAlg::RS256, RsaSize::Bits3072).is_ok());
    /// assert!(SigningKey::generate_rsa(SigAlg::ES256, RsaSize::Bits3072).is_err());
    /// ```
    pub fn generate_rsa(alg: SigAlg, size: RsaSize) -> Result<SigningKey> {
        let Scheme::Rsa(..) = alg.scheme() else {
            return Err(wrong_type("RSA", alg.required_key()).into());
        };
        Ok(Self::of_pair(alg, Pair::Rsa(rsa::Pair::generate(size)?))?)
    }

    /// Reads a private JWK. The algorithm is its `alg`, or the one that the curve implies. An RSA key without
    /// `alg` needs [`from_jwk_as`](Self::from_jwk_as).
    ///
    /// An RSA key must contain `p`, `q`, `dp`, `dq` and `qi`, and must not contain `oth`.
    pub fn from_jwk(text: &str) -> Result<SigningKey> {
        Ok(Self::from_members(&Members::parse(text)?, None)?)
    }

    /// Reads a private JWK for this algorithm. A different `alg` is rejected.
    pub fn from_jwk_as(text: &str, alg: SigAlg) -> Result<SigningKey> {
        Ok(Self::from_members(&Members::parse(text)?, Some(alg))?)
    }

    /// Returns the key as a private JWK, which contains the secret. It has `use`, `key_ops` and `x5c` if the key
    /// was read from a JWK that had them.
    pub fn to_jwk(&self) -> Result<Zeroizing<String>> {
        let writer = self.public.begin_jwk(Operation::Sign);
        Ok(match &self.pair {
            Pair::Ecdsa(pair) => writer.bytes("d", &pair.scalar()?),
            Pair::Ed25519(pair) => writer.bytes("d", pair.seed()),
            Pair::MlDsa(pair) => writer.bytes("priv", pair.seed()),
            Pair::Rsa(pair) => {
                let parts = rsa::Parts::from_own_pkcs8(&pair.pkcs8()?)?;
                writer
                    .bytes("d", &parts.d)
                    .bytes("p", &parts.p)
                    .bytes("q", &parts.q)
                    .bytes("dp", &parts.dp)
                    .bytes("dq", &parts.dq)
                    .bytes("qi", &parts.qi)
            }
        }
        .finish())
    }

    /// Returns the public key, with the same algorithm and key id.
    pub fn verifying_key(&self) -> VerifyingKey {
        self.public.prepare();
        self.public.clone()
    }

    /// Returns the algorithm.
    pub fn alg(&self) -> SigAlg {
        self.public.alg()
    }

    /// Returns the key id (`kid`).
    pub fn key_id(&self) -> Option<&str> {
        self.public.key_id()
    }

    /// Returns the same key with a key id of 1 to 1,024 bytes.
    pub fn with_key_id(mut self, key_id: &str) -> Result<SigningKey> {
        self.public = self.public.with_key_id(key_id)?;
        Ok(self)
    }

    pub(super) fn from_members(
        members: &Members<'_>,
        wanted: Option<SigAlg>,
    ) -> Result<SigningKey, KeyError> {
        let alg = verifying::algorithm(members, wanted)?;
        let private = match alg.scheme() {
            Scheme::MlDsa(_) => "priv",
            _ => "d",
        };
        if !members.has(private) {
            return Err(KeyError::at(private, KeyProblem::PublicGiven));
        }
        members.permit(Operation::Sign)?;
        let (pair, public) = match alg.scheme() {
            Scheme::Ecdsa(curve) => {
                let pair = Self::ecdsa_from_members(members, curve)?;
                let public = Public::Ecdsa(pair.public());
                (Pair::Ecdsa(pair), public)
            }
            Scheme::Ed25519 => {
                let pair = Self::ed25519_from_members(members)?;
                let public = Public::Ed25519(pair.public().map_err(KeyError::new)?);
                (Pair::Ed25519(pair), public)
            }
            Scheme::MlDsa(set) => {
                let public = Public::from_members(members, alg)?;
                let seed = members.fixed("priv", ml_dsa::SEED_BYTES)?;
                let pair = ml_dsa::Pair::from_halves(set, &seed, &members.bytes("pub")?);
                let pair = pair.map_err(|problem| KeyError::at("priv", problem))?;
                (Pair::MlDsa(pair), public)
            }
            Scheme::Rsa(..) => {
                let public = Public::from_members(members, alg)?;
                members.has_primes()?;
                if members.has("oth") {
                    return Err(KeyError::at("oth", KeyProblem::Unsupported));
                }
                let parts = rsa::Parts {
                    n: members.integer("n")?.to_vec(),
                    e: members.integer("e")?.to_vec(),
                    d: members.integer("d")?,
                    p: members.integer("p")?,
                    q: members.integer("q")?,
                    dp: members.integer("dp")?,
                    dq: members.integer("dq")?,
                    qi: members.integer("qi")?,
                };
                let pair = rsa::Pair::from_parts(&parts);
                let pair = pair.map_err(|problem| KeyError::at("d", problem))?;
                (Pair::Rsa(pair), public)
            }
        };
        Ok(SigningKey {
            pair,
            public: VerifyingKey::from_rest(members, alg, public)?,
        })
    }

    /// Reads both halves at once, so that the point is checked once. If that fails, the public half is checked alone: the
    /// error names the invalid member.
    fn ecdsa_from_members(members: &Members<'_>, curve: Curve) -> Result<ecdsa::Pair, KeyError> {
        let point = Public::point(members, curve)?;
        let pair = members.fixed("d", curve.bytes()).and_then(|scalar| {
            ecdsa::Pair::from_halves(curve, &scalar, &point)
                .map_err(|problem| KeyError::at("d", problem))
        });
        pair.or_else(|error| {
            Public::ecdsa(curve, &point).map_err(|problem| KeyError::at("x", problem))?;
            Err(error)
        })
    }

    /// Reads both halves at once, as `ecdsa_from_members` does.
    fn ed25519_from_members(members: &Members<'_>) -> Result<ed25519::Pair, KeyError> {
        let public = members.coordinate("x", "Ed25519", ed25519::PUBLIC_BYTES)?;
        let pair = members.fixed("d", ed25519::SEED_BYTES).and_then(|seed| {
            ed25519::Pair::from_halves(&seed, &public).map_err(|problem| KeyError::at("d", problem))
        });
        pair.or_else(|error| {
            Public::ed25519(&public).map_err(|problem| KeyError::at("x", problem))?;
            Err(error)
        })
    }

    /// Creates a key from the private key material; the public key is computed.
    pub(super) fn of_pair(alg: SigAlg, pair: Pair) -> Result<SigningKey, KeyError> {
        let public = match (&pair, alg.scheme()) {
            (Pair::Ecdsa(pair), Scheme::Ecdsa(curve)) if curve == pair.curve() => {
                Public::Ecdsa(pair.public())
            }
            (Pair::Ed25519(pair), Scheme::Ed25519) => {
                Public::Ed25519(pair.public().map_err(KeyError::new)?)
            }
            (Pair::MlDsa(pair), Scheme::MlDsa(set)) if set == pair.parameter_set() => {
                Public::ml_dsa(set, pair.public_bytes()).map_err(KeyError::new)?
            }
            (Pair::Rsa(pair), Scheme::Rsa(..)) => {
                let pkcs8 = pair
                    .pkcs8()
                    .map_err(|_| KeyError::new(KeyProblem::Invalid))?;
                let parts = rsa::Parts::from_own_pkcs8(&pkcs8)
                    .map_err(|_| KeyError::new(KeyProblem::Invalid))?;
                Public::rsa(alg, rsa::Strength::Current, &parts.n, &parts.e)?
            }
            (pair, _) => return Err(wrong_type(pair.key_type(), alg.required_key())),
        };
        Ok(SigningKey {
            pair,
            public: VerifyingKey::from_parts(alg, public, None),
        })
    }

    pub(crate) fn headers(&self) -> &Headers {
        self.public.headers()
    }

    /// Fills an empty buffer with the signature.
    pub(crate) fn sign_bytes(&self, message: &[u8], signature: &mut SignatureBuffer) -> Result<()> {
        match (&self.pair, self.alg().scheme()) {
            (Pair::Rsa(pair), Scheme::Rsa(padding, hash)) => {
                signature.resize(self.signature_bytes(), 0);
                pair.sign(padding, hash, message, signature)?;
            }
            (Pair::Ecdsa(pair), _) => signature.extend_from_slice(&pair.sign(message)?),
            (Pair::Ed25519(pair), _) => signature.extend_from_slice(&pair.sign(message)?),
            (Pair::MlDsa(pair), _) => {
                signature.resize(pair.parameter_set().signature_bytes(), 0);
                pair.sign(message, signature)?;
            }
            // `of_pair` and `from_members` create no other combination.
            (Pair::Rsa(_), _) => return Err(Error::Primitive),
        }
        Ok(())
    }

    pub(crate) fn signature_bytes(&self) -> usize {
        self.public.signature_bytes()
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("alg", &self.alg())
            .field("key_id", &self.key_id())
            .finish_non_exhaustive()
    }
}
