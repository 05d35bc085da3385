//! The registered claims of a verified payload, read with the strict scanner.

use std::borrow::Cow;
use std::ops::Range;

use super::Layout;
use super::registered_name::registered_name;
#[cfg(feature = "paseto")]
use super::rfc3339;
use crate::clock::Timestamp;
use crate::error::{Claim, ClaimForm, FoundForm, Part, Rejection, TimeUnit};
use crate::json::{self, Kind, ScanError, Text, Value};

/// How a token format writes dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dates {
    /// JWT: seconds since 1970, optionally with a fraction (RFC 7519, section 2).
    Numeric,
    /// PASETO: RFC 3339 text.
    #[cfg(feature = "paseto")]
    Rfc3339,
}

/// Claims after scanning: the registered claims, and the positions of all members.
#[derive(Default)]
pub(crate) struct Scanned {
    pub(crate) registered: Registered,
    /// Used to find the custom claims.
    pub(crate) layout: Layout,
}

impl Scanned {
    /// Scans a verified payload. The whole text is validated.
    pub(crate) fn read(
        &mut self,
        payload: &str,
        depth: u32,
        dates: Dates,
    ) -> Result<(), Rejection> {
        let Scanned { registered, layout } = self;
        json::read_object(payload, depth, |name, value| {
            layout.add(name, value);
            let Some(claim) = registered_name(name) else {
                return Ok(());
            };
            let string = || {
                let text = value.string();
                let text = text.ok_or_else(|| Unread::form(claim, value, ClaimForm::String))?;
                Ok::<_, Unread>(TextRange::of(text))
            };
            let time = || {
                read_date(value, dates).map_err(|error| match error {
                    ReadDateError::Form => Unread::form(claim, value, dates.form()),
                    ReadDateError::Range => Unread::Range(claim, TimeUnit::of(value, dates)),
                })
            };
            match claim {
                Claim::Issuer => registered.issuer = Some(string()?),
                Claim::Subject => registered.subject = Some(string()?),
                Claim::TokenId => registered.token_id = Some(string()?),
                Claim::Audience => {
                    registered.audience = Some(Audience::read(value, dates)?);
                }
                Claim::Expiry => registered.expires_at = Some(time()?),
                Claim::NotBefore => registered.not_before = Some(time()?),
                Claim::IssuedAt => registered.issued_at = Some(time()?),
            }
            Ok(())
        })
        .map_err(|unread: Unread| unread.into())
    }
}

/// The registered claims, as positions in the text of the payload.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registered {
    pub(crate) issuer: Option<TextRange>,
    pub(crate) subject: Option<TextRange>,
    pub(crate) audience: Option<Audience>,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) not_before: Option<Timestamp>,
    pub(crate) issued_at: Option<Timestamp>,
    pub(crate) token_id: Option<TextRange>,
}

/// The audience of a token.
#[derive(Debug, Clone)]
pub(crate) enum Audience {
    /// A string, or a list with exactly one string.
    One(TextRange),
    /// The text of any other list of strings.
    List(TextRange),
}

/// A string of the payload.
#[derive(Debug, Clone)]
pub(crate) enum TextRange {
    /// The string has no escapes, and is at this position in the payload.
    Plain { start: usize, end: usize },
    /// The string has escapes; this is the unescaped copy.
    Unescaped(Box<str>),
}

impl TextRange {
    pub(crate) fn read<'t>(&'t self, payload: &'t str) -> &'t str {
        match self {
            TextRange::Plain { start, end } => &payload[*start..*end],
            TextRange::Unescaped(text) => text,
        }
    }

    fn of(text: Text<'_>) -> TextRange {
        if !text.has_escapes() {
            TextRange::at(text.range())
        } else {
            TextRange::Unescaped(text.to_cow().into())
        }
    }

    fn at(Range { start, end }: Range<usize>) -> TextRange {
        TextRange::Plain { start, end }
    }
}

impl Registered {
    /// Iterates over the audiences.
    pub(crate) fn audiences<'t>(&'t self, payload: &'t str) -> impl Iterator<Item = Cow<'t, str>> {
        let (one, list) = match &self.audience {
            None => (None, None),
            Some(Audience::One(spot)) => (Some(Cow::Borrowed(spot.read(payload))), None),
            Some(Audience::List(spot)) => (None, Some(spot.read(payload))),
        };
        one.into_iter().chain(
            list.into_iter()
                .flat_map(json::checked_elements)
                .filter_map(|value| value.string().map(Text::to_cow)),
        )
    }

    /// Returns whether the audience contains this one.
    pub(crate) fn is_for(&self, wanted: &str, payload: &str) -> bool {
        match &self.audience {
            Some(Audience::One(spot)) => spot.read(payload) == wanted,
            _ => self.audiences(payload).any(|audience| audience == wanted),
        }
    }
}

impl Audience {
    /// Reads a string or a list of strings (RFC 7519, section 4.1.3); in a PASETO, a string.
    fn read(value: Value<'_>, dates: Dates) -> Result<Audience, Unread> {
        if let Some(text) = value.string() {
            return Ok(Audience::One(TextRange::of(text)));
        }
        let expected = dates.audience_form();
        let elements = value.elements().filter(|_| dates == Dates::Numeric);
        let Some(elements) = elements else {
            return Err(Unread::form(Claim::Audience, value, expected));
        };
        let (mut only, mut count) = (None, 0);
        for element in elements {
            let text = element.string();
            only = Some(text.ok_or_else(|| {
                let found = FoundForm::ListWith(element.kind());
                Unread::Form(Claim::Audience, found, expected)
            })?);
            count += 1;
        }
        Ok(match only {
            Some(text) if count == 1 => Audience::One(TextRange::of(text)),
            _ => Audience::List(TextRange::at(value.range())),
        })
    }
}

/// Why the scanner stops. It is smaller than [`Rejection`], because it is passed on for each member.
#[derive(Clone, Copy)]
enum Unread {
    Json(ScanError),
    Form(Claim, FoundForm, ClaimForm),
    Range(Claim, Option<TimeUnit>),
}

impl Unread {
    #[cold]
    fn form(claim: Claim, value: Value<'_>, expected: ClaimForm) -> Unread {
        Unread::Form(claim, FoundForm::of(value.kind(), expected), expected)
    }
}

impl From<ScanError> for Unread {
    fn from(error: ScanError) -> Self {
        Unread::Json(error)
    }
}

impl From<Unread> for Rejection {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Json(error) => Rejection::of_json(Part::Payload, error),
            Unread::Form(claim, found, expected) => Rejection::ClaimType {
                claim,
                found,
                expected,
            },
            Unread::Range(claim, unit) => Rejection::ClaimRange { claim, unit },
        }
    }
}

/// Why a value is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadDateError {
    /// It does not have the form of a time.
    Form,
    /// The time is outside the years 1970 to 9999.
    Range,
}

impl Dates {
    /// Returns the form of a time.
    pub(super) fn form(self) -> ClaimForm {
        match self {
            Dates::Numeric => ClaimForm::Seconds,
            #[cfg(feature = "paseto")]
            Dates::Rfc3339 => ClaimForm::Rfc3339,
        }
    }

    /// Returns the form of `aud`.
    fn audience_form(self) -> ClaimForm {
        match self {
            Dates::Numeric => ClaimForm::StringOrList,
            #[cfg(feature = "paseto")]
            Dates::Rfc3339 => ClaimForm::String,
        }
    }
}

impl TimeUnit {
    /// Returns the unit in which a time outside the range is in the range.
    #[cold]
    pub(super) fn of(value: Value<'_>, dates: Dates) -> Option<TimeUnit> {
        let number: f64 = value.raw().parse().ok()?;
        let fits = |unit: &TimeUnit| number <= SECONDS_MAX * unit.per_second();
        // Text is never in another unit, and a negative number in no unit.
        let is_late = dates == Dates::Numeric && number > SECONDS_MAX;
        TimeUnit::ALL.into_iter().find(fits).filter(|_| is_late)
    }
}

/// The last second of the year 9999. An f64 represents it exactly.
const SECONDS_MAX: f64 = Timestamp::MAX.unix_seconds() as f64;

/// Reads a time.
#[inline]
pub(super) fn read_date(value: Value<'_>, dates: Dates) -> Result<Timestamp, ReadDateError> {
    match dates {
        Dates::Numeric => numeric_date(value),
        #[cfg(feature = "paseto")]
        Dates::Rfc3339 => rfc3339_date(value),
    }
}

/// Reads a NumericDate, with or without a fraction. Digits after the sixth of a fraction are dropped.
fn numeric_date(value: Value<'_>) -> Result<Timestamp, ReadDateError> {
    if value.kind() != Kind::Number {
        return Err(ReadDateError::Form);
    }
    let text = value.raw();
    if let Ok(seconds) = text.parse() {
        return Timestamp::from_unix_seconds(seconds).ok_or(ReadDateError::Range);
    }
    match text.split_once('.') {
        Some((seconds, fraction)) if is_decimal(seconds) && is_decimal(fraction) => {
            let seconds = seconds.parse().map_err(|_| ReadDateError::Range)?;
            let time = Timestamp::from_decimal(seconds, fraction.as_bytes());
            time.ok_or(ReadDateError::Range)
        }
        _ => with_exponent(text),
    }
}

fn is_decimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads a number with a sign or an exponent. Within the range, an f64 has a resolution of 31 microseconds.
fn with_exponent(number: &str) -> Result<Timestamp, ReadDateError> {
    let seconds: f64 = number.parse().unwrap_or(f64::INFINITY);
    let micros = (0.0..=SECONDS_MAX)
        .contains(&seconds)
        .then_some(seconds * 1e6);
    let time = micros.and_then(|micros| Timestamp::from_unix_micros(micros as i64));
    time.ok_or(ReadDateError::Range)
}

/// Reads an RFC 3339 date-time with an offset, with or without a fraction.
#[cfg(feature = "paseto")]
fn rfc3339_date(value: Value<'_>) -> Result<Timestamp, ReadDateError> {
    let text = value.string().map(Text::to_cow);
    let read = text.as_deref().and_then(rfc3339::read);
    let (seconds, fraction) = read.ok_or(ReadDateError::Form)?;
    Timestamp::from_decimal(seconds, fraction).ok_or(ReadDateError::Range)
}

#[cfg(test)]
impl Scanned {
    pub(crate) fn of(payload: &str, dates: Dates) -> Result<Scanned, Rejection> {
        let mut claims = Scanned::default();
        claims.read(payload, 32, dates)?;
        Ok(claims)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(payload: &str) -> Result<Registered, Rejection> {
        Scanned::of(payload, Dates::Numeric).map(|claims| claims.registered)
    }

    #[test]
    fn fractions_are_read_and_ranges_are_checked() {
        let exp = |number: &str| {
            read(&format!("{{\"exp\":{number}}}")).map(|r| r.expires_at.map(Timestamp::unix_micros))
        };
        for (number, micros) in [
            ("0", 0),
            ("-0", 0),
            ("-0.0", 0),
            ("1700000000", 1_700_000_000_000_000),
            ("1700000000.0", 1_700_000_000_000_000),
            ("1700000000.25", 1_700_000_000_250_000),
            ("1700000000.123456789", 1_700_000_000_123_456),
            ("0.0000009", 0),
            ("1.7e9", 1_700_000_000_000_000),
            ("1.7000000005E+9", 1_700_000_000_500_000),
            ("25e-2", 250_000),
            ("253402300799", 253_402_300_799_000_000),
            ("2.53402300799e11", 253_402_300_799_000_000),
        ] {
            assert_eq!(exp(number), Ok(Some(micros)), "{number}");
        }
        for out in [
            "-1",
            "-0.5",
            "-1e9",
            "1e300",
            "1e999",
            "999999999999999999999999",
            "999999999999999999999999.5",
        ] {
            assert_eq!(exp(out), Err(out_of_range(None)), "{out}");
        }
        for (out, unit) in [
            ("253402300800", TimeUnit::Milliseconds),
            ("253402300799.5", TimeUnit::Milliseconds),
            ("1700000000000", TimeUnit::Milliseconds),
            ("1700000000000.5", TimeUnit::Milliseconds),
            ("1700000000000000", TimeUnit::Microseconds),
            ("1.7e18", TimeUnit::Nanoseconds),
        ] {
            assert_eq!(exp(out), Err(out_of_range(Some(unit))), "{out}");
        }
        for (wrong, found) in [
            ("\"1700000000\"", Kind::String),
            ("null", Kind::Null),
            ("true", Kind::Bool),
            ("[]", Kind::Array),
            ("{}", Kind::Object),
        ] {
            assert_eq!(exp(wrong), Err(not_seconds(found)), "{wrong}");
        }
    }

    fn out_of_range(unit: Option<TimeUnit>) -> Rejection {
        let claim = Claim::Expiry;
        Rejection::ClaimRange { claim, unit }
    }

    fn not_seconds(found: Kind) -> Rejection {
        Rejection::ClaimType {
            claim: Claim::Expiry,
            found: FoundForm::Value(found),
            expected: ClaimForm::Seconds,
        }
    }

    #[test]
    fn escaped_registered_names_are_recognized() {
        assert!(read(r#"{"EXP":1,"Exp":"x"}"#).is_ok_and(|r| r.expires_at.is_none()));
        assert_eq!(
            read(r#"{"\u0065xp":"x"}"#).err(),
            Some(not_seconds(Kind::String))
        );
        assert_eq!(
            read(r#"{"exp":1,"\u0065xp":2}"#).err(),
            Some(Rejection::DuplicateMember(Part::Payload))
        );
    }

    #[test]
    fn strings_are_found_with_and_without_escapes() {
        let payload = r#"{"iss":"https://a","sub":"caf\u00e9","aud":["x","\u0079"]}"#;
        let registered = read(payload).expect("well formed");
        assert_eq!(
            registered.issuer.as_ref().map(|s| s.read(payload)),
            Some("https://a")
        );
        assert_eq!(
            registered.subject.as_ref().map(|s| s.read(payload)),
            Some("café")
        );
        assert_eq!(
            registered.audiences(payload).collect::<Vec<_>>(),
            ["x", "y"]
        );
    }

    #[test]
    fn audience_is_a_string_or_a_list_of_strings() {
        for (wrong, found) in [
            ("1", FoundForm::Value(Kind::Number)),
            ("null", FoundForm::Value(Kind::Null)),
            ("[1]", FoundForm::ListWith(Kind::Number)),
            ("[\"a\",null]", FoundForm::ListWith(Kind::Null)),
            ("{}", FoundForm::Value(Kind::Object)),
        ] {
            let rejection = Rejection::ClaimType {
                claim: Claim::Audience,
                found,
                expected: ClaimForm::StringOrList,
            };
            let read = read(&format!("{{\"aud\":{wrong}}}"));
            assert_eq!(read.err(), Some(rejection), "{wrong}");
        }
        assert!(read("{\"aud\":[]}").is_ok());
    }

    #[test]
    fn malformed_rfc3339_date_is_rejected() {
        let exp = |text: &str| {
            Scanned::of(&format!("{{\"exp\":\"{text}\"}}"), Dates::Rfc3339)
                .map(|claims| claims.registered.expires_at.map(Timestamp::unix_micros))
        };
        let (whole, half) = (1_640_995_200_000_000, 1_640_995_200_500_000);
        assert_eq!(exp("2022-01-01T00:00:00+00:00"), Ok(Some(whole)));
        assert_eq!(exp("2022-01-01T00:00:00Z"), Ok(Some(whole)));
        assert_eq!(exp("2022-01-01T01:00:00.5+01:00"), Ok(Some(half)));
        for wrong in [
            "",
            "2022-01-01",
            "20220101T000000Z",
            "2022-01-01T00:00:00",
            "2022-13-01T00:00:00Z",
            "1640995200",
            "2022-01-01T00:00:00Z[UTC]",
        ] {
            let rejection = Rejection::ClaimType {
                claim: Claim::Expiry,
                found: FoundForm::OtherText,
                expected: ClaimForm::Rfc3339,
            };
            assert_eq!(exp(wrong), Err(rejection), "{wrong}");
        }
    }
}
