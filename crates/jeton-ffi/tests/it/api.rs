//! The C functions with Rust types, for tests.

use std::ffi::{CStr, c_void};
use std::mem::MaybeUninit;
use std::ptr;

use jeton_ffi::*;

/// The code of a failed call, and its message.
#[derive(Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: String,
    pub(crate) message: String,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// A handle that is released when it is dropped.
pub(crate) struct Owned<T>(pub(crate) *const T);

impl<T> std::fmt::Debug for Owned<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Owned")
    }
}

// SAFETY: handles may be used from any thread.
unsafe impl<T> Send for Owned<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Owned<T> {}

impl<T> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: it is a handle with a reference.
        let code = unsafe { jeton_release(self.0.cast::<c_void>(), ptr::null_mut()) };
        assert_eq!(code, 0);
    }
}

/// The pointer of a handle, or null.
pub(crate) fn pointer<T>(handle: Option<&Owned<T>>) -> *const T {
    handle.map_or(ptr::null(), |handle| handle.0)
}

pub(crate) fn name(code: JetonCode) -> String {
    let name = jeton_code_name(code);
    assert!(!name.is_null(), "{code} has no name");
    // SAFETY: the library returns texts with a zero byte.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned()
}

/// Calls a function with a place for its reason.
pub(crate) fn call(function: impl FnOnce(*mut JetonReason) -> JetonCode) -> Result<()> {
    let mut reason = MaybeUninit::<JetonReason>::uninit();
    let code = function(reason.as_mut_ptr());
    if code == 0 {
        return Ok(());
    }
    // SAFETY: a function that fails writes the reason.
    let reason = unsafe { reason.assume_init() };
    assert_eq!(reason.code, code);
    let message = CStr::from_bytes_until_nul(&reason.message)
        .unwrap()
        .to_str()
        .unwrap();
    assert_eq!(message.len(), reason.message_length as usize);
    Err(Failure {
        code: name(code),
        message: message.into(),
    })
}

/// Calls a function that creates a handle.
pub(crate) fn create<T>(
    function: impl FnOnce(*mut *const T, *mut JetonReason) -> JetonCode,
) -> Result<Owned<T>> {
    let mut handle = ptr::null();
    call(|reason| function(&mut handle, reason))?;
    assert!(!handle.is_null());
    Ok(Owned(handle))
}

/// Calls a function that returns a buffer of the library.
pub(crate) fn buffer(
    function: impl FnOnce(*mut JetonBuffer, *mut JetonReason) -> JetonCode,
) -> Result<Vec<u8>> {
    let mut buffer = MaybeUninit::<JetonBuffer>::uninit();
    call(|reason| function(buffer.as_mut_ptr(), reason))?;
    // SAFETY: a function that does not fail writes the buffer, which is freed once.
    let bytes = unsafe {
        let buffer = buffer.assume_init_mut();
        let bytes = std::slice::from_raw_parts(buffer.data, buffer.length).to_vec();
        assert_eq!(jeton_buffer_free(buffer), 0);
        assert!(buffer.data.is_null() && buffer.length == 0);
        bytes
    };
    Ok(bytes)
}

pub(crate) fn generate(alg: &str, options: &str) -> Result<Owned<JetonKey>> {
    // SAFETY: texts and places live until the call ends, in all functions below.
    create(|out, reason| unsafe {
        jeton_key_generate(
            alg.as_ptr(),
            alg.len(),
            options.as_ptr(),
            options.len(),
            out,
            reason,
        )
    })
}

pub(crate) fn import(data: &[u8], options: &str) -> Result<Owned<JetonKey>> {
    // SAFETY: as above.
    create(|out, reason| unsafe {
        jeton_key_import(
            data.as_ptr(),
            data.len(),
            options.as_ptr(),
            options.len(),
            out,
            reason,
        )
    })
}

pub(crate) fn public(key: &Owned<JetonKey>) -> Result<Owned<JetonKey>> {
    // SAFETY: as above.
    create(|out, reason| unsafe { jeton_key_public(key.0, out, reason) })
}

pub(crate) fn export(key: &Owned<JetonKey>, what: &str) -> Result<String> {
    // SAFETY: as above.
    let bytes = buffer(|out, reason| unsafe {
        jeton_key_export(key.0, what.as_ptr(), what.len(), out, reason)
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn import_set(data: &str, options: &str) -> Result<Owned<JetonKeySet>> {
    // SAFETY: as above.
    create(|out, reason| unsafe {
        jeton_key_set_import(
            data.as_ptr(),
            data.len(),
            options.as_ptr(),
            options.len(),
            out,
            reason,
        )
    })
}

pub(crate) fn new_set(keys: &[&Owned<JetonKey>]) -> Result<Owned<JetonKeySet>> {
    let keys: Vec<*const JetonKey> = keys.iter().map(|key| key.0).collect();
    // SAFETY: as above.
    create(|out, reason| unsafe { jeton_key_set_new(keys.as_ptr(), keys.len(), out, reason) })
}

pub(crate) fn export_set(keys: &Owned<JetonKeySet>, what: &str) -> Result<String> {
    // SAFETY: as above.
    let bytes = buffer(|out, reason| unsafe {
        jeton_key_set_export(keys.0, what.as_ptr(), what.len(), out, reason)
    })?;
    Ok(String::from_utf8(bytes).unwrap())
}

pub(crate) fn clock(seconds: i64) -> Result<Owned<JetonClock>> {
    // SAFETY: as above.
    create(|out, reason| unsafe { jeton_clock_new(seconds * 1_000_000, out, reason) })
}

pub(crate) fn issuer(
    key: Option<&Owned<JetonKey>>,
    encryption: Option<&Owned<JetonKey>>,
    clock: Option<&Owned<JetonClock>>,
    options: &str,
) -> Result<Owned<JetonIssuer>> {
    // SAFETY: as above.
    create(|out, reason| unsafe {
        jeton_issuer_new(
            pointer(key),
            pointer(encryption),
            pointer(clock),
            options.as_ptr(),
            options.len(),
            out,
            reason,
        )
    })
}

pub(crate) fn issue(issuer: &Owned<JetonIssuer>, claims: &str) -> Result<String> {
    issue_at(issuer, claims, JETON_USE_CLOCK)
}

pub(crate) fn issue_at(issuer: &Owned<JetonIssuer>, claims: &str, now: i64) -> Result<String> {
    // SAFETY: as above. The buffer has the required size.
    let mut token = Vec::with_capacity(unsafe { jeton_issue_bound(issuer.0, claims.len()) });
    let mut length = 0;
    // SAFETY: as above.
    call(|reason| unsafe {
        jeton_issue(
            issuer.0,
            claims.as_ptr(),
            claims.len(),
            now,
            token.as_mut_ptr(),
            token.capacity(),
            &mut length,
            reason,
        )
    })?;
    // SAFETY: the function has written this many bytes.
    unsafe { token.set_len(length) };
    Ok(String::from_utf8(token).unwrap())
}

pub(crate) fn prepare_at(
    issuer: &Owned<JetonIssuer>,
    data: &str,
    now: i64,
) -> Result<Owned<JetonPrepared>> {
    // SAFETY: as above.
    create(|out, reason| unsafe {
        jeton_prepare(issuer.0, data.as_ptr(), data.len(), now, out, reason)
    })
}

pub(crate) fn issue_bytes(issuer: &Owned<JetonIssuer>, data: &[u8]) -> Result<String> {
    // SAFETY: as above.
    let token = buffer(|out, reason| unsafe {
        jeton_issue_bytes(issuer.0, data.as_ptr(), data.len(), out, reason)
    })?;
    Ok(String::from_utf8(token).unwrap())
}

/// The keys of a verifier.
#[derive(Default)]
pub(crate) struct Keys<'k> {
    pub(crate) key: Option<&'k Owned<JetonKey>>,
    pub(crate) set: Option<&'k Owned<JetonKeySet>>,
    pub(crate) decryption: Option<&'k Owned<JetonKeySet>>,
    pub(crate) remote: Option<&'k Owned<JetonRemoteKeys>>,
    pub(crate) clock: Option<&'k Owned<JetonClock>>,
}

pub(crate) fn verifier(keys: Keys<'_>, options: &str) -> Result<Owned<JetonVerifier>> {
    // SAFETY: as above.
    create(|out, reason| unsafe {
        jeton_verifier_new(
            pointer(keys.key),
            pointer(keys.set),
            pointer(keys.decryption),
            pointer(keys.remote),
            pointer(keys.clock),
            options.as_ptr(),
            options.len(),
            out,
            reason,
        )
    })
}

/// A result with the buffer of its ranges.
#[derive(Debug)]
pub(crate) struct Claims {
    pub(crate) result: JetonVerified,
    buffer: Vec<u8>,
}

impl Claims {
    pub(crate) fn text(&self, range: JetonRange) -> &str {
        let start = range.start as usize;
        std::str::from_utf8(&self.buffer[start..start + range.length as usize]).unwrap()
    }

    pub(crate) fn json(&self) -> &str {
        self.text(self.result.json)
    }

    /// Whether the token has a claim or a member of the header.
    pub(crate) fn has(&self, bit: u32) -> bool {
        self.result.present & bit != 0
    }

    pub(crate) fn alg(&self) -> &str {
        // SAFETY: it is a text of the library.
        let alg = unsafe { std::slice::from_raw_parts(self.result.alg, self.result.alg_length) };
        std::str::from_utf8(alg).unwrap()
    }

    /// The value of a registered claim as JSON.
    pub(crate) fn value(&self, bit: u32) -> Option<&str> {
        let all = &self.result.claims[..self.result.claim_count as usize];
        let claim = all.iter().find(|claim| claim.claim == bit)?;
        Some(self.text(claim.value))
    }
}

pub(crate) fn verify(verifier: &Owned<JetonVerifier>, token: &[u8]) -> Result<Claims> {
    verify_at(verifier, token, JETON_USE_CLOCK)
}

pub(crate) fn verify_at(verifier: &Owned<JetonVerifier>, token: &[u8], now: i64) -> Result<Claims> {
    let mut buffer = vec![0xaa; jeton_verify_bound(token.len())];
    let mut result = MaybeUninit::<JetonVerified>::uninit();
    // SAFETY: as above.
    call(|reason| unsafe {
        jeton_verify(
            verifier.0,
            token.as_ptr(),
            token.len(),
            now,
            buffer.as_mut_ptr(),
            buffer.len(),
            result.as_mut_ptr(),
            reason,
        )
    })?;
    // SAFETY: a function that does not fail writes the result.
    let result = unsafe { result.assume_init() };
    Ok(Claims { result, buffer })
}

pub(crate) fn verify_bytes(
    verifier: &Owned<JetonVerifier>,
    token: &[u8],
    content: Option<&[u8]>,
) -> Result<Vec<u8>> {
    let (pointer, length) = match content {
        Some([]) => ([0].as_ptr(), 0),
        Some(content) => (content.as_ptr(), content.len()),
        None => (ptr::null(), 0),
    };
    // SAFETY: as above.
    buffer(|out, reason| unsafe {
        jeton_verify_bytes(
            verifier.0,
            token.as_ptr(),
            token.len(),
            pointer,
            length,
            out,
            reason,
        )
    })
}

pub(crate) fn unverified(token: &[u8]) -> Result<String> {
    // SAFETY: as above.
    let text = buffer(|out, reason| unsafe {
        jeton_unverified(token.as_ptr(), token.len(), out, reason)
    })?;
    Ok(String::from_utf8(text).unwrap())
}

/// The header of a verified token; empty for a PASETO.
pub(crate) fn header(verifier: &Owned<JetonVerifier>, token: &[u8]) -> Result<String> {
    // SAFETY: as above.
    let text = buffer(|out, reason| unsafe {
        jeton_verified_header(verifier.0, token.as_ptr(), token.len(), out, reason)
    })?;
    Ok(String::from_utf8(text).unwrap())
}
