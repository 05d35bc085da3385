//! Signatures over any bytes, by AWS-LC alone: what the owner of a key can make, and a library
//! cannot be brought to.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeyPair as RsaKeyPair;
use aws_lc_rs::{hmac, signature as aws};
use base64_simd::URL_SAFE_NO_PAD;
use serde_json::Value;

/// What signs.
#[derive(Debug, Clone)]
pub(in crate::attack) enum RawKey {
    /// A secret, of any length.
    Secret(Vec<u8>),
    /// A private key in PKCS#8.
    Pair(Vec<u8>),
}

impl RawKey {
    /// The signature that this key makes under an algorithm; `None` where they do not go together.
    pub(in crate::attack) fn sign(&self, alg: &str, input: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Secret(secret) => mac(alg, secret, input),
            Self::Pair(pkcs8) => pair(alg, pkcs8, input),
        }
    }

    /// The compact token of these two texts.
    pub(in crate::attack) fn token(
        &self,
        alg: &str,
        header: &str,
        payload: &str,
    ) -> Option<String> {
        let input = format!("{header}.{payload}");
        let signature = self.sign(alg, input.as_bytes())?;
        Some(format!("{input}.{}", b64(&signature)))
    }
}

/// HMAC under any key, an empty one too.
pub(in crate::attack) fn mac(alg: &str, secret: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let algorithm = match alg {
        "HS256" => hmac::HMAC_SHA256,
        "HS384" => hmac::HMAC_SHA384,
        "HS512" => hmac::HMAC_SHA512,
        _ => return None,
    };
    let tag = hmac::sign(&hmac::Key::new(algorithm, secret), input);
    Some(tag.as_ref().to_vec())
}

fn pair(alg: &str, pkcs8: &[u8], input: &[u8]) -> Option<Vec<u8>> {
    let rng = SystemRandom::new();
    let ecdsa = |algorithm| {
        let pair = aws::EcdsaKeyPair::from_pkcs8(algorithm, pkcs8).ok()?;
        Some(pair.sign(&rng, input).ok()?.as_ref().to_vec())
    };
    let rsa = |encoding: &'static dyn aws::RsaEncoding| {
        let pair = RsaKeyPair::from_pkcs8(pkcs8).ok()?;
        let mut signature = vec![0; pair.public_modulus_len()];
        pair.sign(encoding, &rng, input, &mut signature).ok()?;
        Some(signature)
    };
    match alg {
        "ES256" => ecdsa(&aws::ECDSA_P256_SHA256_FIXED_SIGNING),
        "ES384" => ecdsa(&aws::ECDSA_P384_SHA384_FIXED_SIGNING),
        "ES512" => ecdsa(&aws::ECDSA_P521_SHA512_FIXED_SIGNING),
        "ES256-on-P-521" => ecdsa(&aws::ECDSA_P521_SHA256_FIXED_SIGNING),
        "ES384-on-P-521" => ecdsa(&aws::ECDSA_P521_SHA384_FIXED_SIGNING),
        "RS256" => rsa(&aws::RSA_PKCS1_SHA256),
        "RS384" => rsa(&aws::RSA_PKCS1_SHA384),
        "RS512" => rsa(&aws::RSA_PKCS1_SHA512),
        "PS256" => rsa(&aws::RSA_PSS_SHA256),
        "PS384" => rsa(&aws::RSA_PSS_SHA384),
        "PS512" => rsa(&aws::RSA_PSS_SHA512),
        "EdDSA" | "Ed25519" => {
            let pair = aws::Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8).ok()?;
            Some(pair.sign(input).as_ref().to_vec())
        }
        _ => None,
    }
}

/// `r‖s` at a fixed width as the DER that RFC 3279 has.
pub(in crate::attack) fn der_of(signature: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    for half in signature.chunks(signature.len().div_ceil(2).max(1)) {
        let start = half.iter().position(|b| *b != 0).unwrap_or(half.len() - 1);
        let mut number = half[start..].to_vec();
        if number[0] & 0x80 != 0 {
            number.insert(0, 0);
        }
        body.push(2);
        body.push(u8::try_from(number.len()).unwrap_or(u8::MAX));
        body.extend(number);
    }
    let mut der = vec![0x30];
    if body.len() > 127 {
        der.push(0x81);
    }
    der.push(u8::try_from(body.len()).unwrap_or(u8::MAX));
    der.extend(body);
    der
}

pub(in crate::attack) fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode_to_string(bytes)
}

/// The bytes behind a base64url text; nothing if it is none.
pub(in crate::attack) fn unb64(text: &str) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode_to_vec(text).unwrap_or_default()
}

/// A member of a JWK that holds bytes.
pub(in crate::attack) fn member(jwk: &Value, name: &str) -> Vec<u8> {
    unb64(jwk[name].as_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_der_have_no_zeros_before_them_and_no_sign() {
        let raw = [[0; 31].as_slice(), &[7], &[0x81; 32]].concat();
        let der = der_of(&raw);
        assert_eq!(der[..5], [0x30, 3 + 2 + 33, 2, 1, 7]);
        assert_eq!(der[5..8], [2, 33, 0]);
    }
}
