//! Objects of the library that JavaScript holds.

use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::c_void;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

use jeton::error::codes;
use jeton::{Clock, SystemClock};
use jeton_bindings::{Fault, Issuer, Key, KeySet, Prepared, RemoteKeys, SetClock, Verifier};
use napi_sys::{napi_env, napi_value};

use crate::arguments;
use crate::outputs::made;

/// An object of the library. Clones share it.
#[derive(Clone)]
pub(crate) enum Object {
    Key(Arc<Key>),
    KeySet(Arc<KeySet>),
    Issuer(Arc<Issuer>),
    Verifier(Arc<Verifier>),
    Remote(Arc<RemoteKeys>),
    Clock(SetClock),
    Prepared(Arc<Prepared>),
}

/// Holds an object until it is closed.
pub(crate) struct Slot(pub(crate) RefCell<Option<Object>>);

thread_local! {
    /// The slots that JavaScript holds. External values of other libraries are not among them.
    static KNOWN: RefCell<HashSet<*const Slot>> = RefCell::default();
}

/// Passes an object to JavaScript. Node drops it with the value, or when the environment ends.
pub(crate) fn create(env: napi_env, object: Object) -> Result<napi_value, Fault> {
    let slot = Rc::into_raw(Rc::new(Slot(RefCell::new(Some(object)))));
    let mut value = ptr::null_mut();
    // SAFETY: the pointer comes from an `Rc`, and `dropped` takes its reference back.
    let status = unsafe {
        napi_sys::napi_create_external(
            env,
            slot.cast_mut().cast(),
            Some(dropped),
            ptr::null_mut(),
            &mut value,
        )
    };
    if status != 0 {
        // SAFETY: Node did not take the reference.
        drop(unsafe { Rc::from_raw(slot) });
        return Err(Fault::Internal);
    }
    KNOWN.with(|known| known.borrow_mut().insert(slot));
    made(status, value)
}

unsafe extern "C" fn dropped(_: napi_env, data: *mut c_void, _: *mut c_void) {
    let slot = data.cast::<Slot>().cast_const();
    // While a thread ends, its `KNOWN` set may already be gone.
    let _ = KNOWN.try_with(|known| known.borrow_mut().remove(&slot));
    // SAFETY: `create` made the reference, and it is released once.
    drop(unsafe { Rc::from_raw(slot) });
}

#[cold]
fn no_handle() -> Fault {
    Fault::argument(
        &codes::ARGUMENT_HANDLE,
        "an argument has the wrong type or is closed",
    )
}

/// Returns the slot of an object.
pub(crate) fn slot(env: napi_env, value: napi_value) -> Result<Rc<Slot>, Fault> {
    let mut data = ptr::null_mut();
    // SAFETY: the out pointer is valid.
    let status = unsafe { napi_sys::napi_get_value_external(env, value, &mut data) };
    let slot = data.cast::<Slot>().cast_const();
    if status != 0 || !KNOWN.with(|known| known.borrow().contains(&slot)) {
        return Err(no_handle());
    }
    // SAFETY: the value holds a reference, so the count can be incremented.
    unsafe {
        Rc::increment_strong_count(slot);
        Ok(Rc::from_raw(slot))
    }
}

fn object(env: napi_env, value: napi_value) -> Result<Object, Fault> {
    slot(env, value)?.0.borrow().clone().ok_or_else(no_handle)
}

/// Closes an object. Running calls keep it until they end.
pub(crate) fn close(env: napi_env, value: napi_value) -> Result<(), Fault> {
    let object = slot(env, value)?.0.borrow_mut().take();
    drop(object);
    Ok(())
}

macro_rules! of_type {
    ($($name:ident: $variant:ident($type:ty);)*) => {$(
        /// Returns the object if it has this type.
        pub(crate) fn $name(env: napi_env, value: napi_value) -> Result<$type, Fault> {
            match object(env, value)? {
                Object::$variant(object) => Ok(object),
                _ => Err(no_handle()),
            }
        }
    )*};
}

of_type! {
    key: Key(Arc<Key>);
    key_set: KeySet(Arc<KeySet>);
    issuer: Issuer(Arc<Issuer>);
    verifier: Verifier(Arc<Verifier>);
    remote: Remote(Arc<RemoteKeys>);
    set_clock: Clock(SetClock);
    prepared: Prepared(Arc<Prepared>);
}

/// Returns the object, or `None` if the argument is absent.
pub(crate) fn optional<T>(
    env: napi_env,
    value: napi_value,
    get: impl FnOnce(napi_env, napi_value) -> Result<T, Fault>,
) -> Result<Option<T>, Fault> {
    if arguments::is_absent(env, value) {
        return Ok(None);
    }
    get(env, value).map(Some)
}

/// Returns the clock that was passed, or the system clock.
pub(crate) fn clock(env: napi_env, value: napi_value) -> Result<Arc<dyn Clock>, Fault> {
    Ok(match optional(env, value, set_clock)? {
        Some(clock) => Arc::new(clock),
        None => Arc::new(SystemClock),
    })
}

impl Slot {
    /// Runs `run` with the issuer.
    pub(crate) fn with_issuer<R>(
        &self,
        run: impl FnOnce(&Issuer) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        match &*self.0.borrow() {
            Some(Object::Issuer(issuer)) => run(issuer),
            _ => Err(no_handle()),
        }
    }

    /// Runs `run` with the verifier.
    pub(crate) fn with_verifier<R>(
        &self,
        run: impl FnOnce(&Verifier) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        match &*self.0.borrow() {
            Some(Object::Verifier(verifier)) => run(verifier),
            _ => Err(no_handle()),
        }
    }
}

/// Creates a JavaScript function that owns data.
pub(crate) fn function<D>(
    env: napi_env,
    data: D,
    callback: unsafe extern "C" fn(napi_env, napi_sys::napi_callback_info) -> napi_value,
) -> Result<napi_value, Fault> {
    unsafe extern "C" fn drop_data<D>(_: napi_env, data: *mut c_void, _: *mut c_void) {
        // SAFETY: `function` made the box, and it is dropped once.
        drop(unsafe { Box::from_raw(data.cast::<D>()) });
    }
    let data = Box::into_raw(Box::new(data));
    let mut value = ptr::null_mut();
    // SAFETY: the data lives as long as the function: its finalizer drops it.
    let status = unsafe {
        napi_sys::napi_create_function(env, ptr::null(), 0, Some(callback), data.cast(), &mut value)
    };
    if status != 0 {
        // SAFETY: no function owns the data.
        drop(unsafe { Box::from_raw(data) });
        return Err(Fault::Internal);
    }
    // SAFETY: as above. If the call fails, the data leaks, because the function may still use it.
    let status = unsafe {
        napi_sys::napi_add_finalizer(
            env,
            value,
            data.cast(),
            Some(drop_data::<D>),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    made(status, value)
}
