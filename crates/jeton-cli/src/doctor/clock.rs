//! Checks the clock of this machine, on which the times of tokens depend.

use jiff::{SignedDuration, Timestamp};

use super::findings::Section;
use crate::fetch::Date;

/// The first day of 2025, in seconds since 1970. An earlier time means that the clock is wrong.
const EARLIEST_PLAUSIBLE: i64 = 1_735_689_600;

/// The accuracy of a server's `Date` header (RFC 9110, section 6.6.1) and of the network.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(2);

/// Checks the clock, and compares it with the clock of a server if there is one.
pub(super) fn check(date: Option<Date>) -> Section {
    compare(Timestamp::now(), date)
}

fn compare(now: Timestamp, date: Option<Date>) -> Section {
    let mut findings = Section::new("clock");
    let time = now.strftime("%Y-%m-%dT%H:%M:%SZ");
    if now.as_second() < EARLIEST_PLAUSIBLE {
        findings.wrong(
            format!("{time}: the clock is wrong"),
            "set the clock: with this time, every token was issued in the future",
        );
        return findings;
    }
    let Some(Date {
        server,
        server_time,
        local_time,
    }) = date
    else {
        findings.undetermined(
            format!("{time}; not compared with another clock"),
            "to compare it with a server, pass the URL of a key set: `--key https://…`",
        );
        return findings;
    };
    let behind = server_time.duration_since(local_time);
    if behind.abs() <= TOLERANCE {
        findings.good(format!("{time}, within 2 s of the clock of {server}"));
        return findings;
    }
    let (apart, effect) = if behind.is_positive() {
        (
            "behind",
            "its tokens seem not valid yet, or issued in the future",
        )
    } else {
        ("ahead of", "its tokens seem to expire too early")
    };
    let by = behind.abs().as_secs();
    findings.wrong(
        format!("{time} is {by} s {apart} {server}: {effect}"),
        "correct the wrong clock; until then, add `--leeway 60s`",
    );
    findings
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn text_of(behind: i64) -> String {
        let now = Timestamp::from_second(EARLIEST_PLAUSIBLE + 1_000_000).unwrap();
        let date = Date {
            server: "id.example".into(),
            server_time: Timestamp::from_second(now.as_second() + behind).unwrap(),
            local_time: now,
        };
        compare(now, Some(date)).to_text(None)
    }

    #[test]
    fn clock_difference_is_reported_in_seconds() {
        for near in [-2, 0, 2] {
            assert!(
                text_of(near).contains("within 2 s of the clock of id.example"),
                "{near}"
            );
        }
        assert!(text_of(90).contains("! ") && text_of(90).contains("90 s behind id.example"));
        assert!(text_of(-3).contains("3 s ahead of id.example"));
        let old = compare(Timestamp::from_second(0).unwrap(), None);
        assert_eq!(old.error_count(), 1);
    }
}
