//! Two-step signing, for keys in a KMS or an HSM.

use std::sync::{Mutex, PoisonError};

use jeton::error::codes;
use jeton::remote::{Prepared, Signature};

use crate::argument::{Out, bytes, text};
use crate::buffer::JetonBuffer;
use crate::code::JetonCode;
use crate::format::Format;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::issuer::{Issuer, JetonIssuer, Signer};
use crate::reason::{Fault, JetonReason};

/// A token without its signature.
pub struct JetonPrepared {
    _opaque: [u8; 0],
}

impl Handle for JetonPrepared {
    type Value = Mutex<Option<Prepared>>;
    const KIND: Kind = Kind::Prepared;
}

/// Prepares a token with an issuer whose key is public: what is to be signed elsewhere. `data` are claims, or the
/// bytes of an issuer of the format `jws`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_prepare(
    issuer: *const JetonIssuer,
    data: *const u8,
    length: usize,
    out: *mut *const JetonPrepared,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, bytes and a place for a handle.
        let (out, issuer) = unsafe { (Out::new(out)?, handle::get(issuer)?) };
        let prepared = match issuer.options.format {
            // SAFETY: as above.
            Format::Jws => prepare_bytes(&issuer, unsafe { bytes(data, length) }?)?,
            // SAFETY: as above.
            _ => prepare(&issuer, unsafe { text(data, length) }?)?,
        };
        out.put(handle::create(Mutex::new(Some(prepared))));
        Ok(())
    })
}

fn prepare(issuer: &Issuer, text: &str) -> Result<Prepared, Fault> {
    let claims = issuer.claims(text)?;
    let clock = &*issuer.clock;
    match &issuer.signer {
        Signer::Remote(key) => Ok(match &issuer.options.typ {
            None => key.prepare_with_clock(&claims, clock)?,
            Some(typ) => key.prepare_as_with_clock(typ, &claims, clock)?,
        }),
        Signer::PasetoRemote(key) => {
            Ok(key.prepare_with_clock(&claims, issuer.context(), clock)?)
        }
        _ => Err(not_remote()),
    }
}

fn prepare_bytes(issuer: &Issuer, data: &[u8]) -> Result<Prepared, Fault> {
    match (&issuer.signer, &issuer.options.typ) {
        (Signer::Remote(key), None) => Ok(key.prepare_payload(data)?),
        (Signer::Remote(key), Some(typ)) => Ok(key.prepare_payload_as(typ, data)?),
        _ => Err(not_remote()),
    }
}

#[cold]
fn not_remote() -> Fault {
    Fault::option("key", "the issuer has its key: use `jeton_issue`")
}

/// Writes what is to be signed into a buffer of the library. `what` is `message`, or `digest`: the hash of the message for
/// signers that take it. `alg` is the algorithm.
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
        let prepared = prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let input = prepared.as_ref().ok_or_else(used)?.input();
        let bytes = match what {
            "message" => input.message().to_vec(),
            "digest" => input
                .digest()
                .ok_or_else(|| Fault::option("what", "this algorithm signs the message"))?,
            "alg" => input.alg().name().into(),
            _ => return Err(Fault::option("what", "not message, digest or alg")),
        };
        out.put_bytes(bytes);
        Ok(())
    })
}

/// Adds the signature to a prepared token, verifies it with the public key, and writes the token into a buffer of the
/// library. A prepared token takes one signature, valid or not.
///
/// `form` is `fixed`, as a token has it, or `der`, as most signers return ECDSA signatures.
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
        let signature = match form {
            "fixed" => Signature::Fixed(signature),
            "der" => Signature::Der(signature),
            _ => return Err(Fault::option("form", "not fixed or der")),
        };
        let mut prepared = prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let token = prepared.take().ok_or_else(used)?.attach(&signature)?;
        out.put_bytes(token);
        Ok(())
    })
}

#[cold]
fn used() -> Fault {
    Fault::argument(
        &codes::PREPARED_TOKEN_USED,
        "a signature was already passed for the prepared token",
    )
}
