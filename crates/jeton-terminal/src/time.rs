//! Parses durations and times: `15m`, `2026-11-20T09:00:00Z`, `1700000000`.

use std::time::Duration;

use jeton::Timestamp;

/// Parses a duration: `30s`, `15m`, `1h`, `7d`, or several units: `1h30m`.
pub fn duration(text: &str) -> Result<Duration, String> {
    const SHAPE: &str =
        "expected a number and a unit (s, m, h, d), for example 30s, 15m, 1h30m or 7d";
    let wrong = || SHAPE.to_owned();
    let too_long = || "too long: more than 2^64 seconds".to_owned();

    let mut rest = text;
    let mut seconds = 0_u64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, unit) = rest.split_at(digits);
        if number.is_empty() {
            return Err(wrong());
        }
        let number: u64 = number.parse().map_err(|_| too_long())?;
        let unit_seconds = match unit.chars().next() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 60 * 60,
            Some('d') => 24 * 60 * 60,
            _ => return Err(wrong()),
        };
        seconds = number
            .checked_mul(unit_seconds)
            .and_then(|these| seconds.checked_add(these))
            .ok_or_else(too_long)?;
        rest = &unit[1..];
    }
    if text.is_empty() {
        return Err(wrong());
    }
    Ok(Duration::from_secs(seconds))
}

/// Parses the lifetime of a token: at least one second.
pub fn lifetime(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("must be at least 1 second".to_owned()),
        lifetime => Ok(lifetime),
    }
}

/// Parses a time: RFC 3339, or seconds since 1970.
pub fn moment(text: &str) -> Result<Timestamp, String> {
    let time = match text.parse() {
        Ok(seconds) => Timestamp::from_unix_seconds(seconds),
        Err(_) => {
            let time = rfc3339(text).ok_or(
                "expected RFC 3339, for example 2026-11-20T09:00:00Z, or seconds since 1970",
            )?;
            Timestamp::from_unix_micros(time.as_microsecond())
        }
    };
    time.ok_or_else(|| "must be within the years 1970 to 9999".to_owned())
}

/// Parses RFC 3339 text.
pub fn rfc3339(text: &str) -> Option<jiff::Timestamp> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn duration_without_unit_is_rejected() {
        for (text, seconds) in [
            ("0s", 0),
            ("30s", 30),
            ("15m", 900),
            ("1h30m", 5400),
            ("7d", 604_800),
            ("1d1h1m1s", 90_061),
        ] {
            assert_eq!(duration(text).unwrap().as_secs(), seconds, "{text}");
        }
        for text in [
            "", "15", "m", "-5m", "1.5h", "1y", "5 m", "5m ", "1h30", "5µ",
        ] {
            assert!(duration(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn duration_overflow_is_rejected() {
        for text in [
            "99999999999999999999s",
            "18446744073709551615m",
            "18446744073709551615s1s",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(lifetime("0s").is_err());
    }

    #[test]
    fn moment_accepts_rfc_3339_and_seconds() {
        let noon = Timestamp::from_unix_seconds(1_700_000_000).unwrap();
        for text in [
            "1700000000",
            "2023-11-14T22:13:20Z",
            "2023-11-14T23:13:20+01:00",
        ] {
            assert_eq!(moment(text), Ok(noon), "{text}");
        }
        let half = Timestamp::from_unix_micros(1_700_000_000_500_000).unwrap();
        assert_eq!(moment("2023-11-14T22:13:20.5Z"), Ok(half));
        for text in ["", "now", "-1", "253402300800", "2023-11-14", "1e9"] {
            assert!(moment(text).is_err(), "{text:?}");
        }
    }
}
