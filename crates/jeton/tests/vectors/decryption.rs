//! Decryption keys from JWKs of any type.

use jeton::danger::RSA1_5;
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, DecryptionKeys, KeyManagementAlg, KeyWrapAlg,
    WrappingKey,
};
use serde_json::Value;

/// A key for this `alg`, and for this `enc` if `alg` is `dir`.
pub(crate) fn decryption_keys(jwk: &Value, alg: &str, enc: &str) -> jeton::Result<DecryptionKeys> {
    let text = jwk.to_string();
    if alg == "dir" {
        let enc: ContentEnc = enc.parse().expect("a content encryption");
        return Ok(ContentKey::from_jwk_as(&text, enc)?.into());
    }
    if let Ok(alg) = alg.parse::<KeyWrapAlg>() {
        return Ok(WrappingKey::from_jwk_as(&text, alg)?.into());
    }
    if alg == "RSA1_5" {
        return Ok(DecryptionKey::from_jwk_as(&text, RSA1_5)?.into());
    }
    let alg: KeyManagementAlg = alg.parse().expect("a key management");
    Ok(DecryptionKey::from_jwk_as(&text, alg)?.into())
}
