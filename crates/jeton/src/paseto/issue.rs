//! Building tokens from claims or bytes, for all versions and purposes.

use super::suite::Suite;
use super::{Binding, token};
pub(super) use crate::claims::Buffer;
use crate::claims::Dates;
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
    fn seal(&self, buffer: &mut Buffer, binding: Binding<'_>) -> Result<usize>;
}

/// Creates a token with claims.
pub(super) fn claims<C: WriteClaims + ?Sized>(
    key: &impl Seal,
    claims: &C,
    binding: Binding<'_>,
    clock: &dyn Clock,
) -> Result<String> {
    key.suite().check(binding)?;
    let mut buffer = message(key.prefix_bytes(), claims, clock)?;
    finish(key, &mut buffer, binding)
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
pub(super) fn bytes(key: &impl Seal, message: &[u8], binding: Binding<'_>) -> Result<String> {
    key.suite().check(binding)?;
    let mut buffer =
        Buffer::with_capacity(key.prefix_bytes() + message.len() + key.overhead_bytes());
    buffer.resize(key.prefix_bytes(), 0);
    buffer.extend_from_slice(message);
    finish(key, &mut buffer, binding)
}

fn finish(key: &impl Seal, buffer: &mut Buffer, binding: Binding<'_>) -> Result<String> {
    let start = key.seal(buffer, binding)?;
    Ok(token::assemble(
        key.header(),
        &buffer[start..],
        binding.footer,
    ))
}
