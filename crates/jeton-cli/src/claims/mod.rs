//! Reads the claims of a new token from JSON.
//!
//! Registered claims are converted to their types. Custom claims are copied unchanged: members in their order,
//! numbers digit by digit. The library's strict reader reads both.

mod argument;

pub(crate) use argument::Expiry;

use std::borrow::Cow;

use jeton::error::Claim;
pub(crate) use jeton::strict::CustomClaims;
use jeton::strict::{CustomClaimsError, JsonError, Member, read_members};
use jeton::{Claims, Limits, Timestamp};
use serde::Deserialize;

use crate::exit::{Failure, Outcome};
use crate::json::Problem;
use crate::time;

/// How a token format writes times and audiences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClaimsFormat {
    /// Times are seconds since 1970; one audience or a list.
    Jwt,
    /// Times are RFC 3339 text; one audience.
    Paseto,
}

/// The claims of one JSON object.
#[derive(Debug, Default)]
struct ParsedClaims {
    issuer: Option<String>,
    subject: Option<String>,
    audience: Option<Audience>,
    expires_at: Option<Timestamp>,
    not_before: Option<Timestamp>,
    issued_at: Option<Timestamp>,
    token_id: Option<String>,
    custom: CustomClaims<'static>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    List(Vec<String>),
}

/// Why reading stops.
enum ReadError {
    Json(JsonError),
    Claim(Failure),
}

impl From<JsonError> for ReadError {
    fn from(error: JsonError) -> Self {
        ReadError::Json(error)
    }
}

impl ParsedClaims {
    fn read(text: &str, format: ClaimsFormat) -> Outcome<ParsedClaims> {
        let depth = Limits::default().json_depth;
        let mut given = ParsedClaims::default();
        let mut custom = String::from("{");
        let read = read_members(text, depth, |member| {
            match Claim::from_name(&member.name()) {
                Some(claim) => given
                    .take(claim, &member, format)
                    .map_err(ReadError::Claim)?,
                None => {
                    if custom.len() > 1 {
                        custom.push(',');
                    }
                    custom.extend([member.written_name(), ":", member.value()]);
                }
            }
            Ok(())
        });
        match read {
            Ok(()) => {}
            Err(ReadError::Claim(failure)) => return Err(failure),
            Err(ReadError::Json(error)) => return Err(unreadable(&Problem::of(error, text))),
        }
        custom.push('}');
        let custom = CustomClaims::read(&custom, depth, |_| Ok::<_, CustomClaimsError>(()));
        let custom = custom.map_err(|error| unreadable(&error))?;
        given.custom = custom.into_owned();
        Ok(given)
    }

    fn take(&mut self, claim: Claim, member: &Member<'_>, format: ClaimsFormat) -> Outcome {
        let string = || {
            let text = member.string().map(Cow::into_owned);
            text.ok_or_else(|| wrong_type(claim, "must be a string"))
        };
        match claim {
            Claim::Issuer => self.issuer = Some(string()?),
            Claim::Subject => self.subject = Some(string()?),
            Claim::TokenId => self.token_id = Some(string()?),
            Claim::Audience => self.audience = Some(audience(member, format)?),
            Claim::Expiry => self.expires_at = Some(timestamp(claim, member, format)?),
            Claim::NotBefore => self.not_before = Some(timestamp(claim, member, format)?),
            Claim::IssuedAt => self.issued_at = Some(timestamp(claim, member, format)?),
            // `Claim` is non-exhaustive; every current variant is handled above.
            _ => {
                return Err(wrong_type(claim, "cannot be set by this command"));
            }
        }
        Ok(())
    }

    /// Returns the claims without the expiry, which the caller sets.
    fn into_claims(self) -> Claims<'static, CustomClaims<'static>> {
        let mut claims = Claims::new(self.custom);
        if let Some(issuer) = self.issuer {
            claims = claims.issuer(issuer);
        }
        if let Some(subject) = self.subject {
            claims = claims.subject(subject);
        }
        claims = match self.audience {
            None => claims,
            Some(Audience::One(audience)) => claims.audience(audience),
            Some(Audience::List(audiences)) => {
                claims.audiences(audiences.into_iter().map(Cow::Owned).collect::<Vec<_>>())
            }
        };
        if let Some(timestamp) = self.not_before {
            claims = claims.not_before(timestamp);
        }
        if let Some(timestamp) = self.issued_at {
            claims = claims.issued_at(timestamp);
        }
        if let Some(token_id) = self.token_id {
            claims = claims.token_id(token_id);
        }
        claims
    }
}

fn unreadable(problem: &dyn std::fmt::Display) -> Failure {
    Failure::error(format!("--claims: {problem}"))
}

fn audience(member: &Member<'_>, format: ClaimsFormat) -> Outcome<Audience> {
    let read = serde_json::from_str(member.value());
    match (read, format) {
        (Ok(Audience::List(_)), ClaimsFormat::Paseto) | (Err(_), ClaimsFormat::Paseto) => {
            Err(wrong_type(
                Claim::Audience,
                "must be a string: a PASETO has one audience",
            ))
        }
        (Err(_), ClaimsFormat::Jwt) => Err(wrong_type(
            Claim::Audience,
            "must be a string or a list of strings",
        )),
        (Ok(audience), _) => Ok(audience),
    }
}

fn timestamp(claim: Claim, member: &Member<'_>, format: ClaimsFormat) -> Outcome<Timestamp> {
    let wrong = || match format {
        ClaimsFormat::Jwt => wrong_type(claim, "must be a whole number of seconds since 1970"),
        ClaimsFormat::Paseto => wrong_type(
            claim,
            "must be an RFC 3339 time in whole seconds, for example \"2026-11-20T09:00:00Z\"",
        ),
    };
    let seconds = match format {
        ClaimsFormat::Jwt => member.value().parse::<i64>().map_err(|_| wrong())?,
        ClaimsFormat::Paseto => {
            let text = member.string().ok_or_else(wrong)?;
            let timestamp = time::rfc3339(&text).ok_or_else(wrong)?;
            if timestamp.subsec_nanosecond() != 0 {
                return Err(wrong());
            }
            timestamp.as_second()
        }
    };
    Timestamp::from_unix_seconds(seconds)
        .ok_or_else(|| wrong_type(claim, "must be within the years 1970 to 9999"))
}

fn wrong_type(claim: Claim, problem: &str) -> Failure {
    Failure::error(format!("--claims: {claim} {problem}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn custom_claims_are_copied_unchanged() {
        let text = r#"{"z":1.10,"iss":"i","a":{"y":1e400,"x":[1, 2]},"n":12345678901234567890123}"#;
        let given = ParsedClaims::read(text, ClaimsFormat::Jwt).unwrap();
        assert_eq!(given.issuer.as_deref(), Some("i"));
        let kept = r#"{"z":1.10,"a":{"y":1e400,"x":[1, 2]},"n":12345678901234567890123}"#;
        let kept = CustomClaims::read(kept, 32, |_| Ok::<_, CustomClaimsError>(()));
        assert_eq!(Ok(given.custom), kept);
    }

    #[test]
    fn registered_claim_of_wrong_type_is_rejected() {
        for text in [
            r#"{"iss":1}"#,
            r#"{"sub":null}"#,
            r#"{"aud":{}}"#,
            r#"{"aud":["a",1]}"#,
            r#"{"exp":"2026-11-20T09:00:00Z"}"#,
            r#"{"exp":1.5}"#,
            r#"{"iat":-1}"#,
            r#"{"nbf":253402300800}"#,
            r#"{"\u0065xp":"x"}"#,
            r#"{"jti":7}"#,
        ] {
            assert!(
                ParsedClaims::read(text, ClaimsFormat::Jwt).is_err(),
                "{text}"
            );
        }
        for text in [
            r#"{"aud":["a"]}"#,
            r#"{"exp":1700000000}"#,
            r#"{"exp":"2026-11-20T09:00:00.5Z"}"#,
        ] {
            assert!(
                ParsedClaims::read(text, ClaimsFormat::Paseto).is_err(),
                "{text}"
            );
        }
        assert!(ParsedClaims::read(r#"{"aud":["a"],"exp":1700000000}"#, ClaimsFormat::Jwt).is_ok());
        assert!(
            ParsedClaims::read(
                r#"{"aud":"a","exp":"2026-11-20T09:00:00Z"}"#,
                ClaimsFormat::Paseto
            )
            .is_ok()
        );
    }
}
