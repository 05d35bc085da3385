//! The token of a request.

use std::fmt;

use http::header::{AUTHORIZATION, HeaderMap};

/// Returns the token of the single `Authorization` header (RFC 6750, section 2.1), or `None` if there is no
/// such header or it has another scheme. The scheme is not case-sensitive (RFC 9110, section 11.1).
///
/// # Errors
/// [`MalformedAuthorization`] if there are several such headers, or one that is not ASCII or has no token.
///
/// ```
/// use http::HeaderMap;
///
/// let mut headers = HeaderMap::new();
/// assert_eq!(jeton_tower::bearer(&headers)?, None);
/// headers.insert("authorization", "Bearer a.b.c".parse()?);
/// assert_eq!(jeton_tower::bearer(&headers)?, Some("a.b.c"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn bearer(headers: &HeaderMap) -> Result<Option<&str>, MalformedAuthorization> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let Some(first) = all.next() else {
        return Ok(None);
    };
    if all.next().is_some() {
        return Err(MalformedAuthorization(()));
    }
    let credentials = first.to_str().map_err(|_| MalformedAuthorization(()))?;
    let (scheme, token) = credentials.split_once(' ').unwrap_or((credentials, ""));
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Ok(None);
    }
    match token.trim_matches(' ') {
        "" => Err(MalformedAuthorization(())),
        token => Ok(Some(token)),
    }
}

/// The `Authorization` header of a request is malformed. Respond with 400. [`bearer`] returns it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MalformedAuthorization(());

impl fmt::Display for MalformedAuthorization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("exactly one bearer token is required")
    }
}

impl std::error::Error for MalformedAuthorization {}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn bearer_requires_a_single_authorization_header() {
        let of = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            bearer(&headers).map(|token| token.map(str::to_owned))
        };
        let token = Ok(Some("a.b.c".to_owned()));
        for fine in ["Bearer a.b.c", "bearer a.b.c", "BEARER   a.b.c "] {
            assert_eq!(of(&[fine]), token, "{fine}");
        }
        for none in [&[][..], &["Basic dTpw"], &["Bearerx a.b.c"]] {
            assert_eq!(of(none), Ok(None), "{none:?}");
        }
        for wrong in [
            &["Bearer"][..],
            &["Bearer "],
            &["Bearer a", "Bearer b"],
            &["Basic x", "Bearer a"],
        ] {
            assert_eq!(of(wrong), Err(MalformedAuthorization(())), "{wrong:?}");
        }
        let mut headers = HeaderMap::new();
        headers.insert(
            AUTHORIZATION,
            http::HeaderValue::from_bytes(b"Bearer \xff").unwrap(),
        );
        assert_eq!(bearer(&headers), Err(MalformedAuthorization(())));
    }
}
