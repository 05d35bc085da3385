use super::suite::Suite;
use super::token::Parts;
use super::{v3, v4};
use crate::claims::{Dates, Scanned};
use crate::error::{Part, Rejection};
use crate::token_limits::Limits;

/// A PASETO of version 3 or 4 that is read and not verified.
#[derive(Debug)]
pub struct UnverifiedPaseto {
    /// The claims, JSON text, or `None` if they are encrypted.
    pub claims: Option<String>,
    /// The footer; empty if the token has none.
    pub footer: Vec<u8>,
}

impl UnverifiedPaseto {
    /// Reads a token within these limits. Returns `None` if it does not begin like a PASETO of version 3 or 4.
    ///
    /// # Errors
    ///
    /// The [`Rejection`] of a token that is too large or malformed.
    pub fn read(token: &str, limits: &Limits) -> Option<Result<UnverifiedPaseto, Rejection>> {
        [&v3::SUITE, &v4::SUITE].into_iter().find_map(|suite| {
            let local = suite.local_header;
            if token.starts_with(local) {
                return Some(Parts::of(token, local, limits).map(|parts| parts.with(None)));
            }
            token
                .starts_with(suite.public_header)
                .then(|| read_public(token, suite, limits))
        })
    }
}

impl Parts<'_> {
    fn with(self, claims: Option<String>) -> UnverifiedPaseto {
        UnverifiedPaseto {
            claims,
            footer: self.footer.into_vec(),
        }
    }
}

fn read_public(token: &str, suite: &Suite, limits: &Limits) -> Result<UnverifiedPaseto, Rejection> {
    let malformed = || Rejection::Malformed(Part::Payload);
    let parts = Parts::of(token, suite.public_header, limits)?;
    let mut body = vec![0; parts.body_bytes()];
    parts.body_into(&mut body)?;
    let signature = suite.signed_as.signature_bytes().ok_or_else(malformed)?;
    let claims = body.len().checked_sub(signature).ok_or_else(malformed)?;
    body.truncate(claims);
    let json = String::from_utf8(body).map_err(|_| malformed())?;
    Scanned::default().read(&json, limits.depth(), Dates::Rfc3339)?;
    Ok(parts.with(Some(json)))
}
