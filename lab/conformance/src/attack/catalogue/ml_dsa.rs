//! ML-DSA: what an implementation must reject, by the parts of a signature (FIPS 204, section 7.2) and of a key.
//!
//! The owner of a key can make some of the signatures only with an implementation that leaves out a check. They were
//! made once, with a key whose private half is gone; `ml_dsa.json` has them.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::headers::{resigned, signature_of};
use super::keys::loaded;
use super::{Attack, Family};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jws::{b64, member};
use crate::attack::trial::{Act, Setup, Step, Trial};
use jeton_lab_model::protocol::Keys;

const FAMILY: Family = Family::MlDsa;

const MADE_ONCE: &str = include_str!("ml_dsa.json");

const SETS: [&str; 3] = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"];

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "ml-dsa-hint-order",
        "two positions of a hint in the wrong order",
        "the positions of a hint ascend",
        "FIPS 204, algorithm 21; Wycheproof",
        |s| hints(s, "swapped", swap_positions),
    ),
    FAMILY.attack(
        "ml-dsa-hint-repeated",
        "a position of a hint is there twice",
        "no position of a hint repeats",
        "FIPS 204, algorithm 21; Wycheproof",
        |s| hints(s, "twice", repeat_position),
    ),
    FAMILY.attack(
        "ml-dsa-hint-padding",
        "unused bytes of the hints are not zero",
        "unused bytes of the hints are zero",
        "FIPS 204, algorithm 21; Wycheproof",
        |s| {
            hints(s, "the last unused byte", |set, hint| {
                (set.count(hint) < set.omega).then(|| {
                    hint[set.omega - 1] = 1;
                })
            })
        },
    ),
    FAMILY.attack(
        "ml-dsa-hint-count",
        "counts of hints above the limit, or in descending order",
        "counts of hints ascend up to their limit",
        "FIPS 204, algorithm 21; Wycheproof",
        |s| {
            let counts = |spelling: &str, change: fn(&Set, &mut [u8])| {
                hints(s, spelling, |set, hint| {
                    change(set, &mut hint[set.omega..]);
                    Some(())
                })
            };
            let mut trials = counts("255", |_, counts| counts.fill(255));
            trials.extend(counts("one above the limit", |set, counts| {
                counts[set.k - 1] = u8::try_from(set.omega + 1).unwrap_or(u8::MAX);
            }));
            trials.extend(counts("descending", |_, counts| counts.reverse()));
            trials
        },
    ),
    FAMILY.attack(
        "ml-dsa-hint-none",
        "all hints removed",
        "hints are part of the verification",
        "FIPS 204, algorithm 8",
        |s| {
            hints(s, "none", |set, hint| {
                (set.count(hint) > 0).then(|| hint.fill(0))
            })
        },
    ),
    FAMILY.attack(
        "ml-dsa-z-large",
        "a consistent signature whose z is above its bound",
        "z is below its bound",
        "FIPS 204, algorithm 8, line 13; Wycheproof",
        |s| made_once(s, &["z"]),
    ),
    FAMILY.attack(
        "ml-dsa-z-border",
        "a coefficient of z at the border of its encoding",
        "every coefficient of z is part of the verification",
        "FIPS 204, algorithm 19; Wycheproof",
        |s| {
            parts(s, |set, signature| {
                let with = |byte: u8| {
                    let mut changed = signature.to_vec();
                    changed[set.challenge..set.challenge + 2].fill(byte);
                    changed[signature.len() - set.omega - set.k - 1] = byte;
                    changed
                };
                vec![("zeros", with(0)), ("ones", with(0xff))]
            })
        },
    ),
    FAMILY.attack(
        "ml-dsa-challenge",
        "one bit of the challenge changed",
        "the whole challenge is compared",
        "FIPS 204, algorithm 8, line 13",
        |s| {
            parts(s, |set, signature| {
                let with = |at: usize| {
                    let mut changed = signature.to_vec();
                    changed[at] ^= 1;
                    changed
                };
                vec![
                    ("the first byte", with(0)),
                    ("byte 32", with(31)),
                    ("the last byte", with(set.challenge - 1)),
                ]
            })
        },
    ),
    FAMILY.attack(
        "ml-dsa-context",
        "a signature with a context",
        "the context is empty",
        "FIPS 204, section 5.2; draft-ietf-cose-dilithium",
        |s| made_once(s, &["context JWT", "context ML-DSA-44"]),
    ),
    FAMILY.attack(
        "ml-dsa-prehash",
        "a signature of HashML-DSA",
        "the message is not hashed before it is signed",
        "FIPS 204, section 5.4; draft-ietf-cose-dilithium",
        |s| made_once(s, &["SHA-512"]),
    ),
    FAMILY.attack(
        "ml-dsa-internal",
        "a signature of the message without its prefix",
        "the message has the prefix of FIPS 204",
        "FIPS 204, section 6.2",
        |s| made_once(s, &["bytes alone"]),
    ),
    FAMILY.attack(
        "ml-dsa-dilithium",
        "a signature of Dilithium, round 3",
        "a signature of the draft is rejected",
        "FIPS 204, appendix D",
        |s| made_once(s, &["round 3"]),
    ),
    FAMILY.attack(
        "ml-dsa-length",
        "the signature cut or extended to the length of other parameter sets",
        "a signature of ML-DSA has the length of its parameter set",
        "FIPS 204, table 2",
        |s| {
            parts(s, |set, signature| {
                let lengths = SETS.map(|other| Set::of(other).map_or(0, |other| other.length()));
                let others = lengths.into_iter().filter(|length| *length != set.length());
                let mut changed: Vec<(&str, Vec<u8>)> = others
                    .map(|length| {
                        let mut changed = signature.to_vec();
                        changed.resize(length, 0);
                        ("of another set", changed)
                    })
                    .collect();
                let longer = [signature, &[0]].concat();
                changed.push(("one byte more", longer));
                changed.push(("one byte less", signature[..set.length() - 1].to_vec()));
                changed
            })
        },
    ),
    FAMILY.attack(
        "ml-dsa-other-set",
        "a token of another parameter set",
        "a key has one parameter set",
        "RFC 8725 3.1; draft-ietf-cose-dilithium",
        |s| {
            let others = SETS
                .into_iter()
                .filter(|set| s.is_ml_dsa() && *set != s.alg);
            let keys = others.filter_map(|set| s.another_of(set));
            keys.flat_map(|key| {
                let signed = |alg: &str| {
                    let header = s.header(&[("alg", json!(alg))]);
                    key.headed(header)
                };
                [key.alg.clone(), s.alg.clone()].map(|alg| {
                    Trial::token(format!("{} as {alg}", key.alg), s.valid(), signed(&alg))
                })
            })
            .collect()
        },
    ),
    FAMILY.attack(
        "ml-dsa-key-changed",
        "the verifier's key with one bit changed",
        "every part of a key of ML-DSA is used",
        "FIPS 204, algorithm 23",
        |s| {
            keys(s, |public| {
                let end = public.len() - 1;
                [("rho", 0), ("t1", 32), ("the end of t1", end)]
                    .map(|(part, at)| {
                        let mut changed = public.to_vec();
                        changed[at] ^= 1;
                        (part, changed)
                    })
                    .to_vec()
            })
        },
    ),
    FAMILY.attack(
        "ml-dsa-key-length",
        "the verifier's key is one byte too long or too short",
        "the length of a key of ML-DSA is checked",
        "FIPS 204, table 2",
        |s| {
            let trials = keys(s, |public| {
                let longer = [public, &[0]].concat();
                let shorter = public[..public.len() - 1].to_vec();
                vec![("longer", longer), ("shorter", shorter)]
            });
            trials.into_iter().map(Trial::read_by_library).collect()
        },
    ),
    FAMILY.attack(
        "ml-dsa-key-other-set",
        "a JWK that names another parameter set",
        "the parameter set of a key is checked",
        "draft-ietf-cose-dilithium",
        |s| {
            let others = SETS
                .into_iter()
                .filter(|set| s.is_ml_dsa() && *set != s.alg);
            let trials = others.map(|set| {
                let act = under(s, "alg", &json!(set));
                Trial::new(set, s.valid(), act).read_by_library()
            });
            trials.collect()
        },
    ),
    FAMILY.attack(
        "ml-dsa-key-halves",
        "a JWK with the private half of another key",
        "both halves of a key of ML-DSA match",
        "draft-ietf-cose-dilithium",
        |s| {
            let Some(other) = s.other_keys().issuing_keys().private else {
                return Vec::new();
            };
            if !s.is_ml_dsa() {
                return Vec::new();
            }
            loaded(s, "priv of another key", |private, _| {
                private["priv"] = other["priv"].clone()
            })
        },
    ),
];

/// The lengths of a signature's parts, in bytes: FIPS 204, table 1.
struct Set {
    challenge: usize,
    z: usize,
    /// The greatest number of hints.
    omega: usize,
    /// The number of polynomials with hints.
    k: usize,
}

impl Set {
    fn of(alg: &str) -> Option<Self> {
        let (challenge, z, omega, k) = match alg {
            "ML-DSA-44" => (32, 2304, 80, 4),
            "ML-DSA-65" => (48, 3200, 55, 6),
            "ML-DSA-87" => (64, 4480, 75, 8),
            _ => return None,
        };
        Some(Self {
            challenge,
            z,
            omega,
            k,
        })
    }

    fn length(&self) -> usize {
        self.challenge + self.z + self.omega + self.k
    }

    /// Returns the number of hints.
    fn count(&self, hint: &[u8]) -> usize {
        usize::from(hint[self.omega + self.k - 1])
    }

    /// Returns the range of positions of each polynomial.
    fn ranges(&self, hint: &[u8]) -> Vec<std::ops::Range<usize>> {
        let ends = hint[self.omega..].iter().map(|end| usize::from(*end));
        let starts = std::iter::once(0).chain(ends.clone());
        starts.zip(ends).map(|(start, end)| start..end).collect()
    }
}

fn swap_positions(set: &Set, hint: &mut [u8]) -> Option<()> {
    let range = set.ranges(hint).into_iter().find(|range| range.len() > 1)?;
    hint.swap(range.start, range.start + 1);
    Some(())
}

fn repeat_position(set: &Set, hint: &mut [u8]) -> Option<()> {
    let count = set.count(hint);
    let ranges = set.ranges(hint);
    let at = ranges.iter().position(|range| !range.is_empty())?;
    if count >= set.omega {
        return None;
    }
    let first = ranges[at].start;
    hint.copy_within(first..count, first + 1);
    for end in &mut hint[set.omega + at..] {
        *end += 1;
    }
    Some(())
}

/// Returns the token with another signature for each change; none for other algorithms.
fn parts<'a>(
    stage: &Stage,
    change: impl FnOnce(&Set, &[u8]) -> Vec<(&'a str, Vec<u8>)>,
) -> Vec<Trial> {
    let Some(set) = Set::of(&stage.alg) else {
        return Vec::new();
    };
    let valid = stage.valid();
    let signature = signature_of(&valid);
    if signature.len() != set.length() {
        return Vec::new();
    }
    let changed = change(&set, &signature).into_iter();
    let tokens = changed.map(|(part, changed)| {
        let spelling = format!("{part}, {} bytes", changed.len());
        (spelling, resigned(&valid, &changed))
    });
    Trial::all(&valid, tokens)
}

/// Returns the token with changed hints, if they can be changed so.
fn hints(
    stage: &Stage,
    spelling: &str,
    change: impl FnOnce(&Set, &mut [u8]) -> Option<()>,
) -> Vec<Trial> {
    parts(stage, |set, signature| {
        let mut changed = signature.to_vec();
        let done = change(set, &mut changed[set.challenge + set.z..]);
        done.map(|()| (spelling, changed)).into_iter().collect()
    })
}

/// Returns the valid token for a verifier whose key is changed.
fn keys<'a>(stage: &Stage, change: impl FnOnce(&[u8]) -> Vec<(&'a str, Vec<u8>)>) -> Vec<Trial> {
    let public = stage.keys().public.filter(|_| stage.is_ml_dsa());
    let Some(public) = public else {
        return Vec::new();
    };
    let changed = change(&member(&public, "pub")).into_iter();
    changed
        .map(|(part, bytes)| {
            let act = under(stage, "pub", &json!(b64(bytes)));
            Trial::new(part, stage.valid(), act)
        })
        .collect()
}

/// The valid token under the public key with another member.
fn under(stage: &Stage, name: &str, value: &Value) -> Act {
    let mut keys = stage.keys();
    if let Some(public) = &mut keys.public {
        public[name] = value.clone();
    }
    Act::VerifyUnder(keys, stage.valid())
}

/// Tokens that only an incomplete implementation makes.
#[derive(Deserialize)]
struct MadeOnce {
    jwk: Value,
    /// Header and payload of each token.
    input: String,
    signatures: BTreeMap<String, String>,
}

/// Returns those of the tokens that were made once. Their control is the valid token of the same key.
fn made_once(stage: &Stage, names: &[&str]) -> Vec<Trial> {
    if stage.alg != SETS[0] {
        return Vec::new();
    }
    let made: MadeOnce = serde_json::from_str(MADE_ONCE).expect("ml_dsa.json has this type");
    let keys = Keys::public(made.jwk);
    let step = |name: &str, is_control| Step {
        setup: Setup::Keys(keys.clone()),
        verifier: 0,
        token: format!("{}.{}", made.input, made.signatures[name]),
        is_control,
    };
    let trials = names.iter().map(|name| {
        let steps = vec![step("valid", true), step(name, false)];
        Trial::steps(*name, steps)
    });
    trials.collect()
}
