//! Byte arrays of the JVM. They are copied, so that they cannot change while they are read and never block the garbage
//! collector.

use std::mem::MaybeUninit;
use std::ptr;

use jeton::error::codes;
use jeton_bindings::Fault;
use jni_sys::{JNIEnv, jbyteArray, jint, jlong, jlongArray};
use zeroize::Zeroizing;

/// The functions of the JVM, for one call.
#[derive(Clone, Copy)]
pub(crate) struct Env(*mut JNIEnv);

/// A byte array that the caller passed, with its length.
#[derive(Clone, Copy)]
pub(crate) struct Input(pub(crate) jbyteArray, pub(crate) jint);

/// Inputs up to this length are copied to the stack.
const ON_STACK: usize = 2048;

impl Env {
    /// # Safety
    ///
    /// The JVM passed the pointer to the current function.
    pub(crate) unsafe fn new(env: *mut JNIEnv) -> Env {
        Env(env)
    }

    /// Copies an input and passes it to `read`. A copy on the heap is wiped, because it may be a key.
    pub(crate) fn with<R>(
        self,
        input: Input,
        read: impl FnOnce(&[u8]) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let length = length_of(input)?;
        if length <= ON_STACK {
            let mut stack = [MaybeUninit::<u8>::uninit(); ON_STACK];
            // SAFETY: the buffer has at least this many bytes.
            unsafe { self.copy(input.0, length, stack.as_mut_ptr().cast()) }?;
            // SAFETY: these bytes were written.
            return read(unsafe { std::slice::from_raw_parts(stack.as_ptr().cast(), length) });
        }
        read(&self.bytes(input)?)
    }

    /// As [`Env::with`], for a text.
    pub(crate) fn with_text<R>(
        self,
        input: Input,
        read: impl FnOnce(&str) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        self.with(input, |bytes| {
            read(std::str::from_utf8(bytes).map_err(|_| Fault::not_utf8())?)
        })
    }

    /// Returns a copy of an input.
    pub(crate) fn bytes(self, input: Input) -> Result<Zeroizing<Vec<u8>>, Fault> {
        let length = length_of(input)?;
        let mut bytes = Zeroizing::new(Vec::new());
        // An array that is too large for the memory is an error.
        let reserved = bytes.try_reserve_exact(length);
        reserved.map_err(|_| Fault::argument(&codes::ARGUMENT_LENGTH, "the input is too large"))?;
        // SAFETY: the vector has this capacity, and all bytes are written before the length is set.
        unsafe {
            self.copy(input.0, length, bytes.as_mut_ptr())?;
            bytes.set_len(length);
        }
        Ok(bytes)
    }

    /// # Safety
    ///
    /// `to` has room for `length` bytes.
    unsafe fn copy(self, array: jbyteArray, length: usize, to: *mut u8) -> Result<(), Fault> {
        // SAFETY: the pointer belongs to this call, and `to` has the room. Java passes the length of the array.
        unsafe {
            let functions = &(**self.0).v1_1;
            (functions.GetByteArrayRegion)(self.0, array, 0, length as jint, to.cast());
        }
        self.check()
    }

    /// Returns the numbers of an array.
    pub(crate) fn numbers(self, array: jlongArray, length: jint) -> Result<Vec<jlong>, Fault> {
        let count = length_of(Input(array, length))?;
        let mut numbers = vec![0; count];
        // SAFETY: the pointer belongs to this call, and the vector has the room.
        unsafe {
            let functions = &(**self.0).v1_1;
            (functions.GetLongArrayRegion)(self.0, array, 0, length, numbers.as_mut_ptr());
        }
        self.check()?;
        Ok(numbers)
    }

    /// Creates an array. Returns null if the JVM throws an out-of-memory error.
    pub(crate) fn new_array(self, length: usize) -> jbyteArray {
        let Ok(length) = jint::try_from(length) else {
            return ptr::null_mut();
        };
        // SAFETY: the pointer belongs to this call.
        unsafe {
            let array = ((**self.0).v1_1.NewByteArray)(self.0, length);
            if ((**self.0).v1_2.ExceptionCheck)(self.0) {
                ptr::null_mut()
            } else {
                array
            }
        }
    }

    /// Writes bytes to an array that has the room.
    pub(crate) fn write(self, array: jbyteArray, at: usize, bytes: &[u8]) {
        // SAFETY: the pointer belongs to this call. The JVM checks the range, and throws if it is wrong.
        unsafe {
            let functions = &(**self.0).v1_1;
            let (at, length) = (at as jint, bytes.len() as jint);
            (functions.SetByteArrayRegion)(self.0, array, at, length, bytes.as_ptr().cast());
        }
    }

    /// Returns an error if the JVM threw an exception: Java passed a wrong length.
    fn check(self) -> Result<(), Fault> {
        // SAFETY: the pointer belongs to this call.
        unsafe {
            if ((**self.0).v1_2.ExceptionCheck)(self.0) {
                ((**self.0).v1_1.ExceptionClear)(self.0);
                Err(wrong_length())
            } else {
                Ok(())
            }
        }
    }
}

fn length_of(input: Input) -> Result<usize, Fault> {
    if input.0.is_null() {
        return Err(Fault::argument(
            &codes::ARGUMENT_NULL,
            "a value is required, not null",
        ));
    }
    usize::try_from(input.1).map_err(|_| wrong_length())
}

#[cold]
fn wrong_length() -> Fault {
    Fault::argument(
        &codes::ARGUMENT_LENGTH,
        "the length does not match the array",
    )
}
