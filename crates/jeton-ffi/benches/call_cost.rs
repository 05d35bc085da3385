//! Measures the overhead of a C call over the Rust API that it calls.
//!
//! Both are timed in batches, interleaved in random order, so that a busy machine slows both. The 95 % confidence
//! interval of the median difference is distribution-free: its ends are two of the sorted differences.

#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Instant;

use jeton::jwt::{JwtIssuer, JwtVerifier};
use jeton::key::{MacAlg, MacKey};
use jeton::{Claims, Policy, Scratch, Verify as _};
use jeton_ffi::*;

const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
const CLAIMS: &str =
    r#"{"sub":"user-1234567890","name":"John Doe","admin":true,"jti":"7f3a91c04be2d651"}"#;
const ISSUER: &[u8] = br#"{"issuer":"https://id.example","audience":"api","lifetime":900}"#;
const POLICY: &[u8] = br#"{"issuer":"https://id.example","audience":"api"}"#;

/// Operations in a batch, and the number of pairs of batches.
const BATCH: u32 = 500;
const PAIRS: usize = 1001;

/// The maximum overhead of a call, ns.
const BAR: f64 = 60.0;

fn main() {
    // `cargo test --benches` only checks that it runs.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let pairs = if is_bench { PAIRS } else { 11 };
    let handles = Handles::new();
    let key = MacKey::new(MacAlg::HS256, SECRET).unwrap();
    let issuer = JwtIssuer::builder(&key)
        .issuer("https://id.example")
        .audience("api")
        .lifetime(std::time::Duration::from_secs(900))
        .build()
        .unwrap();
    let verifier = JwtVerifier::new(&key, Policy::new("https://id.example", "api"));

    let mut token = String::with_capacity(1024);
    let mut rust = || {
        let claims = Claims::from_json(black_box(CLAIMS)).unwrap();
        token.clear();
        issuer.issue_onto(&claims, &mut token).unwrap();
        black_box(&token);
    };
    let mut buffer = [0; 2048];
    let mut c = || {
        handles.issue(&mut buffer);
        black_box(&buffer);
    };
    report("issue, HS256", &compare(pairs, &mut rust, &mut c));

    let mut token = [0; 2048];
    let length = handles.issue(&mut token);
    let text = std::str::from_utf8(&token[..length]).unwrap();
    let mut scratch = Scratch::new();
    let mut rust = || {
        let verified = verifier
            .verify_raw_in(black_box(text), &mut scratch)
            .unwrap();
        black_box(verified.expires_at());
    };
    let mut payload = [0; 4096];
    let mut verified = MaybeUninit::uninit();
    let mut c = || {
        let verified = handles.verify(black_box(text.as_bytes()), &mut payload, &mut verified);
        black_box(verified.expires_at);
    };
    report("verify, HS256", &compare(pairs, &mut rust, &mut c));

    let mut scratch = Scratch::new();
    let mut rust = || {
        let verified = verifier
            .verify_raw_in(black_box(text), &mut scratch)
            .unwrap();
        let members = verified.registered_members();
        members.for_each(|member| _ = black_box(member));
    };
    let mut payload = [0; 4096];
    let mut c = || {
        let verified = handles.verify(black_box(text.as_bytes()), &mut payload, &mut verified);
        black_box(verified.claim_count);
    };
    report(
        "verify with offsets, HS256",
        &compare(pairs, &mut rust, &mut c),
    );
}

struct Handles {
    issuer: *const JetonIssuer,
    verifier: *const JetonVerifier,
}

impl Handles {
    fn new() -> Handles {
        let options = br#"{"format":"secret","alg":"HS256"}"#;
        let (mut key, mut issuer, mut verifier) = (ptr::null(), ptr::null(), ptr::null());
        let (none, no_reason) = (ptr::null(), ptr::null_mut());
        // SAFETY: all pointers live until the calls end. The handles live as long as the program.
        unsafe {
            let made = [
                jeton_key_import(
                    SECRET.as_ptr(),
                    SECRET.len(),
                    options.as_ptr(),
                    options.len(),
                    &mut key,
                    no_reason,
                ),
                jeton_issuer_new(
                    key,
                    none,
                    ptr::null(),
                    ISSUER.as_ptr(),
                    ISSUER.len(),
                    &mut issuer,
                    no_reason,
                ),
                jeton_verifier_new(
                    key,
                    ptr::null(),
                    ptr::null(),
                    ptr::null(),
                    ptr::null(),
                    POLICY.as_ptr(),
                    POLICY.len(),
                    &mut verifier,
                    no_reason,
                ),
            ];
            assert_eq!(made, [0; 3]);
        }
        Handles { issuer, verifier }
    }

    #[inline(never)]
    fn issue(&self, buffer: &mut [u8]) -> usize {
        let mut length = 0;
        let claims = black_box(CLAIMS);
        // SAFETY: as above.
        let code = unsafe {
            jeton_issue(
                self.issuer,
                claims.as_ptr(),
                claims.len(),
                JETON_USE_CLOCK,
                buffer.as_mut_ptr(),
                buffer.len(),
                &mut length,
                ptr::null_mut(),
            )
        };
        assert_eq!(code, 0);
        length
    }

    #[inline(never)]
    fn verify<'r>(
        &self,
        token: &[u8],
        buffer: &mut [u8],
        verified: &'r mut MaybeUninit<JetonVerified>,
    ) -> &'r JetonVerified {
        // SAFETY: as above. The function writes the result if it does not fail.
        unsafe {
            let code = jeton_verify(
                self.verifier,
                token.as_ptr(),
                token.len(),
                JETON_USE_CLOCK,
                buffer.as_mut_ptr(),
                buffer.len(),
                verified.as_mut_ptr(),
                ptr::null_mut(),
            );
            assert_eq!(code, 0);
            verified.assume_init_ref()
        }
    }
}

/// The times of one operation in Rust and in C, and the differences, ns.
struct Times {
    rust: Vec<f64>,
    c: Vec<f64>,
    more: Vec<f64>,
}

fn compare(pairs: usize, rust: &mut dyn FnMut(), c: &mut dyn FnMut()) -> Times {
    let mut times = Times {
        rust: Vec::new(),
        c: Vec::new(),
        more: Vec::new(),
    };
    batch(rust);
    batch(c);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..pairs {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let (of_rust, of_c) = match random & 1 {
            0 => {
                let of_rust = batch(rust);
                (of_rust, batch(c))
            }
            _ => {
                let of_c = batch(c);
                (batch(rust), of_c)
            }
        };
        times.rust.push(of_rust);
        times.c.push(of_c);
        times.more.push(of_c - of_rust);
    }
    for all in [&mut times.rust, &mut times.c, &mut times.more] {
        all.sort_by(f64::total_cmp);
    }
    times
}

fn batch(run: &mut dyn FnMut()) -> f64 {
    let started = Instant::now();
    for _ in 0..BATCH {
        run();
    }
    started.elapsed().as_nanos() as f64 / f64::from(BATCH)
}

fn report(name: &str, times: &Times) {
    let count = times.more.len();
    let median = |all: &[f64]| all[all.len() / 2];
    // The median is between these ranks with 95 % confidence: n/2 ± 1.96 √n / 2.
    let half = (0.98 * (count as f64).sqrt()).ceil() as usize;
    let low = times.more[(count / 2).saturating_sub(half)];
    let high = times.more[(count / 2 + half).min(count - 1)];
    let verdict = match () {
        () if high <= BAR => "within",
        () if low > BAR => "over",
        () => "undecided for",
    };
    println!(
        "{name}: Rust {:.0} ns, C {:.0} ns, overhead {:.1} ns [{low:.1}, {high:.1}]; {verdict} {BAR} ns",
        median(&times.rust),
        median(&times.c),
        median(&times.more)
    );
}
