//! Allocations of JWE in Rust: few for rejected tokens, one copy of the content for accepted ones.

use jeton::danger;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, ContentKey};
use jeton::limits;
use jeton_testkit::count;

/// Enough for several headers, nonces and tags.
const SMALL_BYTES: u64 = 4096;

fn key() -> ContentKey {
    ContentKey::generate(ContentEnc::A256Gcm).unwrap()
}

#[test]
fn token_over_limit_allocates_nothing() {
    let decrypter = Decrypter::new(key());
    for token in ["A".repeat(10_000_000), ".".repeat(10_000_000)] {
        let (counts, result) = count(|| decrypter.decrypt(&token).is_err());
        assert!(result);
        assert_eq!(counts.allocations, 0);
        let (counts, result) = count(|| decrypter.decrypt_json(&token).is_err());
        assert!(result);
        assert_eq!(counts.allocations, 0);
    }
}

#[test]
fn token_of_million_dots_allocates_nothing() {
    let decrypter = Decrypter::new(key());
    let token = ".".repeat(1_000_000);
    let (counts, result) = count(|| decrypter.decrypt(&token).is_err());
    assert!(result);
    assert!(counts.bytes < SMALL_BYTES, "{counts:?}");
}

#[test]
fn decompression_bomb_allocates_at_most_its_limit() {
    let key = key();
    let encrypter = danger::compress(Encrypter::new(&key, ContentEnc::A256Gcm));
    let token = encrypter.encrypt(&vec![0; 64 * 1024 * 1024]).unwrap();
    let decrypter = danger::allow_zip(Decrypter::new(&key));
    let (counts, result) = count(|| decrypter.decrypt(&token).is_err());
    assert!(result);
    // The output buffer doubles up to the limit: the sum of all its sizes is less than three times the last
    // one, and at most two exist at once.
    let most = 3 * limits::INFLATED_BYTES as u64 + 2 * token.len() as u64 + 64 * 1024;
    assert!(counts.bytes < most, "{counts:?}");
}

#[test]
fn large_plaintext_is_copied_once_each_way() {
    for &enc in ContentEnc::ALL {
        let key = ContentKey::generate(enc).unwrap();
        let encrypter = Encrypter::new(&key, enc);
        let plaintext = vec![1; 1_000_000];
        let (counts, token) = count(|| encrypter.encrypt(&plaintext).unwrap());
        // The ciphertext and the token.
        let most = plaintext.len() as u64 + token.len() as u64 + SMALL_BYTES;
        assert!(counts.bytes < most, "{enc}: {counts:?}");
        let decrypter = Decrypter::new(&key);
        let (counts, decrypted) = count(|| decrypter.decrypt(&token).unwrap());
        assert_eq!(decrypted.plaintext(), plaintext);
        let most = plaintext.len() as u64 + SMALL_BYTES;
        assert!(counts.bytes < most, "{enc}: {counts:?}");
    }
}
