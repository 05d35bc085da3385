//! Verifiers.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use jeton::error::{Part, Rejection};
use jeton::{RawClaims, Scratch, Timestamp, Verified};
use jeton_bindings::{Fault, ReadVerified, Verifier, VerifierKeys};
use napi_sys::{napi_callback_info, napi_env, napi_value};
use zeroize::Zeroizing;

use crate::arguments;
use crate::call::{self, Call};
use crate::handle::{self, Object, Slot};
use crate::numbers;
use crate::outputs;
use crate::pool::{self, Output};
use crate::state::State;
use crate::verified::ReadOwned;

/// `verifier(key, set, decryption, remote, clock, settings)`
pub(crate) fn create(call: &Call) -> Result<napi_value, Fault> {
    let env = call.env;
    let key = handle::optional(env, call.argument(0), handle::key)?;
    let set = handle::optional(env, call.argument(1), handle::key_set)?;
    let decryption = handle::optional(env, call.argument(2), handle::key_set)?;
    let remote = handle::optional(env, call.argument(3), handle::remote)?;
    let clock = handle::clock(env, call.argument(4))?;
    let settings = arguments::text(env, call.argument(5))?;
    let keys = VerifierKeys {
        key: key.as_deref(),
        set: set.as_deref(),
        decryption: decryption.as_deref(),
        remote: remote.as_ref(),
    };
    let verifier = Verifier::new(keys, clock, &settings)?;
    handle::create(env, Object::Verifier(Arc::new(verifier)))
}

/// Rejects a token that is not a string: it comes from a client, so it is not an error of the program.
#[cold]
fn no_token() -> Fault {
    Rejection::Malformed(Part::Token).into()
}

/// The data of the function that verifies and of the function that returns header parts.
struct Function {
    slot: Rc<Slot>,
    state: State,
    header: RefCell<Header>,
}

/// The header of the last verified token. Tokens of one issuer share a header, so JavaScript caches it.
#[derive(Default)]
struct Header {
    /// Counts different headers from 1; 0 before the first token.
    number: f64,
    alg: &'static str,
    kid: Option<String>,
    typ: Option<String>,
    footer: Option<Vec<u8>>,
}

impl Header {
    fn is_of<Text: AsRef<str>>(&self, verified: &Verified<RawClaims, Text>) -> bool {
        let header = verified.header();
        self.number != 0.0
            && self.alg == header.alg()
            && self.kid.as_deref() == header.kid()
            && self.typ.as_deref() == header.typ()
            && self.footer.as_deref() == verified.footer()
    }

    /// Returns the next header.
    #[cold]
    fn next<Text: AsRef<str>>(&self, verified: &Verified<RawClaims, Text>) -> Header {
        let header = verified.header();
        Header {
            number: self.number + 1.0,
            alg: header.alg(),
            kid: header.kid().map(str::to_owned),
            typ: header.typ().map(str::to_owned),
            footer: verified.footer().map(<[u8]>::to_vec),
        }
    }

    /// Returns the algorithm, key id, type or footer.
    fn part(&self, index: i64) -> Option<&[u8]> {
        match index {
            0 => Some(self.alg.as_bytes()),
            1 => self.kid.as_deref().map(str::as_bytes),
            2 => self.typ.as_deref().map(str::as_bytes),
            3 => self.footer.as_deref(),
            _ => None,
        }
    }
}

thread_local! {
    /// Holds the payload of a token until Node copies it. It is wiped when the thread ends.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// The largest token whose buffer a thread keeps, in bytes.
const KEPT_BYTES: usize = 64 * 1024;

/// `verifyFunctions(verifier, state)`: returns two functions. The first verifies a token and returns its claims as
/// text. It writes the header number and the times to the state. The second returns a part of that token's header, or
/// `null`.
pub(crate) fn functions(call: &Call) -> Result<napi_value, Fault> {
    let function = Rc::new(Function {
        slot: handle::slot(call.env, call.argument(0))?,
        state: State::new(call.env, call.argument(1))?,
        header: RefCell::default(),
    });
    let verify = handle::function(call.env, Rc::clone(&function), verify)?;
    let part = handle::function(call.env, function, header_part)?;
    outputs::list(call.env, &[verify, part])
}

unsafe extern "C" fn verify(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: Node calls it with the data of `functions`.
    unsafe {
        call::enter::<Rc<Function>>(env, info, |call, function| {
            function.slot.with_verifier(|verifier| {
                arguments::with_text(env, call.argument(0), |token| {
                    let token = token.map_err(|_| no_token())?;
                    let read = Read { env, function };
                    if token.len() <= KEPT_BYTES {
                        SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
                            Ok(mut scratch) => verifier.verify(token, &mut scratch, read)?,
                            Err(_) => verifier.verify(token, &mut Scratch::new(), read)?,
                        })
                    } else {
                        verifier.verify(token, &mut Scratch::new(), read)?
                    }
                })
            })
        })
    }
}

/// Passes a verified token to JavaScript.
struct Read<'f> {
    env: napi_env,
    function: &'f Function,
}

impl ReadVerified for Read<'_> {
    type Output = Result<napi_value, Fault>;

    fn read<Text: AsRef<str>>(
        self,
        verified: &Verified<RawClaims, Text>,
    ) -> Result<napi_value, Fault> {
        let Read { env, function } = self;
        let mut header = function.header.borrow_mut();
        if !header.is_of(verified) {
            *header = header.next(verified);
        }
        let json = verified.json();
        let seconds = |time: Option<Timestamp>| match time {
            Some(time) => time.unix_seconds() as f64,
            None => f64::NAN,
        };
        function.state.write([
            header.number,
            seconds(verified.expires_at()),
            seconds(verified.not_before()),
            seconds(verified.issued_at()),
            f64::from(u8::from(numbers::may_be_rounded(json))),
        ]);
        outputs::text(env, json)
    }
}

/// `headerPart(index)`: the second function of `functions`.
unsafe extern "C" fn header_part(env: napi_env, info: napi_callback_info) -> napi_value {
    // SAFETY: Node calls it with the data of `functions`.
    unsafe {
        call::enter::<Rc<Function>>(env, info, |call, function| {
            let index = arguments::integer(env, call.argument(0))?;
            match function.header.borrow().part(index) {
                Some(part) => outputs::bytes(env, part),
                None => outputs::null(env),
            }
        })
    }
}

fn token(call: &Call, index: usize) -> Result<Zeroizing<String>, Fault> {
    arguments::text(call.env, call.argument(index)).map_err(|_| no_token())
}

/// Returns the detached content, if there is one.
fn content(call: &Call, index: usize) -> Result<Option<Zeroizing<Vec<u8>>>, Fault> {
    handle::optional(call.env, call.argument(index), arguments::bytes)
}

/// `verifiedHeader(verifier, token)`: returns the protected header of a token that the verifier has verified, as JSON
/// text, or `null` for a PASETO.
pub(crate) fn verified_header(call: &Call) -> Result<napi_value, Fault> {
    let verifier = handle::verifier(call.env, call.argument(0))?;
    match verifier.header(&token(call, 1)?)? {
        Some(header) => outputs::text(call.env, &header),
        None => outputs::null(call.env),
    }
}

/// `unverified(token)`: returns what a token says without verifying it, as JSON text.
pub(crate) fn unverified(call: &Call) -> Result<napi_value, Fault> {
    let read = jeton_bindings::unverified(&token(call, 0)?)?;
    outputs::text(call.env, &read)
}

/// `verifyBytes(verifier, token, content)`
pub(crate) fn verify_bytes(call: &Call) -> Result<napi_value, Fault> {
    let verifier = handle::verifier(call.env, call.argument(0))?;
    let (token, content) = (token(call, 1)?, content(call, 2)?);
    let found = verifier.verify_bytes(&token, content.as_deref().map(Vec::as_slice))?;
    outputs::bytes(call.env, &Zeroizing::new(found))
}

/// `verifySignature(verifier, token)`: returns `null` for a verified token.
pub(crate) fn verify_signature(call: &Call) -> Result<napi_value, Fault> {
    let slot = handle::slot(call.env, call.argument(0))?;
    slot.with_verifier(|verifier| {
        arguments::with_text(call.env, call.argument(1), |token| {
            let token = token.map_err(|_| no_token())?;
            verifier.verify_bytes(token, None)
        })
    })?;
    outputs::null(call.env)
}

/// `verifyLater(verifier, token)`: in the thread pool.
pub(crate) fn verify_later(call: &Call) -> Result<napi_value, Fault> {
    let verifier = handle::verifier(call.env, call.argument(0))?;
    let token = token(call, 1)?;
    pool::run(call.env, move || {
        let read = verifier.verify(&token, &mut Scratch::new(), ReadOwned)?;
        Ok(Output::Verified(Box::new(read)))
    })
}

/// `verifyBytesLater(verifier, token, content)`: in the thread pool.
pub(crate) fn verify_bytes_later(call: &Call) -> Result<napi_value, Fault> {
    let verifier = handle::verifier(call.env, call.argument(0))?;
    let (token, content) = (token(call, 1)?, content(call, 2)?);
    pool::run(call.env, move || {
        let content = content.as_deref().map(Vec::as_slice);
        verifier.verify_bytes(&token, content).map(Output::Bytes)
    })
}
