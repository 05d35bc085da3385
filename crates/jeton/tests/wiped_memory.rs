//! No secret must remain in memory after its owner is dropped. The tests search all writable pages, including the
//! stacks. Each search first checks that it finds the secret.
//!
//! Alone in its binary and a single test, because copies of other threads would be found too.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test reads files"
)]

use std::fs::{self, File};
use std::hint::black_box;
use std::os::unix::fs::FileExt;

use base64ct::{Base64UrlUnpadded, Encoding};
use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;
use jeton::key::{
    AnyKey, DecryptionKey, KeyManagementAlg, MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey,
};
use jeton::paserk::{Paserk, PaserkVersion, PaserkWrappingKey, PasswordCost};
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{LocalKey, PasetoVerifier, SecretKey, TokenContext, Version};
use jeton::{Claims, Policy, Scratch};
use zeroize::Zeroize;

/// The searched bytes, stored with inverted bits so that they are not found in the needle itself. It is the end
/// of the secret, because the allocator overwrites the start of freed memory.
struct Needle {
    turned: Vec<u8>,
    /// The same bytes in reverse order, as AWS-LC stores large numbers.
    reversed: Vec<u8>,
}

impl Needle {
    const BYTES: usize = 14;

    /// Replaces the secret.
    fn of(mut secret: Vec<u8>) -> Needle {
        // For a number, use the bytes before the last 16, because their reversed end is its start.
        let end = &secret[secret.len() - Needle::BYTES..];
        let number = match secret.len() {
            32.. => &secret[secret.len() - 16 - Needle::BYTES..secret.len() - 16],
            _ => end,
        };
        let turned = end.iter().map(|byte| !byte).collect();
        let reversed = number.iter().rev().map(|byte| !byte).collect();
        secret.zeroize();
        Needle { turned, reversed }
    }

    fn is(&self, window: &[u8]) -> bool {
        let is = |needle: &[u8]| {
            window
                .iter()
                .zip(needle)
                .all(|(byte, turned)| *byte == !turned)
        };
        is(&self.turned) || is(&self.reversed)
    }

    /// Returns how often it is in memory. The buffer for the pages is wiped, and skipped while it contains a match.
    fn count(&self) -> usize {
        const PIECE: usize = 1 << 16;
        let memory = File::open("/proc/self/mem").unwrap();
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let mut buffer = vec![0; PIECE + Needle::BYTES - 1];
        let own = buffer.as_ptr() as u64..buffer.as_ptr() as u64 + buffer.len() as u64;
        let mut found = 0;
        for line in maps.lines() {
            let (range, rest) = line.split_once(' ').unwrap();
            if !rest.starts_with("rw") || rest.ends_with("[vvar]") {
                continue;
            }
            let (start, end) = range.split_once('-').unwrap();
            let address = |text| u64::from_str_radix(text, 16).unwrap();
            let (mut at, end) = (address(start), address(end));
            while at < end {
                let length = (end - at).min(buffer.len() as u64) as usize;
                // Pages that are mapped but have no backing cannot be read.
                if memory.read_exact_at(&mut buffer[..length], at).is_ok() {
                    let places = buffer[..length].windows(Needle::BYTES).enumerate();
                    found += places
                        .filter(|(place, window)| {
                            let is_own = own.contains(&(at + *place as u64));
                            !is_own && self.is(window)
                        })
                        .count();
                }
                buffer.zeroize();
                buffer.resize(PIECE + Needle::BYTES - 1, 0);
                at += PIECE as u64;
            }
        }
        found
    }
}

/// Unique, printable bytes, so that they can be in JSON.
fn marker(name: u8, length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32 ^ u32::from(name) << 8;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b'a' + (state >> 24) as u8 % 26
        })
        .collect()
}

/// Holds the secret of the caller while it is created.
fn with_marker<R>(name: u8, length: usize, work: impl FnOnce(&[u8]) -> R) -> (Needle, R) {
    let mut secret = marker(name, length);
    let result = work(&secret);
    secret.zeroize();
    (Needle::of(marker(name, length)), result)
}

/// Overwrites what earlier calls left on the stack below. The library does not guarantee to wipe it, but the
/// search would find it.
#[inline(never)]
fn deeper() {
    let mut stack = [0_u8; 1 << 14];
    black_box(&mut stack);
}

struct Report(Vec<String>);

impl Report {
    /// `make` creates the secret and returns its owner.
    fn owner_is_wiped<T>(&mut self, what: &str, needle: &Needle, make: impl FnOnce() -> T) {
        let before = needle.count();
        let owner = make();
        let held = needle.count();
        drop(owner);
        let after = needle.count();
        if before != 0 {
            self.0
                .push(format!("{what}: {before} times before it was made"));
        }
        if held == 0 {
            self.0.push(format!(
                "{what}: not found while it was held: the search is blind"
            ));
        }
        if after != 0 {
            self.0.push(format!(
                "{what}: {after} times after it was dropped, {held} while held"
            ));
        }
    }

    /// Afterwards the secret is as often in memory as before: the caller has it.
    fn adds_nothing(&mut self, what: &str, needle: &Needle, work: impl FnOnce()) {
        let before = needle.count();
        work();
        deeper();
        let after = needle.count();
        if before == 0 {
            self.0
                .push(format!("{what}: not found before: the search is blind"));
        }
        if after > before {
            self.0
                .push(format!("{what}: {after} times afterwards, {before} before"));
        }
    }

    /// `attempt` fails after decoding a part of the secret.
    fn failure_is_wiped(&mut self, what: &str, needle: &Needle, attempt: impl FnOnce()) {
        attempt();
        let after = needle.count();
        if after != 0 {
            self.0
                .push(format!("{what}: {after} times after it failed"));
        }
    }
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Note<'a> {
    note: &'a str,
}

fn local_tokens<V: Version>(report: &mut Report, name: u8) {
    let version = format!("{:?}", V::VERSION);
    let key = LocalKey::<V>::generate().unwrap();
    for length in [48, 700, 5000] {
        let (needle, token) = with_marker(name, length, |secret| {
            key.encrypt(secret, TokenContext::new()).unwrap()
        });
        deeper();
        report.owner_is_wiped(&format!("{version} local, {length} bytes"), &needle, || {
            key.decrypt(&token, b"").unwrap()
        });
        // Claims in a buffer for several tokens, each larger than the previous one.
        let (needle, tokens) = with_marker(name + 1, length, |secret| {
            let note = std::str::from_utf8(secret).unwrap();
            let claims = |note| {
                let claims = Claims::new(Note { note }).issuer("i").audience("a");
                key.issue(&claims.without_expiry()).unwrap()
            };
            [claims(note), claims(&"x".repeat(20_000))]
        });
        deeper();
        let policy = || Policy::new("i", "a").without_expiry();
        let verifier = PasetoVerifier::new(&key, policy());
        // Claims that exceed the first buffer of the writer leave a copy there, which this test does not cover.
        if length < 700 {
            report.owner_is_wiped(
                &format!("{version} claims, {length} bytes"),
                &needle,
                || {
                    let mut scratch = Scratch::new();
                    verifier
                        .verify_in::<Note<'_>>(&tokens[0], &mut scratch)
                        .unwrap();
                    scratch
                },
            );
            report.failure_is_wiped("a scratch that grew", &needle, || {
                let mut scratch = Scratch::new();
                for token in &tokens {
                    verifier.verify_in::<Note<'_>>(token, &mut scratch).unwrap();
                }
            });
            let strict = PasetoVerifier::new(&key, Policy::new("another", "a").without_expiry());
            report.failure_is_wiped(&format!("{version} claims rejected"), &needle, || {
                assert!(strict.verify::<serde::de::IgnoredAny>(&tokens[0]).is_err());
            });
        }
    }
}

fn encode(bytes: &[u8]) -> String {
    base64_simd::URL_SAFE_NO_PAD.encode_to_string(bytes)
}

fn keys(report: &mut Report) {
    let (needle, encoded) = with_marker(b'k', 48, encode);
    let jwk = format!(r#"{{"kty":"oct","alg":"HS256","k":"{encoded}"}}"#);
    deeper();
    report.owner_is_wiped("an oct JWK", &needle, || MacKey::from_jwk(&jwk).unwrap());
    let cut = jwk.replace(&encoded, &format!("{encoded}*"));
    report.failure_is_wiped("an oct JWK that is malformed at its end", &needle, || {
        assert!(MacKey::from_jwk(&cut).is_err());
    });
    let escaped = jwk.replace(&encoded, &format!("{encoded}\\u0041\\u002a"));
    report.failure_is_wiped("an oct JWK with escapes", &needle, || {
        assert!(MacKey::from_jwk(&escaped).is_err());
    });

    let (needle, encoded) = with_marker(b'p', 32, encode);
    let paserk = format!("k4.local.{encoded}");
    deeper();
    report.owner_is_wiped("a k4.local", &needle, || Paserk::parse(&paserk).unwrap());
    let malformed = format!("{}*", &paserk[..paserk.len() - 1]);
    let (cut, _) = with_marker(b'p', 30, |_| ());
    report.failure_is_wiped("a k4.local that is malformed at its end", &cut, || {
        assert!(Paserk::parse(&malformed).is_err());
    });

    // A private key with a wrong last character, in each encoding.
    let (needle, (jwk, pem)) = with_marker(b'e', 32, |seed| {
        let der = [
            &[
                0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22,
                0x04, 0x20,
            ],
            seed,
        ]
        .concat();
        let mut der = der;
        let key = SigningKey::from_der(&der).unwrap();
        der.zeroize();
        (key.to_jwk().unwrap(), key.to_pem().unwrap())
    });
    deeper();
    report.owner_is_wiped("an Ed25519 JWK", &needle, || {
        SigningKey::from_jwk(&jwk).unwrap()
    });
    report.owner_is_wiped("an Ed25519 PEM", &needle, || {
        SigningKey::from_pem_as(&pem, SigAlg::EdDSA).unwrap()
    });
    let other = SigningKey::generate(SigAlg::EdDSA).unwrap().verifying_key();
    let x = |jwk: &str| -> String {
        let jwk: serde_json::Value = serde_json::from_str(jwk).unwrap();
        jwk["x"].as_str().unwrap().to_owned()
    };
    let mismatched = jwk.replace(&x(&jwk), &x(&other.to_jwk()));
    report.failure_is_wiped("an Ed25519 JWK with another public half", &needle, || {
        assert!(SigningKey::from_jwk(&mismatched).is_err());
    });
    report.failure_is_wiped("a private JWK as a public one", &needle, || {
        assert!(VerifyingKey::from_jwk(&jwk).is_err());
    });
    let mut broken = pem.replace("\n-----END", "*\n-----END");
    let (cut, _) = with_marker(b'e', 30, |_| ());
    report.failure_is_wiped("an Ed25519 PEM that is malformed at its end", &cut, || {
        assert!(SigningKey::from_pem(&broken).is_err());
    });
    broken.zeroize();
}

/// Every type of key: its secret as written, for each encoding that it is read from.
fn every_kind(report: &mut Report) {
    // The last bytes of the secret in this member of the JWK.
    let needle = |jwk: &str, name: &str| {
        let value: serde_json::Value = serde_json::from_str(jwk).unwrap();
        let mut secret = vec![0; 1200];
        let encoded = value[name].as_str().unwrap();
        let length = Base64UrlUnpadded::decode(encoded, &mut secret)
            .unwrap()
            .len();
        secret.truncate(length);
        let mut padded = Vec::with_capacity(2000);
        padded.extend_from_slice(&secret);
        secret.zeroize();
        Needle::of(padded)
    };
    for alg in [
        SigAlg::RS256,
        SigAlg::ES256,
        SigAlg::ES384,
        SigAlg::ES512,
        SigAlg::ES256K,
        SigAlg::EdDSA,
        SigAlg::MlDsa44,
        SigAlg::MlDsa87,
    ] {
        let key = SigningKey::generate(alg).unwrap();
        let (jwk, pem) = (key.to_jwk().unwrap(), key.to_pem().unwrap());
        let name = if alg.name().starts_with("ML") {
            "priv"
        } else {
            "d"
        };
        let needle = needle(&jwk, name);
        drop(key);
        deeper();
        report.owner_is_wiped(&format!("{alg} JWK"), &needle, || {
            SigningKey::from_jwk_as(&jwk, alg).unwrap()
        });
        report.owner_is_wiped(&format!("{alg} PEM"), &needle, || {
            SigningKey::from_pem_as(&pem, alg).unwrap()
        });
        report.failure_is_wiped(&format!("{alg} written and read"), &needle, || {
            let key = SigningKey::from_pem_as(&pem, alg).unwrap();
            let _ = (
                key.to_jwk().unwrap(),
                key.to_der().unwrap(),
                key.verifying_key(),
            );
        });
    }
    let alg = KeyManagementAlg::EcdhEs;
    for key in [
        DecryptionKey::generate(KeyManagementAlg::RsaOaep).unwrap(),
        DecryptionKey::generate(alg).unwrap(),
        DecryptionKey::generate_p384(alg).unwrap(),
        DecryptionKey::generate_p521(alg).unwrap(),
        DecryptionKey::generate_x25519(alg).unwrap(),
    ] {
        let (alg, jwk, pem) = (key.alg(), key.to_jwk().unwrap(), key.to_pem().unwrap());
        let needle = needle(&jwk, "d");
        let what = format!("{alg}, {} bytes", pem.len());
        drop(key);
        deeper();
        report.owner_is_wiped(&format!("{what} JWK"), &needle, || {
            DecryptionKey::from_jwk_as(&jwk, alg).unwrap()
        });
        report.owner_is_wiped(&format!("{what} PEM"), &needle, || {
            DecryptionKey::from_pem_as(&pem, alg).unwrap()
        });
    }
    fn paseto<V: Version>(report: &mut Report) {
        let version = format!("{:?}", V::VERSION);
        let encoded_end = |text: &str| {
            let mut secret = vec![0; 1500];
            let encoded = text.rsplit('.').next().unwrap();
            let length = Base64UrlUnpadded::decode(encoded, &mut secret)
                .unwrap()
                .len();
            // An Ed25519 secret ends with the public key.
            let end = if length == 64 { 32 } else { length };
            secret.truncate(end);
            Needle::of(secret)
        };
        let local = LocalKey::<V>::generate().unwrap().to_paserk();
        let secret = SecretKey::<V>::generate().unwrap().to_paserk().unwrap();
        let (local_needle, secret_needle) = (encoded_end(&local), encoded_end(&secret));
        deeper();
        report.owner_is_wiped(&format!("{version} local key"), &local_needle, || {
            LocalKey::<V>::from_paserk(&local).unwrap()
        });
        report.owner_is_wiped(&format!("{version} wrapping key"), &local_needle, || {
            PaserkWrappingKey::<V>::from_paserk(&local).unwrap()
        });
        report.owner_is_wiped(&format!("{version} secret key"), &secret_needle, || {
            SecretKey::<V>::from_paserk(&secret).unwrap()
        });
        let password = |limits| {
            let cost = match V::VERSION {
                PaserkVersion::V1 | PaserkVersion::V3 => PasswordCost::pbkdf2(limits),
                _ => PasswordCost::argon2id(8 * 1024 * 1024, 1, 1),
            };
            cost.unwrap()
        };
        let local_key = LocalKey::<V>::from_paserk(&local).unwrap();
        let text = local_key
            .to_password_paserk_with(b"words", password(1000))
            .unwrap();
        drop(local_key);
        deeper();
        report.owner_is_wiped(
            &format!("{version} local key under a password"),
            &local_needle,
            || LocalKey::<V>::from_password_paserk(&text, b"words").unwrap(),
        );
    }
    paseto::<V1>(report);
    paseto::<V2>(report);
    paseto::<V3>(report);
    paseto::<V4>(report);
}

/// The loader for keys in any encoding: it holds the secret until it is dropped, and so does the key made of it.
fn any_key(report: &mut Report) {
    let (needle, encoded) = with_marker(b'a', 48, encode);
    let jwk = format!(r#"{{"kty":"oct","alg":"HS256","k":"{encoded}"}}"#);
    let set = format!(r#"{{"keys":[{jwk}]}}"#);
    // The text of a JWK is the secret as base64url; the key has the bytes.
    let text = Needle::of(encoded.into_bytes());
    let local = with_marker(b'l', 32, |secret| format!("k4.local.{}", encode(secret))).1;
    let local_text = Needle::of(local.as_bytes().to_vec());
    deeper();
    // The caller holds the text, so count from there.
    report.adds_nothing("AnyKey of an oct JWK", &text, || {
        drop(AnyKey::from_bytes(jwk.as_bytes()).unwrap());
    });
    report.owner_is_wiped("MacKey of AnyKey", &needle, || {
        let any = AnyKey::from_bytes(jwk.as_bytes()).unwrap();
        any.mac(None).unwrap()
    });
    report.adds_nothing("AnyKey of a set with a secret", &text, || {
        let any = AnyKey::from_bytes(set.as_bytes()).unwrap();
        let each = any.each().unwrap();
        drop((any, each));
    });
    report.adds_nothing("AnyKey of a k4.local", &local_text, || {
        drop(AnyKey::from_bytes(local.as_bytes()).unwrap());
    });

    let seed = || zeroize::Zeroizing::new(marker(b'y', 32));
    let mut der = [
        &[
            0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22,
            0x04, 0x20,
        ][..],
        &seed(),
    ]
    .concat();
    let needle = Needle::of(marker(b'y', 32));
    let mut base64 = base64_simd::STANDARD.encode_to_string(&der);
    let mut pem = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
    let mut lines = pem.replace('\n', " \r\n");
    let mut encrypted = encrypt_pkcs8(&der);
    der.zeroize();
    deeper();
    for (what, file) in [
        ("PEM", &pem),
        ("PEM with other line ends", &lines),
        ("base64", &base64),
    ] {
        report.owner_is_wiped(&format!("AnyKey of {what}"), &needle, || {
            AnyKey::from_bytes(file.as_bytes()).unwrap()
        });
        report.owner_is_wiped(&format!("SigningKey of AnyKey of {what}"), &needle, || {
            let any = AnyKey::from_bytes(file.as_bytes()).unwrap();
            any.signing(SigAlg::EdDSA).unwrap()
        });
    }
    // The bytes of the file are the secret here, so count from there.
    let der = base64_simd::STANDARD.decode_to_vec(&base64).unwrap();
    report.adds_nothing("AnyKey of DER", &needle, || {
        let any = AnyKey::from_bytes(&der).unwrap();
        let key = any.signing(None).unwrap();
        let public = any.public().unwrap();
        drop((any, key, public));
    });
    drop(zeroize::Zeroizing::new(der));
    deeper();
    let password = marker(b'w', 24);
    report.owner_is_wiped("AnyKey of encrypted PKCS#8", &needle, || {
        AnyKey::from_bytes_with_password(&encrypted, &password).unwrap()
    });
    report.failure_is_wiped("a key written in every encoding", &needle, || {
        let key = SigningKey::from_pem(&pem).unwrap();
        let written = (key.to_jwk(), key.to_pem(), key.to_der());
        drop((key, written));
    });
    drop(zeroize::Zeroizing::new(password));
    [&mut pem, &mut lines, &mut base64]
        .into_iter()
        .for_each(Zeroize::zeroize);
    encrypted.zeroize();
}

/// PKCS#8 encrypted with the password `marker(b'w', 24)`.
fn encrypt_pkcs8(der: &[u8]) -> Vec<u8> {
    use pkcs8::pkcs5::pbes2::Parameters;
    let password = zeroize::Zeroizing::new(marker(b'w', 24));
    let parameters = Parameters::generate_pbkdf2_sha256_aes256cbc(1000, &[1; 16], [2; 16]).unwrap();
    let info = pkcs8::PrivateKeyInfoRef::try_from(der).unwrap();
    let encrypted = info.encrypt_with_params(parameters, &*password).unwrap();
    encrypted.as_bytes().to_vec()
}

/// The library keeps no password, and leaves no copy of it.
fn passwords(report: &mut Report) {
    // Longer than the block of a hash, so that HMAC hashes it, and shorter.
    for (name, length) in [(b'f', 24), (b'g', 200)] {
        let needle = Needle::of(marker(name, length));
        let with = |work: &dyn Fn(&[u8])| {
            let mut password = marker(name, length);
            work(&password);
            password.zeroize();
            deeper();
        };
        let what = |what: &str| format!("{what}, a password of {length} bytes");
        let key = V4Local::generate().unwrap();
        report.failure_is_wiped(&what("k4.local-pw"), &needle, || {
            with(&|password| {
                let cost = PasswordCost::argon2id(8 * 1024 * 1024, 1, 1).unwrap();
                let text = key.to_password_paserk_with(password, cost).unwrap();
                V4Local::from_password_paserk(&text, password).unwrap();
            });
        });
        let key = LocalKey::<V3>::generate().unwrap();
        report.failure_is_wiped(&what("k3.local-pw"), &needle, || {
            with(&|password| {
                let cost = PasswordCost::pbkdf2(1000).unwrap();
                let text = key.to_password_paserk_with(password, cost).unwrap();
                LocalKey::<V3>::from_password_paserk(&text, password).unwrap();
            });
        });
        report.failure_is_wiped(&what("encrypted PKCS#8"), &needle, || {
            with(&|password| {
                for file in [
                    &include_bytes!("../../../vectors/inputs/encrypted/pbkdf2.pem")[..],
                    include_bytes!("../../../vectors/inputs/encrypted/scrypt.pem"),
                ] {
                    assert!(AnyKey::from_bytes_with_password(file, password).is_err());
                }
            });
        });
        report.failure_is_wiped(&what("PBES2"), &needle, || {
            with(&|password| {
                let alg = jeton::danger::Pbes2Alg::Hs256A128Kw;
                drop(jeton::danger::Password::new(alg, password).unwrap());
            });
        });
    }
}

type V4Local = LocalKey<V4>;

/// Keys that are encrypted to another key (PASERK wrap and seal).
fn wrapped_keys(report: &mut Report) {
    let (needle, local) = with_marker(b'q', 32, |secret| format!("k4.local.{}", encode(secret)));
    let key = V4Local::from_paserk(&local).unwrap();
    let wrapping = PaserkWrappingKey::<V4>::generate().unwrap();
    let recipient = SecretKey::<V4>::generate().unwrap();
    let wrapped = key.to_wrapped_paserk(&wrapping).unwrap();
    let sealed = key.to_sealed_paserk(&recipient.public_key()).unwrap();
    drop(key);
    deeper();
    report.owner_is_wiped("k4.local-wrap", &needle, || {
        V4Local::from_wrapped_paserk(&wrapped, &wrapping).unwrap()
    });
    report.owner_is_wiped("k4.seal", &needle, || {
        V4Local::from_sealed_paserk(&sealed, &recipient).unwrap()
    });
}

/// The state after the padded key is as secret as the key.
fn hmac_states(report: &mut Report) {
    let secret = [7; 32];
    let state = |pad: u8| {
        let mut state = [
            0x6a09_e667_u32,
            0xbb67_ae85,
            0x3c6e_f372,
            0xa54f_f53a,
            0x510e_527f,
            0x9b05_688c,
            0x1f83_d9ab,
            0x5be0_cd19,
        ];
        let mut block = [pad; 64];
        block[..32].iter_mut().for_each(|byte| *byte ^= 7);
        sha2::block_api::compress256(&mut state, &[block]);
        let bytes = state.iter().flat_map(|word| word.to_ne_bytes()).collect();
        state.zeroize();
        Needle::of(bytes)
    };
    if !is_kept_by_words() {
        return;
    }
    for (what, needle) in [("inner", state(0x36)), ("outer", state(0x5c))] {
        deeper();
        report.owner_is_wiped(&format!("HMAC's {what} state"), &needle, || {
            let key = MacKey::new(MacAlg::HS256, &secret).unwrap();
            jeton::jws::JwsSigner::new(&key).sign(b"short").unwrap();
            key
        });
    }
}

/// Whether this processor has SHA instructions; otherwise AWS-LC stores the states.
fn is_kept_by_words() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("sha");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

#[test]
fn dropped_owner_leaves_no_secret_in_memory() {
    let mut report = Report(Vec::new());
    local_tokens::<V4>(&mut report, 1);
    local_tokens::<V3>(&mut report, 3);
    local_tokens::<V2>(&mut report, 5);
    local_tokens::<V1>(&mut report, 7);
    keys(&mut report);
    every_kind(&mut report);
    any_key(&mut report);
    passwords(&mut report);
    wrapped_keys(&mut report);
    hmac_states(&mut report);
    // The search must find a copy that is not wiped.
    let (needle, ()) = with_marker(b'z', 200, |_| ());
    drop(black_box(marker(b'z', 200)));
    if needle.count() == 0 {
        report
            .0
            .push("a copy that was freed and not wiped was not found".to_owned());
    }
    assert!(report.0.is_empty(), "{}", report.0.join("\n"));
}
