//! The signature and its encoding.

use super::headers::{resigned, signature_of};
use super::{ALL, Attack, Family, Kind, PASETO};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jws::{b64, der_of, member, unb64};
use crate::attack::trial::Trial;

const FAMILY: Family = Family::Signature;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY
        .attack(
            "other-key",
            "an authentic token of another key",
            "the signature is verified with the verifier's key",
            "RFC 7515 5.2",
            |s| {
                let token = s.other_keys().valid();
                vec![Trial::token("another key", s.valid(), token)]
            },
        )
        .on(ALL),
    FAMILY.attack(
        "signature-empty",
        "an empty signature",
        "an empty signature is rejected",
        "CVE-2020-28042",
        |s| {
            let valid = s.valid();
            vec![Trial::token("empty", &valid, resigned(&valid, b""))]
        },
    ),
    FAMILY.attack(
        "signature-gone",
        "only header and payload",
        "a JWS has three parts",
        "RFC 7515 7.1",
        |s| {
            let valid = s.valid();
            let input = valid.rsplit_once('.').map_or("", |(input, _)| input);
            vec![Trial::token("two parts", &valid, input)]
        },
    ),
    FAMILY.attack(
        "signature-truncated",
        "the first bytes of the correct signature",
        "a truncated signature is rejected",
        "RFC 7518 3.1; RFC 2104 5",
        |s| {
            let valid = s.valid();
            let signature = signature_of(&valid);
            let lengths = [1, signature.len() / 2, signature.len().saturating_sub(1)];
            let cut = |length: usize| {
                let token = resigned(&valid, &signature[..length]);
                (format!("{length} bytes"), token)
            };
            Trial::all(&valid, lengths.map(cut))
        },
    ),
    FAMILY.attack(
        "signature-extended",
        "the correct signature with extra bytes",
        "a signature with extra bytes is rejected",
        "RFC 7518 3.4",
        |s| {
            let valid = s.valid();
            let signature = signature_of(&valid);
            let longer = [&[0][..], &signature].map(|more| [signature.as_slice(), more].concat());
            let tokens = longer.map(|s| (format!("{} bytes", s.len()), resigned(&valid, &s)));
            Trial::all(&valid, tokens)
        },
    ),
    FAMILY
        .attack(
            "payload-of-another",
            "the payload of one token with the signature of another",
            "the payload is signed",
            "RFC 7515 5.2",
            |s| {
                let valid = s.valid();
                let other = s.with_claims(&[("sub", "root".into())]);
                let token = swapped_payload(s, &valid, &other);
                vec![Trial::token("swapped", valid, token)]
            },
        )
        .on(&[Kind::Jwt, Kind::Paseto]),
    FAMILY.attack(
        "header-of-another",
        "the header of one token with the rest of another",
        "the header is signed",
        "RFC 7515 5.1",
        |s| {
            let valid = s.valid();
            let rest = valid.split_once('.').map_or("", |(_, rest)| rest);
            let header = b64(s.header(&[("kid", "other".into())]));
            let token = format!("{header}.{rest}");
            vec![Trial::token("with a `kid`", &valid, token)]
        },
    ),
    FAMILY.attack(
        "payload-signed-alone",
        "a signature of the payload without the header",
        "header and payload are signed together",
        "RFC 7515 5.1",
        |s| {
            let [header, payload] = s.halves(&[]);
            let signed = |input: &[u8]| {
                let signature = s.raw().and_then(|key| key.sign(&s.alg, input));
                format!("{header}.{payload}.{}", b64(signature.unwrap_or_default()))
            };
            let text = signed(payload.as_bytes());
            let bytes = signed(s.claims().to_string().as_bytes());
            Trial::all(
                &s.valid(),
                [("its base64url text", text), ("its bytes", bytes)],
            )
        },
    ),
    FAMILY.attack(
        "ecdsa-zero",
        "r or s is zero",
        "r and s are positive",
        "CVE-2022-21449",
        |s| {
            ecdsa(s, |r, t| {
                let zero = vec![0; r.len()];
                vec![
                    ("both", [zero.clone(), zero.clone()].concat()),
                    ("r", [zero.clone(), t.to_vec()].concat()),
                    ("s", [r.to_vec(), zero].concat()),
                ]
            })
        },
    ),
    FAMILY.attack(
        "ecdsa-order",
        "r or s is the order of the curve, or above it",
        "r and s are below the order of the curve",
        "CVE-2022-21449; FIPS 186-5",
        |s| {
            let order = order_of(&s.alg);
            ecdsa(s, |r, t| {
                let full = vec![0xff; r.len()];
                vec![
                    (
                        "both are the order",
                        [order.clone(), order.clone()].concat(),
                    ),
                    ("r is the order", [order.clone(), t.to_vec()].concat()),
                    ("s is the order", [r.to_vec(), order.clone()].concat()),
                    ("all bits set", [full.clone(), full].concat()),
                ]
            })
        },
    ),
    FAMILY.attack(
        "ecdsa-der",
        "the correct signature in DER",
        "an ECDSA signature is r and s at full length",
        "RFC 7518 3.4",
        |s| ecdsa(s, |r, t| vec![("DER", der_of(&[r, t].concat()))]),
    ),
    FAMILY.attack(
        "ecdsa-padded",
        "the correct r and s with extra or missing leading zeros",
        "the lengths of r and s are checked",
        "RFC 7518 3.4",
        |s| {
            ecdsa(s, |r, t| {
                let one = [&[0], r, &[0], t].concat();
                let eight = [&[0; 8], r, &[0; 8], t].concat();
                vec![("one zero", one), ("eight zeros", eight)]
            })
        },
    ),
    FAMILY
        .attack(
            "eddsa-malleable",
            "s plus the order of the group",
            "s is below the order of the group",
            "RFC 8032 5.1.7",
            |s| {
                let valid = s.valid();
                let signs = matches!(s.alg.as_str(), "EdDSA")
                    || matches!(s.format.name(), "v2.public" | "v4.public");
                if !signs {
                    return Vec::new();
                }
                let mut body = unb64(valid.rsplit('.').next().unwrap_or_default());
                let start = body.len().saturating_sub(32);
                if !add_group_order(&mut body[start..]) {
                    return Vec::new();
                }
                vec![Trial::token("s + L", &valid, resigned(&valid, &body))]
            },
        )
        .on(&[Kind::Jwt, Kind::Paseto]),
    FAMILY.attack(
        "rsa-length",
        "the correct signature with leading zeros",
        "an RSA signature has the length of the modulus",
        "RFC 8017 8.2.2",
        |s| {
            if !s.is_rsa() {
                return Vec::new();
            }
            let valid = s.valid();
            let signature = signature_of(&valid);
            let longer = [&[0], signature.as_slice()].concat();
            let long = [&[0; 256], signature.as_slice()].concat();
            vec![
                Trial::token("one zero before it", &valid, resigned(&valid, &longer)),
                Trial::token("256 zeros before it", &valid, resigned(&valid, &long)),
            ]
        },
    ),
    FAMILY.attack(
        "rsa-degenerate",
        "zero, one, or the modulus itself as the signature",
        "the padding of an RSA signature is checked",
        "RFC 8017 8.2.2",
        |s| {
            if !s.is_rsa() {
                return Vec::new();
            }
            let valid = s.valid();
            let length = signature_of(&valid).len();
            let mut one = vec![0; length];
            one[length - 1] = 1;
            let n = member(&super::headers::public_jwk(s), "n");
            let all = [("zero", vec![0; length]), ("one", one), ("the modulus", n)];
            Trial::all(&valid, all.map(|(name, s)| (name, resigned(&valid, &s))))
        },
    ),
    FAMILY
        .attack(
            "paseto-signature-cut",
            "the signature or tag is truncated",
            "a truncated signature or tag is rejected",
            "PASETO specification, 4",
            |s| {
                let valid = s.valid();
                let body = unb64(valid.rsplit('.').next().unwrap_or_default());
                let tokens = [1, 16, 32, 63].map(|less| {
                    let cut = &body[..body.len().saturating_sub(less)];
                    (format!("{less} bytes removed"), resigned(&valid, cut))
                });
                Trial::all(&valid, tokens)
            },
        )
        .on(PASETO),
];

fn ecdsa(
    stage: &Stage,
    make: impl FnOnce(&[u8], &[u8]) -> Vec<(&'static str, Vec<u8>)>,
) -> Vec<Trial> {
    if !stage.is_ecdsa() {
        return Vec::new();
    }
    let valid = stage.valid();
    let signature = signature_of(&valid);
    let (r, s) = signature.split_at(signature.len() / 2);
    let made = make(r, s).into_iter();
    Trial::all(
        &valid,
        made.map(|(name, signature)| (name, resigned(&valid, &signature))),
    )
}

/// Returns `token` with the payload of `other`.
fn swapped_payload(stage: &Stage, token: &str, other: &str) -> String {
    if stage.format.is_paseto() {
        let bytes = |t: &str| unb64(t.rsplit('.').next().unwrap_or_default());
        let (valid, other) = (bytes(token), bytes(other));
        let tail = valid.len().saturating_sub(32);
        let head = other.len().saturating_sub(32);
        return resigned(token, &[&other[..head], &valid[tail..]].concat());
    }
    let parts: Vec<&str> = token.split('.').collect();
    let payload = other.split('.').nth(1).unwrap_or_default();
    match parts.as_slice() {
        [header, _, signature] => format!("{header}.{payload}.{signature}"),
        _ => String::new(),
    }
}

/// Returns the order of the curve of an algorithm, at its full length.
fn order_of(alg: &str) -> Vec<u8> {
    let hex = match alg {
        "ES256" => "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551".to_owned(),
        "ES384" => format!(
            "{}{}",
            "f".repeat(48),
            "c7634d81f4372ddf581a0db248b0a77aecec196accc52973"
        ),
        _ => format!(
            "01{}fa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
            "f".repeat(64)
        ),
    };
    let digits: Vec<u8> = hex
        .bytes()
        .filter_map(|d| char::from(d).to_digit(16))
        .filter_map(|d| u8::try_from(d).ok())
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// Adds the order of Ed25519's group to a little-endian number. Returns false on overflow.
fn add_group_order(number: &mut [u8]) -> bool {
    const LOW: [u8; 16] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14,
    ];
    let mut order = [0; 32];
    order[..16].copy_from_slice(&LOW);
    order[31] = 0x10;
    let mut carry = 0;
    for (digit, more) in number.iter_mut().zip(order) {
        let sum = u16::from(*digit) + u16::from(more) + carry;
        *digit = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    carry == 0
}
