//! Caches of verified tokens: what one verifier has accepted must not pass for another.

use serde_json::{Value, json};

use super::{Attack, Family, Kind};
use crate::attack::fixtures::{AUDIENCE, ISSUER, Stage};
use crate::attack::trial::{Setup, Step, Trial};
use jeton_lab_model::protocol::{Extra, Trusted};

const FAMILY: Family = Family::Cache;

const OTHER_ISSUER: &str = "https://other.example";
const OTHER_AUDIENCE: &str = "other";

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "cache-other-audience",
        "a token that another verifier of the process accepted for its audience",
        "a cache entry is bound to the audience",
        "lua-resty-openidc pull request 569",
        |s| {
            let others = s.with_claims(&[("aud", json!(OTHER_AUDIENCE))]);
            let second = s.trusted(ISSUER, OTHER_AUDIENCE);
            both_ways(own(s), second, &s.valid(), &others)
        },
    ),
    FAMILY.attack(
        "cache-other-issuer",
        "a token that another verifier of the process accepted for its issuer",
        "a cache entry is bound to the issuer",
        "lua-resty-openidc pull request 569",
        |s| {
            let others = s.with_claims(&[("iss", json!(OTHER_ISSUER))]);
            let second = s.trusted(OTHER_ISSUER, AUDIENCE);
            both_ways(own(s), second, &s.valid(), &others)
        },
    ),
    FAMILY.attack(
        "cache-other-key",
        "a token that another verifier of the process accepted with its key",
        "a cache entry is bound to the key of its verifier",
        "litellm CVE-2026-35030",
        |s| {
            let other = s.other_keys();
            both_ways(own(s), own(other), &s.valid(), &other.valid())
        },
    ),
    FAMILY
        .attack(
            "cache-same-kid",
            "the same, and both keys have the same `kid`",
            "a cache entry is bound to a key, not to its `kid`",
            "RFC 7515 4.1.4",
            |s| {
                let named = |stage: &Stage| Trusted {
                    keys: stage.keys_named("one"),
                    ..own(stage)
                };
                let token = |stage: &Stage| stage.with_header(&[("kid", json!("one"))]);
                let other = s.other_keys();
                both_ways(named(s), named(other), &token(s), &token(other))
            },
        )
        .on(&[Kind::Jwt]),
    FAMILY.attack(
        "cache-lax-verifier",
        "a token that a verifier without an issuer and an audience accepted",
        "a cache entry does not replace the requirements of another verifier",
        "RFC 8725 3.8, 3.9",
        |s| {
            let claims = [("iss", json!(OTHER_ISSUER)), ("aud", json!(OTHER_AUDIENCE))];
            let changes: [&[(&str, Value)]; 3] = [&claims, &claims[..1], &claims[1..]];
            let trials = changes.map(|changes| {
                let names: Vec<&str> = changes.iter().map(|(name, _)| *name).collect();
                let token = s.with_claims(changes);
                let verifiers = Extra::Cached(vec![s.trusted("", ""), own(s)]);
                let steps = steps(
                    &verifiers,
                    &[
                        (0, &token, true),
                        (0, &token, true),
                        (1, &s.valid(), true),
                        (1, &token, false),
                    ],
                );
                Trial::steps(format!("another {}", names.join(" and ")), steps)
            });
            trials.to_vec()
        },
    ),
    FAMILY.attack(
        "cache-after-rejection",
        "a token that one verifier rejected, and another then accepted",
        "a cached acceptance does not undo the rejection of another verifier",
        "RFC 8725 3.9",
        |s| {
            let others = s.with_claims(&[("aud", json!(OTHER_AUDIENCE))]);
            let verifiers = Extra::Cached(vec![own(s), s.trusted(ISSUER, OTHER_AUDIENCE)]);
            let steps = steps(
                &verifiers,
                &[
                    (0, &s.valid(), true),
                    (0, &others, false),
                    (1, &others, true),
                    (1, &others, true),
                    (0, &others, false),
                    (0, &s.valid(), true),
                ],
            );
            vec![Trial::steps("rejected, accepted, rejected", steps)]
        },
    ),
    FAMILY.attack(
        "cache-same-start",
        "a token of another key that begins like an accepted one",
        "a cache entry covers more than the beginning of a token",
        "litellm CVE-2026-35030: 20 characters",
        |s| {
            let claims = s.claims_until(s.now_s + 7200);
            let forged = s.other_keys().token(&claims);
            let verifiers = Extra::Cached(vec![own(s)]);
            let valid = s.valid();
            let tokens = [
                (0, valid.as_str(), true),
                (0, &valid, true),
                (0, &forged, false),
            ];
            vec![Trial::steps("the same header", steps(&verifiers, &tokens))]
        },
    ),
];

fn own(stage: &Stage) -> Trusted {
    stage.trusted(ISSUER, AUDIENCE)
}

/// Each verifier accepts its token, also from its cache, and must reject that of the other.
fn both_ways(first: Trusted, second: Trusted, one: &str, other: &str) -> Vec<Trial> {
    let verifiers = Extra::Cached(vec![first, second]);
    let tokens = [
        (0, one, true),
        (0, one, true),
        (1, other, true),
        (1, other, true),
        (1, one, false),
        (0, other, false),
    ];
    vec![Trial::steps("both ways", steps(&verifiers, &tokens))]
}

/// Returns steps with the verifier, the token, and whether it must be accepted.
fn steps(verifiers: &Extra, tokens: &[(usize, &str, bool)]) -> Vec<Step> {
    let steps = tokens.iter().map(|(verifier, token, is_control)| Step {
        setup: Setup::Extra(verifiers.clone()),
        verifier: *verifier,
        token: (*token).to_owned(),
        is_control: *is_control,
    });
    steps.collect()
}
