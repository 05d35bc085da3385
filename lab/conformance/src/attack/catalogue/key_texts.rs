//! Key texts: public keys used as secrets, and keys whose halves do not match.

use super::headers::public_jwk;
use super::keys::with_secret;
use super::{Attack, Family};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jws::{RawKey, member};
use crate::attack::trial::{Act, Trial};
use jeton_lab_model::protocol::KeyText;

const FAMILY: Family = Family::Key;

/// A public key that anyone can have.
const PEM: &str = "-----BEGIN PUBLIC KEY-----\n\
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9\n\
    q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==\n\
    -----END PUBLIC KEY-----\n";
const OPEN_SSH: &str =
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQC7VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3S";

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "secret-is-public-key",
        "the verifier's secret is the PEM of a public key",
        "the text of a public key is rejected as a secret",
        "PyJWT CVE-2022-29217; fast-jwt, four times",
        |s| {
            let mut trials = with_secret(s, "PEM", PEM.as_bytes());
            trials.extend(with_secret(
                s,
                "ssh-rsa",
                format!("{OPEN_SSH}\n").as_bytes(),
            ));
            trials
        },
    ),
    FAMILY.attack(
        "secret-is-respelled-key",
        "the verifier's secret is a public key in UTF-16, lower case, or an OpenSSH line",
        "a public key in any encoding is rejected as a secret",
        "PyJWT CVE-2022-29217; fast-jwt, four incomplete fixes",
        |s| {
            let spelled = respelled_keys().into_iter();
            spelled
                .flat_map(|(spelling, secret)| with_secret(s, spelling, &secret))
                .collect()
        },
    ),
    FAMILY.attack(
        "pem-halves-apart",
        "a PKCS#8 with the public half of another key",
        "both halves of a PKCS#8 match",
        "RFC 5915 3; RFC 5958 2",
        pem_halves_apart,
    ),
];

/// Returns the same key as editors and shells write it, and as OpenSSH stores keys in files.
fn respelled_keys() -> Vec<(&'static str, Vec<u8>)> {
    let units = || PEM.encode_utf16();
    let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
    let lines = [
        (
            "known_hosts",
            format!("host.example,192.0.2.7 {OPEN_SSH}\n"),
        ),
        (
            "known_hosts, hashed",
            format!("|1|F1E1KeoE/eEWhi10WpGv4OdiO6Y=|3988QV0VE8wmZL7suNrYQLITLCg= {OPEN_SSH}\n"),
        ),
        (
            "authorized_keys, options",
            format!("command=\"/bin/echo hi\",no-pty {OPEN_SSH} user@host.example\n"),
        ),
    ];
    let mut all = vec![
        ("UTF-16 LE", little.clone()),
        ("UTF-16 LE, marked", [&[0xff, 0xfe], &little[..]].concat()),
        ("UTF-16 BE, marked", [&[0xfe, 0xff], &big[..]].concat()),
        ("PEM in lower case", PEM.to_lowercase().into_bytes()),
        (
            "PEM after blank lines",
            format!("\r\n\r\n{PEM}").into_bytes(),
        ),
    ];
    all.extend(lines.map(|(spelling, line)| (spelling, line.into_bytes())));
    all
}

/// Replaces the public half inside a private key's PEM with that of another key.
fn pem_halves_apart(stage: &Stage) -> Vec<Trial> {
    let (Some(good), Some(public)) = (private_der(stage), stage.public_pem()) else {
        return Vec::new();
    };
    let (own, other) = (public_bytes(stage), public_bytes(stage.other_keys()));
    if own.is_empty() {
        return Vec::new();
    }
    let Some(at) = good.windows(own.len()).rposition(|part| part == own) else {
        return Vec::new();
    };
    let mut bad = good.clone();
    bad[at..at + own.len()].copy_from_slice(&other);
    let form = |der: &[u8]| KeyText {
        form: "pem".into(),
        private: Some(pem_of(der)),
        public: Some(public.to_owned()),
    };
    let act = Act::Load {
        bad: form(&bad),
        good: form(&good),
    };
    vec![Trial::new(
        "the public key of another key",
        stage.valid(),
        act,
    )]
}

/// Returns PKCS#8 with the public half: inside the private key of RFC 5915, or after that of RFC
/// 8410.
fn private_der(stage: &Stage) -> Option<Vec<u8>> {
    let RawKey::Pair(der) = stage.raw()? else {
        return None;
    };
    if stage.alg != "EdDSA" {
        return Some(der.clone());
    }
    let keys = stage.issuing_keys();
    let (private, public) = (keys.private?, keys.public?);
    let head = *b"\x30\x51\x02\x01\x01\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20";
    let (d, x) = (member(&private, "d"), member(&public, "x"));
    Some([&head[..], &d, b"\x81\x21\x00", &x].concat())
}

/// Returns a public key as in PKCS#8; nothing for RSA.
fn public_bytes(stage: &Stage) -> Vec<u8> {
    let jwk = public_jwk(stage);
    match jwk["kty"].as_str() {
        Some("EC") => [&[4], &member(&jwk, "x")[..], &member(&jwk, "y")].concat(),
        Some("OKP") => member(&jwk, "x"),
        _ => Vec::new(),
    }
}

fn pem_of(der: &[u8]) -> String {
    let body = base64_simd::STANDARD.encode_to_string(der);
    let lines: Vec<&str> = (0..body.len())
        .step_by(64)
        .filter_map(|at| body.get(at..body.len().min(at + 64)))
        .collect();
    let label = "PRIVATE KEY";
    format!(
        "-----BEGIN {label}-----\n{}\n-----END {label}-----\n",
        lines.join("\n")
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use jeton::Error;
    use jeton::error::KeyProblem;
    use jeton::key::{MacKey, SigningKey};

    use super::*;
    use jeton_lab_model::Format;

    fn trials(alg: &str, id: &str) -> Vec<Trial> {
        let stage = Stage::new(Format::Jwt, alg, "", 1_800_000_000).unwrap();
        let trials = Attack::named(id).unwrap().trials(&stage);
        assert!(!trials.is_empty(), "{alg}");
        trials
    }

    #[test]
    fn secret_that_is_an_encoded_public_key_is_rejected() {
        for trial in trials("HS256", "secret-is-respelled-key") {
            let Act::VerifyUnder(keys, _) = &trial.act else {
                panic!("expected keys");
            };
            let jwk = keys.private.as_ref().unwrap().to_string();
            let Err(Error::Key(error)) = MacKey::from_jwk(&jwk) else {
                panic!("{}", trial.spelling);
            };
            assert_eq!(
                error.problem(),
                &KeyProblem::KeyAsSecret,
                "{}",
                trial.spelling
            );
        }
    }

    #[test]
    fn pem_with_halves_of_two_keys_is_rejected() {
        for alg in ["ES256", "ES384", "EdDSA"] {
            for trial in trials(alg, "pem-halves-apart") {
                let Act::Load { bad, good } = &trial.act else {
                    panic!("expected a key");
                };
                let load = |text: &KeyText| {
                    let pem = text.private.as_deref().unwrap();
                    SigningKey::from_pem_as(pem, alg.parse().unwrap())
                };
                assert!(load(good).is_ok(), "{alg}: {:?}", load(good).err());
                assert!(load(bad).is_err(), "{alg}");
            }
        }
    }
}
