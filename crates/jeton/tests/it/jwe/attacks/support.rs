//! Keys of every type, and correctly encrypted tokens with any header.

use std::sync::LazyLock;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use base64_simd::URL_SAFE_NO_PAD as BASE64URL;
use jeton::danger::{Password, Pbes2Alg, RSA1_5};
use jeton::error::Rejection;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, DecryptionKeys, KeyManagementAlg, KeyWrapAlg,
    WrappingKey,
};

pub(crate) const SECRET: [u8; 32] = [0x5e; 32];

pub(crate) fn encode(bytes: &[u8]) -> String {
    BASE64URL.encode_to_string(bytes)
}

pub(crate) fn decode(text: &str) -> Vec<u8> {
    BASE64URL.decode_to_vec(text).unwrap()
}

/// A decrypter with the content key [`SECRET`], for AES-GCM of 256 bits.
pub(crate) fn direct() -> Decrypter {
    Decrypter::new(ContentKey::new(ContentEnc::A256Gcm, &SECRET).unwrap())
}

/// A compact token for [`SECRET`] with any header and a valid tag.
pub(crate) fn direct_token(header: &str, plaintext: &[u8]) -> String {
    let protected = encode(header.as_bytes());
    let (iv, ciphertext, tag) = seal(&SECRET, &protected, plaintext);
    format!("{protected}..{iv}.{ciphertext}.{tag}")
}

/// AES-256-GCM over a plaintext: iv, ciphertext and tag, base64url.
pub(crate) fn seal(secret: &[u8], aad: &str, plaintext: &[u8]) -> (String, String, String) {
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, secret).unwrap());
    let iv = [7; 12];
    let mut data = plaintext.to_vec();
    let tag = key
        .seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(iv),
            Aad::from(aad.as_bytes()),
            &mut data,
        )
        .unwrap();
    (encode(&iv), encode(&data), encode(tag.as_ref()))
}

pub(crate) fn rejection<T>(result: jeton::Result<T>) -> Rejection {
    match result {
        Ok(_) => panic!("accepted"),
        Err(error) => error.rejection().expect("a rejection").clone(),
    }
}

/// A token for every key management, with the keys to decrypt it.
pub(crate) fn every_kind(enc: ContentEnc) -> Vec<(String, DecryptionKeys, String)> {
    let mut all = Vec::new();
    let mut private = |name: String, key: DecryptionKey| {
        let token = Encrypter::new(&key.encryption_key(), enc).encrypt(b"secret");
        all.push((name, DecryptionKeys::from(key), token.unwrap()));
    };
    for alg in KeyManagementAlg::ALL.iter().copied().chain([RSA1_5]) {
        let key = if alg.name().starts_with("RSA") {
            DecryptionKey::from_pem_as(rsa_pem(), alg)
        } else {
            DecryptionKey::generate(alg)
        };
        private(alg.to_string(), key.unwrap());
    }
    for alg in [KeyManagementAlg::EcdhEs, KeyManagementAlg::EcdhEsA256Kw] {
        private(
            format!("{alg} X25519"),
            DecryptionKey::generate_x25519(alg).unwrap(),
        );
    }
    for &alg in KeyWrapAlg::ALL {
        let key = WrappingKey::generate(alg).unwrap();
        let token = Encrypter::new(&key, enc).encrypt(b"secret").unwrap();
        all.push((alg.to_string(), key.into(), token));
    }
    for &alg in Pbes2Alg::ALL {
        let key = Password::new(alg, b"password")
            .unwrap()
            .rounds(1000)
            .unwrap();
        let token = Encrypter::new(&key, enc).encrypt(b"secret").unwrap();
        all.push((alg.to_string(), key.into(), token));
    }
    let key = ContentKey::generate(enc).unwrap();
    let token = Encrypter::new(&key, enc).encrypt(b"secret").unwrap();
    all.push(("dir".into(), key.into(), token));
    all
}

/// One RSA key for all tests, because generating it is slow.
fn rsa_pem() -> &'static str {
    static PEM: LazyLock<String> = LazyLock::new(|| {
        let key = DecryptionKey::generate(RSA1_5).unwrap();
        key.to_pem().unwrap().to_string()
    });
    &PEM
}

/// The five parts of a compact token.
pub(crate) fn parts(token: &str) -> [String; 5] {
    let parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    parts.try_into().unwrap()
}

/// The header of a compact token, as JSON.
pub(crate) fn header(token: &str) -> serde_json::Value {
    serde_json::from_slice(&decode(&parts(token)[0])).unwrap()
}

/// Replaces the header of a token. The tag is no longer valid, but key management is checked first.
pub(crate) fn with_header(token: &str, header: &serde_json::Value) -> String {
    let mut parts = parts(token);
    parts[0] = encode(header.to_string().as_bytes());
    parts.join(".")
}
