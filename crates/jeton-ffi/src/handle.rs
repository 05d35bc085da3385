//! Handles: memory of the library with a reference count and the kind of its value.
//!
//! Every call checks the kind, so a handle of the wrong kind is an error. With the feature `checking`, the memory is
//! never freed, so a released handle is an error too. Without it, the use of a released handle is undefined behaviour.

use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering, fence};

use jeton::error::codes;
use jeton_bindings::Fault;

use crate::argument::null;

/// An opaque type of the header.
pub(crate) trait Handle: Sized {
    /// The value of the handle.
    type Value: Send + Sync + 'static;
    const KIND: Kind;
}

/// The kind of a handle. The numbers are unlikely in other memory.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    Key = 0x6a65_7401,
    KeySet = 0x6a65_7402,
    Issuer = 0x6a65_7403,
    Verifier = 0x6a65_7404,
    Prepared = 0x6a65_7405,
    Clock = 0x6a65_7406,
    RemoteKeys = 0x6a65_7407,
}

impl Kind {
    /// Returns the kind of a handle, or an error for a released handle and for other memory.
    ///
    /// # Safety
    ///
    /// Those of [`get`].
    pub(crate) unsafe fn of(handle: *const c_void) -> Result<Kind, Fault> {
        // SAFETY: the caller ensures it.
        let head = unsafe { head(handle) }?;
        Kind::from_number(head.kind.load(Ordering::Relaxed)).ok_or_else(not_a_handle)
    }

    fn from_number(number: u32) -> Option<Kind> {
        [
            Kind::Key,
            Kind::KeySet,
            Kind::Issuer,
            Kind::Verifier,
            Kind::Prepared,
            Kind::Clock,
            Kind::RemoteKeys,
        ]
        .into_iter()
        .find(|kind| *kind as u32 == number)
    }
}

const RELEASED: u32 = 0x6465_6164;

/// The start of every handle.
#[repr(C)]
struct Head {
    kind: AtomicU32,
    references: AtomicUsize,
}

#[repr(C)]
struct Shared<V> {
    head: Head,
    value: ManuallyDrop<V>,
}

/// Creates a handle with one reference.
pub(crate) fn create<H: Handle>(value: H::Value) -> *const H {
    let shared = Box::new(Shared {
        head: Head {
            kind: AtomicU32::new(H::KIND as u32),
            references: AtomicUsize::new(1),
        },
        value: ManuallyDrop::new(value),
    });
    Box::into_raw(shared).cast_const().cast()
}

/// The value of a handle, while a function uses it.
pub(crate) struct Used<'h, V>(&'h Shared<V>);

impl<V> Deref for Used<'_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.0.value
    }
}

#[cfg(feature = "checking")]
impl<V> Drop for Used<'_, V> {
    fn drop(&mut self) {
        let shared = std::ptr::from_ref(self.0).cast_mut();
        // SAFETY: `get` took a reference, and the memory is never freed.
        unsafe { drop_reference(shared) };
    }
}

/// Returns the value of a handle.
///
/// # Safety
///
/// The pointer is null, or a handle of any kind that is not released before `'h` ends. With the feature `checking`,
/// it may be released.
pub(crate) unsafe fn get<'h, H: Handle>(handle: *const H) -> Result<Used<'h, H::Value>, Fault> {
    // SAFETY: the caller ensures it.
    let head = unsafe { head(handle.cast()) }?;
    if head.kind.load(Ordering::Relaxed) != H::KIND as u32 {
        return Err(not_a_handle());
    }
    #[cfg(feature = "checking")]
    if !take_reference(head) {
        return Err(not_a_handle());
    }
    // SAFETY: the kind determines which value follows the head.
    Ok(Used(unsafe { &*handle.cast::<Shared<H::Value>>() }))
}

/// # Safety
///
/// The pointer is null or a handle of any kind.
unsafe fn head<'h>(handle: *const c_void) -> Result<&'h Head, Fault> {
    let head = handle.cast::<Head>();
    if head.is_null() {
        return Err(null());
    }
    if !head.is_aligned() {
        return Err(not_a_handle());
    }
    // SAFETY: not null and aligned, and each handle starts with a head.
    Ok(unsafe { &*head })
}

#[cold]
fn not_a_handle() -> Fault {
    Fault::argument(
        &codes::ARGUMENT_HANDLE,
        "a handle has the wrong type or is released",
    )
}

/// Adds a reference. Fails if none is left.
fn take_reference(head: &Head) -> bool {
    let more = |count: usize| match count {
        0 => None,
        // So many references are a bug of the caller, and the count must not overflow.
        count if count > isize::MAX as usize => None,
        count => Some(count + 1),
    };
    (head.references)
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
        .is_ok()
}

/// Adds a reference to a handle of any kind.
///
/// # Safety
///
/// Those of [`get`].
pub(crate) unsafe fn retain(handle: *const c_void) -> Result<(), Fault> {
    // SAFETY: the caller ensures it.
    let head = unsafe { head(handle) }?;
    let is_handle = Kind::from_number(head.kind.load(Ordering::Relaxed)).is_some();
    if is_handle && take_reference(head) {
        Ok(())
    } else {
        Err(not_a_handle())
    }
}

/// Drops a reference to a handle. The last one also drops the value.
///
/// # Safety
///
/// The handle has this type, and the caller has a reference.
pub(crate) unsafe fn release<H: Handle>(handle: *const H) {
    let shared = handle.cast_mut().cast::<Shared<H::Value>>();
    // SAFETY: the kind determines which value follows the head, and the caller has a reference.
    unsafe { drop_reference(shared) };
}

/// Drops a reference. The last one also drops the value.
///
/// # Safety
///
/// The caller has a reference.
unsafe fn drop_reference<V>(shared: *mut Shared<V>) {
    // SAFETY: there is a reference, so the memory is not freed.
    let head = unsafe { &(*shared).head };
    if head.references.fetch_sub(1, Ordering::Release) != 1 {
        return;
    }
    fence(Ordering::Acquire);
    head.kind.store(RELEASED, Ordering::Relaxed);
    // SAFETY: this was the last reference.
    unsafe { ManuallyDrop::drop(&mut (*shared).value) };
    #[cfg(not(feature = "checking"))]
    // SAFETY: `create` allocated it, and nothing has a reference.
    drop(unsafe { Box::from_raw(shared) });
}
