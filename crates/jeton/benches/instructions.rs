//! Instruction counts of parsing, JSON, base64 and assembling. `cargo xtask instructions` runs this under
//! callgrind and fails if a case exceeds its limit.
//!
//! The second call of each case is counted, so that one-time work is excluded. Primitives (AWS-LC, SHA-2,
//! BLAKE2, ChaCha20) are excluded too: valgrind emulates a processor without the newest vector and SHA
//! instructions, so other implementations run than in production.
//!
//! Some groups of cases have no limit but must cost the same, including the primitives: the sender of a token
//! must not learn from the cost which case it was.
//!
//! With `--list`, it prints each case and its limit, or `~` and the allowed difference for the cases that must
//! cost the same.

#![allow(missing_docs, clippy::unwrap_used)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

// Private modules are compiled into the benchmark, without exposing them in the library.
#[path = "../src/base64.rs"]
#[allow(dead_code, unused_imports, unreachable_pub)]
mod base64;
#[path = "../src/json/mod.rs"]
#[allow(dead_code, unused_imports, unreachable_pub)]
mod json;

use std::hint::black_box;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use jeton::danger::RSA1_5;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::jwk::KeySet;
use jeton::jws::{JwsSigner, JwsVerifier};
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, KeyWrapAlg, MacAlg, MacKey, SigAlg, SigningKey,
    WrappingKey,
};
use jeton::paseto::{self, PasetoVerifier, v4::LocalKey};
use jeton::{
    Claims, FixedClock, Policy, Scratch, Timestamp, VerifiedIn, Verify as _,
    jwt::{self, JwtVerifier},
};
use serde::{Deserialize, Serialize};

/// Name, maximum number of instructions, and the case. A limit is about 5 % above the count on a processor with
/// AVX2. Hash sets have random seeds, which varies the count.
const CASES: &[(&str, u64, fn())] = &[
    ("base64_encode", 600, case_base64_encode),
    ("base64_decode", 440, case_base64_decode),
    ("json_claims", 2_700, case_json_claims),
    (
        "json_thousand_members",
        1_150_000,
        case_json_thousand_members,
    ),
    ("jws_split", 340, case_jws_split),
    ("jws_known_header", 485, case_jws_known_header),
    ("jws_foreign_header", 3_660, case_jws_foreign_header),
    ("jws_json_form", 9_250, case_jws_json_form),
    ("jwt_issue", 4_170, case_jwt_issue),
    ("jwt_issue_text", 4_410, case_jwt_issue_text),
    ("jwt_issue_text_onto", 5_960, case_jwt_issue_text_onto),
    ("jwt_batch", 3_060, case_jwt_batch),
    ("jwt_verify", 7_350, case_jwt_verify),
    ("jwt_verify_text", 7_510, case_jwt_verify_text),
    ("jwe_encrypt", 9_400, case_jwe_encrypt),
    ("jwe_decrypt", 8_460, case_jwe_decrypt),
    ("jwe_json_form", 31_000, case_jwe_json_form),
    ("jwk_set", 168_500, case_jwk_set),
    ("key_from_jwk", 15_050, case_key_from_jwk),
    ("key_from_pem", 19_800, case_key_from_pem),
    ("paseto_issue", 7_360, case_paseto_issue),
    ("paseto_issue_text", 7_690, case_paseto_issue_text),
    ("paseto_verify", 11_850, case_paseto_verify),
    ("paserk_local", 2_515, case_paserk_local),
];

/// Cases that must cost the same. RSA blinding uses random numbers, so its cost varies by some dozens of
/// instructions, and the blinding is renewed now and then. The lowest of several counts is used.
const ALIKE: &[(&str, fn())] = &[
    ("rsa1_5_right_padding", case_rsa1_5_right_padding),
    ("rsa1_5_wrong_padding", case_rsa1_5_wrong_padding),
    ("rsa1_5_wrong_length", case_rsa1_5_wrong_length),
];
const ALIKE_CALLS: usize = 6;
const ALIKE_INSTRUCTIONS: u64 = 100;

fn main() {
    if std::env::args().any(|argument| argument == "--list") {
        for (name, most, _) in CASES {
            println!("{name} {most}");
        }
        for (name, _) in ALIKE {
            println!("{name} ~{ALIKE_INSTRUCTIONS}");
        }
        return;
    }
    // Before all cases, because code between two cases is attributed to the first of them.
    LazyLock::force(&RSA1_5_TOKENS);
    for (_, _, case) in CASES {
        case();
        case();
    }
    for (_, case) in ALIKE {
        for _ in 0..ALIKE_CALLS {
            case();
        }
    }
    case_end();
}

/// Ends the count of the last case before the process cleans up.
#[inline(never)]
fn case_end() {
    black_box(());
}

/// The eight claims of the set `standard` of the lab, with about the same size.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Own<'a> {
    role: &'a str,
    #[serde(default)]
    level: u8,
}

const NOW: i64 = 1_800_000_000;
const ISSUER: &str = "https://issuer.example";
const CLAIMS: &str = r#"{"iss":"https://issuer.example","sub":"user-1234567890","aud":"api","exp":1800000900,"iat":1800000000,"jti":"0123456789abcdef","role":"reader","level":3}"#;

static SECRET: [u8; 32] = [7; 32];
static MAC: LazyLock<MacKey> = LazyLock::new(|| MacKey::new(MacAlg::HS256, &SECRET).unwrap());
static CLOCK: LazyLock<FixedClock> =
    LazyLock::new(|| FixedClock(Timestamp::from_unix_seconds(NOW).unwrap()));

fn claims() -> Claims<'static, Own<'static>> {
    Claims::new(Own {
        role: "reader",
        level: 3,
    })
    .issuer(ISSUER)
    .subject("user-1234567890")
    .audience("api")
    .token_id("0123456789abcdef")
    .expires_in(Duration::from_secs(900))
}

/// Returns the token at a multiple of 64 bytes. Elsewhere the search for dots takes some instructions more or
/// fewer, and the allocator gives other addresses if the path of this program has another length.
fn aligned(token: &str) -> &'static str {
    let bytes = vec![0; token.len() + 63].leak();
    let start = bytes.as_ptr().align_offset(64);
    let place = &mut bytes[start..][..token.len()];
    place.copy_from_slice(token.as_bytes());
    std::str::from_utf8(place).unwrap()
}

fn policy() -> Policy {
    Policy::new(ISSUER, "api")
}

#[inline(never)]
fn case_base64_encode() {
    black_box(base64::encode(black_box(CLAIMS.as_bytes())));
}

#[inline(never)]
fn case_base64_decode() {
    static TEXT: LazyLock<String> = LazyLock::new(|| base64::encode(CLAIMS.as_bytes()));
    let mut buffer = [0; 256];
    black_box(base64::decode_into(black_box(TEXT.as_bytes()), &mut buffer)).unwrap();
}

fn read(text: &str) -> usize {
    let mut count = 0;
    let outcome = json::read_object(black_box(text), 32, |name, value| {
        black_box((name, value));
        count += 1;
        Ok::<_, json::ScanError>(())
    });
    assert!(outcome.is_ok());
    count
}

#[inline(never)]
fn case_json_claims() {
    assert_eq!(read(CLAIMS), 8);
}

#[inline(never)]
fn case_json_thousand_members() {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let members: Vec<String> = (0..1000).map(|n| format!("\"member{n}\":{n}")).collect();
        format!("{{{}}}", members.join(","))
    });
    assert_eq!(read(&TEXT), 1000);
}

/// A token whose signature is too short to verify: all steps before verification run, and none after.
fn unsigned(header: &str) -> String {
    let encode = |text: &str| base64::encode(text.as_bytes());
    format!("{}.{}.AAAA", encode(header), encode(CLAIMS))
}

fn reject(token: &str) {
    static VERIFIER: LazyLock<JwsVerifier> = LazyLock::new(|| JwsVerifier::new(&*MAC));
    assert!(black_box(VERIFIER.verify(black_box(token))).is_err());
}

#[inline(never)]
fn case_jws_split() {
    static TOKEN: LazyLock<&str> = LazyLock::new(|| aligned(&(unsigned("") + ".")));
    reject(&TOKEN);
}

#[inline(never)]
fn case_jws_known_header() {
    static TOKEN: LazyLock<&str> = LazyLock::new(|| {
        let signed = JwsSigner::new(&*MAC).sign(CLAIMS.as_bytes()).unwrap();
        let (input, _) = signed.rsplit_once('.').unwrap();
        aligned(&format!("{input}.AAAA"))
    });
    reject(&TOKEN);
}

#[inline(never)]
fn case_jws_foreign_header() {
    static TOKEN: LazyLock<&str> = LazyLock::new(|| {
        aligned(&unsigned(
            r#"{"typ":"JWT", "alg":"HS256", "kid":"2027-01", "x":{"y":[1,2]}}"#,
        ))
    });
    reject(&TOKEN);
}

#[inline(never)]
fn case_jws_json_form() {
    static VERIFIER: LazyLock<JwsVerifier> = LazyLock::new(|| JwsVerifier::new(&*MAC));
    static TOKEN: LazyLock<String> = LazyLock::new(|| {
        JwsSigner::new(&*MAC)
            .sign_flattened(CLAIMS.as_bytes())
            .unwrap()
    });
    assert!(black_box(VERIFIER.verify_json(black_box(&TOKEN))).is_ok());
}

#[inline(never)]
fn case_jwt_issue() {
    black_box(MAC.issue_with_clock(black_box(&claims()), &*CLOCK)).unwrap();
}

/// Custom claims as text, with the registered claims by method.
#[inline(never)]
fn case_jwt_issue_text() {
    let claims = Claims::from_json(black_box(r#"{"role":"reader","level":3}"#)).unwrap();
    let claims = claims
        .issuer(ISSUER)
        .subject("user-1234567890")
        .audience("api")
        .token_id("0123456789abcdef")
        .expires_in(Duration::from_secs(900));
    black_box(MAC.issue_with_clock(black_box(&claims), &*CLOCK)).unwrap();
}

/// All claims as text, onto a string of the caller.
#[inline(never)]
fn case_jwt_issue_text_onto() {
    static TEXT: Mutex<String> = Mutex::new(String::new());
    let mut token = TEXT.lock().unwrap();
    token.clear();
    let claims = Claims::from_json(black_box(CLAIMS)).unwrap();
    MAC.issue_onto(black_box(&claims), &mut token).unwrap();
    black_box(&token);
}

/// One token of a batch issuer, with the same claims.
#[inline(never)]
fn case_jwt_batch() {
    static ISSUER_OF_BATCH: LazyLock<jwt::BatchIssuer<'static>> = LazyLock::new(|| {
        let shared = Claims::new(())
            .issuer(ISSUER)
            .audience("api")
            .expires_in(Duration::from_secs(900));
        jwt::BatchIssuer::new_with_clock(&*MAC, &shared, &*CLOCK).unwrap()
    });
    let own = jwt::TokenClaims::new(Own {
        role: "reader",
        level: 3,
    });
    let own = own.subject("user-1234567890").token_id("0123456789abcdef");
    black_box(ISSUER_OF_BATCH.issue(black_box(&own))).unwrap();
}

#[inline(never)]
fn case_jwt_verify() {
    static VERIFIER: LazyLock<JwtVerifier> =
        LazyLock::new(|| JwtVerifier::new(&*MAC, policy()).clock(*CLOCK));
    static TOKEN: LazyLock<&str> =
        LazyLock::new(|| aligned(&MAC.issue_with_clock(&claims(), &*CLOCK).unwrap()));
    let mut scratch = Scratch::new();
    let verified: VerifiedIn<'_, Own<'_>> =
        VERIFIER.verify_in(black_box(*TOKEN), &mut scratch).unwrap();
    assert_eq!(verified.claims().level, 3);
}

/// The registered claims with their types and positions, for a caller with its own JSON reader.
#[inline(never)]
fn case_jwt_verify_text() {
    static VERIFIER: LazyLock<JwtVerifier> =
        LazyLock::new(|| JwtVerifier::new(&*MAC, policy()).clock(*CLOCK));
    static TOKEN: LazyLock<&str> =
        LazyLock::new(|| aligned(&MAC.issue_with_clock(&claims(), &*CLOCK).unwrap()));
    let mut scratch = Scratch::new();
    let verified = VERIFIER
        .verify_raw_in(black_box(*TOKEN), &mut scratch)
        .unwrap();
    black_box((verified.issuer(), verified.subject(), verified.token_id()));
    black_box((verified.expires_at(), verified.issued_at()));
    let members = black_box(verified.registered_members());
    assert_eq!(
        members.map(|member| member.member.len()).sum::<usize>(),
        120
    );
}

static CONTENT: LazyLock<ContentKey> =
    LazyLock::new(|| ContentKey::new(ContentEnc::A256Gcm, &SECRET).unwrap());

#[inline(never)]
fn case_jwe_encrypt() {
    let encrypter = Encrypter::new(&*CONTENT, ContentEnc::A256Gcm);
    black_box(encrypter.encrypt(black_box(CLAIMS.as_bytes()))).unwrap();
}

#[inline(never)]
fn case_jwe_decrypt() {
    static DECRYPTER: LazyLock<Decrypter> = LazyLock::new(|| Decrypter::new(&*CONTENT));
    static TOKEN: LazyLock<&str> = LazyLock::new(|| {
        let encrypter = Encrypter::new(&*CONTENT, ContentEnc::A256Gcm);
        aligned(&encrypter.encrypt(CLAIMS.as_bytes()).unwrap())
    });
    black_box(DECRYPTER.decrypt(black_box(*TOKEN))).unwrap();
}

#[inline(never)]
fn case_jwe_json_form() {
    static KEYS: LazyLock<[WrappingKey; 3]> = LazyLock::new(|| {
        ["a", "b", "c"].map(|id| {
            let key = WrappingKey::new(KeyWrapAlg::A256Kw, &SECRET).unwrap();
            key.with_key_id(id).unwrap()
        })
    });
    static DECRYPTER: LazyLock<Decrypter> = LazyLock::new(|| Decrypter::new(&KEYS[2]));
    static TOKEN: LazyLock<String> = LazyLock::new(|| {
        Encrypter::new(&KEYS[0], ContentEnc::A256Gcm)
            .recipient(&KEYS[1])
            .recipient(&KEYS[2])
            .encrypt_general(CLAIMS.as_bytes())
            .unwrap()
    });
    black_box(DECRYPTER.decrypt_json(black_box(&TOKEN))).unwrap();
}

#[inline(never)]
fn case_jwk_set() {
    static SET: LazyLock<String> = LazyLock::new(|| {
        let jwk = |n: u8| {
            let key = SigningKey::generate(SigAlg::Ed25519).unwrap();
            let key = key.verifying_key().with_key_id(&n.to_string()).unwrap();
            key.to_jwk()
        };
        let keys: Vec<String> = (0..10).map(jwk).collect();
        format!("{{\"keys\":[{}]}}", keys.join(","))
    });
    assert_eq!(KeySet::from_json(black_box(&SET)).unwrap().len(), 10);
}

static ES256: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::generate(SigAlg::ES256).unwrap());

#[inline(never)]
fn case_key_from_jwk() {
    static JWK: LazyLock<&str> = LazyLock::new(|| aligned(&ES256.to_jwk().unwrap()));
    black_box(SigningKey::from_jwk(black_box(*JWK))).unwrap();
}

#[inline(never)]
fn case_key_from_pem() {
    static PEM: LazyLock<&str> = LazyLock::new(|| aligned(&ES256.to_pem().unwrap()));
    black_box(SigningKey::from_pem(black_box(*PEM))).unwrap();
}

static LOCAL: LazyLock<LocalKey> = LazyLock::new(|| LocalKey::generate().unwrap());

#[inline(never)]
fn case_paseto_issue() {
    let context = paseto::TokenContext::new();
    black_box(LOCAL.issue_with_clock(black_box(&claims()), context, &*CLOCK)).unwrap();
}

#[inline(never)]
fn case_paseto_issue_text() {
    let context = paseto::TokenContext::new();
    let claims = Claims::from_json(black_box(r#"{"role":"reader","level":3}"#)).unwrap();
    let claims = claims
        .issuer(ISSUER)
        .subject("user-1234567890")
        .audience("api")
        .token_id("0123456789abcdef")
        .expires_in(Duration::from_secs(900));
    black_box(LOCAL.issue_with_clock(black_box(&claims), context, &*CLOCK)).unwrap();
}

#[inline(never)]
fn case_paseto_verify() {
    static VERIFIER: LazyLock<PasetoVerifier> =
        LazyLock::new(|| PasetoVerifier::new(&*LOCAL, policy()).clock(*CLOCK));
    static TOKEN: LazyLock<&str> = LazyLock::new(|| {
        let context = paseto::TokenContext::new();
        aligned(&LOCAL.issue_with_clock(&claims(), context, &*CLOCK).unwrap())
    });
    let mut scratch = Scratch::new();
    let verified: VerifiedIn<'_, Own<'_>> =
        VERIFIER.verify_in(black_box(*TOKEN), &mut scratch).unwrap();
    assert_eq!(verified.claims().level, 3);
}

#[inline(never)]
fn case_paserk_local() {
    static PASERK: LazyLock<&str> = LazyLock::new(|| aligned(&LOCAL.to_paserk()));
    black_box(LocalKey::from_paserk(black_box(*PASERK))).unwrap();
}

/// A decrypter, and three tokens for its key with a wrong tag: valid padding with a content key of the right
/// length, invalid padding, and valid padding with a content key of another length.
static RSA1_5_TOKENS: LazyLock<(Decrypter, [String; 3])> = LazyLock::new(|| {
    let key = DecryptionKey::generate(RSA1_5).unwrap();
    let decrypter = Decrypter::new(&key);
    let token = |enc| {
        let public = key.encryption_key();
        Encrypter::new(&public, enc).encrypt(b"x").unwrap()
    };
    let (right, other) = (token(ContentEnc::A256Gcm), token(ContentEnc::A128Gcm));
    let mut number = [0x5a; 256];
    number[0] = 0;
    let encrypted_key = |token: &str| token.split('.').nth(1).unwrap().to_owned();
    let with = |encrypted_key: &str| {
        let parts: Vec<&str> = right.split('.').collect();
        let tag = base64::encode(&[0; 16]);
        [parts[0], encrypted_key, parts[2], parts[3], &tag].join(".")
    };
    let tokens = [
        with(&encrypted_key(&right)),
        with(&base64::encode(&number)),
        with(&encrypted_key(&other)),
    ];
    (decrypter, tokens)
});

fn reject_rsa1_5(index: usize) {
    let (decrypter, tokens) = &*RSA1_5_TOKENS;
    assert!(black_box(decrypter.decrypt(black_box(&tokens[index]))).is_err());
}

#[inline(never)]
fn case_rsa1_5_right_padding() {
    reject_rsa1_5(black_box(0));
}

#[inline(never)]
fn case_rsa1_5_wrong_padding() {
    reject_rsa1_5(black_box(1));
}

#[inline(never)]
fn case_rsa1_5_wrong_length() {
    reject_rsa1_5(black_box(2));
}
