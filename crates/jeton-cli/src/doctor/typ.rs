//! Explains the type of a token, and what the type requires of its claims.

use jeton::error::Rejection;

use super::Criteria;
use super::findings::Section;
use crate::json::Members;
use crate::policy_args::any_of;
use crate::shell;

/// The claims that an access token must have (RFC 9068, section 2.2).
const ACCESS_TOKEN_CLAIMS: [&str; 7] = ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"];

/// Compares the type with the required one.
pub(super) fn check(findings: &mut Section, typ: Option<&str>, criteria: &Criteria<'_>) {
    let json = typ.map(|typ| serde_json::Value::from(typ).to_string());
    if criteria
        .probe
        .accepts_typ(json.as_deref(), criteria.policy.policy())
    {
        return;
    }
    let wanted = criteria.policy.typ;
    let expected = any_of(wanted);
    findings.wrong_for(
        Rejection::TypeMismatch,
        format!(
            "typ is {}, expected {}",
            typ.unwrap_or("missing"),
            expected.as_deref().unwrap_or("JWT or no typ")
        ),
        &advice(typ, wanted),
    );
}

fn advice(typ: Option<&str>, wanted: &[String]) -> String {
    let Some(typ) = typ else {
        return "an ID token or another token was sent, or the issuer sets no typ; to accept this token, remove `--typ`".to_owned();
    };
    let is_plain = typ.eq_ignore_ascii_case("JWT");
    let kind = match short(typ).as_str() {
        "at+jwt" => "an access token (RFC 9068)",
        "logout+jwt" => "a logout token (OpenID Connect Back-Channel Logout)",
        "secevent+jwt" => "a security event (RFC 8417)",
        "dpop+jwt" => "a DPoP proof (RFC 9449), which is sent beside the access token",
        "jwt" if wanted.iter().any(|wanted| is_access_token(wanted)) => {
            "an ID token, or an access token of an issuer that does not follow RFC 9068"
        }
        _ => "a token of another type",
    };
    if is_plain {
        format!("{kind}; to accept it, remove `--typ`")
    } else {
        format!(
            "{kind}; to accept it, add `--typ {}`",
            shell::quoted(&short(typ))
        )
    }
}

/// Reports the claims that an access token must have and that are missing. Verifiers may accept it without them.
pub(super) fn check_claims(findings: &mut Section, typ: Option<&str>, payload: &[u8]) {
    if !typ.is_some_and(is_access_token) {
        return;
    }
    let text = std::str::from_utf8(payload).unwrap_or_default();
    let Some(Members(members)) = Members::loose(text) else {
        return;
    };
    let is_missing = |name: &&str| members.iter().all(|(member, _)| member != name);
    let missing: Vec<&str> = ACCESS_TOKEN_CLAIMS.into_iter().filter(is_missing).collect();
    if !missing.is_empty() {
        findings.undetermined(
            format!("at+jwt without {}", missing.join(", ")),
            "an access token must have these claims (RFC 9068, section 2.2); some verifiers reject it",
        );
    }
}

fn is_access_token(typ: &str) -> bool {
    short(typ) == "at+jwt"
}

/// Returns the type without `application/`, in lower case (RFC 7515, section 4.1.9).
fn short(typ: &str) -> String {
    let typ = typ.to_ascii_lowercase();
    match typ.strip_prefix("application/") {
        Some(short) if !short.contains('/') => short.to_owned(),
        _ => typ,
    }
}
