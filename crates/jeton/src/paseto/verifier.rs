use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use smallvec::SmallVec;
use subtle::ConstantTimeEq;

use super::PasetoKeys;
use super::key_set::Candidates;
use super::open::{self, Open};
use super::token::{Footer, Parts};
use crate::claims::{Dates, Scanned};
use crate::clock::{Clock, SystemClock};
use crate::crypto;
use crate::error::{Part, Rejection, Result};
use crate::policy::Policy;
use crate::token_limits::Limits;
use crate::verified::{Header, RawClaims, Scratch, Verified, VerifiedIn};
use crate::verify::Verify;

/// Verifies PASETOs and their claims.
///
/// It accepts only the version and purpose of its key: a verifier with a `v4.public` key rejects a `v4.local`
/// token with [`Rejection::WrongFormat`]. It checks the header, the lengths, the encoding, and the signature or
/// MAC, in this order. Only then it checks the footer, the claims and the [`Policy`].
///
/// Create it once and use it for all tokens, from any thread.
///
/// ```
/// use std::time::Duration;
/// use jeton::error::Rejection;
/// use jeton::paseto::PasetoVerifier;
/// use jeton::paseto::v4;
/// use jeton::{Claims, FixedClock, Policy, Timestamp};
///
/// let key = v4::SecretKey::generate()?;
/// let noon = Timestamp::from_unix_seconds(1_700_000_000).unwrap();
/// let claims = Claims::new(()).issuer("i").audience("a")
///     .issued_at(noon)
///     .expires_in(Duration::from_secs(60));
/// let token = key.issue(&claims)?;
///
/// type Nothing = serde::de::IgnoredAny;
/// let verifier = PasetoVerifier::new(key.public_key(), Policy::new("i", "a"))
///     .clock(FixedClock(noon));
/// assert!(verifier.verify::<Nothing>(&token).is_ok());
///
/// let later = verifier.clock(FixedClock(noon.saturating_add(Duration::from_secs(60))));
/// let error = later.verify::<Nothing>(&token).unwrap_err();
/// assert_eq!(error.rejection(), Some(&Rejection::Expired));
/// # Ok::<_, jeton::Error>(())
/// ```
#[must_use = "a verifier does nothing until it is given a token"]
pub struct PasetoVerifier {
    keys: PasetoKeys,
    policy: Policy,
    footer: Option<Arc<[u8]>>,
    implicit_assertion: Box<[u8]>,
    limits: Limits,
    clock: Box<dyn Clock>,
}

impl PasetoVerifier {
    /// Creates a verifier with these keys and this policy. By default it has no implicit assertion, accepts any
    /// footer, and uses the default limits and the system clock.
    pub fn new(keys: impl Into<PasetoKeys>, policy: Policy) -> PasetoVerifier {
        let keys = keys.into();
        // Each result names its key, and a call does not allocate for it.
        for key in keys.0.all() {
            key.key_id();
        }
        PasetoVerifier {
            keys,
            policy,
            footer: None,
            implicit_assertion: Box::default(),
            limits: Limits::default(),
            clock: Box::new(SystemClock),
        }
    }

    /// Requires exactly this footer; an empty one requires that there is none. Another footer is rejected with
    /// [`Rejection::FooterMismatch`].
    ///
    /// By default any footer is accepted. It is authenticated like the rest of the token, and
    /// [`Verified::footer`] returns it.
    pub fn footer(mut self, footer: impl AsRef<[u8]>) -> PasetoVerifier {
        self.footer = Some(footer.as_ref().into());
        self
    }

    /// Sets the implicit assertion that tokens must have been issued with. A token with another one is rejected
    /// with [`Rejection::Decryption`] or [`Rejection::Signature`]. With a key of version 1 or 2, alone or in a set,
    /// every call returns [`InvalidUse::ImplicitAssertion`](crate::error::InvalidUse::ImplicitAssertion).
    pub fn implicit_assertion(mut self, assertion: impl AsRef<[u8]>) -> PasetoVerifier {
        self.implicit_assertion = assertion.as_ref().into();
        self
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: Limits) -> PasetoVerifier {
        self.limits = limits;
        self
    }

    /// Sets the clock.
    pub fn clock(mut self, clock: impl Clock + 'static) -> PasetoVerifier {
        self.clock = Box::new(clock);
        self
    }

    /// Verifies a token and returns its claims. Allocates the text of the payload and what `T` owns.
    ///
    /// # Errors
    ///
    /// [`Error::Rejected`](crate::Error::Rejected) is the only error that a token can cause.
    ///
    /// ```
    /// use jeton::paseto::v4;
    /// use jeton::paseto::PasetoVerifier;
    /// use jeton::{Policy, Verified};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Visit { page: String }
    ///
    /// fn page(verifier: &PasetoVerifier, token: &str) -> jeton::Result<String> {
    ///     let visit: Verified<Visit> = verifier.verify(token)?;
    ///     Ok(visit.into_claims().page)
    /// }
    /// ```
    pub fn verify<T: DeserializeOwned>(&self, token: &str) -> Result<Verified<T>> {
        self.verify_raw(token)?.deserialize()
    }

    /// Verifies a token into a reusable buffer, from which `T` may borrow. Once the buffer has the size of the
    /// largest token, only what `T` owns is allocated. A footer that was not set with
    /// [`footer`](PasetoVerifier::footer) is allocated too.
    ///
    /// # Errors
    ///
    /// Those of [`verify`](PasetoVerifier::verify).
    ///
    /// ```
    /// use jeton::{Claims, Policy, Scratch, paseto::PasetoVerifier};
    /// use jeton::paseto::v4;
    ///
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct Visit<'a> { page: &'a str }
    ///
    /// let key = v4::LocalKey::generate()?;
    /// let claims = Claims::new(Visit { page: "/" }).issuer("i").audience("a").without_expiry();
    /// let verifier = PasetoVerifier::new(&key, Policy::new("i", "a").without_expiry());
    ///
    /// let mut scratch = Scratch::new();
    /// for token in [key.issue(&claims)?, key.issue(&claims)?] {
    ///     let visit = verifier.verify_in::<Visit>(&token, &mut scratch)?;
    ///     assert_eq!(visit.claims().page, "/");
    /// }
    /// # Ok::<_, jeton::Error>(())
    /// ```
    pub fn verify_in<'s, T: Deserialize<'s>>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, T>> {
        self.verify_raw_in(token, scratch)?.deserialize()
    }

    fn candidates<'t>(&self, token: &'t str) -> Result<(Parts<'t>, Candidates<'_>)> {
        // Check all keys, not only the candidates for this token: the token must not decide whether the
        // caller gets the error.
        if !self.implicit_assertion.is_empty() {
            for key in self.keys.0.all() {
                open::check(key.0.as_ref(), &self.implicit_assertion)?;
            }
        }
        Ok(self.keys.candidates(token, &self.limits)?)
    }

    /// The size of the buffer that the largest candidate needs.
    fn buffer_bytes(&self, parts: &Parts<'_>, keys: &Candidates<'_>) -> usize {
        let room = |key: &&Arc<dyn Open>| key.buffer_bytes(parts, &self.implicit_assertion);
        keys.keys.iter().map(room).max().unwrap_or_default()
    }

    /// Authenticates a token and checks its footer. Returns its text, the id of the key, and the header.
    fn open<'b>(
        &self,
        parts: &Parts<'_>,
        keys: &Candidates<'_>,
        buffer: &'b mut [u8],
    ) -> Result<(&'b str, Arc<str>, Header)> {
        let mut last_error = Rejection::UnknownKey.into();
        for key in &keys.keys {
            let room = key.buffer_bytes(parts, &self.implicit_assertion);
            match key.open(parts, &self.implicit_assertion, &mut buffer[..room]) {
                Ok(message) => {
                    self.check_footer(parts)?;
                    let text = std::str::from_utf8(&buffer[message])
                        .map_err(|_| Rejection::Malformed(Part::Payload))?;
                    let alg = key.header().trim_end_matches('.');
                    return Ok((text, Arc::clone(key.id()), Header::of_alg(alg)));
                }
                Err(error) => last_error = error,
            }
        }
        match keys.count {
            count if count > keys.keys.len() => {
                Err(Rejection::too_many_keys(count, keys.keys.len()).into())
            }
            _ => Err(last_error),
        }
    }

    fn check_footer(&self, parts: &Parts<'_>) -> Result<(), Rejection> {
        match &self.footer {
            Some(wanted) if !bool::from(wanted.ct_eq(&parts.footer)) => {
                Err(Rejection::FooterMismatch)
            }
            _ => Ok(()),
        }
    }

    /// Reads claims and checks them against the policy.
    fn read(&self, text: &str, claims: &mut Scanned) -> Result<(), Rejection> {
        let clock = self.clock.as_ref();
        self.policy
            .accept(text, Dates::Rfc3339, &self.limits, clock, claims)
    }

    /// Returns the footer of the token. A required footer is shared, not copied.
    fn footer_of(&self, footer: Footer) -> Option<Arc<[u8]>> {
        match &self.footer {
            _ if footer.is_empty() => None,
            Some(wanted) => Some(Arc::clone(wanted)),
            None => Some(Arc::from(footer.as_slice())),
        }
    }
}

impl Verify for PasetoVerifier {
    #[inline]
    fn verify_raw(&self, token: &str) -> Result<Verified<RawClaims>> {
        let (parts, keys) = self.candidates(token)?;
        let mut buffer = Plaintext::of_length(self.buffer_bytes(&parts, &keys));
        let (text, key_id, header) = self.open(&parts, &keys, &mut buffer.0)?;
        let mut claims = Scanned::default();
        self.read(text, &mut claims)?;
        let verified = Verified::raw(claims, Box::from(text), Some(key_id), header);
        Ok(verified.with_footer(self.footer_of(parts.footer)))
    }

    #[inline]
    fn verify_raw_in<'s>(
        &self,
        token: &str,
        scratch: &'s mut Scratch,
    ) -> Result<VerifiedIn<'s, RawClaims>> {
        let (parts, keys) = self.candidates(token)?;
        let room = self.buffer_bytes(&parts, &keys);
        let buffer = scratch.first_bytes(room);
        let (text, key_id, header) = self.open(&parts, &keys, buffer)?;
        let mut claims = Scanned::default();
        self.read(text, &mut claims)?;
        let verified = Verified::raw(claims, text, Some(key_id), header);
        Ok(verified.with_footer(self.footer_of(parts.footer)))
    }

    fn recheck(&self, verified: &Verified<RawClaims>) -> Result<()> {
        Ok(self.policy.recheck(verified, self.clock.as_ref())?)
    }
}

/// The decrypted bytes of a token while its claims are read. Usually they fit on the stack. They are always
/// wiped.
struct Plaintext(SmallVec<[u8; 1024]>);

impl Plaintext {
    fn of_length(length: usize) -> Plaintext {
        let mut plaintext = Plaintext(SmallVec::new());
        plaintext.0.resize(length, 0);
        plaintext
    }
}

impl Drop for Plaintext {
    fn drop(&mut self) {
        crypto::wipe(&mut self.0);
    }
}

impl fmt::Debug for PasetoVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasetoVerifier")
            .field("keys", &self.keys)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}
