//! What a token's claims say of its times, and of whom it is from and for.

use serde_json::value::RawValue;

use super::findings::Examined;
use super::token::Call;
use crate::demands::Demands;
use crate::json::Members;

/// Seconds since 1970 have ten digits until the year 2286; what has more counts something smaller.
const SECONDS_MAX: f64 = 1e11;

/// A token that lives longer than this is a password.
const LONG_S: f64 = 366.0 * 86_400.0;

/// A time in claims (RFC 7519, section 2, NumericDate).
enum Time {
    Missing,
    Seconds(f64),
    Wrong,
}

/// What is seen of a JWT's claims.
pub(super) fn look(seen: &mut Examined, claims: &RawValue, call: &Call<'_>) {
    let Some(Members(members)) = Members::loose(claims.get()) else {
        seen.wrong(
            "the payload is no JSON object, and so no claims",
            "jeton jws verify takes any payload",
        );
        return;
    };
    let time = |name: &str| {
        let Some((_, value)) = members.iter().find(|(member, _)| member == name) else {
            return Time::Missing;
        };
        value.get().parse().map_or(Time::Wrong, Time::Seconds)
    };
    let now = call.now.unix_seconds() as f64;
    let leeway = call.demands.leeway().as_secs_f64();
    let (expires, begins, issued) = (time("exp"), time("nbf"), time("iat"));

    match expires {
        Time::Missing if call.demands.takes_no_expiry() => {}
        Time::Missing => seen.wrong(
            "it has no exp, and so never expires",
            "let its issuer set one, or take it knowingly: --allow no-expiry",
        ),
        Time::Seconds(at) if in_seconds(seen, "exp", at) => {
            if at + leeway <= now {
                let ago = apart(now - at);
                seen.wrong(
                    format!("it expired {ago} ago"),
                    "get a new one; or a clock is wrong",
                );
            } else {
                seen.good(format!("it expires in {}", apart(at - now)));
            }
        }
        Time::Seconds(_) => {}
        Time::Wrong => is_no_number(seen, "exp"),
    }
    match begins {
        Time::Seconds(at) if in_seconds(seen, "nbf", at) && at - leeway > now => {
            seen.wrong(
                format!("it is not valid before {} from now (nbf)", apart(at - now)),
                "wait, or a clock is wrong; for clocks that differ: --leeway 60s",
            );
        }
        Time::Wrong => is_no_number(seen, "nbf"),
        Time::Missing | Time::Seconds(_) => {}
    }
    match issued {
        Time::Seconds(at) if in_seconds(seen, "iat", at) && at - leeway > now => {
            seen.wrong(
                format!("it was issued {} from now (iat)", apart(at - now)),
                "its issuer's clock, or this one, is wrong; for clocks that differ: --leeway 60s",
            );
        }
        Time::Wrong => is_no_number(seen, "iat"),
        Time::Missing | Time::Seconds(_) => {}
    }
    if let (Time::Seconds(from), Time::Seconds(to)) = (issued, expires)
        && to < SECONDS_MAX
        && to - from > LONG_S
    {
        seen.cannot_tell(
            format!("it lives for {}", apart(to - from)),
            "whoever finds it can use it as long; shorter ones are renewed",
        );
    }
    parties(seen, &members, call.demands);
}

fn in_seconds(seen: &mut Examined, name: &str, at: f64) -> bool {
    if at < SECONDS_MAX {
        return true;
    }
    seen.wrong(
        format!("{name} is far beyond the year 5000: it looks like milliseconds"),
        "RFC 7519 counts seconds since 1970: its issuer divides by 1000",
    );
    false
}

fn is_no_number(seen: &mut Examined, name: &str) {
    seen.wrong(
        format!("{name} is no number"),
        "RFC 7519 counts seconds since 1970, as a number and not as text",
    );
}

/// Who it is from and for, beside what is demanded.
fn parties(seen: &mut Examined, members: &[(String, &RawValue)], demands: &Demands) {
    let claim = |name: &str| {
        let found = members.iter().find(|(member, _)| member == name);
        found.map(|(_, value)| value.get())
    };
    if let Some(wanted) = demands.issuer() {
        match claim("iss").map(texts) {
            Some(said) if said == [wanted] => seen.good(format!("it is of {wanted}")),
            Some(said) => seen.wrong(
                format!("its iss is {}, and {wanted} is demanded", said.join(", ")),
                "they must be the same to the letter, with the / at the end or without",
            ),
            None => seen.wrong("it has no iss", "its issuer sets it, or it is not demanded"),
        }
    }
    if let Some(wanted) = demands.audience() {
        match claim("aud").map(texts) {
            Some(said) if said.iter().any(|one| one == wanted) => {
                seen.good(format!("it is for {wanted}"));
            }
            Some(said) => seen.wrong(
                format!("its aud is {}, and {wanted} is demanded", said.join(", ")),
                "it was issued for another service: ask for one for this",
            ),
            None => seen.wrong("it has no aud", "its issuer sets it, or it is not demanded"),
        }
    }
}

/// A text, or a list of them.
fn texts(json: &str) -> Vec<String> {
    serde_json::from_str(json)
        .or_else(|_| serde_json::from_str(json).map(|one: String| vec![one]))
        .unwrap_or_default()
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
