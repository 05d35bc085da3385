//! Reproduces every token size in the published report of token sizes, with tokens that are created and verified.
//!
//! The headers in the report contain spaces, so its sizes differ from those of compact headers. The figures are
//! in `lab/published/data`.

use jeton::danger::{self, RawHeaderSigner};
use jeton::jwe::{Decrypter, Encrypter};
use jeton::jws::JwsVerifier;
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, DecryptionKeys, EncryptionKeyRef, KeyManagementAlg,
    KeyWrapAlg, MacAlg, MacKey, RsaSize, SigAlg, SigningKey, WrappingKey,
};

const JWE: &str = include_str!("../../../../lab/published/data/report2-jwe.csv");
const JWS: &str = include_str!("../../../../lab/published/data/report2-jws.csv");

/// Ten claims of the 26 letters, 375 bytes in total.
fn claims() -> String {
    let names = [
        "alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india",
        "juliett",
    ];
    let claims = names.map(|name| format!("\"{name}\":\"abcdefghijklmnopqrstuvwxyz\""));
    let claims = format!("{{{}}}", claims.join(","));
    assert_eq!(claims.len(), 375);
    claims
}

fn lines(file: &str) -> impl Iterator<Item = Vec<&str>> {
    file.lines().skip(1).map(|line| line.split(',').collect())
}

#[test]
fn encrypted_tokens_have_the_42_published_sizes() {
    let claims = claims();
    let rsa = SigningKey::generate_rsa(SigAlg::RS256, RsaSize::Bits3072).unwrap();
    let rsa = rsa.to_der().unwrap();
    let mut seen = 0;
    for line in lines(JWE) {
        let [alg, name, .., bytes] = line.as_slice() else {
            unreachable!("five columns")
        };
        let enc: ContentEnc = name.parse().unwrap();
        let header = format!(r#"{{ "typ": "JWT", "enc": "{name}", "alg": "{alg}" }}"#);
        let encrypt = |key: EncryptionKeyRef<'_>| {
            let under = danger::encrypt_under(Encrypter::new(key, enc), &header).unwrap();
            under.encrypt(claims.as_bytes()).unwrap()
        };
        let (token, keys): (String, DecryptionKeys) = match *alg {
            "dir" => {
                let key = ContentKey::generate(enc).unwrap();
                (encrypt((&key).into()), (&key).into())
            }
            wrap if wrap.ends_with("KW") => {
                let key = WrappingKey::generate(wrap.parse::<KeyWrapAlg>().unwrap()).unwrap();
                (encrypt((&key).into()), (&key).into())
            }
            management => {
                let management = match management {
                    "RSA1_5" => danger::RSA1_5,
                    name => name.parse::<KeyManagementAlg>().unwrap(),
                };
                let key = DecryptionKey::from_der_as(&rsa, management).unwrap();
                (encrypt((&key.encryption_key()).into()), (&key).into())
            }
        };
        assert_eq!(token.len(), bytes.parse::<usize>().unwrap(), "{alg} {name}");
        let opened = Decrypter::new(keys).decrypt(&token).unwrap();
        assert_eq!(opened.plaintext(), claims.as_bytes());
        assert_eq!(opened.typ(), Some("JWT"));
        seen += 1;
    }
    assert_eq!(seen, 42);
}

#[test]
fn signed_tokens_have_the_8_published_sizes() {
    let claims = claims();
    let mut seen = 0;
    for line in lines(JWS) {
        let [alg, .., bytes] = line.as_slice() else {
            unreachable!("four columns")
        };
        let bytes: usize = bytes.parse().unwrap();
        let header = format!(r#"{{ "typ": "JWT", "alg": "{alg}" }}"#);
        seen += 1;
        if *alg == "NONE" {
            // jeton does not create such a token: it consists of two base64url texts and two dots.
            let encoded = |bytes: usize| (bytes * 4).div_ceil(3);
            assert_eq!(encoded(header.len()) + encoded(claims.len()) + 2, bytes);
            continue;
        }
        let token = if let Ok(mac) = alg.parse::<MacAlg>() {
            let key = MacKey::generate(mac).unwrap();
            let token = RawHeaderSigner::new(&key, &header)
                .unwrap()
                .sign(claims.as_bytes());
            let token = token.unwrap();
            let opened = JwsVerifier::new(&key).verify(&token).unwrap();
            assert_eq!(opened.payload(), claims.as_bytes());
            token
        } else {
            let key = SigningKey::generate(alg.parse::<SigAlg>().unwrap()).unwrap();
            let token = RawHeaderSigner::new(&key, &header)
                .unwrap()
                .sign(claims.as_bytes());
            let token = token.unwrap();
            let opened = JwsVerifier::new(key.verifying_key())
                .verify(&token)
                .unwrap();
            assert_eq!(opened.payload(), claims.as_bytes());
            token
        };
        assert_eq!(token.len(), bytes, "{alg}");
    }
    assert_eq!(seen, 8);
}

#[test]
fn header_text_that_contradicts_the_key_is_rejected() {
    let key = MacKey::generate(MacAlg::HS256).unwrap();
    for text in [
        "",
        "[]",
        "{}",
        r#"{"typ":"JWT"}"#,
        r#"{"alg":"none"}"#,
        r#"{"alg":"HS384"}"#,
        r#"{"alg":"HS256","alg":"HS256"}"#,
        r#"{"alg":"HS256","crit":["b64"],"b64":false}"#,
        r#"{"alg":"HS256","jwk":{"kty":"oct","k":"AA"}}"#,
        r#"{"alg":"HS256","cr\u0069t":["exp"]}"#,
        r#"{"alg":"HS256","typ":5}"#,
        r#"{"alg":"HS256","x5t":"a","x5t":"a"}"#,
        r#"{"alg":"HS256"} "#.repeat(2_000).as_str(),
        r#"{"alg":"HS256""#,
    ] {
        assert!(RawHeaderSigner::new(&key, text).is_err(), "{text:.40}");
    }
    let wrapping = WrappingKey::generate(KeyWrapAlg::A128GcmKw).unwrap();
    let encrypter = || Encrypter::new(&wrapping, ContentEnc::A128Gcm);
    let header = r#"{ "typ": "JWT", "enc": "A128GCM", "alg": "A128GCMKW" }"#;
    let under = danger::encrypt_under(encrypter(), header).unwrap();
    assert!(
        under.encrypt(b"x").is_err(),
        "its header says iv and tag too"
    );
    for header in [
        r#"{ "alg": "A128GCMKW" }"#,
        r#"{ "alg": "A128KW", "enc": "A128GCM" }"#,
        r#"{ "alg": "A128GCMKW", "enc": "A256GCM" }"#,
        r#"{ "alg": "A128GCMKW", "enc": "A128GCM", "zip": "DEF" }"#,
    ] {
        assert!(
            danger::encrypt_under(encrypter(), header).is_err(),
            "{header}"
        );
    }
    let plain = WrappingKey::generate(KeyWrapAlg::A128Kw).unwrap();
    let header = r#"{ "enc": "A128GCM", "alg": "A128KW" }"#;
    let under = || danger::encrypt_under(Encrypter::new(&plain, ContentEnc::A128Gcm), header);
    assert!(under().unwrap().encrypt(b"x").is_ok());
    assert!(
        under().unwrap().encrypt_flattened(b"x").is_err(),
        "compact only"
    );
    assert!(
        under().unwrap().encrypt_general(b"x").is_err(),
        "compact only"
    );
    assert!(danger::compress(under().unwrap()).encrypt(b"x").is_err());
}
