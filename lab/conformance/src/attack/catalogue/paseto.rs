//! Attacks on PASETO only: versions, purposes, footers, implicit assertions.

use jeton::danger::paseto_v2::V2;
use jeton::paseto::v4::V4;
use jeton::paseto::{LocalKey, SecretKey, TokenContext, Version};

use super::headers::{resigned, signature_of};
use super::{Attack, Family};
use crate::attack::fixtures::Stage;
use crate::attack::fixtures::jws::b64;
use crate::attack::trial::Trial;
use jeton_lab_model::Format;

const FAMILY: Family = Family::Paseto;

pub(super) const ATTACKS: &[Attack] = &[
    FAMILY.attack(
        "paseto-other-version",
        "a token labelled with another version",
        "a verifier accepts only its own version",
        "PASETO, algorithm lucidity",
        |s| {
            let valid = s.valid();
            let versions = ["v1", "v2", "v3", "v4", "v5"].into_iter();
            let others = versions.filter(|v| !valid.starts_with(v));
            Trial::all(&valid, others.map(|v| (v, format!("{v}{}", &valid[2..]))))
        },
    ),
    FAMILY.attack(
        "paseto-other-purpose",
        "a token labelled with the other purpose",
        "a verifier accepts only its own purpose",
        "PASETO, algorithm lucidity",
        |s| {
            let valid = s.valid();
            let other = if valid.contains(".local.") {
                valid.replacen(".local.", ".public.", 1)
            } else {
                valid.replacen(".public.", ".local.", 1)
            };
            vec![Trial::token("relabelled", &valid, other)]
        },
    ),
    FAMILY.attack(
        "paseto-sibling-version",
        "an authentic token of the version with the same kind of key",
        "the version is signed with the message",
        "PASETO, algorithm lucidity",
        |s| {
            let sibling = match s.format {
                Format::V2Public => Format::V4Public,
                Format::V4Public => Format::V2Public,
                Format::V2Local => Format::V4Local,
                Format::V4Local => Format::V2Local,
                _ => return Vec::new(),
            };
            let Some(token) = under_version(s, sibling) else {
                return Vec::new();
            };
            let relabelled = format!("{}{}", &s.format.name()[..2], &token[2..]);
            vec![
                Trial::token(sibling.name(), s.valid(), token),
                Trial::token(format!("{sibling}, relabelled"), s.valid(), relabelled),
            ]
        },
    ),
    FAMILY.attack(
        "paseto-header-case",
        "version and purpose in upper case",
        "version and purpose are compared exactly",
        "PASETO specification, 1",
        |s| {
            let valid = s.valid();
            let name = s.format.name();
            vec![
                Trial::token("version", &valid, valid.replacen('v', "V", 1)),
                Trial::token("all", &valid, valid.replacen(name, &name.to_uppercase(), 1)),
            ]
        },
    ),
    FAMILY.attack(
        "paseto-footer-changed",
        "a different footer",
        "the footer is authenticated",
        "PASETO specification, footers",
        |s| {
            let valid = s.bound("{\"kid\":\"one\"}", "");
            let (head, _) = valid.rsplit_once('.').unwrap_or_default();
            let token = format!("{head}.{}", b64("{\"kid\":\"two\"}"));
            vec![Trial::token("kid two", &valid, token)]
        },
    ),
    FAMILY.attack(
        "paseto-footer-removed",
        "the footer removed",
        "a removed footer is detected",
        "PASETO specification, footers",
        |s| {
            let valid = s.bound("{\"kid\":\"one\"}", "");
            let (head, _) = valid.rsplit_once('.').unwrap_or_default();
            vec![
                Trial::token("removed", &valid, head),
                Trial::token("empty", &valid, format!("{head}.")),
            ]
        },
    ),
    FAMILY.attack(
        "paseto-footer-added",
        "a footer added",
        "an added footer is detected",
        "PASETO specification, footers",
        |s| {
            let valid = s.valid();
            let token = format!("{valid}.{}", b64("{\"kid\":\"two\"}"));
            vec![Trial::token("kid", valid, token)]
        },
    ),
    FAMILY.attack(
        "paseto-implicit-assertion",
        "a token with an implicit assertion that the verifier does not have",
        "the implicit assertion is authenticated",
        "PASETO specification, implicit assertions",
        |s| {
            if !matches!(&s.format.name()[..2], "v3" | "v4") {
                return Vec::new();
            }
            let token = s.bound("", "{\"tenant\":7}");
            vec![Trial::token("bound to a tenant", s.valid(), token)]
        },
    ),
    FAMILY.attack(
        "paseto-nonce-changed",
        "one bit of the nonce is flipped",
        "the nonce is authenticated",
        "PASETO specification, 4",
        |s| {
            if !s.format.name().ends_with("local") {
                return Vec::new();
            }
            let valid = s.valid();
            let mut body = signature_of(&valid);
            if let Some(byte) = body.first_mut() {
                *byte ^= 1;
            }
            let token = resigned(&valid, &body);
            vec![Trial::token("the first byte", valid, token)]
        },
    ),
];

/// Returns the valid claims, with the same key bytes used as a key of another version.
fn under_version(stage: &Stage, version: Format) -> Option<String> {
    fn of<V: Version>(text: &str, claims: &str) -> Option<String> {
        let (claims, unbound) = (claims.as_bytes(), TokenContext::default());
        if text.contains(".local.") {
            let key = LocalKey::<V>::from_paserk(text).ok()?;
            return key.encrypt(claims, unbound).ok();
        }
        let key = SecretKey::<V>::from_paserk(text).ok()?;
        key.sign(claims, unbound).ok()
    }
    let keys = stage.paseto()?.paserk().ok()?;
    let text = keys.local.or(keys.secret)?;
    let text = format!("k{}{}", &version.name()[1..2], &text[2..]);
    let claims = stage.claims().to_string();
    match version {
        Format::V2Local | Format::V2Public => of::<V2>(&text, &claims),
        _ => of::<V4>(&text, &claims),
    }
}
