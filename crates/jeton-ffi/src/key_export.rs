//! Exports keys as text and bytes.

use crate::argument::{Out, text};
use crate::buffer::JetonBuffer;
use crate::code::JetonCode;
use crate::guard::guard;
use crate::handle;
use crate::key::JetonKey;
use crate::reason::JetonReason;

/// Exports the key, or the property that `what` names, to a buffer of the library:
///
/// - `jwk`, `pem`, `der`, `paserk`: the public key, also of a private key. A symmetric key is an error.
/// - `thumbprint`, `thumbprint-uri`: RFC 7638 and RFC 9278.
/// - `kid`: the key id, or an empty result; for PASETO the PASERK id. `alg`: the algorithm.
/// - `kind`: `symmetric`, `private` or `public`. `alg-kind`: the algorithm, a space, and the kind.
/// - `insecure-jwk`, `insecure-pem`, `insecure-der`, `insecure-paserk`: the key with its secret part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_key_export(
    key: *const JetonKey,
    what: *const u8,
    what_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a text and a place for a buffer.
        let (out, key, what) =
            unsafe { (Out::new(out)?, handle::get(key)?, text(what, what_length)?) };
        out.put_bytes(key.export(what)?);
        Ok(())
    })
}
