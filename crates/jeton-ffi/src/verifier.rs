//! Verifiers.

use std::cell::RefCell;

use jeton::error::{Part, Rejection};
use jeton::{RawClaims, Scratch, Verified};
use jeton_bindings::thread_memory::{self, KEPT_BYTES};
use jeton_bindings::{Fault, ReadVerified, Verifier, VerifierKeys, is_ascii};

use crate::argument::{Out, OutBytes, bytes, text};
use crate::buffer::JetonBuffer;
use crate::call_time::CallTime;
use crate::claims::{self, JetonVerified};
use crate::clock::{JetonClock, clock_or_system};
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind, Used};
use crate::key::JetonKey;
use crate::key_set::JetonKeySet;
use crate::reason::JetonReason;
use crate::remote_keys::JetonRemoteKeys;

/// Verifies tokens with its keys and its policy.
pub struct JetonVerifier {
    _opaque: [u8; 0],
}

impl Handle for JetonVerifier {
    type Value = Verifier;
    const KIND: Kind = Kind::Verifier;
}

/// Creates a verifier.
///
/// Pass `key` or `keys`, and null for the other. `decryption` is a set of decryption keys: with it, tokens must be
/// signed and then encrypted. `remote` is a remote key set. It replaces all other keys. A content key (`dir`) alone
/// verifies encrypted JWTs. A null `clock` is the system clock.
///
/// The options are in docs/reference/settings.md, section *Verifier*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_verifier_new(
    key: *const JetonKey,
    keys: *const JetonKeySet,
    decryption: *const JetonKeySet,
    remote: *const JetonRemoteKeys,
    clock: *const JetonClock,
    options: *const u8,
    options_length: usize,
    out: *mut *const JetonVerifier,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes handles or null, a text and a place for a handle.
        let (out, key, set, decryption, remote, clock, options) = unsafe {
            (
                Out::new(out)?,
                optional(key)?,
                optional(keys)?,
                optional(decryption)?,
                optional(remote)?,
                clock_or_system(clock)?,
                text(options, options_length)?,
            )
        };
        let keys = VerifierKeys {
            key: key.as_deref(),
            set: set.as_deref(),
            decryption: decryption.as_deref(),
            remote: remote.as_deref(),
        };
        out.put(handle::create(Verifier::new(keys, clock, options)?));
        Ok(())
    })
}

/// # Safety
///
/// The pointer is null or a handle.
pub(crate) unsafe fn optional<'h, H: Handle>(
    handle: *const H,
) -> Result<Option<Used<'h, H::Value>>, Fault> {
    if handle.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, and the caller ensures it.
    unsafe { handle::get(handle) }.map(Some)
}

/// Space for the parts of a result that are not in the token: a key id, and a type as the policy spells it.
const EXTRA_BYTES: usize = 1280;

/// Returns the buffer size that `jeton_verify` needs for a token of this length.
#[unsafe(no_mangle)]
pub extern "C" fn jeton_verify_bound(token_length: usize) -> usize {
    token_length.saturating_add(EXTRA_BYTES)
}

thread_local! {
    /// The payload of a token before it is copied to the caller. It is wiped when the thread ends.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Verifies a token and writes its claims to the caller's buffer. The buffer needs at least `jeton_verify_bound` bytes.
/// For a smaller one, the result is `BUFFER_TOO_SMALL`, and nothing is verified.
///
/// `now` is the time in microseconds since 1970, or `JETON_USE_CLOCK` for the clock of the verifier.
///
/// A token that is not UTF-8 is rejected as malformed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_verify(
    verifier: *const JetonVerifier,
    token: *const u8,
    token_length: usize,
    now: i64,
    buffer: *mut u8,
    capacity: usize,
    result: *mut JetonVerified,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a token, a buffer and a place for the result.
        let (result, verifier, token, buffer) = unsafe {
            (
                Out::new(result)?,
                handle::get(verifier)?,
                token_text(token, token_length)?,
                OutBytes::new(buffer, capacity, jeton_verify_bound(token_length))?,
            )
        };
        let _time = CallTime::set(now)?;
        if token_length <= KEPT_BYTES {
            thread_memory::with(&SCRATCH, |scratch| {
                verifier.verify(token, scratch, Write { buffer, result })?
            })
        } else {
            verifier.verify(token, &mut Scratch::new(), Write { buffer, result })?
        }
    })
}

/// Returns the protected header of a token that `jeton_verify` has accepted, JSON text in a buffer of the library. For a
/// nested JWT, it is the header of the signed JWT inside. A PASETO has no header: the text is empty.
///
/// The token is not verified again. For other tokens, use `jeton_unverified`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_verified_header(
    verifier: *const JetonVerifier,
    token: *const u8,
    token_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a token and a place for a buffer.
        let (out, verifier, token) = unsafe {
            (
                Out::new(out)?,
                handle::get(verifier)?,
                token_text(token, token_length)?,
            )
        };
        out.put_bytes(verifier.header(token)?.unwrap_or_default());
        Ok(())
    })
}

/// Writes a verified token to the caller's memory.
struct Write {
    buffer: OutBytes,
    result: Out<JetonVerified>,
}

impl ReadVerified for Write {
    type Output = Result<(), Fault>;

    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Result<(), Fault> {
        claims::write(verified, &self.buffer, self.result)
    }
}

/// Returns the text of a token. Anyone can send a token, so invalid UTF-8 is a rejection.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn token_text<'a>(pointer: *const u8, length: usize) -> Result<&'a str, Fault> {
    // SAFETY: the caller ensures it.
    let bytes = unsafe { bytes(pointer, length) }?;
    if is_ascii(bytes) {
        // SAFETY: ASCII is UTF-8. A valid token is ASCII, and this check is faster.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).map_err(|_| Rejection::Malformed(Part::Token).into())
}
