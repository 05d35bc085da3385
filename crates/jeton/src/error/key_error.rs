use std::fmt;
use std::num::NonZeroU32;

use super::codes::Code;
use super::{FoundInput, KeyProblem};
use crate::json;

/// Why key material is rejected. It names the member, and never contains its value.
///
/// ```
/// use jeton::Error;
/// use jeton::error::KeyProblem;
/// use jeton::key::{SigAlg, SigningKey};
///
/// let pem = SigningKey::generate(SigAlg::ES256)?.to_pem()?;
/// let Err(Error::Key(error)) = SigningKey::from_pem_as(&pem, SigAlg::RS256) else {
///     unreachable!("an EC key is not for RS256");
/// };
/// assert_eq!(error.problem(), &KeyProblem::WrongKeyType);
/// assert_eq!((error.found(), error.expected()), (Some("EC P-256"), Some("RSA for RS256")));
/// assert_eq!(error.code(), "KEY_TYPE_MISMATCH");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct KeyError {
    member: Option<&'static str>,
    problem: KeyProblem,
    found: Option<&'static str>,
    expected: Option<&'static str>,
    sizes: Option<Sizes>,
}

/// The size of a key or of a member, and the limit. [`KeyError::sizes`] returns it.
///
/// The unit is bits for `n` and `e`, keys for `keys`, and bytes for all others.
///
/// ```
/// use jeton::Error;
/// use jeton::key::{MacAlg, MacKey};
///
/// let Err(Error::Key(error)) = MacKey::new(MacAlg::HS256, b"short") else { unreachable!() };
/// let sizes = error.sizes().unwrap();
/// assert_eq!((sizes.actual(), sizes.limit()), (5, 32));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sizes {
    actual: u32,
    limit: NonZeroU32,
    coordinate: Option<Coordinate>,
}

impl Sizes {
    /// Returns the actual size. A reader that stops at a limit counts up to it. More than [`u32::MAX`] is given as
    /// that.
    pub fn actual(self) -> u32 {
        self.actual
    }

    /// Returns the limit: the maximum, or the minimum if the key is too weak. For a member of a fixed length, it is
    /// this length.
    pub fn limit(self) -> u32 {
        self.limit.get()
    }
}

/// Where a coordinate of a point belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Coordinate {
    curve: CurveName,
    is_zero_first: bool,
}

/// A curve, small enough for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum CurveName {
    P256,
    P384,
    P521,
    Secp256k1,
    Ed25519,
    X25519,
}

impl CurveName {
    const ALL: [CurveName; 6] = [
        CurveName::P256,
        CurveName::P384,
        CurveName::P521,
        CurveName::Secp256k1,
        CurveName::Ed25519,
        CurveName::X25519,
    ];

    fn of(name: &str) -> Option<CurveName> {
        CurveName::ALL
            .into_iter()
            .find(|curve| curve.name() == name)
    }

    const fn name(self) -> &'static str {
        match self {
            CurveName::P256 => "P-256",
            CurveName::P384 => "P-384",
            CurveName::P521 => "P-521",
            CurveName::Secp256k1 => "secp256k1",
            CurveName::Ed25519 => "Ed25519",
            CurveName::X25519 => "X25519",
        }
    }
}

impl KeyError {
    /// Returns the member of the JWK, or the part of the PEM, DER or PASERK, that is wrong.
    pub fn member(&self) -> Option<&'static str> {
        self.member
    }

    /// Returns what is wrong with the key.
    pub fn problem(&self) -> &KeyProblem {
        &self.problem
    }

    pub(crate) fn into_problem(self) -> KeyProblem {
        self.problem
    }

    /// Returns what was found, if it has a name: `EC P-256`, `certificate`. It is never a value of the key.
    pub fn found(&self) -> Option<&'static str> {
        self.found
    }

    /// Returns what was expected: `RSA for RS256`, `sig`.
    pub fn expected(&self) -> Option<&'static str> {
        self.expected
    }

    /// Returns the actual size and the limit, if the problem is a size.
    pub fn sizes(&self) -> Option<Sizes> {
        self.sizes
    }

    /// Returns the stable code of the problem, for programs. [`codes`](super::codes) lists all codes.
    pub fn code(&self) -> &'static str {
        self.entry().name()
    }

    pub(super) fn entry(&self) -> &'static Code {
        self.problem.entry()
    }

    pub(crate) const fn new(problem: KeyProblem) -> Self {
        KeyError {
            member: None,
            problem,
            found: None,
            expected: None,
            sizes: None,
        }
    }

    pub(crate) const fn at(member: &'static str, problem: KeyProblem) -> Self {
        KeyError {
            member: Some(member),
            ..KeyError::new(problem)
        }
    }

    /// Adds what was found. It must not be a value of the key.
    pub(crate) const fn with_found(mut self, found: Option<&'static str>) -> Self {
        self.found = found;
        self
    }

    /// Adds what was expected.
    pub(crate) const fn with_expected(mut self, expected: &'static str) -> Self {
        self.expected = Some(expected);
        self
    }

    /// Adds the actual size and the limit.
    pub(crate) fn with_sizes(mut self, actual: usize, limit: usize) -> Self {
        let saturated = |size: usize| u32::try_from(size).unwrap_or(u32::MAX);
        self.sizes = NonZeroU32::new(saturated(limit)).map(|limit| Sizes {
            actual: saturated(actual),
            limit,
            coordinate: None,
        });
        self
    }

    /// An error for an input that is something else than a key, or not only a key.
    pub(crate) const fn input(found: FoundInput) -> Self {
        KeyError::new(KeyProblem::Found(found))
    }

    /// An error for a key of `actual` bits (RSA) or bytes, which is less than `minimum`.
    pub(crate) fn too_weak(member: &'static str, actual: usize, minimum: usize) -> Self {
        KeyError::at(member, KeyProblem::TooWeak).with_sizes(actual, minimum)
    }

    /// An error for a part of `actual` bits (RSA), bytes or elements, which is more than `limit`.
    pub(crate) fn too_large(member: &'static str, actual: usize, limit: usize) -> Self {
        KeyError::at(member, KeyProblem::TooLarge).with_sizes(actual, limit)
    }

    /// An error for a member of `actual` bytes, where `needed` are required.
    pub(crate) fn wrong_length(member: &'static str, actual: usize, needed: usize) -> Self {
        KeyError::at(member, KeyProblem::WrongLength).with_sizes(actual, needed)
    }

    /// An error for a coordinate of a point on this curve.
    pub(crate) fn coordinate(
        member: &'static str,
        curve: &'static str,
        bytes: &[u8],
        needed: usize,
    ) -> Self {
        let mut error = KeyError::wrong_length(member, bytes.len(), needed);
        if let Some(sizes) = &mut error.sizes {
            sizes.coordinate = CurveName::of(curve).map(|curve| Coordinate {
                curve,
                is_zero_first: bytes.first() == Some(&0),
            });
        }
        error
    }

    /// An error for a member of another type than string.
    pub(crate) const fn not_a_string(member: &'static str, given: json::Kind) -> Self {
        KeyError::at(member, KeyProblem::WrongType)
            .with_found(Some(given.name()))
            .with_expected("a string")
    }

    /// Writes the error without `key rejected: `.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(sizes) = self.sizes {
            return self.write_sizes(sizes, f);
        }
        match (&self.problem, self.member, self.found, self.expected) {
            (KeyProblem::WrongType, Some(member), Some(found), Some(expected)) => {
                return write!(f, "`{member}` must be {expected}, not {found}");
            }
            (KeyProblem::WrongLength, Some(member @ "kid"), ..) => {
                return write!(f, "`{member}` is empty");
            }
            (KeyProblem::AnotherUse, Some(member), Some(found), Some(expected)) => {
                return write!(f, "`{member}` is {found}, {expected} expected");
            }
            (KeyProblem::Null, Some(member), ..) => {
                return write!(f, "`{member}` is null: remove it");
            }
            (_, Some(member), ..) => write!(f, "{member}: ")?,
            _ => {}
        }
        fmt::Display::fmt(&self.problem, f)?;
        match (self.found, self.expected) {
            (Some(found), Some(expected)) => write!(f, ": found {found}, expected {expected}"),
            (Some(found), None) => write!(f, ": found {found}"),
            (None, Some(expected)) => write!(f, ": expected {expected}"),
            (None, None) => Ok(()),
        }
    }

    pub(super) fn write_debug(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        struct Text<'e>(&'e KeyError);
        impl fmt::Display for Text<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write(f)
            }
        }
        super::write_debug(f, name, self.code(), &Text(self))
    }

    fn write_sizes(&self, sizes: Sizes, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, unit) = match self.member {
            Some("n") => ("RSA modulus", "bits"),
            Some("e") => ("RSA exponent", "bits"),
            Some("k") if self.problem == KeyProblem::TooWeak => ("HMAC key", "bytes"),
            Some("keys") => ("key set", "keys"),
            Some(other) => (other, "bytes"),
            None => ("input", "bytes"),
        };
        let limit = Grouped(sizes.limit.get());
        write!(f, "{what} has {} {unit}, ", Grouped(sizes.actual))?;
        match (&self.problem, sizes.coordinate) {
            (KeyProblem::TooWeak, _) => write!(f, "minimum {limit}"),
            (KeyProblem::TooLarge, _) => write!(f, "limit {limit}"),
            (_, None) => write!(f, "{limit} are needed"),
            (_, Some(coordinate)) => {
                let curve = coordinate.curve.name();
                let reason = coordinate.reason(sizes.actual, sizes.limit.get());
                write!(f, "{curve} needs {limit}{reason}")
            }
        }
    }
}

impl Coordinate {
    /// Returns the probable reason for a wrong length: one of 256 coordinates begins with a zero byte, which some
    /// encoders remove.
    fn reason(self, actual: u32, needed: u32) -> &'static str {
        match needed.checked_sub(actual) {
            Some(1) => ": a leading zero was removed",
            Some(2 | 3) => ": leading zeros were removed",
            None if self.is_zero_first && actual - needed == 1 => ": a leading zero was added",
            _ => "",
        }
    }
}

impl std::error::Error for KeyError {}

/// An error without details, for a loader of your own.
///
/// ```
/// use jeton::error::{KeyError, KeyProblem};
/// assert_eq!(KeyError::from(KeyProblem::Malformed).code(), "KEY_MALFORMED");
/// ```
impl From<KeyProblem> for KeyError {
    fn from(problem: KeyProblem) -> Self {
        KeyError::new(problem)
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("key rejected: ")?;
        self.write(f)
    }
}

impl fmt::Debug for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_debug(f, "KeyError")
    }
}

/// A number with separators between thousands, if it has more than four digits.
struct Grouped(u32);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0..10_000 => write!(f, "{}", self.0),
            1_000_000.. => write!(
                f,
                "{},{:03},{:03}",
                self.0 / 1_000_000,
                self.0 / 1000 % 1000,
                self.0 % 1000
            ),
            _ => write!(f, "{},{:03}", self.0 / 1000, self.0 % 1000),
        }
    }
}
