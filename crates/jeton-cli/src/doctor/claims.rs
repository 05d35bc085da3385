//! What a token's claims say of its times, and of whom it is from and for. Whether that is wrong, the verifier
//! itself says ([`Probe`]); here it is explained.

use jeton::Policy;
use jeton::error::{Part, Rejection};
use serde_json::value::RawValue;

use super::findings::Section;
use super::probe::{Format, Probe};
use crate::policy_args::PolicyArgs;
use crate::json::{self, Members, Problem};
use crate::time;

/// Seconds since 1970 have ten digits until the year 2286; what has more counts something smaller.
const SECONDS_MAX: f64 = 1e11;

/// A token that lives longer than this is a password.
const LONG_S: f64 = 366.0 * 86_400.0;

/// Deeper than any verifier reads.
const DEPTH_MAX: u32 = 127;

/// Claims that are looked at.
struct ClaimsCheck<'a> {
    members: Vec<(String, &'a RawValue)>,
    format: Format,
    policy_args: &'a PolicyArgs,
    probe: &'a Probe,
}

/// What is seen of a token's claims.
pub(super) fn look(
    seen: &mut Section,
    payload: &[u8],
    format: Format,
    policy_args: &PolicyArgs,
    probe: &Probe,
) {
    let before = seen.wrong_count();
    let text = std::str::from_utf8(payload).unwrap_or_default();
    match Members::loose(text) {
        Some(Members(members)) => {
            let look = ClaimsCheck {
                members,
                format,
                policy_args,
                probe,
            };
            look.times(seen);
            look.parties(seen);
            look.others(seen);
        }
        None => seen.wrong(
            "the payload is no JSON object, and so no claims",
            match format {
                Format::Jwt => "jeton jws verify takes any payload",
                Format::Paseto => "--raw takes any payload",
            },
        ),
    }
    // What no single claim explains.
    let rejected = probe.claims(payload, format, policy_args.policy());
    if let Some(rejection) = rejected
        && (seen.wrong_count() == before || rejection == Rejection::DuplicateMember(Part::Payload))
    {
        let (what, advice) = of_the_whole(rejection, text);
        seen.wrong(what, advice);
    }
}

/// What is wrong with a payload that is wrong as a whole.
fn of_the_whole(rejection: Rejection, text: &str) -> (String, &'static str) {
    match (rejection, Members::strict(text, DEPTH_MAX)) {
        (Rejection::DuplicateMember(_), Err(Problem::Duplicate(name))) => (
            format!("payload: the member {name:?} stands twice"),
            "one reader takes the first and another the last: its issuer writes each once",
        ),
        (rejection, _) => (rejection.to_string(), ""),
    }
}

impl ClaimsCheck<'_> {
    fn value(&self, name: &str) -> Option<&str> {
        let found = self.members.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| value.get())
    }

    /// What the verifier says of one claim alone.
    fn rejected(&self, name: &str, policy: Policy) -> Option<Rejection> {
        let alone = match self.value(name) {
            Some(value) => format!("{{\"{name}\":{value}}}"),
            None => "{}".to_owned(),
        };
        (self.probe).claims(alone.as_bytes(), self.format, policy)
    }

    /// A time in seconds since 1970.
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

    fn times(&self, seen: &mut Section) {
        let policy = || self.policy_args.policy().any_issuer().any_audience();
        let now = self.probe.now().unix_seconds() as f64;
        let at = |name: &str| self.seconds(name).unwrap_or(now);
        match self.rejected("exp", policy()) {
            None => {
                if let Some(at) = self.seconds("exp") {
                    seen.good(match at > now {
                        true => format!("it expires in {}", apart(at - now)),
                        false => format!("it expired {} ago, within the leeway", apart(now - at)),
                    });
                }
            }
            Some(Rejection::ClaimMissing(_)) => seen.wrong(
                "it has no exp, and so never expires",
                "let its issuer set one, or take it knowingly: --allow no-expiry",
            ),
            Some(Rejection::Expired) => seen.wrong(
                format!("it expired {} ago", apart(now - at("exp"))),
                "get a new one; or a clock is wrong",
            ),
            Some(rejection) => self.no_time(seen, "exp", rejection),
        }
        match self.rejected("nbf", policy().without_expiry()) {
            None => {}
            Some(Rejection::NotYetValid) => seen.wrong(
                format!(
                    "it is not valid before {} from now (nbf)",
                    apart(at("nbf") - now)
                ),
                "wait, or a clock is wrong; for clocks that differ: --leeway 60s",
            ),
            Some(rejection) => self.no_time(seen, "nbf", rejection),
        }
        match self.rejected("iat", policy().without_expiry()) {
            None => {}
            Some(Rejection::IssuedInTheFuture) => seen.wrong(
                format!("it was issued {} from now (iat)", apart(at("iat") - now)),
                "its issuer's clock, or this one, is wrong; for clocks that differ: --leeway 60s",
            ),
            Some(rejection) => self.no_time(seen, "iat", rejection),
        }
        if let (Some(from), Some(to)) = (self.seconds("iat"), self.seconds("exp"))
            && to < SECONDS_MAX
            && to - from > LONG_S
        {
            seen.undetermined(
                format!("it lives for {}", apart(to - from)),
                "whoever finds it can use it as long; shorter ones are renewed",
            );
        }
    }

    /// A claim that is no time that counts.
    fn no_time(&self, seen: &mut Section, name: &str, rejection: Rejection) {
        match (self.format, self.seconds(name), rejection) {
            (Format::Jwt, Some(at), Rejection::ClaimRange(_)) if at >= SECONDS_MAX => seen.wrong(
                format!("{name} is far beyond the year 5000: it looks like milliseconds"),
                "RFC 7519 counts seconds since 1970: its issuer divides by 1000",
            ),
            (Format::Jwt, _, Rejection::ClaimType(_)) => seen.wrong(
                format!("{name} is no number"),
                "RFC 7519 counts seconds since 1970, as a number and not as text",
            ),
            (Format::Paseto, _, Rejection::ClaimType(_) | Rejection::ClaimRange(_)) => seen.wrong(
                format!("{name} is no time: {rejection}"),
                "a PASETO's times are RFC 3339 text, as in 2026-11-20T09:00:00Z",
            ),
            _ => seen.wrong(rejection.to_string(), ""),
        }
    }

    /// Who it is from and for, beside what is demanded.
    fn parties(&self, seen: &mut Section) {
        let policy = || self.policy_args.policy().without_expiry();
        match (
            self.rejected("iss", policy().any_audience()),
            self.policy_args.issuer(),
        ) {
            (None, Some(wanted)) => seen.good(format!("it is of {wanted}")),
            (None, None) => {}
            (Some(Rejection::IssuerMismatch), Some(wanted)) => seen.wrong(
                format!("its iss is {}, and {wanted} is demanded", self.texts("iss")),
                "they must be the same to the letter, with the / at the end or without",
            ),
            (Some(Rejection::ClaimMissing(_)), _) => {
                seen.wrong("it has no iss", "its issuer sets it, or it is not demanded");
            }
            (Some(rejection), _) => self.no_text(seen, "iss", rejection),
        }
        match (
            self.rejected("aud", policy().any_issuer()),
            self.policy_args.audience(),
        ) {
            (None, Some(wanted)) => seen.good(format!("it is for {wanted}")),
            (None, None) => {}
            (Some(Rejection::AudienceMismatch), Some(wanted)) => seen.wrong(
                format!("its aud is {}, and {wanted} is demanded", self.texts("aud")),
                "it was issued for another service: ask for one for this",
            ),
            (Some(Rejection::ClaimMissing(_)), _) => {
                seen.wrong("it has no aud", "its issuer sets it, or it is not demanded");
            }
            (Some(rejection), _) => self.no_text(seen, "aud", rejection),
        }
    }

    /// The registered claims that nothing is demanded of.
    fn others(&self, seen: &mut Section) {
        let policy = || {
            let policy = self.policy_args.policy().without_expiry();
            policy.any_issuer().any_audience()
        };
        for name in ["sub", "jti"] {
            if let Some(rejection) = self.rejected(name, policy()) {
                self.no_text(seen, name, rejection);
            }
        }
    }

    fn no_text(&self, seen: &mut Section, name: &str, rejection: Rejection) {
        match (rejection, self.value(name)) {
            (Rejection::ClaimType(_), Some(value)) => seen.wrong(
                format!("{name} is {}, which it may not be", json::type_name(value)),
                "RFC 7519, section 4.1: text, and for aud also a list of texts",
            ),
            (rejection, _) => seen.wrong(rejection.to_string(), ""),
        }
    }

    /// A text, or a list of them.
    fn texts(&self, name: &str) -> String {
        let json = self.value(name).unwrap_or_default();
        let texts: Vec<String> = serde_json::from_str(json)
            .or_else(|_| serde_json::from_str(json).map(|one: String| vec![one]))
            .unwrap_or_default();
        match texts.is_empty() {
            true => "an empty list".to_owned(),
            false => texts.join(", "),
        }
    }
}

/// `5 minutes`, of seconds.
fn apart(seconds: f64) -> String {
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
