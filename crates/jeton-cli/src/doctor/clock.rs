//! Whether this machine's clock is right: tokens have times.

use jiff::{SignedDuration, Timestamp};

use super::fetch::Date;
use super::findings::Section;

/// The first day of 2025, in seconds since 1970, before a line of this was written: no clock that is
/// right says less.
const EARLIEST_PLAUSIBLE: i64 = 1_735_689_600;

/// What a server's `Date` (RFC 9110, section 6.6.1) and the way to it leave open.
const TOLERANCE: SignedDuration = SignedDuration::from_secs(2);

/// What is seen of the clock, beside another one if there is one.
pub(super) fn look(date: Option<Date>) -> Section {
    judge(Timestamp::now(), date)
}

fn judge(now: Timestamp, date: Option<Date>) -> Section {
    let mut seen = Section::new("clock");
    let says = now.strftime("%Y-%m-%dT%H:%M:%SZ");
    if now.as_second() < EARLIEST_PLAUSIBLE {
        seen.wrong(
            format!("{says} is before this program was written"),
            "set the clock; every token is from the future to it",
        );
        return seen;
    }
    let Some(Date {
        server,
        said,
        heard,
    }) = date
    else {
        seen.undetermined(
            format!("{says}; there is no other clock to compare it with"),
            "the address of a key set has one: --keys https://…",
        );
        return seen;
    };
    let behind = said.duration_since(heard);
    if behind.abs() <= TOLERANCE {
        seen.good(format!(
            "{says}, as {server} says too, to the second or two"
        ));
        return seen;
    }
    let (apart, effect) = match behind.is_positive() {
        true => (
            "behind",
            "tokens from there are not valid yet, or issued in the future",
        ),
        false => ("ahead of", "tokens from there expire too early"),
    };
    let by = behind.abs().as_secs();
    seen.wrong(
        format!("{says} is {by} s {apart} {server}: {effect}"),
        "set the clock that is wrong; until then --leeway, as in --leeway 60s",
    );
    seen
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn seen(behind: i64) -> String {
        let now = Timestamp::from_second(EARLIEST_PLAUSIBLE + 1_000_000).unwrap();
        let date = Date {
            server: "id.example".into(),
            said: Timestamp::from_second(now.as_second() + behind).unwrap(),
            heard: now,
        };
        judge(now, Some(date)).to_text()
    }

    #[test]
    fn clocks_that_are_apart_are_told_by_how_much() {
        for near in [-2, 0, 2] {
            assert!(seen(near).contains("as id.example says too"), "{near}");
        }
        assert!(seen(90).contains("! ") && seen(90).contains("90 s behind id.example"));
        assert!(seen(-3).contains("3 s ahead of id.example"));
        let old = judge(Timestamp::from_second(0).unwrap(), None);
        assert_eq!(old.wrong_count(), 1);
    }
}
