//! Custom claims: parsed strictly, and signed exactly as given.

use std::borrow::Cow;
use std::fmt;

use jeton::__private::{JsonError, Member, read_json_claims};
use jeton::JsonClaims;
use jeton::error::Claim;
use serde::Serialize;

use crate::error::{Error, Result, Rule};
use crate::limits;
use crate::settings::name;

/// Checked custom claims of a token. The token contains the text between the braces of their JSON object,
/// unchanged, after the registered claims.
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
    pub(crate) text: JsonClaims<'t>,
    /// The `client_id`, which a revocation can name.
    pub(crate) client_id: Option<Cow<'t, str>>,
}

/// Members of an introspection response (RFC 7662, section 2.2) that the service sets itself. Custom claims
/// must not contain them.
pub const STATED_BY_INTROSPECTION: [&str; 2] = ["active", "token_type"];

/// Claims that introspection returns as members that RFC 7662 defines as text.
const HANDED_ON_AS_TEXT: [&str; 3] = ["client_id", "scope", "username"];

/// Name of the request field.
const FIELD: &str = "claims_json";

impl<'t> CustomClaims<'t> {
    /// Parses one JSON object of at most this many bytes. An empty text means no claims.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] if it is longer, is not one JSON object, has duplicate names at any level or is
    /// nested deeper than [`limits::CLAIMS_DEPTH`]. [`Error::Claims`] for a registered claim, for a claim
    /// that introspection sets, and for a `client_id`, `scope` or `username` that is not text.
    pub fn from_json(text: &'t str, bytes_max: usize) -> Result<CustomClaims<'t>> {
        if text.is_empty() {
            return Ok(CustomClaims::default());
        }
        if text.len() > bytes_max {
            let rule = format!(
                "has {} bytes, the limit for a token is {bytes_max}",
                text.len()
            );
            return Err(Error::rule(FIELD, rule));
        }
        let mut client_id = None;
        let read = read_json_claims(text, limits::CLAIMS_DEPTH, |member| {
            check(member, &mut client_id).map_err(Stop)
        });
        match read {
            Ok(text) => Ok(CustomClaims { text, client_id }),
            Err(Stop(error)) => Err(error),
        }
    }
}

impl CustomClaims<'static> {
    /// Writes the claims of a value that becomes one JSON object of at most this many bytes.
    ///
    /// # Errors
    ///
    /// As [`from_json`](CustomClaims::from_json).
    ///
    /// ```
    /// use jeton_issuer::{CustomClaims, limits};
    /// use serde_json::json;
    ///
    /// assert!(CustomClaims::new(&json!({"client_id": "web"}), limits::TOKEN_BYTES).is_ok());
    /// assert!(CustomClaims::new(&json!({"exp": 1}), limits::TOKEN_BYTES).is_err());
    /// assert!(CustomClaims::new(&json!(["web"]), limits::TOKEN_BYTES).is_err());
    /// ```
    pub fn new(value: &impl Serialize, bytes_max: usize) -> Result<CustomClaims<'static>> {
        let text = serde_json::to_string(value);
        let text = text.map_err(|_| Error::rule(FIELD, "cannot be written as JSON"))?;
        // The value may contain JSON text of another token, which is checked here.
        let CustomClaims { text, client_id } = CustomClaims::from_json(&text, bytes_max)?;
        Ok(CustomClaims {
            text: text.into_owned(),
            client_id: client_id.map(|client| Cow::Owned(client.into_owned())),
        })
    }
}

fn check<'t>(member: &Member<'t>, client_id: &mut Option<Cow<'t, str>>) -> Result<()> {
    let named = member.name();
    if Claim::from_name(&named).is_some() {
        return Err(wrong(
            &named,
            "is a registered claim (RFC 7519), which the service sets",
        ));
    }
    if STATED_BY_INTROSPECTION.contains(&&*named) {
        return Err(wrong(
            &named,
            "is set by introspection (RFC 7662), not by a token",
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

/// The message contains only names from the lists above.
fn wrong(claim: &str, rule: &str) -> Error {
    Error::Claims(Rule {
        field: FIELD.to_owned(),
        rule: format!("the claim {claim} {rule}"),
    })
}

/// Carries the error through the reader.
struct Stop(Error);

impl From<JsonError> for Stop {
    fn from(error: JsonError) -> Self {
        Stop(Error::rule(FIELD, error.to_string()))
    }
}

impl From<jeton::Error> for Stop {
    fn from(error: jeton::Error) -> Self {
        Stop(Error::rule(FIELD, error.to_string()))
    }
}

impl fmt::Debug for CustomClaims<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomClaims").finish_non_exhaustive()
    }
}
