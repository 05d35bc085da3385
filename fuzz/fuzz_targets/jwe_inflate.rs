//! Any bytes as compressed content of an authentic JWE: no panic, and the output stays within the limits.
#![no_main]

use std::sync::LazyLock;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use base64_simd::URL_SAFE_NO_PAD as BASE64URL;
use jeton::danger;
use jeton::jwe::Decrypter;
use jeton::key::{ContentEnc, ContentKey};
use jeton::limits;
use jeton_fuzz::{bounded, seeds};
use libfuzzer_sys::fuzz_target;

const SECRET: [u8; 32] = [7; 32];

static DECRYPTER: LazyLock<Decrypter> = LazyLock::new(|| {
    let key = ContentKey::new(ContentEnc::A256Gcm, &SECRET).expect("a key");
    danger::allow_zip(Decrypter::new(key))
});

fuzz_target!(
    init: seeds::write(|| {
        let texts = seeds::from_vectors(|found| found.is_compact(3) || found.has("kty"));
        let compress = |text: String| miniz_oxide::deflate::compress_to_vec(text.as_bytes(), 6);
        let mut all: Vec<Vec<u8>> = texts.into_iter().take(100).map(compress).collect();
        all.push(compress("a".repeat(300)));
        all.push(compress("a".repeat(100_000)));
        all
    }),
    |compressed: &[u8]| {
        let token = sealed(compressed);
        if let Ok(decrypted) = bounded(token.len(), || DECRYPTER.decrypt(&token)) {
            let bytes = decrypted.plaintext().len();
            assert!(bytes <= limits::INFLATED_BYTES);
            assert!(bytes <= limits::INFLATED_RATIO * compressed.len());
            let again = miniz_oxide::inflate::decompress_to_vec(compressed);
            assert_eq!(again.ok().as_deref(), Some(decrypted.plaintext()));
        }
    }
);

/// A token for [`SECRET`] that is marked as compressed.
fn sealed(content: &[u8]) -> String {
    let protected = BASE64URL.encode_to_string(br#"{"alg":"dir","enc":"A256GCM","zip":"DEF"}"#);
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &SECRET).expect("32 bytes"));
    let iv = [7; 12];
    let mut data = content.to_vec();
    let tag = key
        .seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(iv),
            Aad::from(protected.as_bytes()),
            &mut data,
        )
        .expect("seals");
    let encode = |bytes: &[u8]| BASE64URL.encode_to_string(bytes);
    let (iv, data, tag) = (encode(&iv), encode(&data), encode(tag.as_ref()));
    format!("{protected}..{iv}.{data}.{tag}")
}
