//! Reads the claims of a new token from JSON. The token has them unchanged: members in their order, numbers digit
//! by digit.

mod argument;

pub(crate) use argument::{ClaimsArgument, Expiry};

use jeton::error::{Claim, FoundForm, InvalidUse, JsonType};
use jeton::{Error, JsonClaims, Limits};

use crate::exit::{Failure, Outcome};
use crate::json;

/// How a token format writes times and audiences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimsFormat {
    /// Times are seconds since 1970; one audience or a list.
    Jwt,
    /// Times are RFC 3339 text; one audience.
    Paseto,
}

/// The option for claims in JSON.
const CLAIMS: &str = "--claims";

/// Reads one JSON object. Errors name the option.
fn read(option: &str, text: &str, format: ClaimsFormat) -> Outcome<JsonClaims<'static>> {
    match JsonClaims::from_json(text) {
        Ok(claims) => Ok(claims.into_owned()),
        // This message says more: the name of a duplicate member, and what the parser expected.
        Err(error) => Err(match json::check(text, Limits::default().json_depth) {
            Err(problem) => Failure::error(format!("{option}: {problem}")),
            Ok(()) => failure(option, error, format),
        }),
    }
}

/// Returns the failure for claims that a token cannot have, or for a key that issues no token.
pub(crate) fn not_issued(error: Error, format: ClaimsFormat) -> Failure {
    failure(CLAIMS, error, format)
}

fn failure(option: &str, error: Error, format: ClaimsFormat) -> Failure {
    let (claim, problem) = match error {
        Error::InvalidUse(InvalidUse::ClaimType { claim, found }) => {
            let found = match (format, found) {
                (ClaimsFormat::Jwt, FoundForm::OtherText) => FoundForm::Value(JsonType::String),
                (_, found) => found,
            };
            let expected = type_problem(claim, format);
            (claim, format!("{expected}, not {found}"))
        }
        Error::InvalidUse(InvalidUse::DateForm(claim)) => {
            let found = match format {
                ClaimsFormat::Jwt => JsonType::String,
                ClaimsFormat::Paseto => JsonType::Number,
            };
            let expected = type_problem(claim, format);
            (claim, format!("{expected}, not {found}"))
        }
        Error::InvalidUse(InvalidUse::AudienceList) => {
            let expected = type_problem(Claim::Audience, format);
            (Claim::Audience, expected.to_owned())
        }
        Error::InvalidUse(InvalidUse::ClaimRange { claim, unit }) => {
            let unit = unit.map(|unit| format!(": {unit}? It must be in seconds"));
            let range = "must be within the years 1970 to 9999";
            (claim, format!("{range}{}", unit.unwrap_or_default()))
        }
        error => return Failure::error(error.to_string()),
    };
    Failure::error(format!("{option}: {claim} {problem}"))
}

fn type_problem(claim: Claim, format: ClaimsFormat) -> &'static str {
    match (claim, format) {
        (Claim::Issuer | Claim::Subject | Claim::TokenId, _) => "must be a string",
        (Claim::Audience, ClaimsFormat::Jwt) => "must be a string or a list of strings",
        (Claim::Audience, ClaimsFormat::Paseto) => "must be a string: a PASETO has one audience",
        (_, ClaimsFormat::Jwt) => "must be a number of seconds since 1970",
        (_, ClaimsFormat::Paseto) => {
            "must be an RFC 3339 time, for example \"2026-11-20T09:00:00Z\""
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton::key::{MacAlg, MacKey};
    use jeton::paseto::v4;
    use jeton::{Claims, Issue};

    use super::*;

    /// The message for claims that are not issued.
    fn problem(text: &str, format: ClaimsFormat) -> Option<String> {
        let key: Box<dyn Issue> = match format {
            ClaimsFormat::Jwt => Box::new(MacKey::generate(MacAlg::HS256).unwrap()),
            ClaimsFormat::Paseto => Box::new(v4::LocalKey::generate().unwrap()),
        };
        let issued = read(CLAIMS, text, format).and_then(|json| {
            let has_expiry = json.contains(Claim::Expiry);
            let claims = Claims::new(json);
            let claims = if has_expiry {
                claims
            } else {
                claims.without_expiry()
            };
            key.issue(&claims)
                .map_err(|error| not_issued(error, format))
        });
        issued.err().map(|failure| failure.message().to_owned())
    }

    #[test]
    fn registered_claim_of_wrong_type_is_rejected() {
        for (text, said) in [
            (r#"{"iss":1}"#, "iss must be a string, not a number"),
            (r#"{"sub":null}"#, "sub must be a string, not null"),
            (
                r#"{"aud":{}}"#,
                "aud must be a string or a list of strings, not an object",
            ),
            (
                r#"{"aud":["a",1]}"#,
                "aud must be a string or a list of strings, not a list with a number",
            ),
            (
                r#"{"exp":"2026-11-20T09:00:00Z"}"#,
                "exp must be a number of seconds since 1970, not a string",
            ),
            (r#"{"iat":-1}"#, "iat must be within the years 1970 to 9999"),
            (
                r#"{"nbf":1700000000000}"#,
                "nbf must be within the years 1970 to 9999: milliseconds? It must be in seconds",
            ),
            (
                r#"{"\u0065xp":"x"}"#,
                "exp must be a number of seconds since 1970, not a string",
            ),
            (r#"{"jti":7}"#, "jti must be a string, not a number"),
        ] {
            let problem = problem(text, ClaimsFormat::Jwt);
            assert_eq!(problem, Some(format!("--claims: {said}")), "{text}");
        }
        for text in [r#"{"aud":["a"]}"#, r#"{"exp":1700000000}"#] {
            assert!(problem(text, ClaimsFormat::Paseto).is_some(), "{text}");
        }
        let jwt = r#"{"aud":["a"],"exp":1700000000.5}"#;
        assert_eq!(problem(jwt, ClaimsFormat::Jwt), None);
        let paseto = r#"{"aud":"a","exp":"2026-11-20T09:00:00.5Z"}"#;
        assert_eq!(problem(paseto, ClaimsFormat::Paseto), None);
    }
}
