//! A clock for tests.

use std::sync::Arc;

use jeton::{Clock, SystemClock};
use jeton_bindings::SetClock;
use pyo3::prelude::*;

use crate::fault::guard;

/// A clock that stands still until it is set.
#[pyclass(frozen, subclass, module = "jeton._jeton")]
pub(crate) struct FixedClock(SetClock);

#[pymethods]
impl FixedClock {
    #[new]
    fn new(py: Python<'_>, microseconds: i64) -> PyResult<FixedClock> {
        guard(py, || Ok(FixedClock(SetClock::new(microseconds)?)))
    }

    fn set_microseconds(&self, py: Python<'_>, microseconds: i64) -> PyResult<()> {
        guard(py, || Ok(self.0.set(microseconds)?))
    }
}

/// Returns the caller's clock, or the system clock.
pub(crate) fn clock_or_system(clock: Option<&Bound<'_, FixedClock>>) -> Arc<dyn Clock> {
    match clock {
        Some(clock) => Arc::new(clock.get().0.clone()),
        None => Arc::new(SystemClock),
    }
}
