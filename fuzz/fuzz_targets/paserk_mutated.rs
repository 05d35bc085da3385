//! Wrapped, sealed and password-encrypted keys of every version with changed, removed, inserted or exchanged
//! parts: rejected. Texts with more than the minimum cost are skipped, to keep the target fast.
#![no_main]

use std::sync::LazyLock;

use jeton::danger::{paseto_v1::V1, paseto_v2::V2};
use jeton::limits;
use jeton::paserk::{PaserkVersion, PasswordCost};
use jeton::paseto::{LocalKey, SecretKey, Version, v3::V3, v4::V4};
use jeton_fuzz::keys;
use jeton_fuzz::mutation::{Bytes, mutate};
use jeton_fuzz::seeds;
use libfuzzer_sys::fuzz_target;

/// Two texts of one kind, and whether a text is accepted.
struct Case {
    texts: [String; 2],
    is_read: Box<dyn Fn(&str) -> bool + Send + Sync>,
}

const PASSWORD: &[u8] = b"password";

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let mut all = Vec::new();
    cases::<V1>(&mut all);
    cases::<V2>(&mut all);
    cases::<V3>(&mut all);
    cases::<V4>(&mut all);
    all
});

fn cases<V: Version>(all: &mut Vec<Case>) {
    let mut case = |make: &dyn Fn() -> jeton::Result<String>, is_read| {
        // Version 1 does not support sealing.
        if let (Ok(one), Ok(two)) = (make(), make()) {
            let texts = [one, two];
            all.push(Case { texts, is_read });
        }
    };
    let keys = keys::paseto::<V>;
    case(&|| keys().local.to_wrapped_paserk(&keys().wrapping), {
        let own = keys();
        Box::new(move |text| LocalKey::<V>::from_wrapped_paserk(text, &own.wrapping).is_ok())
    });
    case(&|| keys().secret.to_wrapped_paserk(&keys().wrapping), {
        let own = keys();
        Box::new(move |text| SecretKey::<V>::from_wrapped_paserk(text, &own.wrapping).is_ok())
    });
    case(
        &|| keys().local.to_sealed_paserk(&keys().secret.public_key()),
        {
            let own = keys();
            Box::new(move |text| LocalKey::<V>::from_sealed_paserk(text, &own.secret).is_ok())
        },
    );
    // Argon2id takes a hundred times as long as all others together.
    if matches!(V::VERSION, PaserkVersion::V1 | PaserkVersion::V3) {
        let cost = || PasswordCost::pbkdf2(limits::PBKDF2_ITERATIONS_MIN).expect("allowed");
        case(
            &|| keys().local.to_password_paserk_with(PASSWORD, cost()),
            Box::new(|text| {
                is_cheap(text) && LocalKey::<V>::from_password_paserk(text, PASSWORD).is_ok()
            }),
        );
    }
}

/// Whether the text has the minimum number of iterations, which are after 32 bytes of salt.
fn is_cheap(text: &str) -> bool {
    let body = text.rsplit('.').next().unwrap_or_default();
    let Ok(bytes) = base64_simd::URL_SAFE_NO_PAD.decode_to_vec(body) else {
        return true;
    };
    let least = limits::PBKDF2_ITERATIONS_MIN.to_be_bytes();
    bytes.get(32..36).is_none_or(|asked| asked <= &least[..])
}

fuzz_target!(
    init: seeds::write(|| seeds::numbers(2 * CASES.len())),
    |data: &[u8]| {
        let mut bytes = Bytes(data);
        let case = &CASES[bytes.below(CASES.len())];
        let [text, other] = &case.texts;
        let changed = mutate(text, other, &mut bytes);
        let is_own = changed == *text || changed == *other;
        assert_eq!((case.is_read)(&changed), is_own, "{changed}");
    }
);
