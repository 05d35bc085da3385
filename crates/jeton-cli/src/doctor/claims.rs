//! Explains the claims of a token: times, issuer, audience. The verifier itself decides whether they are valid
//! ([`Probe`]).

use jeton::Policy;
use jeton::error::{Part, Rejection};
use serde_json::value::RawValue;

use super::findings::Section;
use super::probe::{Format, Probe};
use crate::json::{Members, Problem};
use crate::policy_args::PolicyArgs;
use crate::time;

/// The largest plausible time in seconds. A larger number is probably in another unit.
const SECONDS_MAX: f64 = 1e11;

/// The longest lifetime without a warning.
const LONG_LIFETIME_SECONDS: f64 = 366.0 * 86_400.0;

/// The nesting limit for the search for duplicate members.
const DEPTH_MAX: u32 = 127;

/// The claims that are checked.
struct ClaimsCheck<'a> {
    members: Vec<(String, &'a RawValue)>,
    format: Format,
    policy_args: &'a PolicyArgs,
    probe: &'a Probe,
}

/// Checks the claims of a token.
pub(super) fn check(
    findings: &mut Section,
    payload: &[u8],
    format: Format,
    policy_args: &PolicyArgs,
    probe: &Probe,
) {
    let before = findings.error_count();
    let text = std::str::from_utf8(payload).unwrap_or_default();
    match Members::loose(text) {
        Some(Members(members)) => {
            let check = ClaimsCheck {
                members,
                format,
                policy_args,
                probe,
            };
            check.times(findings);
            check.parties(findings);
            check.others(findings);
        }
        None => findings.wrong_for(
            Rejection::Malformed(Part::Payload),
            "the payload is not claims: not a JSON object",
            match format {
                Format::Jwt => "to verify any payload, run `jeton jws verify`",
                Format::Paseto => {
                    "to print any payload, add `--raw` to `jeton paseto verify` or decrypt"
                }
            },
        ),
    }
    // A problem that no single claim explains.
    let rejected = probe.claims(payload, format, policy_args.policy());
    if let Some(rejection) = rejected
        && (findings.error_count() == before
            || rejection == Rejection::DuplicateMember(Part::Payload))
    {
        let (what, advice) = payload_problem(&rejection, text);
        findings.wrong_for(rejection, what, advice);
    }
}

/// Describes a problem of the whole payload.
fn payload_problem(rejection: &Rejection, text: &str) -> (String, &'static str) {
    match (rejection, Members::strict(text, DEPTH_MAX)) {
        (Rejection::DuplicateMember(_), Err(Problem::Duplicate(name))) => (
            format!("payload: duplicate member {name:?}"),
            "readers use different ones: the issuer must write each member once",
        ),
        (rejection, _) => (rejection.to_string(), ""),
    }
}

impl ClaimsCheck<'_> {
    fn value(&self, name: &str) -> Option<&str> {
        let found = self.members.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| value.get())
    }

    /// Verifies one claim alone.
    fn rejected(&self, name: &str, policy: Policy) -> Option<Rejection> {
        let alone = match self.value(name) {
            Some(value) => format!("{{\"{name}\":{value}}}"),
            None => "{}".to_owned(),
        };
        (self.probe).claims(alone.as_bytes(), self.format, policy)
    }

    /// Returns a time in seconds since 1970.
    fn seconds(&self, name: &str) -> Option<f64> {
        let value = self.value(name)?;
        match self.format {
            Format::Jwt => value.parse().ok(),
            Format::Paseto => {
                let text: String = serde_json::from_str(value).ok()?;
                Some(time::rfc3339(&text)?.as_second() as f64)
            }
        }
    }

    fn times(&self, findings: &mut Section) {
        let policy = || self.policy_args.policy().any_issuer().any_audience();
        let now = self.probe.now().unix_seconds() as f64;
        let at = |name: &str| self.seconds(name).unwrap_or(now);
        match self.rejected("exp", policy()) {
            None => {
                if let Some(at) = self.seconds("exp") {
                    findings.good(if at > now {
                        format!("expires in {}", format_seconds(at - now))
                    } else {
                        format!(
                            "expired {} ago, within the leeway",
                            format_seconds(now - at)
                        )
                    });
                }
            }
            Some(rejection @ Rejection::ClaimMissing(_)) => findings.wrong_for(
                rejection,
                "no exp: the token never expires",
                "the issuer should set exp; to accept tokens without it, add `--allow no-expiry`",
            ),
            Some(rejection @ Rejection::Expired) => findings.wrong_for(
                rejection,
                format!("expired {} ago", format_seconds((now - at("exp")).max(0.0))),
                "request a new token, or check the clocks",
            ),
            Some(rejection) => self.invalid_time(findings, rejection),
        }
        match self.rejected("nbf", policy().without_expiry()) {
            None => {}
            Some(rejection @ Rejection::NotYetValid) => findings.wrong_for(
                rejection,
                format!(
                    "not valid yet: nbf is {} from now",
                    format_seconds(at("nbf") - now)
                ),
                "wait, or check the clocks; if they differ, add `--leeway 60s`",
            ),
            Some(rejection) => self.invalid_time(findings, rejection),
        }
        match self.rejected("iat", policy().without_expiry()) {
            None => {}
            Some(rejection @ Rejection::IssuedInTheFuture) => findings.wrong_for(
                rejection,
                format!(
                    "issued in the future: iat is {} from now",
                    format_seconds(at("iat") - now)
                ),
                "check the clock of the issuer and this one; if they differ by more than a minute, add `--leeway 5m`",
            ),
            Some(rejection) => self.invalid_time(findings, rejection),
        }
        if let (Some(from), Some(to)) = (self.seconds("iat"), self.seconds("exp"))
            && to < SECONDS_MAX
            && to - from > LONG_LIFETIME_SECONDS
        {
            findings.undetermined(
                format!("lifetime of {}", format_seconds(to - from)),
                "a leaked token stays valid that long: prefer short lifetimes",
            );
        }
    }

    /// Reports a claim that is not a valid time.
    fn invalid_time(&self, findings: &mut Section, rejection: Rejection) {
        let advice = match (self.format, &rejection) {
            (Format::Jwt, Rejection::ClaimRange { unit: Some(_), .. }) => {
                "times are seconds since 1970 (RFC 7519): the issuer must convert them"
            }
            (Format::Jwt, Rejection::ClaimType { .. }) => {
                "times are numbers: seconds since 1970 (RFC 7519)"
            }
            (Format::Paseto, Rejection::ClaimType { .. } | Rejection::ClaimRange { .. }) => {
                "times of a PASETO are RFC 3339 text, for example 2026-11-20T09:00:00Z"
            }
            _ => "",
        };
        findings.wrong_for(&rejection, rejection.to_string(), advice);
    }

    /// Compares issuer and audience with the required ones.
    fn parties(&self, findings: &mut Section) {
        let policy = || self.policy_args.policy().without_expiry();
        match (
            self.rejected("iss", policy().any_audience()),
            self.policy_args.issuer().as_deref(),
        ) {
            (None, Some(wanted)) => findings.good(format!("issuer {wanted}")),
            (None, None) => {}
            (Some(rejection @ Rejection::IssuerMismatch), Some(wanted)) => findings.wrong_for(
                rejection,
                format!("iss is {}, expected {wanted}", self.texts("iss")),
                "they must be identical, including a / at the end",
            ),
            (Some(rejection @ Rejection::ClaimMissing(_)), _) => {
                findings.wrong_for(
                    rejection,
                    "no iss",
                    "the issuer must set it, or remove `--issuer`",
                );
            }
            (Some(rejection), _) => invalid_text(findings, rejection),
        }
        match (
            self.rejected("aud", policy().any_issuer()),
            self.policy_args.audience().as_deref(),
        ) {
            (None, Some(wanted)) => findings.good(format!("audience {wanted}")),
            (None, None) => {}
            (Some(rejection @ Rejection::AudienceMismatch), Some(wanted)) => findings.wrong_for(
                rejection,
                format!("aud is {}, expected {wanted}", self.texts("aud")),
                "the token was issued for another service: request one for this service",
            ),
            (Some(rejection @ Rejection::ClaimMissing(_)), _) => {
                findings.wrong_for(
                    rejection,
                    "no aud",
                    "the issuer must set it, or remove `--audience`",
                );
            }
            (Some(rejection), _) => invalid_text(findings, rejection),
        }
    }

    /// Checks the types of the other registered claims.
    fn others(&self, findings: &mut Section) {
        let policy = || {
            let policy = self.policy_args.policy().without_expiry();
            policy.any_issuer().any_audience()
        };
        for name in ["sub", "jti"] {
            if let Some(rejection) = self.rejected(name, policy()) {
                invalid_text(findings, rejection);
            }
        }
    }

    /// Returns a string or a list of strings, separated by commas.
    fn texts(&self, name: &str) -> String {
        let json = self.value(name).unwrap_or_default();
        let texts: Vec<String> = serde_json::from_str(json)
            .or_else(|_| serde_json::from_str(json).map(|one: String| vec![one]))
            .unwrap_or_default();
        if texts.is_empty() {
            "an empty list".to_owned()
        } else {
            texts.join(", ")
        }
    }
}

/// Reports a claim that is not a string.
fn invalid_text(findings: &mut Section, rejection: Rejection) {
    let advice = match rejection {
        Rejection::ClaimType { .. } => "see RFC 7519, section 4.1",
        _ => "",
    };
    findings.wrong_for(&rejection, rejection.to_string(), advice);
}

/// Formats seconds as `5 minutes`.
fn format_seconds(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [
        (365.0 * 86_400.0, "year"),
        (86_400.0, "day"),
        (3_600.0, "hour"),
        (60.0, "minute"),
    ];
    let unit = UNITS.into_iter().find(|(unit, _)| seconds >= *unit);
    let (size, name) = unit.unwrap_or((1.0, "second"));
    let count = (seconds / size).floor();
    let s = if count == 1.0 { "" } else { "s" };
    format!("{count} {name}{s}")
}
