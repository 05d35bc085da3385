//! The registered claims of a verified payload, read with the strict scanner.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use super::Layout;
use super::registered_name::registered_name;
#[cfg(feature = "paseto")]
use super::rfc3339;
use crate::clock::Timestamp;
use crate::error::{Claim, Part, Rejection};
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
                let text = value.string().ok_or(Unread::Type(claim))?;
                Ok::<_, Unread>(TextRange::of(text))
            };
            let moment = || {
                read_date(value, dates).map_err(|error| match error {
                    ReadDateError::Type => Unread::Type(claim),
                    ReadDateError::Range => Unread::Range(claim),
                })
            };
            match claim {
                Claim::Issuer => registered.issuer = Some(string()?),
                Claim::Subject => registered.subject = Some(string()?),
                Claim::TokenId => registered.token_id = Some(string()?),
                Claim::Audience => {
                    registered.audience = Some(Audience::read(value, dates)?);
                }
                Claim::Expiry => registered.expires_at = Some(moment()?.next),
                Claim::NotBefore => registered.not_before = Some(moment()?.next),
                Claim::IssuedAt => registered.issued_at = Some(moment()?),
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
    pub(crate) issued_at: Option<Moment>,
    pub(crate) token_id: Option<TextRange>,
}

/// A time in a token, with or without a fraction of a second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The time rounded up to a whole second. A clock of whole seconds has reached the time exactly when it
    /// has reached this second.
    pub(crate) next: Timestamp,
    has_fraction: bool,
}

impl Moment {
    /// The time rounded down to a whole second. A later clock value is after the time exactly when it is
    /// after this second.
    pub(crate) fn last(self) -> Timestamp {
        self.next
            .saturating_sub(Duration::from_secs(self.has_fraction.into()))
    }
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
        let wrong_type = Unread::Type(Claim::Audience);
        let elements = value.elements().filter(|_| dates == Dates::Numeric);
        let Some(elements) = elements else {
            return Err(wrong_type);
        };
        let (mut only, mut count) = (None, 0);
        for element in elements {
            only = Some(element.string().ok_or(wrong_type)?);
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
    Type(Claim),
    Range(Claim),
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
            Unread::Type(claim) => Rejection::ClaimType(claim),
            Unread::Range(claim) => Rejection::ClaimRange(claim),
        }
    }
}

/// Why a value is not a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadDateError {
    /// It is not a time in this form.
    Type,
    /// The time is outside the years 1970 to 9999.
    Range,
}

/// Reads a time.
#[inline]
pub(super) fn read_date(value: Value<'_>, dates: Dates) -> Result<Moment, ReadDateError> {
    match dates {
        Dates::Numeric => numeric_date(value),
        #[cfg(feature = "paseto")]
        Dates::Rfc3339 => rfc3339_date(value),
    }
}

/// Reads a NumericDate, with or without a fraction.
fn numeric_date(value: Value<'_>) -> Result<Moment, ReadDateError> {
    if value.kind() != Kind::Number {
        return Err(ReadDateError::Type);
    }
    if let Ok(seconds) = value.raw().parse::<i64>() {
        return moment(seconds, false).ok_or(ReadDateError::Range);
    }
    // A fraction or an exponent. Within the range, an f64 has a resolution of 31 microseconds.
    let seconds: f64 = value.raw().parse().unwrap_or(f64::INFINITY);
    if !(0.0..=Timestamp::MAX.unix_seconds() as f64).contains(&seconds) {
        return Err(ReadDateError::Range);
    }
    moment(seconds.floor() as i64, seconds.fract() > 0.0).ok_or(ReadDateError::Range)
}

/// Reads an RFC 3339 date-time with an offset, with or without a fraction.
#[cfg(feature = "paseto")]
fn rfc3339_date(value: Value<'_>) -> Result<Moment, ReadDateError> {
    let text = value.string().map(Text::to_cow);
    let read = text.as_deref().and_then(rfc3339::read);
    let read = read.ok_or(ReadDateError::Type)?;
    moment(read.unix_seconds, read.has_fraction).ok_or(ReadDateError::Range)
}

/// This many whole seconds since 1970, plus a fraction of a second if `true`.
#[inline]
fn moment(seconds: i64, has_fraction: bool) -> Option<Moment> {
    let next = Timestamp::from_unix_seconds(seconds + i64::from(has_fraction))?;
    Some(Moment { next, has_fraction })
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
    fn fractions_round_up_and_ranges_are_checked() {
        let exp = |number: &str| {
            read(&format!("{{\"exp\":{number}}}"))
                .map(|r| r.expires_at.map(Timestamp::unix_seconds))
        };
        assert_eq!(exp("0"), Ok(Some(0)));
        assert_eq!(exp("1700000000"), Ok(Some(1_700_000_000)));
        assert_eq!(exp("1700000000.0"), Ok(Some(1_700_000_000)));
        assert_eq!(exp("1700000000.25"), Ok(Some(1_700_000_001)));
        assert_eq!(exp("1.7e9"), Ok(Some(1_700_000_000)));
        assert_eq!(exp("253402300799"), Ok(Some(253_402_300_799)));
        for out in [
            "-1",
            "-0.5",
            "253402300800",
            "1e300",
            "1e999",
            "99999999999999999999999",
        ] {
            assert_eq!(exp(out), Err(Rejection::ClaimRange(Claim::Expiry)), "{out}");
        }
        for wrong in ["\"1700000000\"", "null", "true", "[]", "{}"] {
            assert_eq!(
                exp(wrong),
                Err(Rejection::ClaimType(Claim::Expiry)),
                "{wrong}"
            );
        }
    }

    #[test]
    fn escaped_registered_names_are_recognized() {
        assert!(read(r#"{"EXP":1,"Exp":"x"}"#).is_ok_and(|r| r.expires_at.is_none()));
        assert_eq!(
            read(r#"{"\u0065xp":"x"}"#).err(),
            Some(Rejection::ClaimType(Claim::Expiry))
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
        for wrong in ["1", "null", "[1]", "[\"a\",null]", "{}"] {
            assert_eq!(
                read(&format!("{{\"aud\":{wrong}}}")).err(),
                Some(Rejection::ClaimType(Claim::Audience)),
                "{wrong}"
            );
        }
        assert!(read("{\"aud\":[]}").is_ok());
    }

    #[test]
    fn malformed_rfc3339_date_is_rejected() {
        let exp = |text: &str| {
            Scanned::of(&format!("{{\"exp\":\"{text}\"}}"), Dates::Rfc3339)
                .map(|claims| claims.registered.expires_at.map(Timestamp::unix_seconds))
        };
        assert_eq!(exp("2022-01-01T00:00:00+00:00"), Ok(Some(1_640_995_200)));
        assert_eq!(exp("2022-01-01T00:00:00Z"), Ok(Some(1_640_995_200)));
        assert_eq!(exp("2022-01-01T01:00:00.5+01:00"), Ok(Some(1_640_995_201)));
        for wrong in [
            "",
            "2022-01-01",
            "20220101T000000Z",
            "2022-01-01T00:00:00",
            "2022-13-01T00:00:00Z",
            "1640995200",
            "2022-01-01T00:00:00Z[UTC]",
        ] {
            assert_eq!(
                exp(wrong),
                Err(Rejection::ClaimType(Claim::Expiry)),
                "{wrong}"
            );
        }
    }
}
