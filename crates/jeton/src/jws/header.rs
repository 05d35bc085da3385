//! The JOSE header (RFC 7515, section 4).

use std::borrow::Cow;
use std::collections::HashSet;

use smallvec::SmallVec;

use crate::base64;
use crate::error::{Part, Rejection};
use crate::json::{self, Kind, ScanError, Text, Value};
use crate::key::{KnownHeader, jwk};
use crate::token_limits::Limits;

/// The registered members that the library itself decides, and what decides them. No caller may add them to a header.
///
/// RFC 7515, section 4.1; RFC 7516, section 4.1; RFC 7518, sections 4.6 to 4.8; RFC 7797, section 3.
pub(crate) fn decided_by(name: &str) -> Option<(&'static str, &'static str)> {
    const BY_ENCRYPTION: &str = "the encryption of the content";
    const BY_KEY_MANAGEMENT: &str = "the key management of the key";
    const DECIDED: [(&str, &str); 15] = [
        ("alg", "the algorithm of the key"),
        ("kid", "the id of the key"),
        ("typ", "the setting for the type"),
        ("cty", "the setting for the content type"),
        ("crit", "the list of extensions that the token uses"),
        ("b64", "the setting for an unencoded payload"),
        ("enc", BY_ENCRYPTION),
        ("zip", "the setting for compression"),
        ("epk", BY_KEY_MANAGEMENT),
        ("apu", "the setting for the producer"),
        ("apv", "the setting for the recipient"),
        ("iv", BY_KEY_MANAGEMENT),
        ("tag", BY_KEY_MANAGEMENT),
        ("p2s", BY_KEY_MANAGEMENT),
        ("p2c", BY_KEY_MANAGEMENT),
    ];
    DECIDED.into_iter().find(|(decided, _)| *decided == name)
}

/// Whether a recipient interprets a member with this name. If so, it must be in a protected header.
///
/// RFC 7515, section 4.1; RFC 7516, section 4.1; RFC 7518, sections 4.6 to 4.8; RFC 7797, section 3; RFC 8225,
/// section 8.1 (`ppt`); RFC 8555, sections 6.4 and 6.5 (`url`, `nonce`); OpenID Federation 1.0, section 4.3
/// (`trust_chain`). The caller may write `svt` (RFC 9321), which is added to signed tokens. It may also write
/// `iss`, `sub` and `aud` next to a JWE, which only repeat its claims (RFC 7519, section 5.3).
pub(crate) fn is_reserved(name: &str) -> bool {
    const NAMES: [&str; 25] = [
        "alg",
        "jku",
        "jwk",
        "kid",
        "x5u",
        "x5c",
        "x5t",
        "x5t#S256",
        "typ",
        "cty",
        "crit",
        "enc",
        "zip",
        "epk",
        "apu",
        "apv",
        "iv",
        "tag",
        "p2s",
        "p2c",
        "b64",
        "ppt",
        "url",
        "nonce",
        "trust_chain",
    ];
    NAMES.contains(&name)
}

impl KnownHeader {
    /// Returns its fields other than `alg` and `kid`.
    pub(crate) fn fields(self) -> Fields<'static> {
        Fields {
            typ: match self {
                KnownHeader::Bare => None,
                KnownHeader::Jwt => Some(Cow::Borrowed("JWT")),
            },
            ..Fields::default()
        }
    }
}

/// A decoded protected header. It does not borrow from the token.
pub(crate) struct Header {
    text: SmallVec<[u8; 256]>,
}

impl Header {
    pub(crate) fn decode(encoded: &str, limits: &Limits) -> Result<Header, Rejection> {
        limits.check_header(encoded)?;
        let mut text = SmallVec::from_elem(0, encoded.len() / 4 * 3 + 2);
        let length = base64::decode_into(encoded.as_bytes(), &mut text)
            .map_err(|_| Rejection::Malformed(Part::Header))?
            .len();
        text.truncate(length);
        Ok(Header { text })
    }

    /// Reads the fields of a protected header without an unprotected one.
    pub(crate) fn fields(
        &self,
        limits: &Limits,
        extensions: Extensions,
    ) -> Result<Fields<'_>, Rejection> {
        let mut fields = Fields::default();
        fields.read(self.text()?, limits, extensions, |_| true)?;
        Ok(fields)
    }

    /// Reads the fields of a protected and an unprotected header (RFC 7515, section 7.2.1). A name must not be
    /// in both. `alg` must be protected unless the reader allows otherwise, because an attacker could replace it
    /// (section 10.7).
    pub(super) fn fields_with<'h>(
        &'h self,
        unprotected: Option<&'h str>,
        reading: Reading<'_>,
    ) -> Result<Fields<'h>, Rejection> {
        let limits = reading.limits;
        let mut names = HashSet::new();
        let mut fields = Fields::default();
        if !self.text.is_empty() {
            fields.read(self.text()?, limits, Extensions::B64, |name| {
                names.insert(name.into_owned())
            })?;
        }
        if let Some(unprotected) = unprotected {
            if unprotected.len() > limits.header_bytes {
                return Err(Rejection::too_large(
                    Part::Header,
                    unprotected.len(),
                    limits.header_bytes,
                ));
            }
            let mut outer = Fields::default();
            // `crit` and `b64` are only valid in the protected header.
            outer.read(unprotected, limits, Extensions::None, |name| {
                names.insert(name.into_owned())
            })?;
            if outer.alg.is_some() && !reading.unprotected_alg {
                return Err(Rejection::UnprotectedAlg);
            }
            // Unsigned members may help to find the key, but must not describe the payload.
            fields.alg = fields.alg.or(outer.alg);
            fields.kid = fields.kid.or(outer.kid);
        }
        Ok(fields)
    }

    /// Returns the text of a header whose members are not interpreted. A private key is rejected, because the caller may
    /// log the text.
    pub(crate) fn unverified(&self, limits: &Limits) -> Result<&str, Rejection> {
        let text = self.text()?;
        json::read_object(text, limits.depth(), |name, value| {
            let is_key = name == *"jwk" || name == *"epk";
            if is_key && value.kind() == Kind::Object && jwk::is_private(value.raw()) {
                return Err(Rejected(Rejection::PrivateKeyInHeader));
            }
            Ok(())
        })
        .map_err(|Rejected(rejection)| rejection)?;
        Ok(text)
    }

    fn text(&self) -> Result<&str, Rejection> {
        json::text(&self.text).map_err(|error| Rejected::from(error).0)
    }
}

/// How the headers of a JSON serialization are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'l> {
    pub(super) limits: &'l Limits,
    /// Whether `alg` may be in the unprotected header.
    pub(super) unprotected_alg: bool,
}

/// The extensions in `crit` that a verifier supports (RFC 7515, section 4.1.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extensions {
    /// None. A JWT has no extension (RFC 7797, section 7, for `b64`).
    None,
    /// `b64` (RFC 7797).
    B64,
}

/// How the payload is encoded in the token and in the signing input (RFC 7797, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PayloadForm {
    /// base64url.
    #[default]
    Encoded,
    /// Unencoded: `b64` is false.
    Plain,
}

/// The header members that a verifier uses. It ignores `jwk`, `jku`, `x5c` and `x5u`: keys in a token are
/// never trusted, and nothing is fetched. A private key in `jwk` is rejected, because it is no longer secret,
/// and other verifiers might trust it.
#[derive(Default)]
pub(crate) struct Fields<'h> {
    alg: Option<Text<'h>>,
    pub(crate) kid: Option<Cow<'h, str>>,
    pub(crate) typ: Option<Cow<'h, str>>,
    pub(crate) cty: Option<Cow<'h, str>>,
    pub(crate) payload_form: PayloadForm,
}

struct Rejected(Rejection);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(Rejection::of_json(Part::Header, error))
    }
}

impl<'h> Fields<'h> {
    /// Returns the algorithm, which every header must have.
    pub(crate) fn alg(&self) -> Result<Text<'h>, Rejection> {
        self.alg.ok_or(Rejection::Malformed(Part::Header))
    }

    /// `is_new` returns false for a duplicate name.
    fn read(
        &mut self,
        text: &'h str,
        limits: &Limits,
        extensions: Extensions,
        mut is_new: impl FnMut(Cow<'h, str>) -> bool,
    ) -> Result<(), Rejection> {
        let (mut crit, mut b64) = (None, None);
        json::read_object(text, limits.depth(), |name, value| {
            let string = || {
                value
                    .string()
                    .ok_or(Rejected(Rejection::Malformed(Part::Header)))
            };
            let name = name.to_cow();
            match &*name {
                "alg" => self.alg = Some(string()?),
                "kid" => self.kid = Some(string()?.to_cow()),
                "typ" => self.typ = Some(string()?.to_cow()),
                "cty" => self.cty = Some(string()?.to_cow()),
                "jwk" if value.kind() != Kind::Object => {
                    return Err(Rejected(Rejection::Malformed(Part::Header)));
                }
                "jwk" if jwk::is_private(value.raw()) => {
                    return Err(Rejected(Rejection::PrivateKeyInHeader));
                }
                "crit" => crit = Some(value),
                "b64" => b64 = Some(value),
                _ => {}
            }
            if !is_new(name) {
                return Err(Rejected(Rejection::DuplicateMember(Part::Header)));
            }
            Ok(())
        })
        .map_err(|Rejected(rejection)| rejection)?;
        if let Some(kid) = &self.kid {
            limits.check_key_id(Part::Header, kid)?;
        }
        self.payload_form = payload_form(crit, b64, extensions)?;
        Ok(())
    }
}

/// `crit` may contain only `b64`, once, and only if the header has `b64`. `b64` without `crit` is rejected,
/// because it would change the signing input without notice (RFC 7797, section 6).
fn payload_form(
    crit: Option<Value<'_>>,
    b64: Option<Value<'_>>,
    extensions: Extensions,
) -> Result<PayloadForm, Rejection> {
    let rejected = Err(Rejection::CriticalExtension);
    let (crit, b64) = match (crit, b64) {
        (None, None) => return Ok(PayloadForm::Encoded),
        (Some(crit), Some(b64)) if extensions == Extensions::B64 => (crit, b64),
        _ => return rejected,
    };
    let Some(names) = crit.elements() else {
        return rejected;
    };
    let mut names = names.map(Value::string);
    let only_b64 = names.next().flatten().is_some_and(|name| name == *"b64");
    if !only_b64 || names.next().is_some() {
        return rejected;
    }
    match (b64.kind(), b64.raw()) {
        (Kind::Bool, "true") => Ok(PayloadForm::Encoded),
        (Kind::Bool, "false") => Ok(PayloadForm::Plain),
        _ => Err(Rejection::Malformed(Part::Header)),
    }
}
