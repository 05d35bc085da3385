//! RFC 3339 dates (section 5.6), as PASETO uses them.
//!
//! The calendar comes from jiff. Its parser and printer are not used: they are several times slower, and they
//! reject the last day of the year 9999, which is often used for "never".

use jiff::SignedDuration;
use jiff::civil::DateTime;

use crate::clock::Timestamp;

const YEAR_1970: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// Parses a full date-time with an offset. Returns the whole seconds since 1970, which may be negative, and the
/// digits of the fraction. Returns `None` for anything else.
pub(super) fn read(text: &str) -> Option<(i64, &[u8])> {
    let (date_time, rest) = text.as_bytes().split_first_chunk::<19>()?;
    let separated = [date_time[4], date_time[7], date_time[13], date_time[16]] == *b"--::"
        && matches!(date_time[10], b'T' | b't' | b' ');
    if !separated {
        return None;
    }
    let two = |place: usize| two_digits(&date_time[place..place + 2]);
    let year = i16::from(two(0)?) * 100 + i16::from(two(2)?);
    let second = two(17)?;
    // A leap second has no number of its own in Unix time: it is the next second.
    let leap = second == 60;
    let date_time = DateTime::new(
        year,
        two(5)?,
        two(8)?,
        two(11)?,
        two(14)?,
        if leap { 59 } else { second },
        0,
    );
    let local = date_time.ok()?.duration_since(YEAR_1970).as_secs() + i64::from(leap);
    let (fraction, rest) = fraction(rest)?;
    Some((local - offset_seconds(rest)?, fraction))
}

/// Length of a written time, bytes.
pub(super) const QUOTED_BYTES: usize = 22;

/// Writes a time in UTC, in JSON quotation marks.
pub(super) fn quoted(moment: Timestamp) -> [u8; QUOTED_BYTES] {
    let since_1970 = SignedDuration::from_secs(moment.unix_seconds());
    let at = YEAR_1970
        .checked_add(since_1970)
        .expect("a timestamp lies between the years 1970 and 9999");
    let mut text = *b"\"0000-00-00T00:00:00Z\"";
    for (place, value) in [
        (1, at.year() / 100),
        (3, at.year() % 100),
        (6, at.month().into()),
        (9, at.day().into()),
        (12, at.hour().into()),
        (15, at.minute().into()),
        (18, at.second().into()),
    ] {
        // Within these years every part is a number from 0 to 99.
        text[place] += (value / 10) as u8;
        text[place + 1] += (value % 10) as u8;
    }
    text
}

/// Parses an optional fraction. Returns its digits, and the rest of the text.
fn fraction(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let [b'.', digits @ ..] = text else {
        return Some((&[], text));
    };
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    (count > 0).then(|| digits.split_at(count))
}

/// The offset of local time from UTC, seconds.
fn offset_seconds(text: &[u8]) -> Option<i64> {
    let (sign, hours, minutes) = match text {
        b"Z" | b"z" => return Some(0),
        [b'+', h1, h2, b':', m1, m2] => (1, [*h1, *h2], [*m1, *m2]),
        [b'-', h1, h2, b':', m1, m2] => (-1, [*h1, *h2], [*m1, *m2]),
        _ => return None,
    };
    let (hours, minutes) = (two_digits(&hours)?, two_digits(&minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    Some(sign * (i64::from(hours) * 3600 + i64::from(minutes) * 60))
}

fn two_digits(text: &[u8]) -> Option<i8> {
    match text {
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
            Some(((tens - b'0') * 10 + (ones - b'0')) as i8)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i64> {
        read(text).map(|(seconds, _)| seconds)
    }

    #[test]
    fn date_time_round_trips() {
        for unix_seconds in [
            0,
            59,
            951_782_399,
            951_782_400,
            1_700_000_000,
            4_107_542_399,
            Timestamp::MAX.unix_seconds(),
        ] {
            let moment = Timestamp::from_unix_seconds(unix_seconds).expect("in range");
            let text = quoted(moment);
            let text = std::str::from_utf8(&text)
                .expect("digits")
                .trim_matches('"');
            assert_eq!(seconds(text), Some(unix_seconds), "{text}");
        }
        assert_eq!(quoted(Timestamp::MIN), *b"\"1970-01-01T00:00:00Z\"");
        assert_eq!(quoted(Timestamp::MAX), *b"\"9999-12-31T23:59:59Z\"");
    }

    #[test]
    fn parser_agrees_with_jiff() {
        for text in [
            "2022-01-01T00:00:00+00:00",
            "2000-02-29T23:59:59Z",
            "1999-12-31T23:59:59.000-11:30",
            "2023-11-14t22:13:20z",
            "2023-11-14 22:13:20+23:59",
            "0001-01-02T00:00:00Z",
            "2016-12-31T23:59:59-00:00",
        ] {
            let jiff: jiff::Timestamp = text.parse().expect("RFC 3339");
            assert_eq!(seconds(text), Some(jiff.as_second()), "{text}");
        }
    }

    #[test]
    fn fractions_are_read_and_leap_seconds_are_the_next() {
        for (text, seconds, fraction) in [
            ("1970-01-01T00:00:01Z", 1, ""),
            ("1970-01-01T00:00:01.0Z", 1, "0"),
            ("1970-01-01T00:00:01.000000000001Z", 1, "000000000001"),
            ("1970-01-01T00:00:00.5+00:01", -60, "5"),
        ] {
            assert_eq!(read(text), Some((seconds, fraction.as_bytes())), "{text}");
        }
        assert_eq!(
            seconds("2016-12-31T23:59:60Z"),
            seconds("2017-01-01T00:00:00Z")
        );
    }

    #[test]
    fn malformed_date_time_is_rejected() {
        for text in [
            "",
            "2022-01-01",
            "20220101T000000Z",
            "2022-01-01T00:00:00",
            "2022-01-01T00:00Z",
            "2022-13-01T00:00:00Z",
            "2022-00-01T00:00:00Z",
            "2022-02-29T00:00:00Z",
            "2022-01-01T24:00:00Z",
            "2022-01-01T00:60:00Z",
            "2022-01-01T00:00:61Z",
            "2022-01-01T00:00:00.Z",
            "2022-01-01T00:00:00,5Z",
            "2022-01-01T00:00:00+24:00",
            "2022-01-01T00:00:00+00:60",
            "2022-01-01T00:00:00+0000",
            "2022-01-01T00:00:00+00",
            "2022-01-01T00:00:00Z[UTC]",
            "2022-01-01T00:00:00ZZ",
            "2022-01-01T00:00:00 Z",
            " 2022-01-01T00:00:00Z",
            "+002022-01-01T00:00:00Z",
            "-2022-01-01T00:00:00Z",
            "2022-01-01T00:00:0\u{663}Z",
            "1640995200",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
