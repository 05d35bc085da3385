//! AWS-LC's primitives by their JOSE names. Keys are parsed once.

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    self as sig, EcdsaKeyPair, Ed25519KeyPair, ParsedPublicKey, RsaKeyPair,
};
use der::asn1::UintRef;
use der::{Decode, Encode};
use jeton_driver_harness::{DriverError, Jwk, Keys, Rejection};

/// An algorithm in AWS-LC's terms. ECDSA uses ASN.1 signatures, which AWS-LC writes and reads
/// without a conversion.
#[derive(Clone, Copy)]
enum Alg {
    Hmac(hmac::Algorithm),
    Rsa(&'static dyn sig::RsaEncoding, &'static sig::RsaParameters),
    Ecdsa(Curve),
    Ed25519,
}

#[derive(Clone, Copy)]
pub(crate) struct Curve {
    signing: &'static sig::EcdsaSigningAlgorithm,
    verifying: &'static sig::EcdsaVerificationAlgorithm,
    scalar_bytes: usize,
}

impl Alg {
    fn named(name: &str) -> Result<Self, DriverError> {
        Ok(match name {
            "HS256" => Self::Hmac(hmac::HMAC_SHA256),
            "HS384" => Self::Hmac(hmac::HMAC_SHA384),
            "HS512" => Self::Hmac(hmac::HMAC_SHA512),
            "RS256" => Self::Rsa(&sig::RSA_PKCS1_SHA256, &sig::RSA_PKCS1_2048_8192_SHA256),
            "RS384" => Self::Rsa(&sig::RSA_PKCS1_SHA384, &sig::RSA_PKCS1_2048_8192_SHA384),
            "RS512" => Self::Rsa(&sig::RSA_PKCS1_SHA512, &sig::RSA_PKCS1_2048_8192_SHA512),
            "PS256" => Self::Rsa(&sig::RSA_PSS_SHA256, &sig::RSA_PSS_2048_8192_SHA256),
            "PS384" => Self::Rsa(&sig::RSA_PSS_SHA384, &sig::RSA_PSS_2048_8192_SHA384),
            "PS512" => Self::Rsa(&sig::RSA_PSS_SHA512, &sig::RSA_PSS_2048_8192_SHA512),
            "ES256" => Self::Ecdsa(Curve {
                signing: &sig::ECDSA_P256_SHA256_ASN1_SIGNING,
                verifying: &sig::ECDSA_P256_SHA256_ASN1,
                scalar_bytes: 32,
            }),
            "ES384" => Self::Ecdsa(Curve {
                signing: &sig::ECDSA_P384_SHA384_ASN1_SIGNING,
                verifying: &sig::ECDSA_P384_SHA384_ASN1,
                scalar_bytes: 48,
            }),
            "ES512" => Self::Ecdsa(Curve {
                signing: &sig::ECDSA_P521_SHA512_ASN1_SIGNING,
                verifying: &sig::ECDSA_P521_SHA512_ASN1,
                scalar_bytes: 66,
            }),
            "EdDSA" => Self::Ed25519,
            other => {
                return Err(DriverError::unsupported(format!(
                    "algorithm {other:?} is not supported"
                )));
            }
        })
    }
}

/// A signing key.
pub(crate) enum Signing {
    Hmac(Box<hmac::Key>),
    Rsa(RsaKeyPair, &'static dyn sig::RsaEncoding),
    Ecdsa(EcdsaKeyPair, Curve),
    Ed25519(Ed25519KeyPair),
}

impl Signing {
    pub(crate) fn new(alg: &str, keys: &Keys) -> Result<Self, DriverError> {
        let jwk = Jwk::parse(&keys.private()?)?;
        Ok(match Alg::named(alg)? {
            Alg::Hmac(hash) => Self::Hmac(Box::new(hmac::Key::new(hash, &jwk.secret()?))),
            Alg::Rsa(encoding, _) => {
                let pair = RsaKeyPair::from_der(&jwk.rsa_pkcs1()?).map_err(DriverError::failed)?;
                Self::Rsa(pair, encoding)
            }
            Alg::Ecdsa(curve) => {
                let (scalar, point) = (jwk.ec_scalar()?, jwk.ec_point()?);
                let pair =
                    EcdsaKeyPair::from_private_key_and_public_key(curve.signing, &scalar, &point);
                Self::Ecdsa(pair.map_err(DriverError::failed)?, curve)
            }
            Alg::Ed25519 => {
                let (seed, public) = (jwk.ed25519_seed()?, jwk.ed25519_public()?);
                let pair = Ed25519KeyPair::from_seed_and_public_key(&seed, &public);
                Self::Ed25519(pair.map_err(DriverError::failed)?)
            }
        })
    }

    /// Returns the length of a signature in a token.
    pub(crate) fn signature_bytes(&self) -> usize {
        match self {
            Self::Hmac(key) => key.algorithm().tag_len(),
            Self::Rsa(pair, _) => pair.public_modulus_len(),
            Self::Ecdsa(_, curve) => 2 * curve.scalar_bytes,
            Self::Ed25519(_) => 64,
        }
    }

    /// Signs and passes the signature to `visit` as AWS-LC produced it. RSA writes into `buffer`.
    #[inline]
    pub(crate) fn sign<R>(
        &self,
        buffer: &mut Vec<u8>,
        input: &[u8],
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, String> {
        Ok(match self {
            Self::Hmac(key) => visit(hmac::sign(key, input).as_ref()),
            Self::Rsa(pair, encoding) => {
                buffer.resize(pair.public_modulus_len(), 0);
                pair.sign(*encoding, &SystemRandom::new(), input, buffer)
                    .map_err(|error| error.to_string())?;
                visit(buffer)
            }
            Self::Ecdsa(pair, _) => {
                let signature = pair.sign(&SystemRandom::new(), input);
                visit(signature.map_err(|error| error.to_string())?.as_ref())
            }
            Self::Ed25519(pair) => visit(pair.sign(input).as_ref()),
        })
    }

    /// Returns a signature in the encoding of a token. The last byte is unchanged.
    pub(crate) fn jose(&self, signature: &[u8]) -> Result<Vec<u8>, String> {
        let Self::Ecdsa(_, curve) = self else {
            return Ok(signature.to_vec());
        };
        let pair = <Vec<UintRef<'_>>>::from_der(signature).map_err(|error| error.to_string())?;
        let mut fixed = Vec::with_capacity(2 * curve.scalar_bytes);
        for number in pair {
            let bytes = number.as_bytes();
            fixed.resize(fixed.len() + curve.scalar_bytes - bytes.len(), 0);
            fixed.extend(bytes);
        }
        Ok(fixed)
    }
}

/// A verification key.
pub(crate) enum Checking {
    Hmac(Box<hmac::Key>),
    Public(ParsedPublicKey),
    Ecdsa(ParsedPublicKey, Curve),
}

impl Checking {
    pub(crate) fn new(alg: &str, keys: &Keys) -> Result<Self, DriverError> {
        let parsed = |alg: &'static dyn sig::VerificationAlgorithm, key: Vec<u8>| {
            ParsedPublicKey::new(alg, key).map_err(DriverError::failed)
        };
        let public = || Jwk::parse(&keys.public()?);
        Ok(match Alg::named(alg)? {
            Alg::Hmac(hash) => {
                let secret = Jwk::parse(&keys.private()?)?.secret()?;
                Self::Hmac(Box::new(hmac::Key::new(hash, &secret)))
            }
            Alg::Rsa(_, parameters) => {
                Self::Public(parsed(parameters, public()?.rsa_public_pkcs1()?)?)
            }
            Alg::Ecdsa(curve) => {
                Self::Ecdsa(parsed(curve.verifying, public()?.ec_point()?)?, curve)
            }
            Alg::Ed25519 => Self::Public(parsed(&sig::ED25519, public()?.ed25519_public()?)?),
        })
    }

    #[inline]
    pub(crate) fn verify(&self, input: &[u8], signature: &[u8]) -> Result<(), Rejection> {
        match self {
            Self::Hmac(key) => hmac::verify(key, input, signature),
            Self::Public(key) | Self::Ecdsa(key, _) => key.verify_sig(input, signature),
        }
        .map_err(|_| "the signature does not verify with this key".to_owned())
    }

    /// Converts a token's signature to the encoding that AWS-LC takes.
    pub(crate) fn native(&self, signature: Vec<u8>) -> Result<Vec<u8>, Rejection> {
        let Self::Ecdsa(_, curve) = self else {
            return Ok(signature);
        };
        if signature.len() != 2 * curve.scalar_bytes {
            return Err("the signature has the wrong length".to_owned());
        }
        let (r, s) = signature.split_at(curve.scalar_bytes);
        let pair = [UintRef::new(r), UintRef::new(s)];
        let [Ok(r), Ok(s)] = pair else {
            return Err("the signature is not a pair of integers".to_owned());
        };
        [r, s].to_der().map_err(|error| error.to_string())
    }
}
