//! The value that every class holds until `close`.

use std::sync::{Arc, Mutex, PoisonError};

use jeton::error::codes;
use jeton_bindings::Fault;

/// Shares a value until it is closed. A running call keeps the value until it ends.
pub(crate) struct Handle<T>(Mutex<Option<Arc<T>>>);

impl<T> Handle<T> {
    pub(crate) fn new(value: T) -> Handle<T> {
        Handle::shared(Arc::new(value))
    }

    pub(crate) fn shared(value: Arc<T>) -> Handle<T> {
        Handle(Mutex::new(Some(value)))
    }

    pub(crate) fn get(&self) -> Result<Arc<T>, Fault> {
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        value.as_ref().map(Arc::clone).ok_or_else(closed)
    }

    pub(crate) fn close(&self) {
        let value = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(value);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none()
    }
}

#[cold]
fn closed() -> Fault {
    Fault::argument(
        &codes::ARGUMENT_HANDLE,
        "the object is closed: use it before `close` or the end of its `with` block",
    )
}
