//! Buffers of the library, for results of unknown size.

use zeroize::Zeroize;

use crate::argument::Out;
use crate::code::JetonCode;
use crate::guard::guard;
use jeton_bindings::Fault;

/// A result in memory of the library. Free it with `jeton_buffer_free`. Do not change its members.
#[repr(C)]
pub struct JetonBuffer {
    /// The bytes of the result. Text is UTF-8 without a terminating zero byte.
    pub data: *mut u8,
    /// The number of bytes of the result.
    pub length: usize,
    /// The number of allocated bytes.
    pub capacity: usize,
}

impl JetonBuffer {
    pub(crate) fn new(bytes: Vec<u8>) -> JetonBuffer {
        let mut bytes = std::mem::ManuallyDrop::new(bytes);
        JetonBuffer {
            data: bytes.as_mut_ptr(),
            length: bytes.len(),
            capacity: bytes.capacity(),
        }
    }
}

impl Out<JetonBuffer> {
    /// Writes a result of the library.
    pub(crate) fn put_bytes(self, bytes: impl Into<Vec<u8>>) {
        self.put(JetonBuffer::new(bytes.into()));
    }
}

/// Wipes and frees the memory of a buffer, and sets its members to zero. A null pointer or a zeroed buffer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_buffer_free(buffer: *mut JetonBuffer) -> JetonCode {
    guard(std::ptr::null_mut(), || {
        if buffer.is_null() {
            return Ok(());
        }
        if !buffer.is_aligned() {
            return Err(crate::argument::null());
        }
        let empty = JetonBuffer {
            data: std::ptr::null_mut(),
            length: 0,
            capacity: 0,
        };
        // SAFETY: not null, and the caller passes a buffer of the library or zeros.
        let JetonBuffer {
            data,
            length,
            capacity,
        } = unsafe { buffer.replace(empty) };
        if data.is_null() {
            return Ok(());
        }
        if length > capacity {
            return Err(Fault::argument(
                &jeton::error::codes::ARGUMENT_LENGTH,
                "the members of a buffer were changed",
            ));
        }
        // SAFETY: `JetonBuffer::new` took them from a vector.
        let mut bytes = unsafe { Vec::from_raw_parts(data, length, capacity) };
        bytes.zeroize();
        Ok(())
    })
}
