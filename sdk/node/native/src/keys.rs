//! Keys, key sets and clocks.

use std::sync::Arc;

use jeton_bindings::{Fault, Key, KeySet, SetClock};
use napi_sys::napi_value;
use zeroize::Zeroizing;

use crate::arguments;
use crate::call::Call;
use crate::handle::{self, Object};
use crate::outputs;
use crate::pool::{self, Output};

/// `keyGenerate(alg, settings)`
pub(crate) fn generate(call: &Call) -> Result<napi_value, Fault> {
    let alg = arguments::text(call.env, call.argument(0))?;
    let settings = arguments::text(call.env, call.argument(1))?;
    let key = Key::generate(&alg, &settings)?;
    handle::create(call.env, Object::Key(Arc::new(key)))
}

/// `keyGenerateLater(alg, settings)`: in the thread pool.
pub(crate) fn generate_later(call: &Call) -> Result<napi_value, Fault> {
    let alg = arguments::text(call.env, call.argument(0))?;
    let settings = arguments::text(call.env, call.argument(1))?;
    pool::run(call.env, move || {
        let key = Key::generate(&alg, &settings)?;
        Ok(Output::Object(Object::Key(Arc::new(key))))
    })
}

/// `keyImport(bytes, settings)`
pub(crate) fn import(call: &Call) -> Result<napi_value, Fault> {
    let data = arguments::bytes(call.env, call.argument(0))?;
    let settings = arguments::text(call.env, call.argument(1))?;
    let key = Key::import(&data, &settings)?;
    handle::create(call.env, Object::Key(Arc::new(key)))
}

/// `keyImportLater(bytes, settings)`: in the thread pool.
pub(crate) fn import_later(call: &Call) -> Result<napi_value, Fault> {
    let data = arguments::bytes(call.env, call.argument(0))?;
    let settings = arguments::text(call.env, call.argument(1))?;
    pool::run(call.env, move || {
        let key = Key::import(&data, &settings)?;
        Ok(Output::Object(Object::Key(Arc::new(key))))
    })
}

/// `keyPublic(key)`
pub(crate) fn public(call: &Call) -> Result<napi_value, Fault> {
    let key = handle::key(call.env, call.argument(0))?.public()?;
    handle::create(call.env, Object::Key(Arc::new(key)))
}

/// `keyExport(key, what)`
pub(crate) fn export(call: &Call) -> Result<napi_value, Fault> {
    let key = handle::key(call.env, call.argument(0))?;
    let what = arguments::text(call.env, call.argument(1))?;
    let bytes = Zeroizing::new(key.export(&what)?);
    outputs::bytes(call.env, &bytes)
}

/// `keyWarmUp(key)`
pub(crate) fn warm_up(call: &Call) -> Result<napi_value, Fault> {
    handle::key(call.env, call.argument(0))?.warm_up()?;
    outputs::null(call.env)
}

/// `keySetImport(text, settings)`
pub(crate) fn set_import(call: &Call) -> Result<napi_value, Fault> {
    let text = arguments::text(call.env, call.argument(0))?;
    let settings = arguments::text(call.env, call.argument(1))?;
    let set = KeySet::import(&text, &settings)?;
    handle::create(call.env, Object::KeySet(Arc::new(set)))
}

/// `keySet(keys)`
pub(crate) fn set_create(call: &Call) -> Result<napi_value, Fault> {
    let mut keys = Vec::new();
    for value in arguments::list(call.env, call.argument(0))? {
        keys.push(Key::clone(&*handle::key(call.env, value)?));
    }
    let set = KeySet::new(&keys)?;
    handle::create(call.env, Object::KeySet(Arc::new(set)))
}

/// `keySetExport(set, what)`
pub(crate) fn set_export(call: &Call) -> Result<napi_value, Fault> {
    let set = handle::key_set(call.env, call.argument(0))?;
    let what = arguments::text(call.env, call.argument(1))?;
    outputs::text(call.env, &set.export(&what)?)
}

/// `clock(seconds, microseconds)`
pub(crate) fn clock(call: &Call) -> Result<napi_value, Fault> {
    handle::create(call.env, Object::Clock(SetClock::new(micros(call, 0)?)?))
}

/// Returns the sum of whole seconds and of microseconds within a second. JavaScript cannot represent each sum.
fn micros(call: &Call, first: usize) -> Result<i64, Fault> {
    let seconds = arguments::integer(call.env, call.argument(first))?;
    let micros = arguments::integer(call.env, call.argument(first + 1))?;
    Ok(seconds.saturating_mul(1_000_000).saturating_add(micros))
}

/// `clockSet(clock, seconds, microseconds)`
pub(crate) fn clock_set(call: &Call) -> Result<napi_value, Fault> {
    let clock = handle::set_clock(call.env, call.argument(0))?;
    clock.set(micros(call, 1)?)?;
    outputs::null(call.env)
}

/// `close(handle)`
pub(crate) fn close(call: &Call) -> Result<napi_value, Fault> {
    handle::close(call.env, call.argument(0))?;
    outputs::null(call.env)
}
