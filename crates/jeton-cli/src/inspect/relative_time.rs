//! Reads the times in claims and formats them relative to now.

use jeton::Timestamp;
use serde_json::value::RawValue;

use crate::json::Members;
use crate::time;

/// Returns `iat`, `nbf` and `exp` of an object, in their order and including duplicates; `None` for a value that is
/// not a time. A JWT has numbers and a PASETO has text; both are accepted here.
pub(super) fn times(claims: &RawValue) -> Vec<(&'static str, Option<jiff::Timestamp>)> {
    let Some(Members(members)) = Members::loose(claims.get()) else {
        return Vec::new();
    };
    let known = |name: &str| {
        ["iat", "nbf", "exp"]
            .into_iter()
            .find(|known| *known == name)
    };
    members
        .iter()
        .filter_map(|(name, value)| Some((known(name)?, time_of(value))))
        .collect()
}

fn time_of(value: &RawValue) -> Option<jiff::Timestamp> {
    if let Ok(text) = serde_json::from_str::<String>(value.get()) {
        return time::rfc3339(&text);
    }
    let seconds: f64 = serde_json::from_str(value.get()).ok()?;
    let bounds = Timestamp::MIN.unix_seconds() as f64..=Timestamp::MAX.unix_seconds() as f64;
    if !bounds.contains(&seconds) {
        return None;
    }
    jiff::Timestamp::from_second(seconds as i64).ok()
}

/// Formats a time as `in 5 minutes`, `3 days ago` or `now`.
pub(super) fn relative(time: jiff::Timestamp, now: Timestamp) -> String {
    const UNITS: [(i64, &str); 5] = [
        (365 * 24 * 60 * 60, "year"),
        (24 * 60 * 60, "day"),
        (60 * 60, "hour"),
        (60, "minute"),
        (1, "second"),
    ];
    let seconds = time.as_second() - now.unix_seconds();
    let size = seconds.abs();
    let Some((unit_seconds, unit)) = UNITS.into_iter().find(|(unit, _)| size >= *unit) else {
        return "now".to_owned();
    };
    let count = size / unit_seconds;
    let s = if count == 1 { "" } else { "s" };
    if seconds > 0 {
        format!("in {count} {unit}{s}")
    } else {
        format!("{count} {unit}{s} ago")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn relative_uses_the_largest_unit() {
        let now = Timestamp::from_unix_seconds(1_700_000_000).unwrap();
        let at = |offset: i64| {
            relative(
                jiff::Timestamp::from_second(now.unix_seconds() + offset).unwrap(),
                now,
            )
        };
        assert_eq!(at(0), "now");
        assert_eq!(at(1), "in 1 second");
        assert_eq!(at(-59), "59 seconds ago");
        assert_eq!(at(300), "in 5 minutes");
        assert_eq!(at(-3600), "1 hour ago");
        assert_eq!(at(-3 * 86_400), "3 days ago");
        assert_eq!(at(400 * 86_400), "in 1 year");
    }

    #[test]
    fn times_of_wrong_type_are_none() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(times(&raw(r#"{"exp":true}"#)), [("exp", None)]);
        assert_eq!(times(&raw(r#"{"exp":1e300}"#)), [("exp", None)]);
        assert_eq!(times(&raw(r#"["exp"]"#)), []);
        let zero = jiff::Timestamp::from_second(0).unwrap();
        assert_eq!(
            times(&raw(r#"{"exp":0.5,"iat":"1970-01-01T00:00:00Z"}"#)),
            [("exp", Some(zero)), ("iat", Some(zero))]
        );
    }
}
