//! Keys, key sets and clocks.

use std::sync::Arc;

use jeton_bindings::settings::{self, IMPORTED_KEY, KeyText};
use jeton_bindings::{Fault, Key, KeySet, KeySettings, SetClock};
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

/// The arguments of an import.
struct Import {
    data: Zeroizing<Vec<u8>>,
    format: KeyText,
    alg: OptionalText,
    enc: OptionalText,
    kid: OptionalText,
    password: OptionalText,
}

type OptionalText = Option<Zeroizing<String>>;

fn optional_text(call: &Call, index: usize) -> Result<OptionalText, Fault> {
    handle::optional(call.env, call.argument(index), arguments::text)
}

fn as_str(text: &OptionalText) -> Option<&str> {
    text.as_deref().map(String::as_str)
}

impl Import {
    /// Reads `(data, format, alg, enc, kid, password)`. The data is a string or bytes. Without a format, it is `any`.
    fn of(call: &Call) -> Result<Import, Fault> {
        let format = optional_text(call, 1)?;
        Ok(Import {
            data: arguments::text_or_bytes(call.env, call.argument(0))?,
            format: as_str(&format).map_or(Ok(KeyText::Any), KeyText::parse)?,
            alg: optional_text(call, 2)?,
            enc: optional_text(call, 3)?,
            kid: optional_text(call, 4)?,
            password: optional_text(call, 5)?,
        })
    }

    fn key(&self) -> Result<Object, Fault> {
        let settings = KeySettings {
            format: self.format,
            alg: as_str(&self.alg),
            enc: as_str(&self.enc),
            kid: as_str(&self.kid),
            password: as_str(&self.password),
            rounds: None,
        };
        let key = Key::import_with(&self.data, &settings)?;
        Ok(Object::Key(Arc::new(key)))
    }
}

/// `keyImport(data, format, alg, enc, kid, password)`
pub(crate) fn import(call: &Call) -> Result<napi_value, Fault> {
    handle::create(call.env, Import::of(call)?.key()?)
}

/// `keyImportLater(data, format, alg, enc, kid, password)`: in the thread pool.
pub(crate) fn import_later(call: &Call) -> Result<napi_value, Fault> {
    let import = Import::of(call)?;
    pool::run(call.env, move || import.key().map(Output::Object))
}

/// `keyOfPassword(password, alg, kid, rounds)`
pub(crate) fn of_password(call: &Call) -> Result<napi_value, Fault> {
    let data = arguments::text_or_bytes(call.env, call.argument(0))?;
    let (alg, kid) = (optional_text(call, 1)?, optional_text(call, 2)?);
    let rounds = handle::optional(call.env, call.argument(3), arguments::integer)?;
    let rounds = rounds.map(u32::try_from).transpose();
    let settings = KeySettings {
        format: KeyText::InsecurePassword,
        alg: as_str(&alg),
        kid: as_str(&kid),
        rounds: rounds.map_err(|_| settings::wrong_type(IMPORTED_KEY, "rounds"))?,
        ..KeySettings::default()
    };
    let key = Key::import_with(&data, &settings)?;
    handle::create(call.env, Object::Key(Arc::new(key)))
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
