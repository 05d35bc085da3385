//! Explains why a header is rejected.

use jeton::Limits;
use jeton::error::{Part, Rejection};
use serde_json::value::RawValue;

use crate::jose;
use crate::json::{self, Members, Problem};
use crate::rejection_hints::{self, Command};

/// The members that must be strings.
const STRINGS: [&str; 4] = ["alg", "kid", "typ", "cty"];

/// Returns the problem with the header of a compact JWS, and the advice. Where there is nothing to add, both are those of
/// `jeton jwt verify`.
pub(super) fn explain(rejection: &Rejection, token: &str) -> (String, String) {
    let encoded = token.split('.').next().unwrap_or_default();
    let header = jose::decode_json(encoded);
    let members = header
        .as_deref()
        .and_then(|header| Members::loose(header.get()))
        .map_or_else(Vec::new, |Members(members)| members);
    let text = header.as_deref().map_or("", RawValue::get);
    let value = |name: &str| {
        let found = members.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| value.get())
    };
    let explanation = match rejection {
        Rejection::DuplicateMember(Part::Header) => {
            match Members::strict(text, Limits::default().json_depth) {
                Err(Problem::Duplicate(name)) => Some((
                    format!("header: duplicate member {name:?}"),
                    "readers use different ones: the issuer must write each member once",
                )),
                _ => None,
            }
        }
        Rejection::CriticalExtension => critical(value("crit"), value("b64")),
        Rejection::Malformed(Part::Header) => {
            let wrong = STRINGS.iter().find_map(|name| {
                let kind = json::type_name(value(name)?);
                (kind != "a string").then_some((name, kind))
            });
            wrong.map(|(name, kind)| {
                (
                    format!("header: `{name}` must be a string, got {kind}"),
                    "the issuer must write it as a string (RFC 7515, section 4.1)",
                )
            })
        }
        _ => None,
    };
    match explanation {
        Some((what, advice)) => (what, advice.to_owned()),
        None => {
            let hint = rejection_hints::hint(rejection, token, Command::JwtVerify);
            (rejection.to_string(), hint.unwrap_or_default())
        }
    }
}

/// Returns the members of a header that name a key or a certificate. A verifier ignores them: the sender of the token
/// chooses them.
pub(super) fn ignored_members(header: &RawValue) -> Vec<&'static str> {
    const NAMES: [&str; 6] = ["jku", "jwk", "x5u", "x5c", "x5t", "x5t#S256"];
    let members = Members::loose(header.get()).map_or_else(Vec::new, |Members(members)| members);
    let has = |name: &&str| members.iter().any(|(member, _)| member == name);
    NAMES.into_iter().filter(has).collect()
}

fn critical(crit: Option<&str>, b64: Option<&str>) -> Option<(String, &'static str)> {
    let Some(crit) = crit else {
        return Some((
            "the header has b64, which crit does not list".to_owned(),
            "crit must list b64 (RFC 7797, section 6)",
        ));
    };
    let names: Vec<String> = serde_json::from_str(crit).ok()?;
    if names == ["b64"] && b64.is_some() {
        return Some((
            "crit lists b64, which is not allowed in a JWT (RFC 7797, section 7)".to_owned(),
            "to verify any payload, run `jeton jws verify`",
        ));
    }
    Some((
        format!("crit lists {}, which is not supported", names.join(", ")),
        "a verifier must reject an unknown critical extension (RFC 7515, section 4.1.11)",
    ))
}
