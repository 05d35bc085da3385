use crate::claims::{Buffer, Claims, CustomClaims, Dates, JsonClaims};
use crate::clock::{Clock, SystemClock};
use crate::error::Result;
use crate::issue::{AnyClaims, Issue, WriteClaims};
use crate::jws::{RawHeaderSigner, assemble_onto, compact_length};
#[cfg(feature = "hmac")]
use crate::key::MacKey;
use crate::key::remote::RemoteSigner;
use crate::key::{SigningKey, SigningKeyRef};

/// Defines the methods of a key that signs, and its [`Issue`]. The last argument describes what `issue_onto` allocates.
macro_rules! signer {
    ($key:ident, $what:literal, $allocation:literal) => {
        impl $key {
            #[doc = concat!("Issues a JWT with these claims and ", $what, ".")]
            ///
            /// The header contains `alg`, `kid` of the key and `typ: JWT`. The system clock is used, unless the claims
            /// set both `issued_at` and `expires_at`.
            ///
            /// # Errors
            ///
            /// [`Error::InvalidUse`](crate::Error::InvalidUse) if a JWT cannot represent the claims. For a remote key
            /// also [`Error::Remote`](crate::Error::Remote) or the error of the signer, if signing failed.
            pub fn issue<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<String> {
                issue(self.into(), claims, &SystemClock)
            }

            #[doc = concat!("Issues a JWT with these claims and ", $what, ", using this clock.")]
            ///
            /// # Errors
            ///
            /// Those of [`issue`](Self::issue).
            pub fn issue_with_clock<T: CustomClaims>(
                &self,
                claims: &Claims<'_, T>,
                clock: &dyn Clock,
            ) -> Result<String> {
                issue(self.into(), claims, clock)
            }

            /// Appends a JWT with these claims to a string. After an error the string is unchanged.
            ///
            #[doc = $allocation]
            ///
            /// # Errors
            ///
            /// Those of [`issue`](Self::issue).
            ///
            /// ```
            /// use std::time::Duration;
            /// use jeton::{Claims, key::{MacAlg, MacKey}};
            ///
            /// let key = MacKey::generate(MacAlg::HS256)?;
            /// let claims = Claims::from_json(r#"{"sub":"user-7"}"#)?.expires_in(Duration::from_secs(300));
            /// let mut answer = String::with_capacity(7 + key.issued_length_bound(&claims));
            /// answer.push_str("Bearer ");
            /// key.issue_onto(&claims, &mut answer)?;
            /// assert!(answer.starts_with("Bearer ey"));
            /// # Ok::<(), jeton::Error>(())
            /// ```
            pub fn issue_onto<T: CustomClaims>(
                &self,
                claims: &Claims<'_, T>,
                token: &mut String,
            ) -> Result<()> {
                issue_onto(self.into(), claims, &SystemClock, token)
            }

            /// Returns an upper bound for the length of a token with these claims, bytes. The claims are not written.
            pub fn issued_length_bound(&self, claims: &Claims<'_, JsonClaims<'_>>) -> usize {
                let key = SigningKeyRef::from(self);
                length_bound(key.headers().jwt(), key, claims)
            }
        }

        impl Issue for $key {
            fn issue_with_clock(
                &self,
                claims: &dyn AnyClaims,
                clock: &dyn Clock,
            ) -> Result<String> {
                issue(self.into(), claims, clock)
            }

            fn issue_onto_with_clock(
                &self,
                claims: &dyn AnyClaims,
                clock: &dyn Clock,
                token: &mut String,
            ) -> Result<()> {
                issue_onto(self.into(), claims, clock, token)
            }
        }
    };
}

#[cfg(feature = "hmac")]
signer!(
    MacKey,
    "a MAC",
    "Nothing is allocated if the string has enough capacity and the claims have at most 1,024 bytes."
);
signer!(
    SigningKey,
    "a signature",
    "Only the cryptographic library allocates if the string has enough capacity and the claims have at most 1,024 bytes."
);
signer!(
    RemoteSigner,
    "a signature of the remote signer",
    "The signer allocates its signature."
);

impl Issue for RawHeaderSigner<'_> {
    fn issue_with_clock(&self, claims: &dyn AnyClaims, clock: &dyn Clock) -> Result<String> {
        issue_under(self.encoded(), self.key(), claims, clock)
    }

    fn issue_onto_with_clock(
        &self,
        claims: &dyn AnyClaims,
        clock: &dyn Clock,
        token: &mut String,
    ) -> Result<()> {
        issue_under_onto(self.encoded(), self.key(), claims, clock, token)
    }
}

pub(crate) fn issue<C: WriteClaims + ?Sized>(
    key: SigningKeyRef<'_>,
    claims: &C,
    clock: &dyn Clock,
) -> Result<String> {
    issue_under(key.headers().jwt(), key, claims, clock)
}

pub(crate) fn issue_onto<C: WriteClaims + ?Sized>(
    key: SigningKeyRef<'_>,
    claims: &C,
    clock: &dyn Clock,
    token: &mut String,
) -> Result<()> {
    issue_under_onto(key.headers().jwt(), key, claims, clock, token)
}

/// Issues a JWT with this header, base64url.
pub(crate) fn issue_under<C: WriteClaims + ?Sized>(
    encoded_header: &str,
    key: SigningKeyRef<'_>,
    claims: &C,
    clock: &dyn Clock,
) -> Result<String> {
    let mut token = String::new();
    issue_under_onto(encoded_header, key, claims, clock, &mut token)?;
    Ok(token)
}

/// Appends a JWT with this header, base64url. After an error the string is unchanged.
pub(crate) fn issue_under_onto<C: WriteClaims + ?Sized>(
    encoded_header: &str,
    key: SigningKeyRef<'_>,
    claims: &C,
    clock: &dyn Clock,
    token: &mut String,
) -> Result<()> {
    let mut payload = Buffer::new();
    claims.write_into(&mut payload, Dates::Numeric, clock)?;
    assemble_onto(key, encoded_header, &payload, token)
}

/// Returns an upper bound for the length of a JWT with this header, base64url.
pub(crate) fn length_bound(
    encoded_header: &str,
    key: SigningKeyRef<'_>,
    claims: &Claims<'_, JsonClaims<'_>>,
) -> usize {
    let payload_bytes = claims.length_bound(Dates::Numeric);
    compact_length(encoded_header, payload_bytes, key.signature_bytes())
}
