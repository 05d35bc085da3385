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
