//! Keys for the subjects, and tokens that none of them made: equal work for every verifier.

use base64_simd::URL_SAFE_NO_PAD;
use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
use jeton::paseto::{Binding, v4};
use jeton::{Error, jws};
use serde_json::{Value, json};
use sha2::digest::Digest;
use sha2::digest::common::BlockSizeUser;
use sha2::{Sha256, Sha384, Sha512};

use crate::suite::Format;
use crate::wire::{Keys, Paserk};

/// Makes the tokens of one format and algorithm under one fresh key.
#[derive(Debug)]
pub(super) struct Mint {
    key: Key,
    keys: Keys,
}

#[derive(Debug)]
enum Key {
    Mac(MacKey),
    Signing(SigningKey),
    Local(v4::LocalKey),
    Secret(v4::SecretKey),
}

impl Mint {
    /// A mint with a fresh key.
    ///
    /// # Errors
    /// A sentence, where the library has no such key.
    pub(super) fn new(format: Format, alg: Option<&str>) -> Result<Self, String> {
        let key = match (format, alg) {
            (Format::V4Local, _) => v4::LocalKey::generate().map(Key::Local),
            (Format::V4Public, _) => v4::SecretKey::generate().map(Key::Secret),
            (Format::Jwt | Format::Bare, Some(alg)) => {
                if let Ok(mac) = alg.parse::<MacAlg>() {
                    MacKey::generate(mac).map(Key::Mac)
                } else if let Ok(signature) = alg.parse::<SigAlg>() {
                    SigningKey::generate(signature).map(Key::Signing)
                } else {
                    return Err(format!("the lab has no keys for {alg}"));
                }
            }
            (Format::Jwt | Format::Bare, None) => {
                return Err("a JWT needs an algorithm".into());
            }
        };
        let key = key.map_err(|e| format!("no key could be made: {e}"))?;
        let keys = key.for_drivers()?;
        Ok(Self { key, keys })
    }

    /// The keys, as a driver is given them.
    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// A token of exactly these claims, whatever a careful issuer would say of them.
    pub(super) fn token(&self, claims: &Value) -> Result<String, String> {
        let payload = claims.to_string();
        let payload = payload.as_bytes();
        let token = match &self.key {
            Key::Mac(key) => jws::Signer::new(key).typ("JWT").sign(payload),
            Key::Signing(key) => jws::Signer::new(key).typ("JWT").sign(payload),
            Key::Local(key) => key.encrypt(payload, Binding::default()),
            Key::Secret(key) => key.sign(payload, Binding::default()),
        };
        token.map_err(|e| format!("no token could be made: {e}"))
    }
}

impl Key {
    fn for_drivers(&self) -> Result<Keys, String> {
        let failed = |e: Error| format!("a key could not be written: {e}");
        let jwk = |text: &str| serde_json::from_str::<Value>(text).map_err(|e| e.to_string());
        let mut keys = Keys::default();
        match self {
            Self::Mac(key) => keys.private = Some(jwk(&key.to_jwk())?),
            Self::Signing(key) => {
                keys.private = Some(jwk(&key.to_jwk().map_err(failed)?)?);
                keys.public = Some(jwk(&key.verifying_key().to_jwk())?);
            }
            Self::Local(key) => {
                keys.paserk = Some(Paserk {
                    local: Some(key.to_paserk().to_string()),
                    ..Paserk::default()
                });
            }
            Self::Secret(key) => {
                keys.paserk = Some(Paserk {
                    secret: Some(key.to_paserk().map_err(failed)?.to_string()),
                    public: Some(key.public_key().to_paserk()),
                    ..Paserk::default()
                });
            }
        }
        Ok(keys)
    }
}

/// The token of these claims that somebody makes who has no key at all; `None` for algorithms
/// that have no such thing.
pub(super) fn with_an_empty_key(alg: &str, claims: &Value) -> Option<String> {
    let header = json!({"alg": alg, "typ": "JWT"}).to_string();
    let input = format!(
        "{}.{}",
        URL_SAFE_NO_PAD.encode_to_string(header),
        URL_SAFE_NO_PAD.encode_to_string(claims.to_string())
    );
    let mac = hmac(alg, b"", input.as_bytes())?;
    Some(format!("{input}.{}", URL_SAFE_NO_PAD.encode_to_string(mac)))
}

/// Whether a token was signed with an empty key.
pub(super) fn is_signed_with_an_empty_key(alg: &str, token: &str) -> bool {
    let Some((input, signature)) = token.rsplit_once('.') else {
        return false;
    };
    let mac = hmac(alg, b"", input.as_bytes());
    mac.is_some_and(|m| URL_SAFE_NO_PAD.encode_to_string(m) == signature)
}

/// HMAC (RFC 2104), here because the library refuses an empty key.
fn hmac(alg: &str, key: &[u8], message: &[u8]) -> Option<Vec<u8>> {
    fn with<D: Digest + BlockSizeUser>(key: &[u8], message: &[u8]) -> Vec<u8> {
        let mut block = vec![0; D::block_size()];
        // Every key here is as short as the block or shorter.
        block[..key.len()].copy_from_slice(key);
        let pad = |with: u8| block.iter().map(|b| b ^ with).collect::<Vec<u8>>();
        let inner = D::new().chain_update(pad(0x36)).chain_update(message);
        let outer = D::new().chain_update(pad(0x5c));
        outer.chain_update(inner.finalize()).finalize().to_vec()
    }
    match alg {
        "HS256" => Some(with::<Sha256>(key, message)),
        "HS384" => Some(with::<Sha384>(key, message)),
        "HS512" => Some(with::<Sha512>(key, message)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_key_is_recognised_and_no_other() {
        let claims = json!({"sub": "x"});
        for alg in ["HS256", "HS384", "HS512"] {
            let token = with_an_empty_key(alg, &claims);
            assert!(token.is_some_and(|t| is_signed_with_an_empty_key(alg, &t)));
        }
        let honest = Mint::new(Format::Jwt, Some("HS256")).and_then(|m| m.token(&claims));
        assert!(honest.is_ok_and(|t| !is_signed_with_an_empty_key("HS256", &t)));
        assert_eq!(with_an_empty_key("ES256", &claims), None);
    }

    #[test]
    fn hmac_is_that_of_rfc_4231_case_2() {
        let mac = hmac("HS256", b"Jefe", b"what do ya want for nothing?").unwrap_or_default();
        let hex: String = mac.iter().map(|b| format!("{b:02x}")).collect();
        assert!(hex.starts_with("5bdcc146bf60754e6a042426089575c7"));
    }
}
