//! Why a header is rejected, with what it has and what it may have.

use jeton::error::{Part, Rejection};
use jeton::{Limits, limits};
use serde_json::value::RawValue;

use crate::jose;
use crate::json::{self, Members, Problem};

/// The members that must be text.
const TEXTS: [&str; 4] = ["alg", "kid", "typ", "cty"];

/// What is wrong with the header of a compact JWS, and what to do about it.
pub(super) fn explained(rejection: Rejection, token: &str) -> (String, &'static str) {
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
    let explained = match rejection {
        Rejection::TooLarge(Part::Header) => too_large(encoded, value("kid")),
        Rejection::DuplicateMember(Part::Header) => {
            match Members::strict(text, Limits::default().json_depth) {
                Err(Problem::Duplicate(name)) => Some((
                    format!("header: the member {name:?} stands twice"),
                    "one reader takes the first and another the last: its issuer writes each once",
                )),
                _ => None,
            }
        }
        Rejection::CriticalExtension => critical(value("crit"), value("b64")),
        Rejection::Malformed(Part::Header) => {
            let wrong = TEXTS.iter().find_map(|name| {
                let kind = json::type_name(value(name)?);
                (kind != "a string").then_some((name, kind))
            });
            wrong.map(|(name, kind)| {
                (
                    format!("its `{name}` is {kind}, and must be a string"),
                    "RFC 7515, section 4.1: its issuer writes it as text",
                )
            })
        }
        _ => None,
    };
    explained.unwrap_or_else(|| (rejection.to_string(), ""))
}

fn too_large(encoded: &str, kid: Option<&str>) -> Option<(String, &'static str)> {
    let limit = Limits::default().header_bytes;
    let bytes = encoded.len() / 4 * 3 + (encoded.len() % 4).saturating_sub(1);
    if bytes > limit {
        return Some((
            format!("the header has {bytes} bytes, limit {limit}"),
            "certificates in x5c are long: its issuer names them by x5t#S256 or kid",
        ));
    }
    let kid: String = serde_json::from_str(kid?).ok()?;
    let limit = limits::KEY_ID_BYTES;
    (kid.len() > limit).then(|| {
        (
            format!("its `kid` has {} bytes, limit {limit}", kid.len()),
            "a kid is a name: its issuer takes a short one, as the key's thumbprint (RFC 7638)",
        )
    })
}

fn critical(crit: Option<&str>, b64: Option<&str>) -> Option<(String, &'static str)> {
    let Some(crit) = crit else {
        return Some((
            "b64 stands outside of crit".to_owned(),
            "RFC 7797, section 6: a header with b64 names it in crit",
        ));
    };
    let names: Vec<String> = serde_json::from_str(crit).ok()?;
    if names == ["b64"] && b64.is_some() {
        return Some((
            "crit names b64, which a JWT may not have".to_owned(),
            "RFC 7797, section 7; for a payload of any kind: jeton jws verify",
        ));
    }
    Some((
        format!(
            "crit names {}, which jeton does not understand",
            names.join(", ")
        ),
        "RFC 7515, section 4.1.11: who does not understand an extension rejects the token",
    ))
}
