//! Verifiers.

use std::cell::RefCell;

use jeton::error::{Part, Rejection};
use jeton::{RawClaims, Scratch, Verified};
use jeton_bindings::thread_memory::{self, KEPT_BYTES};
use jeton_bindings::{Fault, ReadVerified, Verifier, VerifierKeys, is_ascii};

use crate::argument::{Out, OutBytes, bytes, text};
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
/// Pass one key or a key set, and null for the other. `decryption` is a set of keys that decrypt: with it, tokens are signed
/// and then encrypted. `remote` is a key set that is elsewhere, in place of the others. A content key (`dir`) alone verifies encrypted JWTs. A null clock is that of the system.
///
/// Options: `format` is `jwt`, `jws`, `jwe` or `paseto`. For claims: `issuer` or `any_issuer`, `audience` or `any_audience`,
/// `without_expiry`, `typ`, `access_tokens`, `required`, `leeway`, `max_age` (seconds), `cache` (entries). For PASETO:
/// `footer`, `implicit_assertion`. Others: `enc`, `serialization`, `limits`.
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
    match handle.is_null() {
        true => Ok(None),
        // SAFETY: not null, and the caller ensures it.
        false => unsafe { handle::get(handle) }.map(Some),
    }
}

/// The part of a result that is not in the token: the id of a key, and a type as the policy spells it.
const EXTRA_BYTES: usize = 1280;

/// Returns the size of a buffer for the result of `jeton_verify`, for a token of this many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn jeton_verify_bound(token_length: usize) -> usize {
    token_length.saturating_add(EXTRA_BYTES)
}

thread_local! {
    /// The payload of a token before it is copied to the caller. It is wiped with the thread.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Verifies a token and writes its claims to a buffer of the caller, which has at least `jeton_verify_bound` bytes.
/// A smaller buffer is the error `BUFFER_TOO_SMALL`, before anything is verified.
///
/// A token that is no UTF-8 is rejected as malformed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_verify(
    verifier: *const JetonVerifier,
    token: *const u8,
    token_length: usize,
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
        match token_length <= KEPT_BYTES {
            true => thread_memory::with(&SCRATCH, |scratch| {
                verifier.verify(token, scratch, Write { buffer, result })?
            }),
            false => verifier.verify(token, &mut Scratch::new(), Write { buffer, result })?,
        }
    })
}

/// Writes what a verified token says to the memory of the caller.
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

/// A token comes from anyone, so bytes that are no text are a rejection.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn token_text<'a>(pointer: *const u8, length: usize) -> Result<&'a str, Fault> {
    // SAFETY: the caller ensures it.
    let bytes = unsafe { bytes(pointer, length) }?;
    if is_ascii(bytes) {
        // SAFETY: ASCII is UTF-8. A good token is ASCII, and this check is the faster one.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).map_err(|_| Rejection::Malformed(Part::Token).into())
}
