//! From claims or bytes to a token, the same way for every version and purpose.

use super::suite::Suite;
use super::{Binding, token};
pub(super) use crate::claims::Buffer;
use crate::claims::Dates;
use crate::clock::Clock;
use crate::error::Result;
use crate::issue::WriteClaims;

/// A key that makes tokens.
pub(super) trait Seal {
    fn suite(&self) -> &'static Suite;

    /// Version and purpose, dots included.
    fn header(&self) -> &'static str;

    /// How many bytes `seal` needs in front of the message.
    fn prefix_bytes(&self) -> usize;

    /// How many bytes the body is longer than the message.
    fn overhead_bytes(&self) -> usize;

    /// Turns the message that stands behind the first `before` bytes into the body; where the body
    /// begins. It ends where the buffer ends.
    fn seal(&self, buffer: &mut Buffer, binding: Binding<'_>) -> Result<usize>;
}

/// A token with claims.
pub(super) fn claims<C: WriteClaims + ?Sized>(
    key: &impl Seal,
    claims: &C,
    binding: Binding<'_>,
    clock: &dyn Clock,
) -> Result<String> {
    binding.check(key.suite())?;
    let mut buffer = message(key.prefix_bytes(), claims, clock)?;
    finish(key, &mut buffer, binding)
}

/// The claims, written behind so many zeros.
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

/// A token with exactly these bytes.
pub(super) fn bytes(key: &impl Seal, message: &[u8], binding: Binding<'_>) -> Result<String> {
    binding.check(key.suite())?;
    let mut buffer = Buffer::with_capacity(key.prefix_bytes() + message.len() + key.overhead_bytes());
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
