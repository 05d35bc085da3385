//! A benchmark of jeton and jsonwebtoken as a Rust programmer would write it: criterion, without
//! code of the lab. `cargo xtask agreement` compares its figures with the lab's.

use std::borrow::Cow;
use std::hint::black_box;
use std::time::{SystemTime, UNIX_EPOCH};

use criterion::{Criterion, criterion_group, criterion_main};
use serde::{Deserialize, Serialize};

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "api";
const SUBJECT: &str = "user-1234567890";
/// Consecutive operations use different tokens, so that CPU caches are as cold as in the lab.
const POOL: usize = 8;
const DAY_S: i64 = 24 * 60 * 60;

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.expect("after 1970").as_secs() as i64
}

fn id(index: usize) -> String {
    format!("7f3a91c04be2{:04x}", 0xd651 + 0x11 * index)
}

mod of_jeton {
    use super::*;
    use jeton::jwt::JwtVerifier;
    use jeton::key::{MacAlg, MacKey, SigAlg, SigningKey};
    use jeton::{Claims, Policy, Scratch, Timestamp};

    #[derive(Serialize, Deserialize)]
    struct Visit<'a> {
        #[serde(borrow)]
        name: Cow<'a, str>,
        admin: bool,
    }

    fn moment(seconds: i64) -> Timestamp {
        Timestamp::from_unix_seconds(seconds).expect("a day of this century")
    }

    fn claims() -> Vec<Claims<'static, Visit<'static>>> {
        let visit = || Visit {
            name: Cow::Borrowed("John Doe"),
            admin: true,
        };
        (0..POOL)
            .map(|index| {
                Claims::new(visit())
                    .issuer(ISSUER)
                    .subject(SUBJECT)
                    .audience(AUDIENCE)
                    .expires_at(moment(now() + DAY_S))
                    .issued_at(moment(now()))
                    .token_id(id(index))
            })
            .collect()
    }

    fn time(
        c: &mut Criterion,
        alg: &str,
        issue: impl Fn(&Claims<'_, Visit<'_>>) -> jeton::Result<String>,
        verifier: &JwtVerifier,
    ) {
        let claims = claims();
        let mut turn = (0..POOL).cycle();
        c.bench_function(&format!("jeton {alg} sign"), |b| {
            b.iter(|| issue(black_box(&claims[turn.next().expect("endless")])));
        });
        let tokens: Vec<String> = claims.iter().map(|c| issue(c).expect("a token")).collect();
        let mut scratch = Scratch::new();
        c.bench_function(&format!("jeton {alg} verify"), |b| {
            b.iter(|| {
                let token = black_box(&tokens[turn.next().expect("endless")]);
                let verified = verifier.verify_in::<Visit<'_>>(token, &mut scratch);
                black_box(verified.expect("a token that was just made").claims().admin)
            });
        });
    }

    pub(super) fn bench(c: &mut Criterion) {
        let policy = || Policy::new(ISSUER, AUDIENCE);
        let key = MacKey::generate(MacAlg::HS256).expect("a key");
        time(
            c,
            "HS256",
            |claims| key.issue(claims),
            &JwtVerifier::new(&key, policy()),
        );
        let key = SigningKey::generate(SigAlg::ES256).expect("a key");
        let verifier = JwtVerifier::new(key.verifying_key(), policy());
        time(c, "ES256", |claims| key.issue(claims), &verifier);
    }
}

mod of_jsonwebtoken {
    use super::*;
    use jeton::key::SigAlg;
    use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};

    #[derive(Serialize, Deserialize)]
    struct Visit {
        iss: String,
        sub: String,
        aud: Vec<String>,
        exp: i64,
        iat: i64,
        jti: String,
        name: String,
        admin: bool,
    }

    fn visits() -> Vec<Visit> {
        (0..POOL)
            .map(|index| Visit {
                iss: ISSUER.into(),
                sub: SUBJECT.into(),
                aud: vec![AUDIENCE.into()],
                exp: now() + DAY_S,
                iat: now(),
                jti: id(index),
                name: "John Doe".into(),
                admin: true,
            })
            .collect()
    }

    fn time(c: &mut Criterion, alg: Algorithm, private: &EncodingKey, public: &DecodingKey) {
        let header = Header::new(alg);
        let visits = visits();
        let mut turn = (0..POOL).cycle();
        c.bench_function(&format!("jsonwebtoken {alg:?} sign"), |b| {
            b.iter(|| {
                encode(
                    &header,
                    black_box(&visits[turn.next().expect("endless")]),
                    private,
                )
            });
        });
        let tokens: Vec<String> = (visits.iter())
            .map(|visit| encode(&header, visit, private).expect("a token"))
            .collect();
        let mut validation = Validation::new(alg);
        validation.leeway = 0;
        validation.validate_nbf = true;
        validation.set_issuer(&[ISSUER]);
        validation.set_audience(&[AUDIENCE]);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        c.bench_function(&format!("jsonwebtoken {alg:?} verify"), |b| {
            b.iter(|| {
                let token = black_box(&tokens[turn.next().expect("endless")]);
                let visit = decode::<Visit>(token, public, &validation);
                black_box(visit.expect("a token that was just made").claims)
            });
        });
    }

    pub(super) fn bench(c: &mut Criterion) {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).expect("the system's generator");
        time(
            c,
            Algorithm::HS256,
            &EncodingKey::from_secret(&secret).expect("a secret"),
            &DecodingKey::from_secret(&secret).expect("a secret"),
        );
        let key = jeton::key::SigningKey::generate(SigAlg::ES256).expect("a key");
        let private = key.to_pem().expect("an EC key has a PEM");
        let private = EncodingKey::from_ec_pem(private.as_bytes()).expect("its PEM");
        let public = key.verifying_key().to_pem().expect("an EC key has a PEM");
        let public = DecodingKey::from_ec_pem(public.as_bytes()).expect("its PEM");
        time(c, Algorithm::ES256, &private, &public);
    }
}

criterion_group!(benches, of_jeton::bench, of_jsonwebtoken::bench);
criterion_main!(benches);
