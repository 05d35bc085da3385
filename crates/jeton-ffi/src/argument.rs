//! Checks arguments before anything reads them.

use std::ptr;

use jeton::error::codes;

use jeton_bindings::Fault;

/// Returns the bytes at a pointer. A null pointer is empty if the length is 0.
///
/// # Safety
///
/// The pointer is null or has this number of readable bytes, which do not change before `'a` ends.
pub(crate) unsafe fn bytes<'a>(pointer: *const u8, length: usize) -> Result<&'a [u8], Fault> {
    // No value in memory is larger. `from_raw_parts` must not get a larger length.
    if length > isize::MAX as usize {
        return Err(Fault::argument(
            &codes::ARGUMENT_LENGTH,
            "the length is larger than the address space",
        ));
    }
    if pointer.is_null() {
        return match length {
            0 => Ok(&[]),
            _ => Err(null()),
        };
    }
    // SAFETY: the pointer is not null, the length is in range, and the caller ensures the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, length) })
}

/// Returns the text at a pointer. A null pointer is empty if the length is 0.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn text<'a>(pointer: *const u8, length: usize) -> Result<&'a str, Fault> {
    // SAFETY: the caller ensures it.
    let bytes = unsafe { bytes(pointer, length) }?;
    std::str::from_utf8(bytes)
        .map_err(|_| Fault::argument(&codes::ARGUMENT_NOT_UTF8, "a text is not valid UTF-8"))
}

/// Returns the elements at a pointer. A null pointer is empty if the count is 0.
///
/// # Safety
///
/// As for [`bytes`], with this number of elements.
pub(crate) unsafe fn elements<'a, T>(pointer: *const T, count: usize) -> Result<&'a [T], Fault> {
    let length = count.saturating_mul(size_of::<T>());
    // SAFETY: only the checks run if the length is out of range; else the caller ensures it.
    unsafe { bytes(pointer.cast(), length) }?;
    if pointer.is_null() {
        return Ok(&[]);
    }
    if !pointer.is_aligned() {
        return Err(null());
    }
    // SAFETY: as above.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// The place for the result of a function.
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Checks that the pointer is not null.
    ///
    /// # Safety
    ///
    /// The pointer is null, or a `T` may be written there until the function returns.
    pub(crate) unsafe fn new(pointer: *mut T) -> Result<Out<T>, Fault> {
        if pointer.is_null() || !pointer.is_aligned() {
            return Err(null());
        }
        Ok(Out(pointer))
    }

    /// Writes the result.
    pub(crate) fn put(self, value: T) {
        // SAFETY: checked in `new`.
        unsafe { self.0.write(value) }
    }

    /// Writes an initial value and returns a reference, so that the value can be completed in place.
    pub(crate) fn start(&mut self, value: T) -> &mut T {
        // SAFETY: checked in `new`. No other reference exists, as `self` is borrowed.
        unsafe {
            self.0.write(value);
            &mut *self.0
        }
    }
}

/// The caller's buffer. It may be uninitialised, so nothing reads it.
pub(crate) struct OutBytes {
    start: *mut u8,
    capacity: usize,
}

impl OutBytes {
    /// Checks the pointer, and that the buffer has at least `needed` bytes.
    ///
    /// # Safety
    ///
    /// The pointer is null, or `capacity` bytes may be written there until the function returns. Nothing else
    /// that the function reads overlaps them.
    pub(crate) unsafe fn new(
        start: *mut u8,
        capacity: usize,
        needed: usize,
    ) -> Result<OutBytes, Fault> {
        if capacity > isize::MAX as usize {
            return Err(Fault::argument(
                &codes::ARGUMENT_LENGTH,
                "the length is larger than the address space",
            ));
        }
        if start.is_null() && capacity > 0 {
            return Err(null());
        }
        if capacity < needed {
            return Err(Fault::TooSmall {
                needed,
                actual: capacity,
            });
        }
        Ok(OutBytes { start, capacity })
    }

    /// Writes bytes at an offset. They must fit: the caller has checked the bound.
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), Fault> {
        let fits = (self.capacity.checked_sub(offset)).is_some_and(|rest| rest >= bytes.len());
        if !fits {
            return Err(Fault::Internal);
        }
        if !bytes.is_empty() {
            // SAFETY: the range is inside the buffer, and `bytes` is memory of the library.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(offset), bytes.len()) }
        }
        Ok(())
    }
}

#[cold]
pub(crate) fn null() -> Fault {
    Fault::argument(
        &codes::ARGUMENT_NULL,
        "a required pointer is null or not aligned",
    )
}
