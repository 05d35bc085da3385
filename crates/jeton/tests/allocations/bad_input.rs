//! Large, deep, numerous and expensive input must be rejected quickly, with limited memory. The
//! attacks in `tests/it` test the reasons.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use base64_simd::URL_SAFE_NO_PAD as BASE64URL;
use jeton::danger::{self, Password, Pbes2Alg};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{ContentEnc, ContentKey, MacAlg, MacKey};
use jeton::paseto::PasetoVerifier;
use jeton::paseto::v4;
use jeton::{Limits, Policy, jwt::JwtVerifier, limits};
use jeton_testkit::count;
use miniz_oxide::deflate::core::{CompressorOxide, TDEFLFlush, compress_to_output};
use serde_json::Value;

use crate::effort::at_once;

const SECRET: [u8; 32] = [7; 32];

/// Enough for an error, the fields of a header and a list of parts.
const SMALL_BYTES: u64 = 4 * 1024;

/// Passes a token to all functions that accept untrusted tokens. Each must reject it quickly and allocate at
/// most this number of bytes.
fn rejected_everywhere(token: &str, most: u64) {
    let mac = MacKey::new(MacAlg::HS256, &SECRET).unwrap();
    let content = ContentKey::new(ContentEnc::A256Gcm, &SECRET).unwrap();
    let local = v4::LocalKey::generate().unwrap();
    let public = v4::SecretKey::generate().unwrap().public_key();
    let policy = || Policy::new("i", "a");
    let jws = JwsVerifier::new(&mac);
    let jwt = JwtVerifier::new(&mac, policy());
    let jwe = danger::allow_zip(Decrypter::new(&content));
    let paseto = [
        PasetoVerifier::new(&local, policy()),
        PasetoVerifier::new(public, policy()),
    ];
    rejected("JWS", most, || jws.verify(token).is_err());
    rejected("JWS detached", most, || {
        jws.verify_detached(token, b"").is_err()
    });
    rejected("JWS JSON", most, || jws.verify_json(token).is_err());
    rejected("JWT", most, || jwt.verify::<Value>(token).is_err());
    rejected("JWE", most, || jwe.decrypt(token).is_err());
    rejected("JWE JSON", most, || jwe.decrypt_json(token).is_err());
    for verifier in &paseto {
        rejected("PASETO", most, || verifier.verify::<Value>(token).is_err());
    }
}

fn rejected(who: &str, most: u64, work: impl Fn() -> bool) {
    let (counts, is_rejected) = count(&work);
    assert!(is_rejected, "{who} took it");
    assert!(counts.bytes <= most, "{who}: {counts:?}, at most {most}");
    assert!(at_once(work), "{who}");
}

#[test]
fn ten_megabytes_are_rejected_cheaply() {
    for token in [
        "A".repeat(10_000_000),
        format!("{}.{0}.{0}", "A".repeat(3_333_333)),
        format!("v4.local.{}", "A".repeat(10_000_000)),
        format!("{{\"payload\":\"{}\"}}", "A".repeat(10_000_000)),
        "[".repeat(10_000_000),
    ] {
        rejected_everywhere(&token, 0);
    }
}

#[test]
fn million_dots_are_rejected_cheaply() {
    for token in [
        ".".repeat(1_000_000),
        "A.".repeat(500_000),
        ".".repeat(10_000_000),
        format!("v4.public.{}", ".".repeat(1_000_000)),
    ] {
        rejected_everywhere(&token, 0);
    }
}

#[test]
fn header_ten_thousand_deep_is_rejected_cheaply() {
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    // With the default limits, the header is too large before it is too deep.
    let header = BASE64URL.encode_to_string(format!("{{\"alg\":\"HS256\",\"x\":{deep}}}"));
    rejected_everywhere(&format!("{header}.AA.AA"), SMALL_BYTES);
    rejected_everywhere(&format!("{header}.AA.AA.AA.AA"), SMALL_BYTES);
    let wide = Limits::default().header_bytes(100_000);
    let mac = MacKey::new(MacAlg::HS256, &SECRET).unwrap();
    let jws = JwsVerifier::new(&mac).limits(wide);
    let most = 100_000 + SMALL_BYTES;
    rejected("JWS", most, || {
        jws.verify(&format!("{header}.AA.AA")).is_err()
    });
}

#[test]
fn document_ten_thousand_deep_or_wide_is_rejected() {
    for deep in [
        "[".repeat(10_000) + &"]".repeat(10_000),
        "{\"a\":".repeat(10_000) + "1" + &"}".repeat(10_000),
    ] {
        let text = format!("{{\"payload\":\"e30\",\"header\":{deep}}}");
        rejected_everywhere(&text, SMALL_BYTES);
    }
}

#[test]
fn document_with_too_many_values_is_rejected() {
    let most = Limits::default().token_bytes;
    let members = |text: &mut String| {
        for number in 0.. {
            if text.len() + 20 > most {
                break;
            }
            *text += &format!("\"{number:x}\":0,");
        }
        *text += "\"iv\":0}";
    };
    let mut flat = String::from("{");
    members(&mut flat);
    let mut nested = String::from("{\"header\":{");
    members(&mut nested);
    // Up to the limit, duplicates are detected.
    for text in [flat, nested + "}"] {
        rejected_everywhere(&text, limits::DOCUMENT_VALUES as u64 * 128);
    }
    let wide = format!("{{\"x\":[0{}]}}", ",0".repeat(most / 2 - 10));
    rejected_everywhere(&wide, SMALL_BYTES);
}

#[test]
fn claims_ten_thousand_deep_are_rejected() {
    let mac = MacKey::new(MacAlg::HS256, &SECRET).unwrap();
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    let token = JwsSigner::new(&mac)
        .sign(format!("{{\"x\":{deep}}}").as_bytes())
        .unwrap();
    let verifier = JwtVerifier::new(&mac, Policy::new("i", "a"));
    // The MAC is valid, so the claims are decoded; nothing else may be allocated.
    let most = token.len() as u64 + SMALL_BYTES;
    rejected("JWT", most, || verifier.verify::<Value>(&token).is_err());
}

#[test]
fn rounds_over_limit_are_rejected_before_derivation() {
    let rounds = [
        limits::PBES2_ROUNDS as u64 + 1,
        10_000_000,
        1 << 31,
        1 << 32,
        u64::MAX,
    ];
    for &alg in Pbes2Alg::ALL {
        let password = Password::new(alg, b"password").unwrap();
        let decrypter = Decrypter::new(password);
        for rounds in rounds {
            let header =
                format!(r#"{{"alg":"{alg}","enc":"A128GCM","p2s":"AAAAAAAAAAA","p2c":{rounds}}}"#);
            let token = format!("{}.AA.AA.AA.AA", BASE64URL.encode_to_string(header));
            rejected(alg.name(), SMALL_BYTES, || {
                decrypter.decrypt(&token).is_err()
            });
        }
    }
}

/// Compressed zeros without an end marker, so that they can be repeated.
fn compressed_zeros(bytes: usize) -> Vec<u8> {
    let mut compressor = CompressorOxide::default();
    compressor.set_format_and_level(miniz_oxide::DataFormat::Raw, 9);
    let mut all = Vec::new();
    let zeros = vec![0; bytes];
    let (_, read) = compress_to_output(&mut compressor, &zeros, TDEFLFlush::Sync, |part| {
        all.extend_from_slice(part);
        true
    });
    assert_eq!(read, bytes);
    all
}

#[test]
fn decompression_bomb_of_a_gigabyte_is_rejected() {
    let mut bomb = compressed_zeros(64 << 20).repeat(16);
    // The end marker: an empty last block.
    bomb.extend_from_slice(&[3, 0]);
    let token = sealed(&bomb);
    assert!(
        token.len() < Limits::default().token_bytes,
        "{}",
        token.len()
    );
    let content = ContentKey::new(ContentEnc::A256Gcm, &SECRET).unwrap();
    let closed = Decrypter::new(&content);
    rejected("without danger", SMALL_BYTES, || {
        closed.decrypt(&token).is_err()
    });
    let open = danger::allow_zip(Decrypter::new(&content));
    // The output buffer doubles, so less than three times its limit is allocated, plus the ciphertext.
    let most = 3 * limits::INFLATED_BYTES as u64 + 2 * token.len() as u64;
    rejected("danger", most, || open.decrypt(&token).is_err());
}

/// A JWE for [`SECRET`] that is marked as compressed.
fn sealed(content: &[u8]) -> String {
    let encode = |bytes: &[u8]| BASE64URL.encode_to_string(bytes);
    let protected = encode(br#"{"alg":"dir","enc":"A256GCM","zip":"DEF"}"#);
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &SECRET).unwrap());
    let iv = [7; 12];
    let mut data = content.to_vec();
    let nonce = Nonce::assume_unique_for_key(iv);
    let tag = key
        .seal_in_place_separate_tag(nonce, Aad::from(protected.as_bytes()), &mut data)
        .unwrap();
    let (iv, data, tag) = (encode(&iv), encode(&data), encode(tag.as_ref()));
    format!("{protected}..{iv}.{data}.{tag}")
}

#[test]
fn small_variants_of_rejected_input_are_accepted() {
    let content = ContentKey::new(ContentEnc::A256Gcm, &SECRET).unwrap();
    let open = danger::allow_zip(Decrypter::new(&content));
    let mut small = compressed_zeros(100);
    small.extend_from_slice(&[3, 0]);
    assert_eq!(open.decrypt(&sealed(&small)).unwrap().plaintext(), [0; 100]);
    let password = Password::new(Pbes2Alg::Hs256A128Kw, b"password").unwrap();
    let password = password.rounds(limits::PBES2_ROUNDS_MIN).unwrap();
    let token = Encrypter::new(&password, ContentEnc::A128Gcm).encrypt(b"x");
    assert!(Decrypter::new(password).decrypt(&token.unwrap()).is_ok());
}
