//! From claims or bytes to a token, the same way for every version and purpose.

use super::{Binding, token};
pub(super) use crate::claims::Buffer;
use crate::claims::Dates;
use crate::clock::Clock;
use crate::error::Result;
use crate::issue::WriteClaims;

/// A key that makes tokens.
pub(super) trait Seal {
    /// Version and purpose, dots included.
    const HEADER: &'static str;
    /// How many bytes `seal` needs in front of the message.
    const BEFORE: usize;
    /// How many bytes the body is longer than the message.
    const LONGER: usize;

    /// Turns the message that stands at `BEFORE..` into the body; where the body begins. It ends
    /// where the buffer ends.
    fn seal(&self, buffer: &mut Buffer, binding: Binding<'_>) -> Result<usize>;
}

/// A token with claims.
pub(super) fn claims<K: Seal, C: WriteClaims + ?Sized>(
    key: &K,
    claims: &C,
    binding: Binding<'_>,
    clock: &dyn Clock,
) -> Result<String> {
    let mut buffer = message(K::BEFORE, claims, binding, clock)?;
    finish(key, &mut buffer, binding)
}

/// The claims, written behind so many zeros.
pub(super) fn message<C: WriteClaims + ?Sized>(
    before: usize,
    claims: &C,
    binding: Binding<'_>,
    clock: &dyn Clock,
) -> Result<Buffer> {
    binding.check()?;
    let mut buffer = Buffer::new();
    buffer.resize(before, 0);
    claims.write_into(&mut buffer, Dates::Rfc3339, clock)?;
    Ok(buffer)
}

/// A token with exactly these bytes.
pub(super) fn bytes<K: Seal>(key: &K, message: &[u8], binding: Binding<'_>) -> Result<String> {
    binding.check()?;
    let mut buffer = Buffer::with_capacity(K::BEFORE + message.len() + K::LONGER);
    buffer.resize(K::BEFORE, 0);
    buffer.extend_from_slice(message);
    finish(key, &mut buffer, binding)
}

fn finish<K: Seal>(key: &K, buffer: &mut Buffer, binding: Binding<'_>) -> Result<String> {
    let start = key.seal(buffer, binding)?;
    Ok(token::assemble(K::HEADER, &buffer[start..], binding.footer))
}
