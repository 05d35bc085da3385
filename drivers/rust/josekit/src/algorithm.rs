//! The library's algorithms by their JOSE names. Each family is a separate type in the library.

use jeton_driver_harness::DriverError;
use josekit::JoseError;
use josekit::jwe::alg::aesgcmkw::AesgcmkwJweAlgorithm;
use josekit::jwe::alg::aeskw::AeskwJweAlgorithm;
use josekit::jwe::alg::ecdh_es::EcdhEsJweAlgorithm;
use josekit::jwe::alg::rsaes::RsaesJweAlgorithm;
use josekit::jwe::{self, JweDecrypter, JweEncrypter};
use josekit::jwk::Jwk;
use josekit::jwk::alg::ec::EcCurve;
use josekit::jwk::alg::ed::EdCurve;
use josekit::jws::alg::ecdsa::EcdsaJwsAlgorithm;
use josekit::jws::alg::hmac::HmacJwsAlgorithm;
use josekit::jws::alg::rsassa::RsassaJwsAlgorithm;
use josekit::jws::alg::rsassa_pss::RsassaPssJwsAlgorithm;
use josekit::jws::{self, JwsSigner, JwsVerifier};

const RSA_BITS: u32 = 2048;

/// A signature algorithm.
#[derive(Clone, Copy)]
pub(crate) enum Signature {
    Hmac(HmacJwsAlgorithm, u8),
    Rsa(RsassaJwsAlgorithm),
    Pss(RsassaPssJwsAlgorithm),
    Ec(EcdsaJwsAlgorithm),
    Ed,
}

/// The halves of a pair, or a secret, in the library's own type.
pub(crate) type GeneratedKey = Box<dyn std::any::Any>;

impl Signature {
    pub(crate) fn named(name: &str) -> Result<Self, DriverError> {
        Ok(match name {
            "HS256" => Self::Hmac(jws::HS256, 32),
            "HS384" => Self::Hmac(jws::HS384, 48),
            "HS512" => Self::Hmac(jws::HS512, 64),
            "RS256" => Self::Rsa(jws::RS256),
            "RS384" => Self::Rsa(jws::RS384),
            "RS512" => Self::Rsa(jws::RS512),
            "PS256" => Self::Pss(jws::PS256),
            "PS384" => Self::Pss(jws::PS384),
            "PS512" => Self::Pss(jws::PS512),
            "ES256" => Self::Ec(jws::ES256),
            "ES384" => Self::Ec(jws::ES384),
            "ES512" => Self::Ec(jws::ES512),
            "ES256K" => Self::Ec(jws::ES256K),
            "EdDSA" => Self::Ed,
            other => return Err(DriverError::unsupported(format!("josekit has no {other}"))),
        })
    }

    pub(crate) fn signer(self, jwk: &str) -> Result<Box<dyn JwsSigner>, JoseError> {
        let jwk = Jwk::from_bytes(jwk)?;
        Ok(match self {
            Self::Hmac(alg, _) => Box::new(alg.signer_from_jwk(&jwk)?),
            Self::Rsa(alg) => Box::new(alg.signer_from_jwk(&jwk)?),
            Self::Pss(alg) => Box::new(alg.signer_from_jwk(&jwk)?),
            Self::Ec(alg) => Box::new(alg.signer_from_jwk(&jwk)?),
            Self::Ed => Box::new(jws::EdDSA.signer_from_jwk(&jwk)?),
        })
    }

    pub(crate) fn verifier(self, jwk: &str) -> Result<Box<dyn JwsVerifier>, JoseError> {
        let jwk = Jwk::from_bytes(jwk)?;
        Ok(match self {
            Self::Hmac(alg, _) => Box::new(alg.verifier_from_jwk(&jwk)?),
            Self::Rsa(alg) => Box::new(alg.verifier_from_jwk(&jwk)?),
            Self::Pss(alg) => Box::new(alg.verifier_from_jwk(&jwk)?),
            Self::Ec(alg) => Box::new(alg.verifier_from_jwk(&jwk)?),
            Self::Ed => Box::new(jws::EdDSA.verifier_from_jwk(&jwk)?),
        })
    }

    pub(crate) fn signer_from_pem(self, pem: &str) -> Result<Box<dyn JwsSigner>, JoseError> {
        Ok(match self {
            Self::Hmac(..) => return Err(no_pem()),
            Self::Rsa(alg) => Box::new(alg.signer_from_pem(pem)?),
            Self::Pss(alg) => Box::new(alg.signer_from_pem(pem)?),
            Self::Ec(alg) => Box::new(alg.signer_from_pem(pem)?),
            Self::Ed => Box::new(jws::EdDSA.signer_from_pem(pem)?),
        })
    }

    pub(crate) fn verifier_from_pem(self, pem: &str) -> Result<Box<dyn JwsVerifier>, JoseError> {
        Ok(match self {
            Self::Hmac(..) => return Err(no_pem()),
            Self::Rsa(alg) => Box::new(alg.verifier_from_pem(pem)?),
            Self::Pss(alg) => Box::new(alg.verifier_from_pem(pem)?),
            Self::Ec(alg) => Box::new(alg.verifier_from_pem(pem)?),
            Self::Ed => Box::new(jws::EdDSA.verifier_from_pem(pem)?),
        })
    }

    pub(crate) fn generate(self) -> Result<GeneratedKey, JoseError> {
        Ok(match self {
            Self::Hmac(_, bytes) => Box::new(Jwk::generate_oct_key(bytes)?),
            Self::Rsa(alg) => Box::new(alg.generate_key_pair(RSA_BITS)?),
            Self::Pss(alg) => Box::new(alg.generate_key_pair(RSA_BITS)?),
            Self::Ec(alg) => Box::new(alg.generate_key_pair()?),
            Self::Ed => Box::new(jws::EdDSA.generate_key_pair(EdCurve::Ed25519)?),
        })
    }
}

/// A key management algorithm.
#[derive(Clone, Copy)]
pub(crate) enum Management {
    Direct,
    Kw(AeskwJweAlgorithm, u8),
    GcmKw(AesgcmkwJweAlgorithm, u8),
    Rsa(RsaesJweAlgorithm),
    Ecdh(EcdhEsJweAlgorithm),
}

impl Management {
    pub(crate) fn named(name: &str) -> Result<Self, DriverError> {
        Ok(match name {
            "dir" => Self::Direct,
            "A128KW" => Self::Kw(jwe::A128KW, 16),
            "A192KW" => Self::Kw(jwe::A192KW, 24),
            "A256KW" => Self::Kw(jwe::A256KW, 32),
            "A128GCMKW" => Self::GcmKw(jwe::A128GCMKW, 16),
            "A192GCMKW" => Self::GcmKw(jwe::A192GCMKW, 24),
            "A256GCMKW" => Self::GcmKw(jwe::A256GCMKW, 32),
            #[allow(deprecated, reason = "the lab measures deprecated algorithms too")]
            "RSA1_5" => Self::Rsa(jwe::RSA1_5),
            "RSA-OAEP" => Self::Rsa(jwe::RSA_OAEP),
            "RSA-OAEP-256" => Self::Rsa(jwe::RSA_OAEP_256),
            "RSA-OAEP-384" => Self::Rsa(jwe::RSA_OAEP_384),
            "RSA-OAEP-512" => Self::Rsa(jwe::RSA_OAEP_512),
            "ECDH-ES" => Self::Ecdh(jwe::ECDH_ES),
            "ECDH-ES+A128KW" => Self::Ecdh(jwe::ECDH_ES_A128KW),
            "ECDH-ES+A192KW" => Self::Ecdh(jwe::ECDH_ES_A192KW),
            "ECDH-ES+A256KW" => Self::Ecdh(jwe::ECDH_ES_A256KW),
            other => return Err(DriverError::unsupported(format!("josekit has no {other}"))),
        })
    }

    pub(crate) fn encrypter(self, jwk: &str) -> Result<Box<dyn JweEncrypter>, JoseError> {
        let jwk = Jwk::from_bytes(jwk)?;
        Ok(match self {
            Self::Direct => Box::new(jwe::Dir.encrypter_from_jwk(&without_alg(jwk)?)?),
            Self::Kw(alg, _) => Box::new(alg.encrypter_from_jwk(&jwk)?),
            Self::GcmKw(alg, _) => Box::new(alg.encrypter_from_jwk(&jwk)?),
            Self::Rsa(alg) => Box::new(alg.encrypter_from_jwk(&jwk)?),
            Self::Ecdh(alg) => Box::new(alg.encrypter_from_jwk(&jwk)?),
        })
    }

    pub(crate) fn decrypter(self, jwk: &str) -> Result<Box<dyn JweDecrypter>, JoseError> {
        let jwk = Jwk::from_bytes(jwk)?;
        Ok(match self {
            Self::Direct => Box::new(jwe::Dir.decrypter_from_jwk(&without_alg(jwk)?)?),
            Self::Kw(alg, _) => Box::new(alg.decrypter_from_jwk(&jwk)?),
            Self::GcmKw(alg, _) => Box::new(alg.decrypter_from_jwk(&jwk)?),
            Self::Rsa(alg) => Box::new(alg.decrypter_from_jwk(&jwk)?),
            Self::Ecdh(alg) => Box::new(alg.decrypter_from_jwk(&jwk)?),
        })
    }

    pub(crate) fn encrypter_from_pem(self, pem: &str) -> Result<Box<dyn JweEncrypter>, JoseError> {
        Ok(match self {
            Self::Rsa(alg) => Box::new(alg.encrypter_from_pem(pem)?),
            Self::Ecdh(alg) => Box::new(alg.encrypter_from_pem(pem)?),
            _ => return Err(no_pem()),
        })
    }

    pub(crate) fn decrypter_from_pem(self, pem: &str) -> Result<Box<dyn JweDecrypter>, JoseError> {
        Ok(match self {
            Self::Rsa(alg) => Box::new(alg.decrypter_from_pem(pem)?),
            Self::Ecdh(alg) => Box::new(alg.decrypter_from_pem(pem)?),
            _ => return Err(no_pem()),
        })
    }

    pub(crate) fn generate(self, enc: &str) -> Result<GeneratedKey, JoseError> {
        let secret = |bytes| Jwk::generate_oct_key(bytes);
        Ok(match self {
            Self::Direct => Box::new(secret(content_key_bytes(enc))?),
            Self::Kw(_, bytes) | Self::GcmKw(_, bytes) => Box::new(secret(bytes)?),
            Self::Rsa(alg) => Box::new(alg.generate_key_pair(RSA_BITS)?),
            Self::Ecdh(alg) => Box::new(alg.generate_ec_key_pair(EcCurve::P256)?),
        })
    }
}

/// Returns the JWK without its `alg`. For `dir`, the library accepts only the value `dir`, but most
/// JWKs name the content encryption that the key is for.
fn without_alg(mut jwk: Jwk) -> Result<Jwk, JoseError> {
    jwk.set_parameter("alg", None)?;
    Ok(jwk)
}

fn content_key_bytes(enc: &str) -> u8 {
    match enc {
        "A128GCM" => 16,
        "A192GCM" => 24,
        "A256GCM" | "A128CBC-HS256" => 32,
        "A192CBC-HS384" => 48,
        _ => 64,
    }
}

fn no_pem() -> JoseError {
    JoseError::UnsupportedSignatureAlgorithm(
        std::io::Error::other("a symmetric key has no PEM form").into(),
    )
}
