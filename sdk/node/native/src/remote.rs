//! Remote key sets. JavaScript sends the requests.

use std::sync::Arc;

use jeton::error::codes;
use jeton_bindings::{Fault, RemoteKeys};
use napi_sys::napi_value;

use crate::arguments;
use crate::call::Call;
use crate::handle::{self, Object};
use crate::outputs;

/// `remoteKeys(settings)`
pub(crate) fn create(call: &Call) -> Result<napi_value, Fault> {
    let settings = arguments::text(call.env, call.argument(0))?;
    let keys = RemoteKeys::new(&settings)?;
    handle::create(call.env, Object::Remote(Arc::new(keys)))
}

/// `remoteNext(remote)`: returns the next request as JSON, or `null`.
pub(crate) fn next(call: &Call) -> Result<napi_value, Fault> {
    let keys = handle::remote(call.env, call.argument(0))?;
    match keys.next() {
        Some(request) => outputs::text(call.env, &request),
        None => outputs::null(call.env),
    }
}

/// `remoteReady(remote)`: fails if there are no keys to verify with.
pub(crate) fn ready(call: &Call) -> Result<napi_value, Fault> {
    handle::remote(call.env, call.argument(0))?.ready()?;
    outputs::null(call.env)
}

/// `remoteRespond(remote, id, status, headers, body)`
pub(crate) fn respond(call: &Call) -> Result<napi_value, Fault> {
    let keys = handle::remote(call.env, call.argument(0))?;
    let id = unsigned(arguments::integer(call.env, call.argument(1))?)?;
    let status = unsigned(arguments::integer(call.env, call.argument(2))?)?;
    let headers = arguments::text(call.env, call.argument(3))?;
    let body = arguments::bytes(call.env, call.argument(4))?;
    keys.respond(id, status, &headers, &body)?;
    outputs::null(call.env)
}

fn unsigned<T: TryFrom<i64>>(number: i64) -> Result<T, Fault> {
    T::try_from(number)
        .map_err(|_| Fault::argument(&codes::INVALID_OPTION, "an argument is out of range"))
}
