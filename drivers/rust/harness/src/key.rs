//! The keys of an order: JWKs (RFC 7517), and the DER that most libraries want instead.

use crate::protocol::Refusal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use der::asn1::{BitStringRef, ObjectIdentifier, OctetStringRef, UintRef};
use der::{AnyRef, Encode};
use pkcs8::AlgorithmIdentifierRef;
use serde::Deserialize;
use serde_json::Value;

/// The keys of an order, as they arrive.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Keys {
    /// The private JWK, or the symmetric one.
    pub private: Option<Value>,
    /// The public JWK of a signature.
    pub public: Option<Value>,
    /// PASERK texts.
    pub paserk: Option<Paserk>,
}

/// PASERK texts, by their kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Paserk {
    /// `k4.local.…`
    pub local: Option<String>,
    /// `k4.secret.…`
    pub secret: Option<String>,
    /// `k4.public.…`
    pub public: Option<String>,
}

impl Keys {
    /// The private JWK, or the symmetric one.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] if there is none, or it is not a JWK.
    pub fn private(&self) -> Result<Jwk, Refusal> {
        Jwk::parse(self.private.as_ref(), "private")
    }

    /// The public JWK.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] if there is none, or it is not a JWK.
    pub fn public(&self) -> Result<Jwk, Refusal> {
        Jwk::parse(self.public.as_ref(), "public")
    }
}

/// A JWK's members, still in base64url.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Jwk {
    kty: String,
    crv: String,
    k: String,
    x: String,
    y: String,
    n: String,
    e: String,
    d: String,
    p: String,
    q: String,
    dp: String,
    dq: String,
    qi: String,
}

const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

impl Jwk {
    fn parse(value: Option<&Value>, which: &str) -> Result<Self, Refusal> {
        let value = value.ok_or_else(|| Refusal::invalid(format!("no {which} key")))?;
        Self::deserialize(value).map_err(|error| Refusal::invalid(format!("{which} key: {error}")))
    }

    /// A symmetric key's bytes.
    ///
    /// # Errors
    ///
    /// [`Refusal::Invalid`] if this is not an `oct` key; so for every conversion below, with its
    /// own `kty`, and for members that are missing or malformed.
    pub fn secret(&self) -> Result<Vec<u8>, Refusal> {
        self.expect("oct")?;
        bytes("k", &self.k)
    }

    /// An EC public point, uncompressed (SEC 1 section 2.3.3).
    ///
    /// # Errors
    ///
    /// As [`Jwk::secret`].
    pub fn ec_point(&self) -> Result<Vec<u8>, Refusal> {
        self.expect("EC")?;
        let mut point = vec![4];
        point.extend(bytes("x", &self.x)?);
        point.extend(bytes("y", &self.y)?);
        Ok(point)
    }

    /// An EC private scalar, big-endian, of the curve's length.
    ///
    /// # Errors
    ///
    /// As [`Jwk::secret`].
    pub fn ec_scalar(&self) -> Result<Vec<u8>, Refusal> {
        self.expect("EC")?;
        bytes("d", &self.d)
    }

    /// An EC private key in PKCS#8.
    ///
    /// # Errors
    ///
    /// As [`Jwk::secret`].
    pub fn ec_pkcs8(&self) -> Result<Vec<u8>, Refusal> {
        let curve = match self.crv.as_str() {
            "P-256" => P256,
            "P-384" => P384,
            "P-521" => P521,
            other => return Err(Refusal::unsupported(format!("no curve {other:?} here"))),
        };
        let (scalar, point) = (self.ec_scalar()?, self.ec_point()?);
        let inner = sec1::EcPrivateKey {
            private_key: &scalar,
            parameters: None,
            public_key: Some(&point),
        };
        let algorithm = AlgorithmIdentifierRef {
            oid: EC_PUBLIC_KEY,
            parameters: Some(AnyRef::from(&curve)),
        };
        pkcs8(algorithm, &der(&inner)?)
    }

    /// An Ed25519 public key's 32 bytes.
    ///
    /// # Errors
    ///
    /// As [`Jwk::secret`].
    pub fn ed25519_public(&self) -> Result<Vec<u8>, Refusal> {
        self.expect("OKP")?;
        bytes("x", &self.x)
    }

    /// An Ed25519 private key's seed.
    ///
    /// # Errors
    ///
    /// As [`Jwk::secret`].
    pub fn ed25519_seed(&self) -> Result<Vec<u8>, Refusal> {
        self.expect("OKP")?;
        bytes("d", &self.d)
    }

    /// An Ed25519 private key in PKCS#8 (RFC 8410).
    ///
    /// # Errors
    ///
    /// As [`Jwk::secret`].
    pub fn ed25519_pkcs8(&self) -> Result<Vec<u8>, Refusal> {
        let seed = self.ed25519_seed()?;
        let inner = der(&OctetStringRef::new(&seed).map_err(malformed)?)?;
        let algorithm = AlgorithmIdentifierRef {
            oid: ED25519,
            parameters: None,
        };
        pkcs8(algorithm, &inner)
    }

    /// An RSA private key in PKCS#1.
    ///
    /// # Errors
    ///
    /// As [`Jwk::secret`].
    pub fn rsa_pkcs1(&self) -> Result<Vec<u8>, Refusal> {
        self.expect("RSA")?;
        let members = [
            ("n", &self.n),
            ("e", &self.e),
            ("d", &self.d),
            ("p", &self.p),
            ("q", &self.q),
            ("dp", &self.dp),
            ("dq", &self.dq),
            ("qi", &self.qi),
        ];
        let mut numbers = Vec::with_capacity(members.len());
        for (name, text) in members {
            numbers.push(bytes(name, text)?);
        }
        let number = |index: usize| UintRef::new(&numbers[index]).map_err(malformed);
        der(&pkcs1::RsaPrivateKey {
            modulus: number(0)?,
            public_exponent: number(1)?,
            private_exponent: number(2)?,
            prime1: number(3)?,
            prime2: number(4)?,
            exponent1: number(5)?,
            exponent2: number(6)?,
            coefficient: number(7)?,
            other_prime_infos: None,
        })
    }

    /// An RSA public key in PKCS#1.
    ///
    /// # Errors
    ///
    /// As [`Jwk::secret`].
    pub fn rsa_public_pkcs1(&self) -> Result<Vec<u8>, Refusal> {
        self.expect("RSA")?;
        let (n, e) = (bytes("n", &self.n)?, bytes("e", &self.e)?);
        der(&pkcs1::RsaPublicKeyRef {
            modulus: UintRef::new(&n).map_err(malformed)?,
            public_exponent: UintRef::new(&e).map_err(malformed)?,
        })
    }

    fn expect(&self, kty: &str) -> Result<(), Refusal> {
        if self.kty == kty {
            return Ok(());
        }
        Err(Refusal::invalid(format!(
            "the algorithm needs a key of kty {kty:?}, and this one has {:?}",
            self.kty
        )))
    }
}

fn bytes(name: &str, text: &str) -> Result<Vec<u8>, Refusal> {
    match URL_SAFE_NO_PAD.decode(text) {
        Ok(bytes) if !bytes.is_empty() => Ok(bytes),
        _ => Err(Refusal::invalid(format!(
            "key: {name:?} is missing, or not base64url"
        ))),
    }
}

fn pkcs8(algorithm: AlgorithmIdentifierRef<'_>, inner: &[u8]) -> Result<Vec<u8>, Refusal> {
    let inner = OctetStringRef::new(inner).map_err(malformed)?;
    // No public key beside the private one: aws-lc-rs takes version 1 from everybody.
    let info = pkcs8::PrivateKeyInfo::<AnyRef<'_>, &OctetStringRef, BitStringRef<'_>>::new(
        algorithm, inner,
    );
    der(&info)
}

fn der(value: &(impl Encode + ?Sized)) -> Result<Vec<u8>, Refusal> {
    value.to_der().map_err(malformed)
}

fn malformed(error: der::Error) -> Refusal {
    Refusal::invalid(format!("key: {error}"))
}
