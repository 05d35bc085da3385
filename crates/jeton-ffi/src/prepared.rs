//! Two-step signing, for keys in a KMS or an HSM.

use jeton_bindings::Prepared;

use crate::argument::{Out, bytes, text};
use crate::buffer::JetonBuffer;
use crate::call_time::CallTime;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::issuer::JetonIssuer;
use crate::reason::JetonReason;

/// A token without its signature.
pub struct JetonPrepared {
    _opaque: [u8; 0],
}

impl Handle for JetonPrepared {
    type Value = Prepared;
    const KIND: Kind = Kind::Prepared;
}

/// Prepares a token for a remote signer. The issuer has the public key. `data` is claims, or bytes for the format
/// `jws`.
///
/// `now` is the time in microseconds since 1970, or `JETON_USE_CLOCK` for the clock of the issuer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_prepare(
    issuer: *const JetonIssuer,
    data: *const u8,
    length: usize,
    now: i64,
    out: *mut *const JetonPrepared,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, bytes and a place for a handle.
        let (out, issuer, data) =
            unsafe { (Out::new(out)?, handle::get(issuer)?, bytes(data, length)?) };
        let _time = CallTime::set(now)?;
        out.put(handle::create(issuer.prepare(data)?));
        Ok(())
    })
}

/// Writes the input for the signer to a buffer of the library. `what` is `message`, or `digest` (its hash) for signers
/// that take a digest, or `alg` for the algorithm.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_prepared_input(
    prepared: *const JetonPrepared,
    what: *const u8,
    what_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a text and a place for a buffer.
        let (out, prepared, what) = unsafe {
            (
                Out::new(out)?,
                handle::get(prepared)?,
                text(what, what_length)?,
            )
        };
        out.put_bytes(prepared.input(what)?);
        Ok(())
    })
}

/// Adds the signature to a prepared token, verifies it with the public key, and writes the token to a buffer of the
/// library. A prepared token takes one signature, valid or not.
///
/// `form` is `fixed`, the form in a token, or `der`, which most signers return for ECDSA.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_attach(
    prepared: *const JetonPrepared,
    signature: *const u8,
    signature_length: usize,
    form: *const u8,
    form_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, bytes, a text and a place for a buffer.
        let (out, prepared, signature, form) = unsafe {
            (
                Out::new(out)?,
                handle::get(prepared)?,
                bytes(signature, signature_length)?.to_vec(),
                text(form, form_length)?,
            )
        };
        out.put_bytes(prepared.attach(signature, form)?);
        Ok(())
    })
}
