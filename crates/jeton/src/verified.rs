//! Verified claims, the result of a successful verification.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::claims::{Layout, Registered, Scanned, find_member};
use crate::clock::Timestamp;
use crate::crypto;
use crate::error::{Claim, Result};
use crate::json;

/// Claims whose signature, times and policy have been verified.
///
/// Only a verifier creates it. It cannot be constructed, deserialized or modified, so a function that takes a
/// `Verified<T>` never receives unverified claims. [`claims`](Verified::claims) returns the custom claims; the
/// registered claims have their own methods.
///
/// `Text` is the storage of the payload: the value itself, or the [`Scratch`] of the caller after `verify_in`.
///
/// ```compile_fail
/// // Only a verifier creates one.
/// let forged = jeton::Verified { claims: () };
/// ```
#[derive(Clone)]
pub struct Verified<T, Text = Box<str>> {
    claims: T,
    registered: Registered,
    payload: Text,
    key_id: Option<Arc<str>>,
    header: Header,
    footer: Option<Arc<[u8]>>,
}

/// What a verified token says about itself beside its claims. [`Verified::header`] returns it.
///
/// ```
/// use jeton::key::{MacAlg, MacKey};
/// use jeton::{Claims, Policy, jwt::JwtVerifier};
///
/// let key = MacKey::generate(MacAlg::HS256)?.with_key_id("k1")?;
/// let token = key.issue(&Claims::new(()).issuer("i").audience("a").without_expiry())?;
/// let verifier = JwtVerifier::new(&key, Policy::new("i", "a").without_expiry());
/// let verified = verifier.verify::<serde::de::IgnoredAny>(&token)?;
/// let header = verified.header();
/// assert_eq!((header.alg(), header.kid(), header.typ()), ("HS256", Some("k1"), Some("JWT")));
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct VerifiedHeader<'v> {
    key_id: Option<&'v str>,
    header: &'v Header,
}

impl<'v> VerifiedHeader<'v> {
    /// Returns the algorithm of the key that verified the token, for example `ES256`.
    ///
    /// - For a JWT that is encrypted and not signed, it is the key management algorithm, for example `dir`.
    /// - For a nested JWT, it is the algorithm of the signature.
    /// - For a PASETO, it is the version and purpose, for example `v4.public`.
    pub fn alg(self) -> &'static str {
        self.header.alg
    }

    /// Returns `kid` of the header (RFC 7515, section 4.1.4), or `None` if the token has none.
    ///
    /// A verifier with a single key accepts any `kid`. [`Verified::key_id`] returns the id of the key that verified
    /// the token.
    pub fn kid(self) -> Option<&'v str> {
        match &self.header.kid {
            Kid::Absent => None,
            Kid::OfKey => self.key_id,
            Kid::Other(kid) => Some(kid),
        }
    }

    /// Returns `typ` of the header (RFC 7515, section 4.1.9) as the policy spells it, for example `at+jwt`. Case
    /// and a leading `application/` of the token are not kept. Returns `None` if the token has none, or `JOSE`, which
    /// says nothing about the content.
    pub fn typ(self) -> Option<&'v str> {
        match &self.header.typ {
            Typ::Absent => None,
            Typ::Jwt => Some("JWT"),
            Typ::Accepted(typ) => Some(typ),
        }
    }
}

/// The header of a verified token.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) alg: &'static str,
    pub(crate) kid: Kid,
    pub(crate) typ: Typ,
}

impl Header {
    /// A header without `kid` and `typ`.
    pub(crate) fn of_alg(alg: &'static str) -> Header {
        Header {
            alg,
            kid: Kid::Absent,
            typ: Typ::Absent,
        }
    }
}

/// `kid` of a verified header.
#[derive(Debug, Clone)]
pub(crate) enum Kid {
    Absent,
    /// The id of the key.
    OfKey,
    /// A single key accepts any `kid`.
    Other(Box<str>),
}

/// `typ` of a verified header.
#[derive(Debug, Clone)]
pub(crate) enum Typ {
    Absent,
    /// `JWT`, which a policy accepts by default.
    Jwt,
    /// A type of the policy.
    Accepted(Arc<str>),
}

/// Verified claims that borrow from the [`Scratch`] of the caller.
pub type VerifiedIn<'s, T> = Verified<T, &'s str>;

/// Verified claims as JSON text: the custom claims are not deserialized yet.
///
/// [`Verify`](crate::Verify) returns it, and [`Verified::deserialize`] deserializes the custom claims. The
/// registered claims can be read directly.
///
/// ```
/// use jeton::{RawClaims, Verified};
///
/// fn log(token: &Verified<RawClaims>) {
///     println!("{:?} until {:?}", token.subject(), token.expires_at());
/// }
/// ```
#[derive(Clone)]
pub struct RawClaims(Layout);

impl fmt::Debug for RawClaims {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawClaims")
    }
}

/// A reusable buffer for the payload, so that verification allocates nothing per token.
///
/// It grows to the largest payload so far, up to the limit of the verifier. Its contents, which may have been
/// encrypted, are wiped when it is dropped.
#[derive(Default)]
pub struct Scratch {
    pub(crate) payload: Vec<u8>,
}

impl Scratch {
    /// Creates an empty buffer.
    pub fn new() -> Scratch {
        Scratch::default()
    }

    /// Returns this number of bytes, with any contents.
    pub(crate) fn first_bytes(&mut self, length: usize) -> &mut [u8] {
        if self.payload.len() < length {
            self.reset(length);
            self.payload.resize(length, 0);
        }
        &mut self.payload[..length]
    }

    /// Clears the buffer and reserves capacity. Old contents are wiped before a reallocation.
    fn reset(&mut self, length: usize) {
        if self.payload.capacity() < length {
            crypto::wipe(&mut self.payload);
        }
        self.payload.clear();
        self.payload.reserve(length);
    }

    /// Replaces the contents with a copy of this text.
    pub(crate) fn copy_from(&mut self, text: &str) -> &str {
        self.reset(text.len());
        self.payload.extend_from_slice(text.as_bytes());
        std::str::from_utf8(&self.payload).expect("a copy of a text is a text")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The bytes after the current length may still contain an earlier, longer payload.
        let capacity = self.payload.capacity();
        self.payload.resize(capacity, 0);
        crypto::wipe(&mut self.payload);
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").finish_non_exhaustive()
    }
}

impl<Text> Verified<RawClaims, Text> {
    pub(crate) fn raw(
        claims: Scanned,
        payload: Text,
        key_id: Option<Arc<str>>,
        header: Header,
    ) -> Self {
        let raw = RawClaims::new(claims.layout);
        Verified::new(raw, claims.registered, payload, key_id, header)
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.claims.0
    }
}

impl RawClaims {
    pub(crate) fn new(layout: Layout) -> RawClaims {
        RawClaims(layout)
    }
}

impl<T, Text> Verified<T, Text> {
    pub(crate) fn new(
        claims: T,
        registered: Registered,
        payload: Text,
        key_id: Option<Arc<str>>,
        header: Header,
    ) -> Self {
        Verified {
            claims,
            registered,
            payload,
            key_id,
            header,
            footer: None,
        }
    }
}

impl<T, Text: AsRef<str>> Verified<T, Text> {
    pub(crate) fn registered(&self) -> &Registered {
        &self.registered
    }

    pub(crate) fn with_footer(mut self, footer: Option<Arc<[u8]>>) -> Self {
        self.footer = footer;
        self
    }

    /// Returns the custom claims.
    pub fn claims(&self) -> &T {
        &self.claims
    }

    /// Returns the custom claims by value. Their type no longer shows that they were verified.
    pub fn into_claims(self) -> T {
        self.claims
    }

    /// Returns `iss`.
    pub fn issuer(&self) -> Option<&str> {
        self.registered
            .issuer
            .as_ref()
            .map(|range| range.read(self.json()))
    }

    /// Returns `sub`.
    pub fn subject(&self) -> Option<&str> {
        self.registered
            .subject
            .as_ref()
            .map(|range| range.read(self.json()))
    }

    /// Returns the audiences in `aud`.
    pub fn audiences(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.registered.audiences(self.json())
    }

    /// Returns `exp`: the first second in which the token is no longer valid. A fraction is rounded up.
    pub fn expires_at(&self) -> Option<Timestamp> {
        let exact = self.registered.expires_at;
        exact.map(Timestamp::next_whole_second)
    }

    /// Returns `nbf`, with a fraction if the token has one.
    pub fn not_before(&self) -> Option<Timestamp> {
        self.registered.not_before
    }

    /// Returns `iat`, with a fraction if the token has one.
    pub fn issued_at(&self) -> Option<Timestamp> {
        self.registered.issued_at
    }

    /// Returns `jti`.
    pub fn token_id(&self) -> Option<&str> {
        self.registered
            .token_id
            .as_ref()
            .map(|range| range.read(self.json()))
    }

    /// Returns the id of the key that verified the token, if the key has one.
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// Returns the algorithm, the key id and the type of the token.
    ///
    /// ```
    /// # use jeton::{Claims, Policy, jwt::JwtVerifier, key::{SigAlg, SigningKey}};
    /// let key = SigningKey::generate(SigAlg::ES256)?.with_key_id("a")?;
    /// let token = key.issue(&Claims::registered().issuer("i").audience("a").without_expiry())?;
    /// let policy = Policy::new("i", "a").without_expiry();
    /// let verifier = JwtVerifier::new(key.verifying_key(), policy);
    /// let verified = verifier.verify::<serde::de::IgnoredAny>(&token)?;
    /// let header = verified.header();
    /// assert_eq!((header.alg(), header.kid(), header.typ()), ("ES256", Some("a"), Some("JWT")));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn header(&self) -> VerifiedHeader<'_> {
        VerifiedHeader {
            key_id: self.key_id.as_deref(),
            header: &self.header,
        }
    }

    /// Returns whether the claim `scope` grants this scope (RFC 9068, section 2.2.3; RFC 8693, section 4.2): a
    /// string with scopes separated by spaces. Case matters.
    ///
    /// No other claim counts. Some issuers use `scp` or `permissions`, see [`has_scope_in`](Verified::has_scope_in).
    ///
    /// ```
    /// # use jeton::{Claims, Policy, jwt::JwtVerifier, key::{MacAlg, MacKey}};
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    /// # let policy = Policy::new("i", "a").any_issuer().any_audience().without_expiry();
    /// # let verifier = JwtVerifier::new(&key, policy);
    /// let claims = Claims::from_json(r#"{"scope":"read write"}"#)?.without_expiry();
    /// let verified = verifier.verify::<serde::de::IgnoredAny>(&key.issue(&claims)?)?;
    /// assert!(verified.has_scope("read") && !verified.has_scope("rea"));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn has_scope(&self, scope: &str) -> bool {
        self.has_scope_in("scope", scope)
    }

    /// Returns whether this claim grants a scope: a string with scopes separated by spaces, or a list of strings.
    ///
    /// | issuer | claim | form |
    /// |---|---|---|
    /// | RFC 9068 | `scope` | string |
    /// | Microsoft Entra | `scp` | string |
    /// | Okta | `scp` | list |
    /// | Auth0, roles enabled | `permissions` | list |
    ///
    /// Returns false if the claim is absent or has another type, and for a scope that is empty or has a space.
    ///
    /// ```
    /// # use jeton::{Claims, Policy, jwt::JwtVerifier, key::{MacAlg, MacKey}};
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    /// # let policy = Policy::new("i", "a").any_issuer().any_audience().without_expiry();
    /// # let verifier = JwtVerifier::new(&key, policy);
    /// let claims = Claims::from_json(r#"{"permissions":["read:messages"]}"#)?.without_expiry();
    /// let verified = verifier.verify::<serde::de::IgnoredAny>(&key.issue(&claims)?)?;
    /// assert!(verified.has_scope_in("permissions", "read:messages"));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn has_scope_in(&self, claim: &str, scope: &str) -> bool {
        let json = self.json();
        let Some(value) = find_member(json, claim).map(|range| &json[range]) else {
            return false;
        };
        if scope.is_empty() || scope.contains(' ') {
            return false;
        }
        if let Some(scopes) = json::checked_string(value) {
            return scopes.to_cow().split(' ').any(|granted| granted == scope);
        }
        value.starts_with('[')
            && json::checked_elements(value)
                .filter_map(json::Value::string)
                .any(|granted| granted == *scope)
    }

    /// Returns the footer of a PASETO, if the token has one. It is verified like the rest.
    pub fn footer(&self) -> Option<&[u8]> {
        self.footer.as_deref()
    }

    /// Returns the text of the claims in the token, one JSON object.
    pub fn json(&self) -> &str {
        self.payload.as_ref()
    }
}

impl Verified<RawClaims> {
    /// Deserializes the custom claims.
    ///
    /// # Errors
    ///
    /// [`Rejection::ClaimsShape`](crate::error::Rejection::ClaimsShape) if the claims do not match the type.
    ///
    /// ```
    /// use jeton::{Verified, Verify};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Visit { page: String }
    ///
    /// fn visit(verifier: &impl Verify, token: &str) -> jeton::Result<Verified<Visit>> {
    ///     verifier.verify_raw(token)?.deserialize()
    /// }
    /// ```
    #[inline]
    pub fn deserialize<T: DeserializeOwned>(self) -> Result<Verified<T>> {
        let claims = self.claims.0.read(&self.payload)?;
        Ok(self.with_claims(claims))
    }

    /// Returns the same claims, with their text in a buffer of the caller.
    pub(crate) fn copied_into<'s>(&self, scratch: &'s mut Scratch) -> VerifiedIn<'s, RawClaims> {
        Verified {
            claims: self.claims.clone(),
            registered: self.registered.clone(),
            payload: scratch.copy_from(&self.payload),
            key_id: self.key_id.clone(),
            header: self.header.clone(),
            footer: self.footer.clone(),
        }
    }
}

impl<'s> Verified<RawClaims, &'s str> {
    /// Deserializes the custom claims, which may borrow from the payload.
    ///
    /// # Errors
    ///
    /// [`Rejection::ClaimsShape`](crate::error::Rejection::ClaimsShape) if the claims do not match the type.
    #[inline]
    pub fn deserialize<T: Deserialize<'s>>(self) -> Result<VerifiedIn<'s, T>> {
        let claims = self.claims.0.read(self.payload)?;
        Ok(self.with_claims(claims))
    }
}

/// A registered claim in the text of verified claims. [`Verified::registered_members`] returns it.
///
/// The ranges are bytes of [`Verified::json`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegisteredMember {
    /// The claim.
    pub claim: Claim,
    /// The whole member: the name with its quotes, the colon and the value.
    pub member: Range<usize>,
    /// The value as it is written; for a string, with its quotes.
    pub value: Range<usize>,
}

impl<Text: AsRef<str>> Verified<RawClaims, Text> {
    /// Returns where the registered claims are in [`json`](Verified::json), in the order of the text.
    ///
    /// Use it to hand the claims to a JSON reader without these members. Their values are known: the methods of
    /// `Verified` return them with their types. Nothing is allocated for up to 16 claims; more are scanned again.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use jeton::{Claims, Policy, Scratch, Verify, jwt::JwtVerifier, key::{MacAlg, MacKey}};
    /// use jeton::error::Claim;
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    ///
    /// let claims = Claims::from_json(r#"{"page":"/","sub":"user-7"}"#)?.expires_in(Duration::from_secs(60));
    /// let token = key.issue(&claims)?;
    /// let policy = Policy::new("i", "a").any_issuer().any_audience();
    /// let verifier = JwtVerifier::new(&key, policy);
    ///
    /// let mut scratch = Scratch::new();
    /// let verified = verifier.verify_raw_in(&token, &mut scratch)?;
    /// let found: Vec<Claim> = verified.registered_members().map(|member| member.claim).collect();
    /// assert_eq!(found, [Claim::Expiry, Claim::IssuedAt, Claim::Subject]);
    /// let subject = verified.registered_members().last().unwrap();
    /// assert_eq!(&verified.json()[subject.member], r#""sub":"user-7""#);
    /// assert_eq!(&verified.json()[subject.value], r#""user-7""#);
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn registered_members(&self) -> impl Iterator<Item = RegisteredMember> {
        let RawClaims(layout) = &self.claims;
        let json = self.json();
        let recorded = layout.recorded(json);
        let mut scanned = Vec::new();
        if recorded.is_none() {
            layout.for_each_member(json, |claim, member, value| {
                scanned.push((claim, member, value));
            });
        }
        let found = recorded.into_iter().flatten().chain(scanned);
        found.filter_map(|(claim, member, value)| {
            Some(RegisteredMember {
                claim: claim?,
                member,
                value,
            })
        })
    }

    /// Appends the claims without the registered claims to a string: one JSON object, whose members have the
    /// order and the text of [`json`](Verified::json).
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use jeton::{Claims, Policy, Verify, jwt::JwtVerifier, key::{MacAlg, MacKey}};
    /// # let key = MacKey::generate(MacAlg::HS256)?;
    /// # let policy = Policy::new("i", "a").any_issuer().any_audience();
    /// # let verifier = JwtVerifier::new(&key, policy);
    /// let claims = Claims::from_json(r#"{"page":"/","sub":"user-7","n":1.10}"#)?
    ///     .expires_in(Duration::from_secs(60));
    /// let verified = verifier.verify_raw(&key.issue(&claims)?)?;
    /// let mut custom = String::new();
    /// verified.custom_json_onto(&mut custom);
    /// assert_eq!(custom, r#"{"page":"/","n":1.10}"#);
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn custom_json_onto(&self, text: &mut String) {
        let json = self.json();
        text.reserve(json.len());
        text.push('{');
        let start = text.len();
        let RawClaims(layout) = &self.claims;
        layout.for_each_member(json, |claim, member, _| {
            if claim.is_none() {
                if text.len() > start {
                    text.push(',');
                }
                text.push_str(&json[member]);
            }
        });
        text.push('}');
    }
}

impl<Text> Verified<RawClaims, Text> {
    fn with_claims<T>(self, claims: T) -> Verified<T, Text> {
        Verified {
            claims,
            registered: self.registered,
            payload: self.payload,
            key_id: self.key_id,
            header: self.header,
            footer: self.footer,
        }
    }
}

impl<T: fmt::Debug, Text> fmt::Debug for Verified<T, Text> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Verified").field(&self.claims).finish()
    }
}
