//! Verifiers.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use jeton::error::{Claim, InvalidUse, KeyProblem, Part, Rejection};
use jeton::jwe::Decrypter;
use jeton::jws::JwsVerifier;
use jeton::jwt::{EncryptedVerifier, JwtVerifier, NestedVerifier};
use jeton::key::Keys;
use jeton::paseto::{PasetoKeys, PasetoVerifier};
use jeton::{Cached, Clock, Policy, Scratch, Verify};
use jeton_jwks::RemoteVerifier;

use crate::argument::{Out, OutBytes, bytes};
use crate::claims::{self, JetonVerified};
use crate::clock::{JetonClock, clock_or_system};
use crate::code::JetonCode;
use crate::format::{Format, Serialization};
use crate::guard::guard;
use crate::handle::{self, Handle, Kind, Used};
use crate::key::{JetonKey, Key};
use crate::key_set::{
    JetonKeySet, Set, decryption_keys, keys_of_set, paseto_key, paseto_keys_of_set,
    verification_key,
};
use crate::options::{self, VerifierOptions, content_enc};
use crate::reason::{Fault, JetonReason};
use crate::remote_keys::{JetonRemoteKeys, Remote};
use crate::thread_memory::{self, KEPT_BYTES};

/// Verifies tokens with its keys and its policy.
pub struct JetonVerifier {
    _opaque: [u8; 0],
}

impl Handle for JetonVerifier {
    type Value = Verifier;
    const KIND: Kind = Kind::Verifier;
}

/// A verifier of one format.
pub(crate) enum Verifier {
    /// Claims of signed JWTs.
    Jwt(Box<JwtVerifier>),
    /// Claims, of any format.
    Claims(Box<dyn Verify>),
    /// Claims of signed JWTs, with keys that are elsewhere.
    Remote(Box<RemoteVerifier>, Arc<Remote>),
    /// Signed bytes.
    Jws(JwsVerifier, Serialization),
    /// Encrypted bytes.
    Jwe(Decrypter, Serialization),
}

/// What the caller passes.
struct Source<'h> {
    key: Option<Used<'h, Key>>,
    set: Option<Used<'h, Set>>,
    decryption: Option<Used<'h, Set>>,
    remote: Option<Used<'h, Arc<Remote>>>,
    clock: Arc<dyn Clock>,
}

impl Source<'_> {
    fn keys(&self) -> Result<Keys, Fault> {
        match (&self.key, &self.set) {
            (Some(key), None) => Ok((&verification_key(key)?).into()),
            (None, Some(set)) => keys_of_set(set),
            _ => Err(Fault::option("keys", "pass either one key or a key set")),
        }
    }

    fn paseto_keys(&self) -> Result<PasetoKeys, Fault> {
        match (&self.key, &self.set) {
            (Some(key), None) => Ok(paseto_key(key)?.into()),
            (None, Some(set)) => paseto_keys_of_set(set),
            _ => Err(Fault::option("keys", "pass either one key or a key set")),
        }
    }

    fn decrypter(&self, options: &VerifierOptions) -> Result<Decrypter, Fault> {
        let set = self.decryption.as_deref();
        let set = set.ok_or_else(|| Fault::option("decryption", "no key that decrypts"))?;
        let decrypter = Decrypter::new(decryption_keys(set)?).limits(options.limits.limits());
        let Some(encs) = &options.enc else {
            return Ok(decrypter);
        };
        let encs = encs.clone().into_vec();
        let encs: Vec<_> = encs
            .iter()
            .map(|enc| content_enc(enc))
            .collect::<Result<_, _>>()?;
        Ok(decrypter.allow_only(encs))
    }

    fn is_paseto(&self) -> bool {
        match (self.key.as_deref(), self.set.as_deref()) {
            (Some(key), _) => key.is_paseto(),
            (_, Some(set)) => matches!(set, Set::Paseto(_)),
            _ => false,
        }
    }
}

/// The settings for claims.
fn policy(options: &VerifierOptions) -> Result<Policy, Fault> {
    let texts = |texts: &Option<options::Texts>| texts.clone().map(options::Texts::into_vec);
    let mut policy = match options.access_tokens {
        true => Policy::access_token("", ""),
        false => Policy::new("", ""),
    };
    policy = match (texts(&options.issuer), options.any_issuer) {
        (Some(issuers), false) => policy.issuers(issuers),
        (None, true) => policy.any_issuer(),
        _ => return Err(Fault::option("issuer", "required, or else `any_issuer`")),
    };
    policy = match (texts(&options.audience), options.any_audience) {
        (Some(audiences), false) => policy.audiences(audiences),
        (None, true) => policy.any_audience(),
        _ => {
            return Err(Fault::option(
                "audience",
                "required, or else `any_audience`",
            ));
        }
    };
    if options.without_expiry {
        policy = policy.without_expiry();
    }
    if let Some(types) = texts(&options.types) {
        policy = policy.types(types);
    }
    for name in &options.required {
        policy = match Claim::from_name(name) {
            Some(claim) => policy.require(claim),
            None => policy.require_custom(name.clone()),
        };
    }
    if let Some(seconds) = options.leeway {
        policy = policy.leeway(Duration::from_secs(seconds));
    }
    if let Some(seconds) = options.max_age {
        policy = policy.max_age(Duration::from_secs(seconds));
    }
    Ok(policy)
}

/// Settings for claims, or for encryption, that the format does not have.
fn check_unused(options: &VerifierOptions) -> Result<(), Fault> {
    let unused = [
        ("issuer", options.issuer.is_some() || options.any_issuer),
        (
            "audience",
            options.audience.is_some() || options.any_audience,
        ),
        ("without_expiry", options.without_expiry),
        ("typ", options.types.is_some()),
        ("access_tokens", options.access_tokens),
        ("required", !options.required.is_empty()),
        ("leeway", options.leeway.is_some()),
        ("max_age", options.max_age.is_some()),
        ("cache", options.cache.is_some()),
    ];
    match unused.into_iter().find(|(_, is_set)| *is_set) {
        Some((name, _)) => Err(Fault::option(name, "not used by a verifier of bytes")),
        None => Ok(()),
    }
}

fn build(source: &Source<'_>, options: &VerifierOptions) -> Result<Verifier, Fault> {
    let limits = options.limits.limits();
    let is_paseto = source.is_paseto();
    if source.remote.is_some() && options.format != Format::Jwt {
        return Err(Fault::option("format", "a remote key set is for JWTs"));
    }
    if is_paseto != (options.format == Format::Paseto) {
        return Err(Fault::option(
            "format",
            "`paseto` is for keys of PASETO, and they need it",
        ));
    }
    if !is_paseto && (options.footer.is_some() || options.implicit_assertion.is_some()) {
        return Err(Fault::option(
            "footer",
            "only a PASETO has a footer or an implicit assertion",
        ));
    }
    let clock = Arc::clone(&source.clock);
    match options.format {
        Format::Jws => {
            check_unused(options)?;
            let verifier = JwsVerifier::new(source.keys()?).limits(limits);
            Ok(Verifier::Jws(verifier, options.serialization))
        }
        Format::Jwe => {
            check_unused(options)?;
            if source.key.is_some() || source.set.is_some() {
                return Err(Fault::option("keys", "a JWE has only keys that decrypt"));
            }
            Ok(Verifier::Jwe(
                source.decrypter(options)?,
                options.serialization,
            ))
        }
        Format::Paseto => {
            let mut verifier = PasetoVerifier::new(source.paseto_keys()?, policy(options)?)
                .limits(limits)
                .clock(clock);
            if let Some(footer) = &options.footer {
                verifier = verifier.footer(footer);
            }
            if let Some(assertion) = &options.implicit_assertion {
                verifier = verifier.implicit_assertion(assertion);
            }
            cached(verifier, options)
        }
        Format::Jwt => jwt(source, options, clock),
    }
}

fn jwt(
    source: &Source<'_>,
    options: &VerifierOptions,
    clock: Arc<dyn Clock>,
) -> Result<Verifier, Fault> {
    let (limits, policy) = (options.limits.limits(), policy(options)?);
    if let Some(remote) = source.remote.as_deref() {
        if source.key.is_some() || source.set.is_some() || source.decryption.is_some() {
            return Err(Fault::option(
                "keys",
                "a remote key set has no other keys beside it",
            ));
        }
        if options.cache.is_some() || options.enc.is_some() {
            return Err(Fault::option("cache", "not used with a remote key set"));
        }
        let verifier = remote.verifier(policy).limits(limits).clock(clock);
        return Ok(Verifier::Remote(Box::new(verifier), Arc::clone(remote)));
    }
    if options.serialization != Serialization::Compact {
        return Err(InvalidUse::CompactForm.into());
    }
    if let (Some(Key::Content(key)), None) = (source.key.as_deref(), &source.decryption) {
        let verifier = EncryptedVerifier::new(&**key, policy)
            .limits(limits)
            .clock(clock);
        return cached(verifier, options);
    }
    let verifier = JwtVerifier::new(source.keys()?, policy)
        .limits(limits)
        .clock(clock);
    match &source.decryption {
        None if options.enc.is_some() => Err(Fault::option(
            "enc",
            "the verifier has no key that decrypts",
        )),
        None if options.cache.is_none() => Ok(Verifier::Jwt(Box::new(verifier))),
        None => cached(verifier, options),
        Some(_) => cached(
            NestedVerifier::new(source.decrypter(options)?, verifier),
            options,
        ),
    }
}

fn cached(verifier: impl Verify + 'static, options: &VerifierOptions) -> Result<Verifier, Fault> {
    Ok(Verifier::Claims(match options.cache {
        None => Box::new(verifier),
        Some(entries) => Box::new(Cached::new(verifier, entries)?),
    }))
}

/// Creates a verifier.
///
/// Pass one key or a key set, and null for the other. `decryption` is a set of keys that decrypt: with it, tokens are signed
/// and then encrypted. `remote` is a key set that is elsewhere, in place of the others. A content key (`dir`) alone verifies encrypted JWTs. A null clock is that of the system.
///
/// Options: `format` is `jwt`, `jws`, `jwe` or `paseto`. For claims: `issuer` or `any_issuer`, `audience` or `any_audience`,
/// `without_expiry`, `typ`, `access_tokens`, `required`, `leeway`, `max_age` (seconds), `cache` (entries). For PASETO:
/// `footer`, `implicit_assertion`. Others: `enc`, `serialization`, `limits`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_verifier_new(
    key: *const JetonKey,
    keys: *const JetonKeySet,
    decryption: *const JetonKeySet,
    remote: *const JetonRemoteKeys,
    clock: *const JetonClock,
    options: *const u8,
    options_length: usize,
    out: *mut *const JetonVerifier,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes handles or null, a text and a place for a handle.
        let (out, source, options): (_, _, VerifierOptions) = unsafe {
            (
                Out::new(out)?,
                Source {
                    key: optional(key)?,
                    set: optional(keys)?,
                    decryption: optional(decryption)?,
                    remote: optional(remote)?,
                    clock: clock_or_system(clock)?,
                },
                options::read(options, options_length)?,
            )
        };
        out.put(handle::create(build(&source, &options)?));
        Ok(())
    })
}

/// # Safety
///
/// The pointer is null or a handle.
pub(crate) unsafe fn optional<'h, H: Handle>(
    handle: *const H,
) -> Result<Option<Used<'h, H::Value>>, Fault> {
    match handle.is_null() {
        true => Ok(None),
        // SAFETY: not null, and the caller ensures it.
        false => unsafe { handle::get(handle) }.map(Some),
    }
}

/// The part of a result that is not in the token: the id of a key, and a type as the policy spells it.
const EXTRA_BYTES: usize = 1280;

/// Returns the size of a buffer for the result of `jeton_verify`, for a token of this many bytes.
#[unsafe(no_mangle)]
pub extern "C" fn jeton_verify_bound(token_length: usize) -> usize {
    token_length.saturating_add(EXTRA_BYTES)
}

thread_local! {
    /// The payload of a token before it is copied to the caller. It is wiped with the thread.
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Verifies a token and writes its claims to a buffer of the caller, which has at least `jeton_verify_bound` bytes.
/// A smaller buffer is the error `BUFFER_TOO_SMALL`, before anything is verified.
///
/// A token that is no UTF-8 is rejected as malformed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_verify(
    verifier: *const JetonVerifier,
    token: *const u8,
    token_length: usize,
    buffer: *mut u8,
    capacity: usize,
    result: *mut JetonVerified,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, a token, a buffer and a place for the result.
        let (result, verifier, token, buffer) = unsafe {
            (
                Out::new(result)?,
                handle::get(verifier)?,
                token_text(token, token_length)?,
                OutBytes::new(buffer, capacity, jeton_verify_bound(token_length))?,
            )
        };
        match token_length <= KEPT_BYTES {
            true => thread_memory::with(&SCRATCH, |scratch| {
                verify(&verifier, token, scratch, &buffer, result)
            }),
            false => verify(&verifier, token, &mut Scratch::new(), &buffer, result),
        }
    })
}

fn verify(
    verifier: &Verifier,
    token: &str,
    scratch: &mut Scratch,
    buffer: &OutBytes,
    result: Out<JetonVerified>,
) -> Result<(), Fault> {
    match verifier {
        // The most frequent one, without a virtual call.
        Verifier::Jwt(verifier) => {
            claims::write(&verifier.verify_raw_in(token, scratch)?, buffer, result)
        }
        Verifier::Claims(verifier) => {
            claims::write(&verifier.verify_raw_in(token, scratch)?, buffer, result)
        }
        Verifier::Remote(verifier, remote) => {
            claims::write(&remote.verify(verifier, token)?, buffer, result)
        }
        Verifier::Jws(..) | Verifier::Jwe(..) => Err(Fault::option(
            "format",
            "a verifier of bytes: use `jeton_verify_bytes`",
        )),
    }
}

/// A token comes from anyone, so bytes that are no text are a rejection.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn token_text<'a>(pointer: *const u8, length: usize) -> Result<&'a str, Fault> {
    // SAFETY: the caller ensures it.
    let bytes = unsafe { bytes(pointer, length) }?;
    if bytes.is_ascii() {
        // SAFETY: ASCII is UTF-8. A good token is ASCII, and this check is the faster one.
        return Ok(unsafe { std::str::from_utf8_unchecked(bytes) });
    }
    std::str::from_utf8(bytes).map_err(|_| Rejection::Malformed(Part::Token).into())
}

/// A key that is used for something else.
#[cold]
pub(crate) fn another_use() -> Fault {
    KeyProblem::AnotherUse.into()
}
