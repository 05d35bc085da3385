//! Claims of the caller's own: read strictly, and signed as they are written.

use std::borrow::Cow;
use std::fmt;

use jeton::strict::{self, CustomClaimsError, Member};

use crate::error::{Error, Result, Rule};
use crate::limits;
use crate::settings::name;

/// The custom claims of a token, checked. The token holds the text between the braces of their JSON object
/// as it was given, behind the registered claims.
///
/// ```
/// use jeton_issuer::{CustomClaims, limits};
///
/// let read = |text| CustomClaims::from_json(text, limits::TOKEN_BYTES);
/// assert!(read(r#"{"client_id": "web", "exact": 1.10}"#).is_ok());
/// assert!(read(r#"{"role": "user", "role": "admin"}"#).is_err());
/// assert!(read(r#"{"exp": 1}"#).is_err());
/// # Ok::<(), jeton_issuer::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct CustomClaims<'t> {
    pub(crate) text: strict::CustomClaims<'t>,
    /// What a revocation can name.
    pub(crate) client_id: Option<Cow<'t, str>>,
}

/// Members of an introspection response (RFC 7662, section 2.2) that the service states about a token,
/// and the token not about itself.
pub const STATED_BY_INTROSPECTION: [&str; 2] = ["active", "token_type"];

/// Claims that introspection hands on as members that RFC 7662 defines as text.
const HANDED_ON_AS_TEXT: [&str; 3] = ["client_id", "scope", "username"];

/// The field in which callers give them.
const FIELD: &str = "claims_json";

impl<'t> CustomClaims<'t> {
    /// Reads one JSON object of at most so many bytes. An empty text is no claims.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it is longer, is not one JSON object, has duplicate names at any level or is
    /// nested deeper than [`limits::CLAIMS_DEPTH`]. [`Error::Claims`] for a registered claim, for a claim
    /// that introspection states itself, and for a `client_id`, `scope` or `username` that is no text.
    pub fn from_json(text: &'t str, bytes_max: usize) -> Result<CustomClaims<'t>> {
        if text.is_empty() {
            return Ok(CustomClaims::default());
        }
        if text.len() > bytes_max {
            let rule = format!("has {} bytes, and a token {bytes_max} at most", text.len());
            return Err(Error::rule(FIELD, rule));
        }
        let mut client_id = None;
        let read = strict::CustomClaims::read(text, limits::CLAIMS_DEPTH, |member| {
            check(member, &mut client_id).map_err(Stop)
        });
        match read {
            Ok(text) => Ok(CustomClaims { text, client_id }),
            Err(Stop(error)) => Err(error),
        }
    }
}

fn check<'t>(member: &Member<'t>, client_id: &mut Option<Cow<'t, str>>) -> Result<()> {
    let named = member.name();
    if STATED_BY_INTROSPECTION.contains(&&*named) {
        return Err(wrong(
            &named,
            "is stated by introspection (RFC 7662), never by a token",
        ));
    }
    if !HANDED_ON_AS_TEXT.contains(&&*named) {
        return Ok(());
    }
    let Some(text) = member.string() else {
        return Err(wrong(&named, "must be a string (RFC 7662)"));
    };
    if named == "client_id" {
        name("client_id", &text).map_err(|error| match error {
            Error::Invalid(Rule { rule, .. }) => wrong(&named, &rule),
            other => other,
        })?;
        *client_id = Some(text);
    }
    Ok(())
}

/// Only names that stand above are told.
fn wrong(claim: &str, rule: &str) -> Error {
    Error::Claims(Rule {
        field: FIELD.to_owned(),
        rule: format!("the claim {claim} {rule}"),
    })
}

/// The error, on its way through the reader.
struct Stop(Error);

impl From<CustomClaimsError> for Stop {
    fn from(error: CustomClaimsError) -> Self {
        Stop(match error {
            CustomClaimsError::Registered(claim) => wrong(
                claim.name(),
                "is registered (RFC 7519), and set by the service",
            ),
            error => Error::rule(FIELD, error.to_string()),
        })
    }
}

impl fmt::Debug for CustomClaims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomClaims").finish_non_exhaustive()
    }
}
