//! The keys of a `prepare` request: JWKs (RFC 7517), the DER that most libraries need, and how a key is handled.

use crate::error::DriverError;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use der::asn1::{BitStringRef, ObjectIdentifier, OctetStringRef, UintRef};
use der::{AnyRef, Encode};
use pkcs8::AlgorithmIdentifierRef;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The keys of a `prepare` request, as received.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Keys {
    /// The private or symmetric JWK.
    pub private: Option<Value>,
    /// The public JWK of a signature algorithm.
    pub public: Option<Value>,
    /// PASERK texts.
    pub paserk: Option<Paserk>,
}

/// PASERK texts, by kind.
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
    /// Returns the text of the private or symmetric JWK.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if there is none.
    pub fn private(&self) -> Result<String, DriverError> {
        text(self.private.as_ref(), "private")
    }

    /// Returns the text of the public JWK.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if there is none.
    pub fn public(&self) -> Result<String, DriverError> {
        text(self.public.as_ref(), "public")
    }
}

/// What happens to the key inside the timed loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHandling {
    /// Nothing: the key was loaded before.
    Prepared,
    /// Its text is parsed in every call.
    ParsedPerCall,
    /// For `load-key`: loads the JWK.
    Jwk,
    /// For `load-key`: loads the PEM.
    Pem,
    /// For `load-key`: loads the PASERK.
    Paserk,
}

/// The encoding of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyForm {
    /// The JSON text of a JWK.
    Jwk,
    /// PKCS#8 and SPKI in PEM.
    Pem,
    /// PASERK.
    Paserk,
}

/// A key as text in one form; `load-key` loads this text.
#[derive(Clone, Debug, Deserialize)]
pub struct KeyText {
    /// The form.
    pub form: KeyForm,
    /// The private or symmetric key.
    #[serde(default)]
    pub private: Option<String>,
    /// The public key.
    #[serde(default)]
    pub public: Option<String>,
}

impl KeyText {
    /// Returns the text of the private or symmetric key.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if there is none.
    pub fn private(&self) -> Result<String, DriverError> {
        let text = self.private.clone();
        text.ok_or_else(|| DriverError::invalid("no private key text"))
    }

    /// Returns the text of the public key.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if there is none.
    pub fn public(&self) -> Result<String, DriverError> {
        let text = self.public.clone();
        text.ok_or_else(|| DriverError::invalid("no public key text"))
    }
}

/// A loaded key, or a function that loads it per call, as `key_handling` of the request requires.
pub enum KeySource<K> {
    /// Loaded once.
    Prepared(K),
    /// Loaded from its text in every call.
    PerCall(Box<dyn Fn() -> Result<K, DriverError> + Send + Sync>),
}

impl<K> KeySource<K> {
    /// Loads the key once in either case, so that a bad key fails in `prepare`.
    ///
    /// # Errors
    ///
    /// The error of `load`.
    pub fn new(
        handling: KeyHandling,
        load: impl Fn() -> Result<K, DriverError> + Send + Sync + 'static,
    ) -> Result<Self, DriverError> {
        let key = load()?;
        Ok(match handling {
            KeyHandling::Prepared => Self::Prepared(key),
            _ => Self::PerCall(Box::new(load)),
        })
    }

    /// Runs one operation with the key.
    ///
    /// # Errors
    ///
    /// The error of `operation`, or of loading the key.
    #[inline]
    pub fn with<R>(&self, operation: impl FnOnce(&K) -> Result<R, String>) -> Result<R, String> {
        match self {
            Self::Prepared(key) => operation(key),
            Self::PerCall(load) => {
                let key = load().map_err(|error| format!("{error:?}"))?;
                operation(&key)
            }
        }
    }
}

/// The members of a JWK, still in base64url.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Jwk {
    kty: String,
    alg: String,
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
    #[serde(rename = "priv")]
    seed: String,
    #[serde(rename = "pub")]
    ml_dsa: String,
}

const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const ML_DSA_44: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.17");
const ML_DSA_65: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.18");
const ML_DSA_87: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.3.19");

impl Jwk {
    /// Parses a JWK.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if it is not a JWK.
    pub fn parse(text: &str) -> Result<Self, DriverError> {
        serde_json::from_str(text).map_err(|error| DriverError::invalid(format!("key: {error}")))
    }

    /// Returns the bytes of a symmetric key.
    ///
    /// # Errors
    ///
    /// [`DriverError::Invalid`] if this is not an `oct` key. Every conversion below reports a wrong
    /// `kty` and missing or malformed members in the same way.
    pub fn secret(&self) -> Result<Vec<u8>, DriverError> {
        self.expect("oct")?;
        bytes("k", &self.k)
    }

    /// Returns an EC public point, uncompressed (SEC 1 section 2.3.3).
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn ec_point(&self) -> Result<Vec<u8>, DriverError> {
        self.expect("EC")?;
        let mut point = vec![4];
        point.extend(bytes("x", &self.x)?);
        point.extend(bytes("y", &self.y)?);
        Ok(point)
    }

    /// Returns an EC private scalar, big-endian, of the curve's length.
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn ec_scalar(&self) -> Result<Vec<u8>, DriverError> {
        self.expect("EC")?;
        bytes("d", &self.d)
    }

    /// Returns an EC private key in PKCS#8.
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn ec_pkcs8(&self) -> Result<Vec<u8>, DriverError> {
        let curve = match self.crv.as_str() {
            "P-256" => P256,
            "P-384" => P384,
            "P-521" => P521,
            other => {
                return Err(DriverError::unsupported(format!(
                    "curve {other:?} is not supported"
                )));
            }
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

    /// Returns the 32 bytes of an Ed25519 public key.
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn ed25519_public(&self) -> Result<Vec<u8>, DriverError> {
        self.expect("OKP")?;
        bytes("x", &self.x)
    }

    /// Returns the seed of an Ed25519 private key.
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn ed25519_seed(&self) -> Result<Vec<u8>, DriverError> {
        self.expect("OKP")?;
        bytes("d", &self.d)
    }

    /// Returns an Ed25519 private key in PKCS#8 (RFC 8410).
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn ed25519_pkcs8(&self) -> Result<Vec<u8>, DriverError> {
        let seed = self.ed25519_seed()?;
        let inner = der(&OctetStringRef::new(&seed).map_err(malformed)?)?;
        let algorithm = AlgorithmIdentifierRef {
            oid: ED25519,
            parameters: None,
        };
        pkcs8(algorithm, &inner)
    }

    /// Returns an ML-DSA private key in PKCS#8 (RFC 9881, section 6), in the choice `seed`.
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn ml_dsa_pkcs8(&self) -> Result<Vec<u8>, DriverError> {
        const SEED: [u8; 2] = [0x80, 32];
        self.expect("AKP")?;
        let oid = match self.alg.as_str() {
            "ML-DSA-44" => ML_DSA_44,
            "ML-DSA-65" => ML_DSA_65,
            "ML-DSA-87" => ML_DSA_87,
            other => {
                return Err(DriverError::unsupported(format!(
                    "{other:?} is not supported"
                )));
            }
        };
        let algorithm = AlgorithmIdentifierRef {
            oid,
            parameters: None,
        };
        pkcs8(
            algorithm,
            &[&SEED[..], &bytes("priv", &self.seed)?].concat(),
        )
    }

    /// Returns the bytes of an ML-DSA public key.
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn ml_dsa_public(&self) -> Result<Vec<u8>, DriverError> {
        self.expect("AKP")?;
        bytes("pub", &self.ml_dsa)
    }

    /// Returns an RSA private key in PKCS#1.
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn rsa_pkcs1(&self) -> Result<Vec<u8>, DriverError> {
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

    /// Returns an RSA public key in PKCS#1.
    ///
    /// # Errors
    ///
    /// As for [`Jwk::secret`].
    pub fn rsa_public_pkcs1(&self) -> Result<Vec<u8>, DriverError> {
        self.expect("RSA")?;
        let (n, e) = (bytes("n", &self.n)?, bytes("e", &self.e)?);
        der(&pkcs1::RsaPublicKeyRef {
            modulus: UintRef::new(&n).map_err(malformed)?,
            public_exponent: UintRef::new(&e).map_err(malformed)?,
        })
    }

    fn expect(&self, kty: &str) -> Result<(), DriverError> {
        if self.kty == kty {
            return Ok(());
        }
        Err(DriverError::invalid(format!(
            "the algorithm requires a key with kty {kty:?}, not {:?}",
            self.kty
        )))
    }
}

fn text(key: Option<&Value>, which: &str) -> Result<String, DriverError> {
    let key = key.ok_or_else(|| DriverError::invalid(format!("{which} key is missing")))?;
    Ok(key.to_string())
}

fn bytes(name: &str, text: &str) -> Result<Vec<u8>, DriverError> {
    match URL_SAFE_NO_PAD.decode(text) {
        Ok(bytes) if !bytes.is_empty() => Ok(bytes),
        _ => Err(DriverError::invalid(format!(
            "key: {name:?} is missing, or not base64url"
        ))),
    }
}

fn pkcs8(algorithm: AlgorithmIdentifierRef<'_>, inner: &[u8]) -> Result<Vec<u8>, DriverError> {
    let inner = OctetStringRef::new(inner).map_err(malformed)?;
    // Without the public key: aws-lc-rs accepts only version 1 of the structure from all writers.
    let info = pkcs8::PrivateKeyInfo::<AnyRef<'_>, &OctetStringRef, BitStringRef<'_>>::new(
        algorithm, inner,
    );
    der(&info)
}

fn der(value: &(impl Encode + ?Sized)) -> Result<Vec<u8>, DriverError> {
    value.to_der().map_err(malformed)
}

fn malformed(error: der::Error) -> DriverError {
    DriverError::invalid(format!("key: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn key_source_loads_once_or_per_call() {
        for (handling, expected) in [(KeyHandling::Prepared, 1), (KeyHandling::ParsedPerCall, 4)] {
            let loads = Arc::new(AtomicUsize::new(0));
            let counter = loads.clone();
            let source =
                KeySource::new(
                    handling,
                    move || Ok(counter.fetch_add(1, Ordering::Relaxed)),
                );
            let source = source.expect("loading this key succeeds");
            for _ in 0..3 {
                assert!(source.with(|_| Ok(())).is_ok());
            }
            assert_eq!(loads.load(Ordering::Relaxed), expected, "{handling:?}");
        }
    }

    #[test]
    fn key_of_other_kind_is_an_error() {
        let jwk = Jwk::parse(r#"{"kty":"oct","k":"AAAA"}"#).expect("a JWK");
        assert_eq!(jwk.secret(), Ok(vec![0; 3]));
        assert!(jwk.ec_point().is_err() && jwk.rsa_pkcs1().is_err());
        assert!(jwk.ed25519_pkcs8().is_err());
    }
}
