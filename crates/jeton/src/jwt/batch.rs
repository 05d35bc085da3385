use std::borrow::Cow;
use std::fmt;

use crate::base64;
use crate::claims::{Buffer, Claims, ClaimsPrefix, CustomClaims, JsonClaims, OwnRegistered};
use crate::clock::{Clock, SystemClock};
use crate::crypto::SignatureBuffer;
#[cfg(feature = "hmac")]
use crate::crypto::hmac;
use crate::error::Result;
use crate::key::SigningKeyRef;

/// Issues many JWTs that share most of their claims. The shared prefix is written and encoded once, and with
/// a [`MacKey`](crate::key::MacKey) also hashed once.
///
/// The header is that of [`MacKey::issue`](crate::key::MacKey::issue). The shared claims come before the
/// claims of the single token. All tokens have the time at which the batch issuer was created as their time of
/// issuing. So create a new one for each batch.
///
/// ```
/// use std::time::Duration;
/// use jeton::jwt::{TokenClaims, BatchIssuer, JwtVerifier};
/// use jeton::key::{MacAlg, MacKey};
/// use jeton::{Claims, Policy};
///
/// let key = MacKey::generate(MacAlg::HS256)?;
/// let shared = Claims::new(())
///     .issuer("https://id.example")
///     .audience("api")
///     .expires_in(Duration::from_secs(900));
/// let issuer = BatchIssuer::new(&key, &shared)?;
///
/// let verifier = JwtVerifier::new(&key, Policy::new("https://id.example", "api"));
/// for name in ["alice", "bob"] {
///     let token = issuer.issue(&TokenClaims::new(()).subject(name))?;
///     assert_eq!(verifier.verify::<serde_json::Value>(&token)?.subject(), Some(name));
/// }
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct BatchIssuer<'k> {
    key: SigningKeyRef<'k>,
    claims: ClaimsPrefix,
    /// The header, a dot, and the prefix of the shared claims that fills whole groups of base64url.
    text: String,
    /// The length of that prefix, bytes.
    encoded: usize,
    /// The MAC state after the text; `None` for a key that signs.
    #[cfg(feature = "hmac")]
    mac: Option<hmac::MacPrefix<'k>>,
}

/// The claims of one token of a [`BatchIssuer`].
///
/// `T` holds the custom claims, as in [`Claims`].
#[derive(Debug, Clone)]
#[must_use = "claims do nothing until a batch issuer issues a token with them"]
pub struct TokenClaims<'a, T> {
    subject: Option<Cow<'a, str>>,
    token_id: Option<Cow<'a, str>>,
    custom: T,
}

impl<'a, T> TokenClaims<'a, T> {
    /// Creates claims with these custom claims and no registered claims.
    pub fn new(custom: T) -> Self {
        TokenClaims {
            subject: None,
            token_id: None,
            custom,
        }
    }

    /// Sets `sub`: the subject of the token.
    pub fn subject(mut self, subject: impl Into<Cow<'a, str>>) -> Self {
        self.subject = Some(subject.into());
        self
    }

    /// Sets `jti`: the id of the token, unique for its issuer.
    pub fn token_id(mut self, token_id: impl Into<Cow<'a, str>>) -> Self {
        self.token_id = Some(token_id.into());
        self
    }

    fn registered(&self) -> OwnRegistered<'_> {
        OwnRegistered {
            subject: self.subject.as_deref(),
            token_id: self.token_id.as_deref(),
        }
    }
}

impl<'a> TokenClaims<'a, JsonClaims<'a>> {
    /// Reads the claims of one token from JSON text, as
    /// [`Claims::from_json`](crate::Claims::from_json) does. The text may contain registered claims that the
    /// batch issuer does not set.
    ///
    /// # Errors
    ///
    /// Those of [`Claims::from_json`](crate::Claims::from_json).
    ///
    /// ```
    /// use std::time::Duration;
    /// use jeton::jwt::{BatchIssuer, TokenClaims};
    /// use jeton::{Claims, key::{MacAlg, MacKey}};
    ///
    /// let key = MacKey::generate(MacAlg::HS256)?;
    /// let shared = Claims::new(()).issuer("i").expires_in(Duration::from_secs(300));
    /// let issuer = BatchIssuer::new(&key, &shared)?;
    /// let token = issuer.issue(&TokenClaims::from_json(r#"{"sub":"alice","exact":1.10}"#)?)?;
    /// assert!(issuer.issue(&TokenClaims::from_json(r#"{"iss":"other"}"#)?).is_err());
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn from_json(text: &'a str) -> Result<TokenClaims<'a, JsonClaims<'a>>> {
        JsonClaims::from_json(text).map(TokenClaims::new)
    }
}

impl<'k> BatchIssuer<'k> {
    /// Creates a batch issuer with a `&MacKey`, a `&SigningKey` or a `&RemoteSigner`, using the system clock.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) if the claims have no expiry chosen, and
    /// [`Error::Key`](crate::Error::Key) if the key must not sign.
    pub fn new(key: impl Into<SigningKeyRef<'k>>, shared: &Claims<'_, ()>) -> Result<Self> {
        Self::new_with_clock(key, shared, &SystemClock)
    }

    /// Creates a batch issuer with this clock.
    ///
    /// # Errors
    ///
    /// Those of [`new`](BatchIssuer::new).
    pub fn new_with_clock(
        key: impl Into<SigningKeyRef<'k>>,
        shared: &Claims<'_, ()>,
        clock: &dyn Clock,
    ) -> Result<Self> {
        let key = key.into();
        Self::with_header(key, key.headers().jwt(), shared, clock)
    }

    /// `header` is base64url.
    pub(super) fn with_header(
        key: SigningKeyRef<'k>,
        header: &str,
        shared: &Claims<'_, ()>,
        clock: &dyn Clock,
    ) -> Result<Self> {
        let claims = ClaimsPrefix::new(shared, clock)?;
        // Three bytes encode to four characters, independent of what surrounds them.
        let encoded = claims.text.len() / 3 * 3;
        let mut text = format!("{header}.");
        base64::encode_onto(&claims.text[..encoded], &mut text);
        Ok(BatchIssuer {
            #[cfg(feature = "hmac")]
            mac: key.begin(text.as_bytes())?,
            key,
            claims,
            text,
            encoded,
        })
    }

    /// Issues a token with the shared claims and these claims.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUse`](crate::Error::InvalidUse) if the batch issuer already sets a claim, or if a JWT cannot
    /// represent the custom claims; [`Error::Remote`](crate::Error::Remote) if a remote signer failed.
    pub fn issue<T: CustomClaims>(&self, own: &TokenClaims<'_, T>) -> Result<String> {
        let mut token = String::new();
        self.issue_onto(own, &mut token)?;
        Ok(token)
    }

    /// Appends the token to a string. Nothing is allocated if the string has enough capacity. After an error
    /// the string is unchanged.
    ///
    /// # Errors
    ///
    /// Those of [`issue`](BatchIssuer::issue).
    pub fn issue_onto<T: CustomClaims>(
        &self,
        own: &TokenClaims<'_, T>,
        token: &mut String,
    ) -> Result<()> {
        let mut payload = Buffer::from_slice(&self.claims.text[self.encoded..]);
        self.claims
            .write_rest(&mut payload, own.registered(), &own.custom)?;

        let start = token.len();
        token.reserve(self.token_bytes(payload.len()));
        token.push_str(&self.text);
        base64::encode_onto(&payload, token);
        let signed = &token.as_bytes()[start..];
        #[cfg(feature = "hmac")]
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

    /// Returns an upper bound for the length of a token with these claims, bytes. The claims are not written.
    pub fn issued_length_bound(&self, own: &TokenClaims<'_, JsonClaims<'_>>) -> usize {
        let registered = own.registered().length_bound();
        // A comma between the two parts, and the closing brace.
        let own_bytes = registered + 1 + own.custom.bytes() + 1;
        self.token_bytes(self.claims.text.len() - self.encoded + own_bytes)
    }

    /// The length of a token whose claims after the encoded prefix have this length, bytes.
    fn token_bytes(&self, rest: usize) -> usize {
        self.text.len()
            + base64::encoded_length(rest)
            + 1
            + base64::encoded_length(self.key.signature_bytes())
    }
}

impl fmt::Debug for BatchIssuer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchIssuer")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}
