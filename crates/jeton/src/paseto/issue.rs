//! Building tokens from claims or bytes, for all versions and purposes.

use super::suite::Suite;
use super::{TokenContext, token};
pub(super) use crate::claims::Buffer;
use crate::claims::{Claims, Dates, JsonClaims};
use crate::clock::Clock;
use crate::error::Result;
use crate::issue::WriteClaims;

/// A key that creates tokens.
pub(super) trait Seal {
    fn suite(&self) -> &'static Suite;

    /// Version and purpose, with dots.
    fn header(&self) -> &'static str;

    /// The number of bytes that `seal` needs before the message.
    fn prefix_bytes(&self) -> usize;

    /// The number of bytes that the body adds to the message.
    fn overhead_bytes(&self) -> usize;

    /// Converts the message after the first `prefix_bytes` bytes into the body, which ends at the end of the
    /// buffer. Returns its start.
    fn seal(&self, buffer: &mut Buffer, context: TokenContext<'_>) -> Result<usize>;
}

/// Creates a token with claims.
pub(super) fn claims<C: WriteClaims + ?Sized>(
    key: &impl Seal,
    claims: &C,
    context: TokenContext<'_>,
    clock: &dyn Clock,
) -> Result<String> {
    let mut token = String::new();
    claims_onto(key, claims, context, clock, &mut token)?;
    Ok(token)
}

/// Appends a token with claims to a string. After an error the string is unchanged.
pub(super) fn claims_onto<C: WriteClaims + ?Sized>(
    key: &impl Seal,
    claims: &C,
    context: TokenContext<'_>,
    clock: &dyn Clock,
    token: &mut String,
) -> Result<()> {
    key.suite().check(context)?;
    let mut buffer = message(key.prefix_bytes(), claims, clock)?;
    finish(key, &mut buffer, context, token)
}

/// Returns an upper bound for the length of a token.
pub(super) fn length_bound(
    key: &impl Seal,
    claims: &Claims<'_, JsonClaims<'_>>,
    context: TokenContext<'_>,
) -> usize {
    let body_bytes = claims.length_bound(Dates::Rfc3339) + key.overhead_bytes();
    token::length(key.header(), body_bytes, context.footer)
}

/// Writes the claims after this number of zeros.
pub(super) fn message<C: WriteClaims + ?Sized>(
    before: usize,
    claims: &C,
    clock: &dyn Clock,
) -> Result<Buffer> {
    let mut buffer = Buffer::new();
    buffer.resize(before, 0);
    claims.write_into(&mut buffer, Dates::Rfc3339, clock)?;
    Ok(buffer)
}

/// Creates a token with exactly these bytes.
pub(super) fn bytes(key: &impl Seal, message: &[u8], context: TokenContext<'_>) -> Result<String> {
    key.suite().check(context)?;
    let mut buffer =
        Buffer::with_capacity(key.prefix_bytes() + message.len() + key.overhead_bytes());
    buffer.resize(key.prefix_bytes(), 0);
    buffer.extend_from_slice(message);
    let mut token = String::new();
    finish(key, &mut buffer, context, &mut token)?;
    Ok(token)
}

fn finish(
    key: &impl Seal,
    buffer: &mut Buffer,
    context: TokenContext<'_>,
    token: &mut String,
) -> Result<()> {
    let start = key.seal(buffer, context)?;
    token::assemble_onto(key.header(), &buffer[start..], context.footer, token);
    Ok(())
}

/// Defines the methods of a key that issues tokens of one version, and its [`Issue`](crate::Issue). The key has a
/// method `sealer`. `$id` is its public id in an example, and `$allocation` describes what `issue_onto` allocates.
macro_rules! issuing_key {
    ($key:ident, $id:literal, $allocation:literal) => {
        impl<V: Version> $key<V> {
            /// Issues a token with these claims.
            ///
            /// # Errors
            ///
            /// [`Error::InvalidUse`](crate::Error::InvalidUse) if a PASETO cannot represent the claims: no expiry
            /// chosen, a list of audiences, or a custom claim with a registered name.
            pub fn issue<T: CustomClaims>(&self, claims: &Claims<'_, T>) -> Result<String> {
                self.issue_with(claims, TokenContext::new())
            }

            /// Issues a token with these claims and this context: a footer, an implicit assertion or both.
            ///
            /// # Errors
            ///
            /// Those of [`issue`](Self::issue), and an error for a footer that is too long.
            ///
            /// ```
            #[doc = concat!("use jeton::paseto::{TokenContext, v4::", stringify!($key), "};")]
            /// use jeton::Claims;
            ///
            #[doc = concat!("let key = ", stringify!($key), "::generate()?;")]
            #[doc = concat!("let kid = format!(\"{{\\\"kid\\\":\\\"{}\\\"}}\", ", $id, ");")]
            /// let claims = Claims::new(()).without_expiry();
            /// let token = key.issue_with(&claims, TokenContext::new().footer(&kid))?;
            /// assert_eq!(token.split('.').count(), 4);
            /// # Ok::<_, jeton::Error>(())
            /// ```
            pub fn issue_with<T: CustomClaims>(
                &self,
                claims: &Claims<'_, T>,
                context: TokenContext<'_>,
            ) -> Result<String> {
                self.issue_with_clock(claims, context, &SystemClock)
            }

            /// Issues a token using this clock.
            ///
            /// # Errors
            ///
            /// Those of [`issue_with`](Self::issue_with).
            pub fn issue_with_clock<T: CustomClaims>(
                &self,
                claims: &Claims<'_, T>,
                context: TokenContext<'_>,
                clock: &dyn Clock,
            ) -> Result<String> {
                issue::claims(self.sealer(), claims, context, clock)
            }

            /// Appends a token with these claims and this context to a string. After an error the string is
            /// unchanged.
            ///
            #[doc = $allocation]
            ///
            /// # Errors
            ///
            /// Those of [`issue_with`](Self::issue_with).
            ///
            /// ```
            #[doc = concat!("use jeton::paseto::{TokenContext, v4::", stringify!($key), "};")]
            /// use jeton::Claims;
            ///
            #[doc = concat!("let key = ", stringify!($key), "::generate()?;")]
            /// let claims = Claims::from_json(r#"{"sub":"user-7"}"#)?.without_expiry();
            /// let context = TokenContext::new().footer("f");
            /// let mut token = String::with_capacity(key.issued_length_bound(&claims, context));
            /// key.issue_onto(&claims, context, &mut token)?;
            /// assert!(token.starts_with("v4."));
            /// # Ok::<_, jeton::Error>(())
            /// ```
            pub fn issue_onto<T: CustomClaims>(
                &self,
                claims: &Claims<'_, T>,
                context: TokenContext<'_>,
                token: &mut String,
            ) -> Result<()> {
                issue::claims_onto(self.sealer(), claims, context, &SystemClock, token)
            }

            /// Returns an upper bound for the length of a token with these claims and this context, bytes. The claims
            /// are not written.
            pub fn issued_length_bound(
                &self,
                claims: &Claims<'_, JsonClaims<'_>>,
                context: TokenContext<'_>,
            ) -> usize {
                issue::length_bound(self.sealer(), claims, context)
            }
        }

        impl<V: Version> Issue for $key<V> {
            fn issue_with_clock(
                &self,
                claims: &dyn AnyClaims,
                clock: &dyn Clock,
            ) -> Result<String> {
                issue::claims(self.sealer(), claims, TokenContext::new(), clock)
            }

            fn issue_onto_with_clock(
                &self,
                claims: &dyn AnyClaims,
                clock: &dyn Clock,
                token: &mut String,
            ) -> Result<()> {
                issue::claims_onto(self.sealer(), claims, TokenContext::new(), clock, token)
            }
        }

        impl<V: Version> bound::sealed::Sealed for $key<V> {}

        impl<V: Version> bound::IssueBound for $key<V> {
            fn issue_bound_onto(
                &self,
                claims: &dyn AnyClaims,
                context: TokenContext<'_>,
                clock: &dyn Clock,
                token: &mut String,
            ) -> Result<()> {
                issue::claims_onto(self.sealer(), claims, context, clock, token)
            }
        }

        impl<V: Version> fmt::Debug for $key<V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let name = format!("{}::{}", V::VERSION.module(), stringify!($key));
                f.debug_struct(&name).finish_non_exhaustive()
            }
        }
    };
}

pub(super) use issuing_key;
