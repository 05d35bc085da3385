//! Issuers.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use jeton::error::codes;
use jeton_bindings::{Fault, Issuer};
use napi_sys::{napi_callback_info, napi_env, napi_value};

use crate::arguments;
use crate::call::{self, Call};
use crate::handle::{self, Object, Slot};
use crate::outputs;
use crate::pool::{self, Output};

/// `issuer(key, encryption, clock, settings)`
pub(crate) fn create(call: &Call) -> Result<napi_value, Fault> {
    let env = call.env;
    let key = handle::optional(env, call.argument(0), handle::key)?;
    let encryption = handle::optional(env, call.argument(1), handle::key)?;
    let clock = handle::clock(env, call.argument(2))?;
    let settings = arguments::text(env, call.argument(3))?;
    let issuer = Issuer::new(key.as_deref(), encryption.as_deref(), clock, &settings)?;
    handle::create(env, Object::Issuer(Arc::new(issuer)))
}

/// The largest token buffer that a thread keeps, in bytes.
const KEPT_BYTES: usize = 64 * 1024;

thread_local! {
    /// Holds the token until Node copies it.
    static TOKEN: RefCell<String> = RefCell::default();
}

/// `issueFunction(issuer)`: returns a function that issues tokens.
pub(crate) fn function(call: &Call) -> Result<napi_value, Fault> {
    let slot = handle::slot(call.env, call.argument(0))?;
    handle::function(call.env, slot, issue)
}

unsafe extern "C" fn issue(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: Node calls it with the data of `function`.
    unsafe {
        call::enter::<Rc<Slot>>(env, info, |call, slot| {
            slot.with_issuer(|issuer| {
                arguments::with_text(env, call.argument(0), |claims| {
                    let claims = claims.map_err(|_| no_claims())?;
                    TOKEN.with(|token| match token.try_borrow_mut() {
                        Ok(mut token) => issue_with(env, issuer, claims, &mut token),
                        Err(_) => issue_with(env, issuer, claims, &mut String::new()),
                    })
                })
            })
        })
    }
}

fn issue_with(
    env: napi_env,
    issuer: &Issuer,
    claims: &str,
    token: &mut String,
) -> Result<napi_value, Fault> {
    token.clear();
    issuer.issue_onto(claims, token)?;
    let value = outputs::text(env, token);
    if token.capacity() > KEPT_BYTES {
        *token = String::new();
    }
    value
}

#[cold]
fn no_claims() -> Fault {
    Fault::argument(
        &codes::CLAIMS_NOT_SERIALIZABLE,
        "the claims cannot be converted to JSON",
    )
}

/// `issueLater(issuer, claims)`: in the thread pool.
pub(crate) fn issue_later(call: &Call) -> Result<napi_value, Fault> {
    let issuer = handle::issuer(call.env, call.argument(0))?;
    let claims = arguments::text(call.env, call.argument(1)).map_err(|_| no_claims())?;
    pool::run(call.env, move || {
        let mut token = String::new();
        issuer.issue_onto(&claims, &mut token)?;
        Ok(Output::Text(token))
    })
}

/// `issueBytes(issuer, bytes)`
pub(crate) fn issue_bytes(call: &Call) -> Result<napi_value, Fault> {
    let issuer = handle::issuer(call.env, call.argument(0))?;
    let data = arguments::bytes(call.env, call.argument(1))?;
    outputs::text(call.env, &issuer.issue_bytes(&data)?)
}

/// `issueBytesLater(issuer, bytes)`: in the thread pool.
pub(crate) fn issue_bytes_later(call: &Call) -> Result<napi_value, Fault> {
    let issuer = handle::issuer(call.env, call.argument(0))?;
    let data = arguments::bytes(call.env, call.argument(1))?;
    pool::run(call.env, move || {
        issuer.issue_bytes(&data).map(Output::Text)
    })
}

/// `prepare(issuer, bytes)`
pub(crate) fn prepare(call: &Call) -> Result<napi_value, Fault> {
    let issuer = handle::issuer(call.env, call.argument(0))?;
    let data = arguments::bytes(call.env, call.argument(1))?;
    let prepared = issuer.prepare(&data)?;
    handle::create(call.env, Object::Prepared(Arc::new(prepared)))
}

/// `preparedInput(prepared, what)`
pub(crate) fn prepared_input(call: &Call) -> Result<napi_value, Fault> {
    let prepared = handle::prepared(call.env, call.argument(0))?;
    let what = arguments::text(call.env, call.argument(1))?;
    outputs::bytes(call.env, &prepared.input(&what)?)
}

/// `attach(prepared, signature, form)`
pub(crate) fn attach(call: &Call) -> Result<napi_value, Fault> {
    let prepared = handle::prepared(call.env, call.argument(0))?;
    let signature = arguments::bytes(call.env, call.argument(1))?;
    let form = arguments::text(call.env, call.argument(2))?;
    outputs::text(call.env, &prepared.attach(signature.to_vec(), &form)?)
}
