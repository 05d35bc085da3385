//! Keys of every algorithm, and tokens that jeton itself would not create.

use jeton::Error;
use jeton::error::Rejection;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{Alg, Keys, MacAlg, MacKey, SigAlg, SigningKey, SigningKeyRef};

/// A key of either kind.
pub(crate) enum Key {
    Mac(MacKey),
    Pair(SigningKey),
}

impl Key {
    pub(crate) fn generate(alg: Alg) -> Key {
        match alg {
            Alg::Mac(alg) => Key::Mac(MacKey::generate(alg).unwrap()),
            Alg::Sig(alg) => Key::Pair(SigningKey::generate(alg).unwrap()),
            other => panic!("{other}"),
        }
    }

    pub(crate) fn every() -> impl Iterator<Item = Key> {
        let macs = MacAlg::ALL.iter().copied().map(Alg::Mac);
        macs.chain(SigAlg::ALL.iter().copied().map(Alg::Sig))
            .map(Key::generate)
    }

    pub(crate) fn alg(&self) -> &'static str {
        match self {
            Key::Mac(key) => key.alg().name(),
            Key::Pair(key) => key.alg().name(),
        }
    }

    pub(crate) fn as_ref(&self) -> SigningKeyRef<'_> {
        match self {
            Key::Mac(key) => key.into(),
            Key::Pair(key) => key.into(),
        }
    }

    pub(crate) fn keys(&self) -> Keys {
        match self {
            Key::Mac(key) => key.into(),
            Key::Pair(key) => key.verifying_key().into(),
        }
    }

    pub(crate) fn verifier(&self) -> JwsVerifier {
        JwsVerifier::new(self.keys())
    }

    pub(crate) fn sign(&self, payload: &[u8]) -> String {
        let token = JwsSigner::new(self.as_ref()).sign(payload).unwrap();
        assert_eq!(self.verifier().verify(&token).unwrap().payload(), payload);
        token
    }

    /// A token that this key signed with a header from the attacker. Only the owner of the key can create it; the
    /// header must still not be trusted.
    pub(crate) fn sign_under(&self, header: &str, payload: &[u8]) -> String {
        reference::sign(self, &encode(header.as_bytes()), &encode(payload))
    }
}

/// Signatures of any input with AWS-LC: what an attacker with the key can create, but the API of jeton cannot.
pub(crate) mod reference {
    use super::Key;
    use aws_lc_rs::{hmac, rand::SystemRandom, rsa::KeyPair as RsaKeyPair, signature as aws};

    pub(crate) fn sign(key: &Key, header: &str, payload: &str) -> String {
        let input = format!("{header}.{payload}");
        let signature = match key {
            Key::Mac(key) => {
                let jwk: serde_json::Value = serde_json::from_str(&key.to_jwk()).unwrap();
                let secret = super::decode(jwk["k"].as_str().unwrap());
                let algorithm = match key.alg().name() {
                    "HS256" => hmac::HMAC_SHA256,
                    "HS384" => hmac::HMAC_SHA384,
                    _ => hmac::HMAC_SHA512,
                };
                hmac::sign(&hmac::Key::new(algorithm, &secret), input.as_bytes())
                    .as_ref()
                    .to_vec()
            }
            Key::Pair(key) => pair(key.alg().name(), &key.to_der().unwrap(), input.as_bytes()),
        };
        format!("{input}.{}", super::encode(&signature))
    }

    fn pair(alg: &str, pkcs8: &[u8], input: &[u8]) -> Vec<u8> {
        let rng = SystemRandom::new();
        let ecdsa = |algorithm| {
            let pair = aws::EcdsaKeyPair::from_pkcs8(algorithm, pkcs8).unwrap();
            pair.sign(&rng, input).unwrap().as_ref().to_vec()
        };
        let rsa = |encoding: &'static dyn aws::RsaEncoding| {
            let pair = RsaKeyPair::from_pkcs8(pkcs8).unwrap();
            let mut signature = vec![0; pair.public_modulus_len()];
            pair.sign(encoding, &rng, input, &mut signature).unwrap();
            signature
        };
        let ml_dsa = |algorithm: &'static aws::PqdsaSigningAlgorithm| {
            let pair = aws::PqdsaKeyPair::from_pkcs8(algorithm, pkcs8).unwrap();
            let mut signature = vec![0; algorithm.signature_len()];
            pair.sign(input, &mut signature).unwrap();
            signature
        };
        match alg {
            "ES256" => ecdsa(&aws::ECDSA_P256_SHA256_FIXED_SIGNING),
            "ES384" => ecdsa(&aws::ECDSA_P384_SHA384_FIXED_SIGNING),
            "ES512" => ecdsa(&aws::ECDSA_P521_SHA512_FIXED_SIGNING),
            "ES256K" => ecdsa(&aws::ECDSA_P256K1_SHA256_FIXED_SIGNING),
            "RS256" => rsa(&aws::RSA_PKCS1_SHA256),
            "RS384" => rsa(&aws::RSA_PKCS1_SHA384),
            "RS512" => rsa(&aws::RSA_PKCS1_SHA512),
            "PS256" => rsa(&aws::RSA_PSS_SHA256),
            "PS384" => rsa(&aws::RSA_PSS_SHA384),
            "PS512" => rsa(&aws::RSA_PSS_SHA512),
            "ML-DSA-44" => ml_dsa(&aws::ML_DSA_44_SIGNING),
            "ML-DSA-65" => ml_dsa(&aws::ML_DSA_65_SIGNING),
            "ML-DSA-87" => ml_dsa(&aws::ML_DSA_87_SIGNING),
            _ => {
                let pair = aws::Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8).unwrap();
                pair.sign(input).as_ref().to_vec()
            }
        }
    }
}

pub(crate) fn encode(bytes: &[u8]) -> String {
    base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes)
}

pub(crate) fn decode(text: &str) -> Vec<u8> {
    base64_simd::URL_SAFE_NO_PAD.decode_to_vec(text).unwrap()
}

pub(crate) fn rejection_of<T>(result: jeton::Result<T>) -> Rejection {
    match result {
        Err(Error::Rejected(rejection)) => rejection,
        Err(other) => panic!("not the sender's fault? {other}"),
        Ok(_) => panic!("accepted"),
    }
}

pub(crate) fn parts(token: &str) -> [&str; 3] {
    let parts: Vec<&str> = token.split('.').collect();
    parts.try_into().unwrap()
}
