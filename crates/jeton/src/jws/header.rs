//! The JOSE header (RFC 7515, section 4).

use std::borrow::Cow;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::base64;
use crate::error::{Part, Rejection};
use crate::json::{self, Fault, Text};
use crate::limits::{self, Limits};

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

    /// The `typ` of a header that is one of these byte for byte.
    pub(crate) fn known_typ(&self, encoded: &str) -> Option<Option<&'static str>> {
        if encoded == self.0.jwt || encoded == self.0.jwt_typ_first {
            Some(Some("JWT"))
        } else if encoded == self.0.bare {
            Some(None)
        } else {
            None
        }
    }
}

/// A protected header, decoded. It borrows nothing from the token.
pub(crate) struct Header {
    text: SmallVec<[u8; 256]>,
}

/// The members of a header that mean something to a verifier. `jwk`, `jku`, `x5c` and `x5u` are
/// not among them: a key in a token is never trusted and nothing is ever fetched.
pub(crate) struct Fields<'h> {
    pub(crate) alg: Text<'h>,
    pub(crate) kid: Option<Cow<'h, str>>,
    pub(crate) typ: Option<Cow<'h, str>>,
    pub(crate) cty: Option<Cow<'h, str>>,
}

struct Refused(Rejection);

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Refused(match fault {
            Fault::Syntax => Rejection::Malformed(Part::Header),
            Fault::Depth => Rejection::TooDeep(Part::Header),
            Fault::Duplicate => Rejection::DuplicateMember(Part::Header),
        })
    }
}

impl Header {
    pub(crate) fn decode(encoded: &str, limits: &Limits) -> Result<Header, Rejection> {
        if encoded.len() > base64::encoded_length(limits.header_bytes) {
            return Err(Rejection::TooLarge(Part::Header));
        }
        let mut text = SmallVec::from_elem(0, encoded.len() / 4 * 3 + 2);
        let length = base64::decode_into(encoded.as_bytes(), &mut text)
            .map_err(|_| Rejection::Malformed(Part::Header))?
            .len();
        text.truncate(length);
        Ok(Header { text })
    }

    pub(crate) fn fields(&self, limits: &Limits) -> Result<Fields<'_>, Rejection> {
        let malformed = Refused(Rejection::Malformed(Part::Header));
        let mut alg = None;
        let (mut kid, mut typ, mut cty) = (None, None, None);
        json::read_object(&self.text, limits.depth(), |name, value| {
            let string = || value.string().ok_or(Refused(malformed.0));
            match &*name.to_cow() {
                "alg" => alg = Some(string()?),
                "kid" => kid = Some(string()?.to_cow()),
                "typ" => typ = Some(string()?.to_cow()),
                "cty" => cty = Some(string()?.to_cow()),
                // No extension is understood; and `b64` outside `crit` (RFC 7797, section 6) must
                // not change what is signed behind a verifier's back.
                "crit" | "b64" => return Err(Refused(Rejection::CriticalExtension)),
                _ => {}
            }
            Ok(())
        })
        .map_err(|Refused(rejection)| rejection)?;
        let alg = alg.ok_or(Rejection::Malformed(Part::Header))?;
        if kid
            .as_ref()
            .is_some_and(|kid: &Cow<'_, str>| kid.len() > limits::KEY_ID_BYTES)
        {
            return Err(Rejection::TooLarge(Part::Header));
        }
        Ok(Fields { alg, kid, typ, cty })
    }
}
