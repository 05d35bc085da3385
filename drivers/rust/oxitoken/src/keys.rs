//! The keys of aws-lc-rs, made from JWKs.

use super::Header;
use aws_lc_rs::hmac;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED,
    ECDSA_P384_SHA384_FIXED_SIGNING, ECDSA_P521_SHA512_FIXED, ECDSA_P521_SHA512_FIXED_SIGNING,
    ED25519, EcdsaKeyPair, Ed25519KeyPair, ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA256, RsaKeyPair, VerificationAlgorithm,
};
use aws_lc_rs::unstable::signature::{
    ML_DSA_44, ML_DSA_44_SIGNING, ML_DSA_65, ML_DSA_65_SIGNING, ML_DSA_87, ML_DSA_87_SIGNING,
    PqdsaKeyPair,
};
use jeton_driver_harness::{DriverError, Jwk};
use oxitoken::Algorithm;
use oxitoken::crypto::aws_lc::AwsLcVerificationKey;
use oxitoken::encoding::encode;
use serde::Serialize;

/// A key that signs.
pub(crate) enum Private {
    Mac(Box<hmac::Key>),
    Rsa(RsaKeyPair),
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    MlDsa(PqdsaKeyPair),
}

impl Private {
    pub(crate) fn load(alg: Algorithm, jwk: &Jwk) -> Result<Self, DriverError> {
        let ecdsa = |scheme| {
            EcdsaKeyPair::from_pkcs8(scheme, &jwk.ec_pkcs8()?)
                .map(Self::Ecdsa)
                .map_err(DriverError::failed)
        };
        let ml_dsa = |scheme| {
            PqdsaKeyPair::from_pkcs8(scheme, &jwk.ml_dsa_pkcs8()?)
                .map(Self::MlDsa)
                .map_err(DriverError::failed)
        };
        match alg {
            Algorithm::RS256 | Algorithm::PS256 => RsaKeyPair::from_der(&jwk.rsa_pkcs1()?)
                .map(Self::Rsa)
                .map_err(DriverError::failed),
            Algorithm::ES256 => ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            Algorithm::ES384 => ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
            Algorithm::ES512 => ecdsa(&ECDSA_P521_SHA512_FIXED_SIGNING),
            Algorithm::EdDSA => Ed25519KeyPair::from_pkcs8(&jwk.ed25519_pkcs8()?)
                .map(Self::Ed25519)
                .map_err(DriverError::failed),
            Algorithm::MlDsa44 => ml_dsa(&ML_DSA_44_SIGNING),
            Algorithm::MlDsa65 => ml_dsa(&ML_DSA_65_SIGNING),
            Algorithm::MlDsa87 => ml_dsa(&ML_DSA_87_SIGNING),
            mac => Ok(Self::Mac(Box::new(mac_key(mac, jwk)?))),
        }
    }

    pub(crate) fn encode(
        &self,
        header: &Header,
        claims: &impl Serialize,
    ) -> Result<String, String> {
        let token = match self {
            Self::Mac(key) => encode(&**key, header, claims),
            Self::Rsa(key) => encode(key, header, claims),
            Self::Ecdsa(key) => encode(key, header, claims),
            Self::Ed25519(key) => encode(key, header, claims),
            Self::MlDsa(key) => encode(key, header, claims),
        };
        token.map_err(|error| error.to_string())
    }
}

/// Returns the key that verifies, in the library's type that knows its algorithm.
pub(crate) fn verification_key(
    alg: Algorithm,
    jwk: &Jwk,
) -> Result<AwsLcVerificationKey, DriverError> {
    let (scheme, key): (&'static dyn VerificationAlgorithm, Vec<u8>) = match alg {
        Algorithm::RS256 => (&RSA_PKCS1_2048_8192_SHA256, jwk.rsa_public_pkcs1()?),
        Algorithm::PS256 => (&RSA_PSS_2048_8192_SHA256, jwk.rsa_public_pkcs1()?),
        Algorithm::ES256 => (&ECDSA_P256_SHA256_FIXED, jwk.ec_point()?),
        Algorithm::ES384 => (&ECDSA_P384_SHA384_FIXED, jwk.ec_point()?),
        Algorithm::ES512 => (&ECDSA_P521_SHA512_FIXED, jwk.ec_point()?),
        Algorithm::EdDSA => (&ED25519, jwk.ed25519_public()?),
        Algorithm::MlDsa44 => (&ML_DSA_44, jwk.ml_dsa_public()?),
        Algorithm::MlDsa65 => (&ML_DSA_65, jwk.ml_dsa_public()?),
        Algorithm::MlDsa87 => (&ML_DSA_87, jwk.ml_dsa_public()?),
        mac => return mac_key(mac, jwk)?.try_into().map_err(DriverError::failed),
    };
    let key = ParsedPublicKey::new(scheme, key).map_err(DriverError::failed)?;
    key.try_into().map_err(DriverError::failed)
}

fn mac_key(alg: Algorithm, jwk: &Jwk) -> Result<hmac::Key, DriverError> {
    let hash = match alg {
        Algorithm::HS256 => hmac::HMAC_SHA256,
        Algorithm::HS384 => hmac::HMAC_SHA384,
        Algorithm::HS512 => hmac::HMAC_SHA512,
        other => return Err(DriverError::unsupported(format!("{other} is not offered"))),
    };
    Ok(hmac::Key::new(hash, &jwk.secret()?))
}
