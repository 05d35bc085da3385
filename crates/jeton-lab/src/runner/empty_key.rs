//! Tokens of somebody who has no key at all.

use base64_simd::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::digest::Digest;
use sha2::digest::common::BlockSizeUser;
use sha2::{Sha256, Sha384, Sha512};

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
pub(crate) fn is_signed_with_an_empty_key(alg: &str, token: &str) -> bool {
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
        let other = hmac("HS256", b"a key", b"e30.e30").unwrap_or_default();
        let token = format!("e30.e30.{}", URL_SAFE_NO_PAD.encode_to_string(other));
        assert!(!is_signed_with_an_empty_key("HS256", &token));
        assert_eq!(with_an_empty_key("ES256", &claims), None);
    }

    #[test]
    fn hmac_is_that_of_rfc_4231_case_2() {
        let mac = hmac("HS256", b"Jefe", b"what do ya want for nothing?").unwrap_or_default();
        let hex: String = mac.iter().map(|b| format!("{b:02x}")).collect();
        assert!(hex.starts_with("5bdcc146bf60754e6a042426089575c7"));
    }
}
