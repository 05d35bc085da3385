use std::sync::Arc;

use crate::base64;

/// The headers that a key writes, encoded once when the key is created: `alg`, `kid` and optionally
/// `typ: JWT`.
///
/// Verification uses them too: if the header of a token equals one of them byte for byte, it need not be
/// decoded and parsed.
#[derive(Debug, Clone)]
pub(crate) struct Headers(Arc<Encoded>);

#[derive(Debug)]
struct Encoded {
    bare: String,
    jwt: String,
    /// The members of `jwt` with `typ` first, as several libraries write them.
    jwt_typ_first: String,
}

impl Headers {
    pub(crate) fn new(alg: &'static str, kid: Option<&str>) -> Headers {
        let kid = kid
            .map(|kid| format!(",\"kid\":{}", serde_json::Value::from(kid)))
            .unwrap_or_default();
        let encode = |parts: &[&str]| base64::encode(parts.concat().as_bytes());
        Headers(Arc::new(Encoded {
            bare: encode(&["{\"alg\":\"", alg, "\"", &kid, "}"]),
            jwt: encode(&["{\"alg\":\"", alg, "\"", &kid, ",\"typ\":\"JWT\"}"]),
            jwt_typ_first: encode(&["{\"typ\":\"JWT\",\"alg\":\"", alg, "\"", &kid, "}"]),
        }))
    }

    /// Returns the header without `typ`, base64url.
    pub(crate) fn bare(&self) -> &str {
        &self.0.bare
    }

    /// Returns the header with `typ: JWT`, base64url.
    pub(crate) fn jwt(&self) -> &str {
        &self.0.jwt
    }

    /// Returns all headers, base64url.
    pub(crate) fn all(&self) -> [(&str, KnownHeader); 3] {
        [
            (&self.0.jwt, KnownHeader::Jwt),
            (&self.0.jwt_typ_first, KnownHeader::Jwt),
            (&self.0.bare, KnownHeader::Bare),
        ]
    }

    /// Returns which of these headers equals this one byte for byte. Its `alg` is then the one of the key.
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
