//! The JOSE header (RFC 7515, section 4).

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::base64;
use crate::error::{Part, Rejection};
use crate::json::{self, ScanError, Kind, Text, Value};
use crate::jwk;
use crate::limits::{self, Limits};

/// Whether a member of this name means something to whoever receives a token, so that it stands in a
/// protected header that the library writes, or nowhere.
///
/// RFC 7515, section 4.1; RFC 7516, section 4.1; RFC 7518, sections 4.6 to 4.8; RFC 7797, section 3; RFC 8225,
/// section 8.1 (`ppt`); RFC 8555, sections 6.4 and 6.5 (`url`, `nonce`); OpenID Federation 1.0, section 4.3
/// (`trust_chain`). RFC 9321's `svt` is added to tokens that are signed already, and `iss`, `sub` and `aud`
/// beside a JWE only repeat what its claims say (RFC 7519, section 5.3): those are the caller's.
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

/// The headers that a key writes, encoded once when the key is made: `alg`, `kid` and perhaps
/// `typ: JWT`.
///
/// They also serve when verifying: a token that has one of them byte for byte has a header whose
/// meaning is known, and nothing needs to be decoded or parsed.
#[derive(Debug, Clone)]
pub(crate) struct Headers(Arc<Encoded>);

#[derive(Debug)]
struct Encoded {
    bare: String,
    jwt: String,
    /// The same members as `jwt`, `typ` first, as several libraries write them.
    jwt_typ_first: String,
}

impl Headers {
    pub(crate) fn new(alg: &'static str, kid: Option<&str>) -> Headers {
        let kid = kid
            .map(|kid| format!(",\"kid\":{}", serde_json::Value::from(kid)))
            .unwrap_or_default();
        Headers(Arc::new(Encoded {
            bare: base64::encode(format!("{{\"alg\":\"{alg}\"{kid}}}").as_bytes()),
            jwt: base64::encode(format!("{{\"alg\":\"{alg}\"{kid},\"typ\":\"JWT\"}}").as_bytes()),
            jwt_typ_first: base64::encode(
                format!("{{\"typ\":\"JWT\",\"alg\":\"{alg}\"{kid}}}").as_bytes(),
            ),
        }))
    }

    /// The header without `typ`, base64url.
    pub(crate) fn bare(&self) -> &str {
        &self.0.bare
    }

    /// The header with `typ: JWT`, base64url.
    pub(crate) fn jwt(&self) -> &str {
        &self.0.jwt
    }

    /// All of them, base64url.
    pub(crate) fn all(&self) -> [(&str, KnownHeader); 3] {
        [
            (&self.0.jwt, KnownHeader::Jwt),
            (&self.0.jwt_typ_first, KnownHeader::Jwt),
            (&self.0.bare, KnownHeader::Bare),
        ]
    }

    /// Which of these a header is byte for byte. Its `alg` is this key's then.
    pub(crate) fn known(&self, encoded: &str) -> Option<KnownHeader> {
        let mut all = self.all().into_iter();
        all.find_map(|(text, known)| (text == encoded).then_some(known))
    }
}

/// A header that a key writes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum KnownHeader {
    /// Without `typ`.
    Bare,
    /// With `typ: JWT`.
    Jwt,
}

impl KnownHeader {
    /// What it says, beside what it says of the key.
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

/// A protected header, decoded. It borrows nothing from the token.
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

    /// The fields of a protected header that stands alone.
    pub(crate) fn fields(
        &self,
        limits: &Limits,
        extensions: Extensions,
    ) -> Result<Fields<'_>, Rejection> {
        let mut fields = Fields::default();
        fields.read(self.text()?, limits, extensions, |_| true)?;
        Ok(fields)
    }

    /// The fields of a protected header and the unprotected one beside it (RFC 7515, section 7.2.1).
    /// No name may stand in both; neither may be empty of what it must have. `alg` stands in the protected
    /// one unless the reader allows otherwise: else an attacker could exchange it (section 10.7).
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
                return Err(Rejection::TooLarge(Part::Header));
            }
            let mut outer = Fields::default();
            // `crit` and `b64` stand in the protected header or nowhere.
            outer.read(unprotected, limits, Extensions::None, |name| {
                names.insert(name.into_owned())
            })?;
            if outer.alg.is_some() && !reading.unprotected_alg {
                return Err(Rejection::UnprotectedAlg);
            }
            // What nobody signed may help to find the key, and may not say what the payload is.
            fields.alg = fields.alg.or(outer.alg);
            fields.kid = fields.kid.or(outer.kid);
        }
        Ok(fields)
    }

    fn text(&self) -> Result<&str, Rejection> {
        json::text(&self.text).map_err(|error| Rejected::from(error).0)
    }
}

/// How the headers of a JSON serialization are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'l> {
    pub(super) limits: &'l Limits,
    /// Whether `alg` may stand in the unprotected header.
    pub(super) unprotected_alg: bool,
}

/// What of `crit` a verifier understands (RFC 7515, section 4.1.11).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extensions {
    /// Nothing. A JWT has no extension (RFC 7797, section 7, for `b64`).
    None,
    /// `b64` (RFC 7797).
    B64,
}

/// How the payload stands in the token and in what is signed (RFC 7797, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PayloadForm {
    /// base64url.
    #[default]
    Encoded,
    /// As it is: `b64` is false.
    Plain,
}

/// The members of a header that mean something to a verifier. `jwk`, `jku`, `x5c` and `x5u` are
/// not among them: a key in a token is never trusted and nothing is ever fetched. A private key in `jwk`
/// is refused all the same: it is published then, and a verifier that trusts it would be fooled.
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
        Rejected(match error {
            ScanError::Syntax => Rejection::Malformed(Part::Header),
            ScanError::Depth => Rejection::TooDeep(Part::Header),
            ScanError::Duplicate => Rejection::DuplicateMember(Part::Header),
            ScanError::TooMany => Rejection::TooLarge(Part::Header),
        })
    }
}

impl<'h> Fields<'h> {
    /// The algorithm, which every header names.
    pub(crate) fn alg(&self) -> Result<Text<'h>, Rejection> {
        self.alg.ok_or(Rejection::Malformed(Part::Header))
    }

    /// `is_new` says whether a name has not been seen before.
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
        if (self.kid.as_ref()).is_some_and(|kid| kid.len() > limits::KEY_ID_BYTES) {
            return Err(Rejection::TooLarge(Part::Header));
        }
        self.payload_form = payload_form(crit, b64, extensions)?;
        Ok(())
    }
}

/// `crit` may name nothing but `b64`, once, and only a header that has it; and `b64` outside `crit`
/// (RFC 7797, section 6) must not change what is signed behind a verifier's back.
fn payload_form(
    crit: Option<Value<'_>>,
    b64: Option<Value<'_>>,
    extensions: Extensions,
) -> Result<PayloadForm, Rejection> {
    let refused = Err(Rejection::CriticalExtension);
    let (crit, b64) = match (crit, b64) {
        (None, None) => return Ok(PayloadForm::Encoded),
        (Some(crit), Some(b64)) if extensions == Extensions::B64 => (crit, b64),
        _ => return refused,
    };
    let Some(names) = crit.elements() else {
        return refused;
    };
    let mut names = names.map(Value::string);
    let only_b64 = names.next().flatten().is_some_and(|name| name == *"b64");
    if !only_b64 || names.next().is_some() {
        return refused;
    }
    match (b64.kind(), b64.raw()) {
        (Kind::Bool, "true") => Ok(PayloadForm::Encoded),
        (Kind::Bool, "false") => Ok(PayloadForm::Plain),
        _ => Err(Rejection::Malformed(Part::Header)),
    }
}
