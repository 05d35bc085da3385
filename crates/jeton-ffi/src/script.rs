//! Interprets bytes as a script of function calls, for the fuzzer and for tests.
//!
//! Every function is called with any handle, any text and any length. The script keeps only the rules that a C compiler
//! cannot check: no handle is used after its release, and a length that fits in memory is the real one.

#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "one comment for all calls: texts and handles live until each call ends"
)]

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::ptr;

use crate::*;

/// The maximum number of handles at a time.
const SLOTS: usize = 8;

/// The maximum number of calls, so that a script is cheap to run.
const STEPS: usize = 24;

/// Algorithms with keys that are cheap to generate.
const ALGORITHMS: [&str; 8] = [
    "HS256",
    "ES256",
    "EdDSA",
    "dir",
    "A128KW",
    "ECDH-ES",
    "v4.local",
    "v4.public",
];

struct Script<'s> {
    rest: &'s [u8],
    slots: [*const c_void; SLOTS],
    /// The last issued token.
    token: Vec<u8>,
}

/// Runs a script. It panics if a function violates its documentation.
pub fn run(bytes: &[u8]) {
    let mut script = Script {
        rest: bytes,
        slots: [ptr::null(); SLOTS],
        token: Vec::new(),
    };
    for _ in 0..STEPS {
        if script.step().is_none() {
            break;
        }
    }
    for slot in script.slots {
        // SAFETY: it is null or a handle with a reference.
        let code = unsafe { jeton_release(slot, ptr::null_mut()) };
        assert_eq!(code, 0);
    }
}

impl<'s> Script<'s> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// A pointer and a length: a text, the last token, null, or a length that is too long.
    fn text(&mut self) -> Option<(*const u8, usize)> {
        let length = usize::from(self.byte()?);
        Some(match length {
            255 => (ptr::null(), 0),
            254 => (ptr::null(), 5),
            253 => (self.rest.as_ptr(), usize::MAX),
            252 => (self.rest.as_ptr(), 1 << 63),
            251 => (self.token.as_ptr(), self.token.len()),
            250 => {
                let high = usize::from(self.byte()?);
                self.take(high * 16)
            }
            length => self.take(length),
        })
    }

    fn take(&mut self, length: usize) -> (*const u8, usize) {
        let (text, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        (text.as_ptr(), text.len())
    }

    /// A time of a call: the clock, or any year, also out of range.
    fn time(&mut self) -> Option<i64> {
        Some(match self.byte()? {
            255 => JETON_USE_CLOCK,
            high => (i64::from(high) - 16) << 50,
        })
    }

    /// A handle of any type, or null.
    fn handle<T>(&mut self) -> Option<*const T> {
        let slot = usize::from(self.byte()?);
        Some(match slot % (SLOTS + 1) {
            SLOTS => ptr::null(),
            slot => self.slots[slot].cast(),
        })
    }

    /// Keeps a new handle in a slot, and releases the previous one.
    fn keep<T>(
        &mut self,
        function: impl FnOnce(*mut *const T, *mut JetonReason) -> JetonCode,
    ) -> Option<()> {
        let mut handle = ptr::null();
        if call(|reason| function(&mut handle, reason)) == 0 {
            assert!(!handle.is_null());
            let slot = usize::from(self.byte().unwrap_or_default()) % SLOTS;
            let before = std::mem::replace(&mut self.slots[slot], handle.cast());
            // SAFETY: as above.
            let code = unsafe { jeton_release(before, ptr::null_mut()) };
            assert_eq!(code, 0);
        }
        Some(())
    }

    /// Calls the next function. Returns `None` at the end.
    fn step(&mut self) -> Option<()> {
        // SAFETY: texts and handles live until each call ends, in all calls here.
        match self.byte()? % 22 {
            0 | 1 => {
                let name = ALGORITHMS[usize::from(self.byte()?) % ALGORITHMS.len()];
                let (options, length) = self.text()?;
                self.keep(|out, reason| unsafe {
                    jeton_key_generate(name.as_ptr(), name.len(), options, length, out, reason)
                })
            }
            2 | 3 => {
                let ((data, length), (options, options_length)) = (self.text()?, self.text()?);
                self.keep(|out, reason| unsafe {
                    jeton_key_import(data, length, options, options_length, out, reason)
                })
            }
            4 => {
                let key = self.handle()?;
                self.keep(|out, reason| unsafe { jeton_key_public(key, out, reason) })
            }
            5 => {
                let (key, (what, length)) = (self.handle()?, self.text()?);
                result(|out, reason| unsafe { jeton_key_export(key, what, length, out, reason) });
                Some(())
            }
            6 => {
                let ((data, length), (options, options_length)) = (self.text()?, self.text()?);
                self.keep(|out, reason| unsafe {
                    jeton_key_set_import(data, length, options, options_length, out, reason)
                })
            }
            7 => {
                let keys = [self.handle()?, self.handle()?, self.handle()?];
                let count = match self.byte()? {
                    255 => usize::MAX,
                    count => usize::from(count) % 4,
                };
                self.keep(|out, reason| unsafe {
                    jeton_key_set_new(keys.as_ptr(), count, out, reason)
                })
            }
            8 => {
                let (keys, (what, length)) = (self.handle()?, self.text()?);
                result(|out, reason| unsafe {
                    jeton_key_set_export(keys, what, length, out, reason)
                });
                Some(())
            }
            9 | 10 => {
                let (key, encryption, clock) = (self.handle()?, self.handle()?, self.handle()?);
                let (options, length) = self.text()?;
                self.keep(|out, reason| unsafe {
                    jeton_issuer_new(key, encryption, clock, options, length, out, reason)
                })
            }
            11 | 12 => {
                let (key, keys, decryption) = (self.handle()?, self.handle()?, self.handle()?);
                let (remote, clock) = (self.handle()?, self.handle()?);
                let (options, length) = self.text()?;
                self.keep(|out, reason| unsafe {
                    jeton_verifier_new(
                        key, keys, decryption, remote, clock, options, length, out, reason,
                    )
                })
            }
            13 => self.issue(),
            14 => self.verify(),
            15 => {
                let (issuer, (data, length)) = (self.handle()?, self.text()?);
                let token = result(|out, reason| unsafe {
                    jeton_issue_bytes(issuer, data, length, out, reason)
                });
                self.token = token.unwrap_or_default();
                Some(())
            }
            16 => {
                let (verifier, (token, length)) = (self.handle()?, self.text()?);
                let (content, content_length) = self.text()?;
                result(|out, reason| unsafe {
                    jeton_verify_bytes(
                        verifier,
                        token,
                        length,
                        content,
                        content_length,
                        out,
                        reason,
                    )
                });
                Some(())
            }
            17 => self.sign_in_two_steps(),
            18 => self.fetch(),
            19 => {
                let (token, length) = self.text()?;
                result(|out, reason| unsafe { jeton_unverified(token, length, out, reason) });
                Some(())
            }
            20 => {
                let (verifier, (token, length)) = (self.handle()?, self.text()?);
                result(|out, reason| unsafe {
                    jeton_verified_header(verifier, token, length, out, reason)
                });
                Some(())
            }
            _ => {
                let (handle, micros) = (self.handle::<c_void>()?, i64::from(self.byte()?) << 46);
                unsafe {
                    call(|reason| jeton_clock_set(handle.cast(), micros, reason));
                    call(|reason| jeton_key_warm_up(handle.cast(), reason));
                    if call(|reason| jeton_retain(handle, reason)) == 0 {
                        assert_eq!(jeton_release(handle, ptr::null_mut()), 0);
                    }
                }
                self.keep(|out, reason| unsafe { jeton_clock_new(micros, out, reason) })
            }
        }
    }

    fn issue(&mut self) -> Option<()> {
        let (issuer, (claims, length), now) = (self.handle()?, self.text()?, self.time()?);
        let less = usize::from(self.byte()? % 4 == 0);
        // SAFETY: the handle lives. A bound for a length that is too long is not used.
        let bound = unsafe { jeton_issue_bound(issuer, length.min(1 << 20)) };
        let capacity = bound.saturating_sub(less);
        let mut buffer = vec![GUARD; capacity + 1];
        let mut token_length = usize::MAX;
        // SAFETY: all pointers live until the call ends.
        let code = call(|reason| unsafe {
            jeton_issue(
                issuer,
                claims,
                length,
                now,
                buffer.as_mut_ptr(),
                capacity,
                &mut token_length,
                reason,
            )
        });
        assert_eq!(buffer[capacity], GUARD);
        match code {
            0 => {
                assert!(token_length <= bound && less == 0);
                buffer.truncate(token_length);
                self.token = buffer;
            }
            _ => assert!(buffer.iter().all(|byte| *byte == GUARD)),
        }
        Some(())
    }

    fn verify(&mut self) -> Option<()> {
        let (verifier, (token, length), now) = (self.handle()?, self.text()?, self.time()?);
        let less = usize::from(self.byte()? % 4 == 0);
        let capacity = jeton_verify_bound(length.min(1 << 20)) - less;
        let mut buffer = vec![GUARD; capacity + 1];
        let mut verified = MaybeUninit::uninit();
        // SAFETY: all pointers live until the call ends.
        let code = call(|reason| unsafe {
            jeton_verify(
                verifier,
                token,
                length,
                now,
                buffer.as_mut_ptr(),
                capacity,
                verified.as_mut_ptr(),
                reason,
            )
        });
        assert_eq!(buffer[capacity], GUARD);
        if code == 0 {
            // SAFETY: the function wrote it.
            let verified: JetonVerified = unsafe { verified.assume_init() };
            let part = |range: JetonRange| {
                let start = range.start as usize;
                std::str::from_utf8(&buffer[start..start + range.length as usize])
            };
            let json = part(verified.json).expect("claims are text");
            assert!(serde_json::from_str::<serde_json::Value>(json).is_ok());
            assert!(part(verified.kid).is_ok() && part(verified.typ).is_ok());
            for claim in &verified.claims[..verified.claim_count as usize] {
                let value = part(claim.value).expect("a value is text");
                assert!(part(claim.member).is_ok_and(|member| member.ends_with(value)));
                assert!(verified.present & claim.claim != 0);
            }
        }
        Some(())
    }

    fn fetch(&mut self) -> Option<()> {
        let (options, length) = self.text()?;
        // SAFETY: texts and handles live until each call ends, in all calls here.
        self.keep(|out, reason| unsafe { jeton_remote_keys_new(options, length, out, reason) })?;
        let remote = self.handle()?;
        result(|out, reason| unsafe { jeton_remote_keys_next(remote, out, reason) });
        call(|reason| unsafe { jeton_remote_keys_ready(remote, reason) });
        let (id, status) = (u64::from(self.byte()?), u32::from(self.byte()?));
        let ((headers, headers_length), (body, body_length)) = (self.text()?, self.text()?);
        call(|reason| unsafe {
            jeton_remote_keys_respond(
                remote,
                id,
                status + 150,
                headers,
                headers_length,
                body,
                body_length,
                reason,
            )
        });
        Some(())
    }

    fn sign_in_two_steps(&mut self) -> Option<()> {
        let (issuer, (data, length), now) = (self.handle()?, self.text()?, self.time()?);
        // SAFETY: texts and handles live until each call ends.
        self.keep(|out, reason| unsafe { jeton_prepare(issuer, data, length, now, out, reason) })?;
        let (prepared, (what, length)) = (self.handle()?, self.text()?);
        // SAFETY: as above.
        result(|out, reason| unsafe { jeton_prepared_input(prepared, what, length, out, reason) });
        let ((signature, length), (form, form_length)) = (self.text()?, self.text()?);
        // SAFETY: as above.
        result(|out, reason| unsafe {
            jeton_attach(prepared, signature, length, form, form_length, out, reason)
        });
        Some(())
    }
}

/// The content of a buffer before a call.
const GUARD: u8 = 0xaa;

/// Calls a function, and checks the reason if it fails.
fn call(function: impl FnOnce(*mut JetonReason) -> JetonCode) -> JetonCode {
    let mut reason = JetonReason {
        code: 0,
        message_length: 0,
        message: [GUARD; JETON_MESSAGE_BYTES],
    };
    let code = function(&mut reason);
    if code == 0 {
        assert_eq!(reason.message, [GUARD; JETON_MESSAGE_BYTES]);
        return 0;
    }
    let entry = NUMBERS.iter().find(|(number, _)| *number == code);
    let (_, entry) = entry.expect("each code has an entry");
    assert!(
        entry.name() != "INTERNAL" && !entry.is_of_service(),
        "{entry}"
    );
    assert_eq!(reason.code, code);
    let length = reason.message_length as usize;
    assert!(std::str::from_utf8(&reason.message[..length]).is_ok_and(|text| !text.is_empty()));
    assert_eq!(reason.message[length], 0);
    code
}

/// Calls a function whose result is in a buffer of the library.
fn result(
    function: impl FnOnce(*mut JetonBuffer, *mut JetonReason) -> JetonCode,
) -> Option<Vec<u8>> {
    let mut buffer = JetonBuffer {
        data: ptr::null_mut(),
        length: 0,
        capacity: 0,
    };
    if call(|reason| function(&mut buffer, reason)) != 0 {
        return None;
    }
    // SAFETY: the function wrote a buffer, which is freed once.
    unsafe {
        let bytes = std::slice::from_raw_parts(buffer.data, buffer.length).to_vec();
        assert_eq!(jeton_buffer_free(&mut buffer), 0);
        assert_eq!(jeton_buffer_free(&mut buffer), 0);
        Some(bytes)
    }
}
