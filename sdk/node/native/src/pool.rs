//! Work in Node's thread pool. JavaScript gets a promise.

use std::ffi::c_void;
use std::ptr;

use jeton_bindings::Fault;
use napi_sys::{napi_async_work, napi_deferred, napi_env, napi_status, napi_value};

use crate::call::guarded;
use crate::handle::{self, Object};
use crate::outputs::{self, made};
use crate::verified::Owned;

/// The result of the work.
pub(crate) enum Output {
    Text(String),
    Bytes(Vec<u8>),
    Object(Object),
    Verified(Box<Owned>),
}

type Work = Box<dyn FnOnce() -> Result<Output, Fault> + Send>;

struct Job {
    work: Option<Work>,
    result: Result<Output, Fault>,
    deferred: napi_deferred,
    handle: napi_async_work,
}

/// Runs `work` in the thread pool. The promise resolves to its result, or to an array of an error's code and message.
pub(crate) fn run(
    env: napi_env,
    work: impl FnOnce() -> Result<Output, Fault> + Send + 'static,
) -> Result<napi_value, Fault> {
    let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
    let name = outputs::text(env, "jeton")?;
    // SAFETY: the out pointers are valid.
    let status = unsafe { napi_sys::napi_create_promise(env, &mut deferred, &mut promise) };
    let promise = made(status, promise)?;
    let job = Box::into_raw(Box::new(Job {
        work: Some(Box::new(work)),
        result: Err(Fault::Internal),
        deferred,
        handle: ptr::null_mut(),
    }));
    // SAFETY: the job lives until `complete` takes it. Node calls `complete` once for queued work.
    unsafe {
        let mut handle = ptr::null_mut();
        let status = napi_sys::napi_create_async_work(
            env,
            ptr::null_mut(),
            name,
            Some(execute),
            Some(complete),
            job.cast(),
            &mut handle,
        );
        (*job).handle = handle;
        if status != 0 || napi_sys::napi_queue_async_work(env, handle) != 0 {
            drop(Box::from_raw(job));
            return Err(Fault::Internal);
        }
    }
    Ok(promise)
}

unsafe extern "C" fn execute(_: napi_env, data: *mut c_void) {
    // SAFETY: `run` created the job. No other thread uses it until this returns.
    let job = unsafe { &mut *data.cast::<Job>() };
    let work = job.work.take();
    job.result = guarded(|| work.ok_or(Fault::Internal)?());
}

unsafe extern "C" fn complete(env: napi_env, _: napi_status, data: *mut c_void) {
    // SAFETY: `run` created the job, and it is taken once.
    let job = unsafe { Box::from_raw(data.cast::<Job>()) };
    let (deferred, handle) = (job.deferred, job.handle);
    let converted = guarded(|| match &job.result {
        Ok(Output::Text(text)) => outputs::text(env, text),
        Ok(Output::Bytes(bytes)) => outputs::bytes(env, bytes),
        Ok(Output::Object(object)) => handle::create(env, object.clone()),
        Ok(Output::Verified(owned)) => owned.array(env),
        Err(fault) => outputs::pair(env, fault.code().name(), &fault.to_string()),
    });
    // A caller awaits the promise, so it always resolves.
    let internal = |_| {
        outputs::pair(
            env,
            "INTERNAL",
            "internal error in the native library: report it",
        )
    };
    let value = converted.or_else(internal);
    // While a worker ends, values cannot be created, and nobody awaits the promise.
    // SAFETY: the promise and the work belong to this job, and each is used once.
    unsafe {
        if let Ok(value) = value {
            napi_sys::napi_resolve_deferred(env, deferred, value);
        }
        napi_sys::napi_delete_async_work(env, handle);
    }
}
