use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::base64;
use crate::claims::{ClaimsPrefix, Buffer, Claims};
use crate::clock::{Clock, SystemClock};
use crate::crypto::{SignatureBuffer, hmac};
use crate::error::Result;
use crate::key::SigningKeyRef;

/// Issues many JWTs that have most in common: what all of them begin with is written, encoded and, with
/// a [`MacKey`](crate::jwt::MacKey), hashed once.
///
/// The header is that of [`MacKey::issue`](crate::jwt::MacKey::issue). The shared claims come first, then
/// the token's own. All tokens of a series are issued at the moment at which it was made: a series is for
/// a batch, not for a day.
///
/// ```
/// use std::time::Duration;
/// use jeton::jwt::{MacKey, Own, Series};
/// use jeton::key::MacAlg;
/// use jeton::{Claims, Policy, jwt};
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let shared = Claims::new(())
///     .issuer("https://id.example")
///     .audience("api")
///     .expires_in(Duration::from_mins(15));
/// let series = Series::new(&key, &shared)?;
///
/// let verifier = jwt::Verifier::new(&key, Policy::new("https://id.example", "api"));
/// for name in ["alice", "bob"] {
///     let token = series.issue(&Own::new(()).subject(name))?;
///     assert_eq!(verifier.verify::<serde_json::Value>(&token)?.subject(), Some(name));
/// }
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct Series<'k> {
    key: SigningKeyRef<'k>,
    claims: ClaimsPrefix,
    /// The header, a dot, and as much of the shared claims as fills groups of base64url.
    text: String,
    /// How much of them that is.
    encoded: usize,
    /// The MAC over the text; none of a key that signs.
    mac: Option<hmac::MacPrefix<'k>>,
}

/// What one token of a [`Series`] has for itself.
///
/// `T` is the caller's own part, as in [`Claims`].
#[derive(Debug, Clone)]
#[must_use = "claims do nothing until a series issues a token with them"]
pub struct Own<'a, T> {
    subject: Option<Cow<'a, str>>,
    token_id: Option<Cow<'a, str>>,
    custom: T,
}

impl<'a, T> Own<'a, T> {
    /// The caller's own part and, so far, no registered claim.
    pub fn new(custom: T) -> Self {
        Own {
            subject: None,
            token_id: None,
            custom,
        }
    }

    /// `sub`: whom the token is about.
    pub fn subject(mut self, subject: impl Into<Cow<'a, str>>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// `jti`: the token's own name, unique among those of its issuer.
    pub fn token_id(mut self, token_id: impl Into<Cow<'a, str>>) -> Self {
        self.token_id = Some(token_id.into());
        self
    }
}

impl<'k> Series<'k> {
    /// A series of that key, a `&MacKey`, a `&SigningKey` or a `&RemoteSigner`, by the system's clock.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) if the claims have no expiry chosen, and
    /// [`Error::Key`](crate::Error::Key) if the key must not sign.
    pub fn new(key: impl Into<SigningKeyRef<'k>>, shared: &Claims<'_, ()>) -> Result<Self> {
        Self::new_by(key, shared, &SystemClock)
    }

    /// The same by another clock.
    ///
    /// # Errors
    ///
    /// As [`new`](Series::new).
    pub fn new_by(
        key: impl Into<SigningKeyRef<'k>>,
        shared: &Claims<'_, ()>,
        clock: &dyn Clock,
    ) -> Result<Self> {
        let key = key.into();
        let claims = ClaimsPrefix::new(shared, clock)?;
        // Three bytes make four characters, whatever comes before or after them.
        let encoded = claims.text.len() / 3 * 3;
        let mut text = format!("{}.", key.headers().jwt());
        base64::encode_onto(&claims.text[..encoded], &mut text);
        Ok(Series {
            mac: key.begin(text.as_bytes())?,
            key,
            claims,
            text,
            encoded,
        })
    }

    /// A token with the shared claims and these.
    ///
    /// # Errors
    ///
    /// [`Error::Misuse`](crate::Error::Misuse) if a claim is set for all already or the caller's own part
    /// is not what a JWT can hold; [`Error::Remote`](crate::Error::Remote) if a key that lives elsewhere
    /// did not sign.
    pub fn issue<T: Serialize>(&self, own: &Own<'_, T>) -> Result<String> {
        let mut token = String::new();
        self.issue_onto(own, &mut token)?;
        Ok(token)
    }

    /// The same behind what a string holds: with room in it, nothing is allocated. After an error it is
    /// as it was.
    ///
    /// # Errors
    ///
    /// As [`issue`](Series::issue).
    pub fn issue_onto<T: Serialize>(&self, own: &Own<'_, T>, token: &mut String) -> Result<()> {
        let mut payload = Buffer::from_slice(&self.claims.text[self.encoded..]);
        let (subject, token_id) = (own.subject.as_deref(), own.token_id.as_deref());
        self.claims
            .write_rest(&mut payload, subject, token_id, &own.custom)?;

        let start = token.len();
        let signature_bytes = self.key.signature_bytes();
        token.reserve_exact(
            self.text.len()
                + base64::encoded_length(payload.len())
                + 1
                + base64::encoded_length(signature_bytes),
        );
        token.push_str(&self.text);
        base64::encode_onto(&payload, token);
        let signed = &token.as_bytes()[start..];
        if let Some(mac) = &self.mac {
            let mac = mac.finish(signed);
            token.push('.');
            base64::encode_onto(&mac, token);
            return Ok(());
        }
        let mut signature = SignatureBuffer::new();
        if let Err(error) = self.key.sign_bytes(signed, &mut signature) {
            token.truncate(start);
            return Err(error);
        }
        token.push('.');
        base64::encode_onto(&signature, token);
        Ok(())
    }
}

impl fmt::Debug for Series<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Series")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
