//! Issuers.

use std::cell::RefCell;

use jeton_bindings::thread_memory::{self, KEPT_BYTES};
use jeton_bindings::{Fault, Issuer};

use crate::argument::{Out, OutBytes, text};
use crate::call_time::CallTime;
use crate::clock::{JetonClock, clock_or_system};
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle::{self, Handle, Kind};
use crate::key::JetonKey;
use crate::reason::JetonReason;
use crate::verifier::optional;

/// Issues tokens with its key and its settings.
pub struct JetonIssuer {
    _opaque: [u8; 0],
}

impl Handle for JetonIssuer {
    type Value = Issuer;
    const KIND: Kind = Kind::Issuer;
}

/// Creates an issuer.
///
/// With `encryption`, JWTs are signed and then encrypted to that key. A content key (`dir`) as `key` encrypts JWTs.
/// With a public key as `key`, use `jeton_prepare`. A null `clock` is the system clock.
///
/// The options are in docs/reference/settings.md, section *Issuer*.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_issuer_new(
    key: *const JetonKey,
    encryption: *const JetonKey,
    clock: *const JetonClock,
    options: *const u8,
    options_length: usize,
    out: *mut *const JetonIssuer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes handles or null, a text and a place for a handle.
        let (out, key, encryption, clock, options) = unsafe {
            (
                Out::new(out)?,
                optional(key)?,
                optional(encryption)?,
                clock_or_system(clock)?,
                text(options, options_length)?,
            )
        };
        let issuer = Issuer::new(key.as_deref(), encryption.as_deref(), clock, options)?;
        out.put(handle::create(issuer));
        Ok(())
    })
}

/// Returns an upper bound for the length of a token with claims of this length. It is 0 if the issuer is for bytes or
/// the handle is not valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_issue_bound(
    issuer: *const JetonIssuer,
    claims_length: usize,
) -> usize {
    let mut bound = 0;
    guard(std::ptr::null_mut(), || {
        // SAFETY: the caller passes a handle.
        let issuer = unsafe { handle::get(issuer) }?;
        bound = issuer.length_bound(claims_length);
        Ok(())
    });
    bound
}

thread_local! {
    /// The token before it is copied to the caller.
    static TOKEN: RefCell<String> = RefCell::default();
}

/// Issues a token with these claims, a JSON object, and writes it to the caller's buffer. The buffer needs at least
/// `jeton_issue_bound` bytes. For a smaller one, the result is `BUFFER_TOO_SMALL`, and nothing is signed.
///
/// `now` is the time in microseconds since 1970, or `JETON_USE_CLOCK` for the clock of the issuer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_issue(
    issuer: *const JetonIssuer,
    claims: *const u8,
    claims_length: usize,
    now: i64,
    buffer: *mut u8,
    capacity: usize,
    token_length: *mut usize,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a text, a buffer and a place for the length.
        let (length, issuer, claims) = unsafe {
            (
                Out::new(token_length)?,
                handle::get(issuer)?,
                text(claims, claims_length)?,
            )
        };
        let _time = CallTime::set(now)?;
        let needed = issuer.length_bound(claims.len());
        // SAFETY: as above.
        let buffer = unsafe { OutBytes::new(buffer, capacity, needed) }?;
        let issue = |token: &mut String| -> Result<usize, Fault> {
            token.clear();
            issuer.issue_onto(claims, token)?;
            buffer.write(0, token.as_bytes())?;
            Ok(token.len())
        };
        length.put(if needed <= KEPT_BYTES {
            thread_memory::with(&TOKEN, issue)?
        } else {
            issue(&mut String::new())?
        });
        Ok(())
    })
}
