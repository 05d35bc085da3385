//! Verifiers.

use std::sync::Arc;

use jeton::__private::read_unverified_header;
use jeton::error::{Claim, Part, Rejection, codes};
use jeton::jwe::Decrypter;
use jeton::jws::JwsVerifier;
use jeton::jwt::{EncryptedVerifier, JwtVerifier, NestedVerifier};
use jeton::key::Keys;
use jeton::paseto::{PasetoKeys, PasetoVerifier};
use jeton::{Cached, Clock, Limits, Policy, RawClaims, Scratch, Verified, Verify};
use jeton_jwks::RemoteVerifier;

use crate::fault::{Fault, enc_mismatch};
use crate::format::{Format, Serialization};
use crate::key::Key;
use crate::key_set::{
    KeySet, decryption_keys, keys_of_set, paseto_key, paseto_keys_of_set, verification_key,
};
use crate::paseto_bytes::PasetoBytes;
use crate::remote_keys::RemoteKeys;
use crate::settings::{self, Options, Texts, VerifierOptions, content_enc};

/// Verifies tokens of one format with its keys and its policy.
pub struct Verifier {
    pub(crate) kind: Kind,
    format: Format,
    limits: Limits,
}

pub(crate) enum Kind {
    /// Claims of signed JWTs.
    Jwt(Box<JwtVerifier>),
    /// Claims, of any format.
    Claims(Box<dyn Verify>),
    /// Claims of JWTs that are signed and then encrypted. The decrypter reads the inner header.
    Nested(Box<dyn Verify>, Box<Decrypter>),
    /// Claims of signed JWTs, with remote keys.
    Remote(Box<RemoteVerifier>, Arc<RemoteKeys>),
    /// Signed bytes.
    Jws(JwsVerifier, Serialization),
    /// Encrypted bytes.
    Jwe(Decrypter, Serialization),
    /// Bytes in a PASETO.
    PasetoBytes(PasetoBytes),
}

/// The keys of a verifier.
#[derive(Clone, Copy, Default)]
pub struct VerifierKeys<'k> {
    /// One key. Set this or `set`.
    pub key: Option<&'k Key>,
    /// A key set. Set this or `key`.
    pub set: Option<&'k KeySet>,
    /// Decryption keys. With them, tokens must be signed and then encrypted.
    pub decryption: Option<&'k KeySet>,
    /// A remote key set. It replaces all other keys.
    pub remote: Option<&'k Arc<RemoteKeys>>,
}

/// Reads a verified token. The type of its text depends on the verifier.
pub trait ReadVerified {
    /// The result.
    type Output;

    /// Reads the claims and the header.
    fn read<Text: AsRef<str>>(self, verified: &Verified<RawClaims, Text>) -> Self::Output;
}

impl Verifier {
    /// Creates a verifier.
    ///
    /// Pass one key or a key set. A content key (`dir`) alone verifies encrypted JWTs.
    ///
    /// The settings are [`VERIFIER`](crate::settings::VERIFIER).
    ///
    /// # Errors
    ///
    /// A setting is unknown, missing or does not apply to the format, or a key has another use.
    pub fn new(
        keys: VerifierKeys<'_>,
        clock: Arc<dyn Clock>,
        settings: &str,
    ) -> Result<Verifier, Fault> {
        let options: VerifierOptions = settings::read(settings)?;
        Ok(Verifier {
            kind: build(&keys, clock, &options)?,
            format: options.format,
            limits: options.limits.limits(),
        })
    }

    /// Verifies a token and passes it to `reader`. `scratch` holds the payload during the call.
    ///
    /// # Errors
    ///
    /// The token is rejected, the remote key set must be fetched first (`KEY_SET_TO_FETCH`), or the verifier is for
    /// bytes.
    pub fn verify<R: ReadVerified>(
        &self,
        token: &str,
        scratch: &mut Scratch,
        reader: R,
    ) -> Result<R::Output, Fault> {
        match &self.kind {
            // The most frequent case, without a virtual call.
            Kind::Jwt(verifier) => Ok(reader.read(&verifier.verify_raw_in(token, scratch)?)),
            Kind::Claims(verifier) | Kind::Nested(verifier, _) => {
                Ok(reader.read(&verifier.verify_raw_in(token, scratch)?))
            }
            Kind::Remote(verifier, remote) => Ok(reader.read(&remote.verify(verifier, token)?)),
            Kind::Jws(..) | Kind::Jwe(..) | Kind::PasetoBytes(_) => Err(of_bytes()),
        }
    }

    /// Returns the protected header of a token that this verifier has verified, JSON text, or `None` for a PASETO, which
    /// has none. A nested JWT is decrypted again, for the header of the signed JWT inside.
    ///
    /// The token is not verified again. For other tokens, use [`unverified`](crate::unverified()).
    ///
    /// # Errors
    ///
    /// The token is malformed, or the verifier is for bytes.
    pub fn header(&self, token: &str) -> Result<Option<String>, Fault> {
        let of = |token: &str| read_unverified_header(token, &self.limits);
        match &self.kind {
            Kind::Claims(_) if self.format.is_paseto() => Ok(None),
            Kind::Jwt(_) | Kind::Claims(_) | Kind::Remote(..) => Ok(Some(of(token)?)),
            Kind::Nested(_, decrypter) => {
                let decrypted = decrypter.decrypt(token)?;
                let inner = std::str::from_utf8(decrypted.plaintext())
                    .map_err(|_| Rejection::Malformed(Part::Payload))?;
                Ok(Some(of(inner)?))
            }
            Kind::Jws(..) | Kind::Jwe(..) | Kind::PasetoBytes(_) => Err(of_bytes()),
        }
    }
}

#[cold]
fn of_bytes() -> Fault {
    Fault::option("format", "a verifier of bytes cannot return claims")
}

impl VerifierKeys<'_> {
    fn keys(&self) -> Result<Keys, Fault> {
        match (self.key, self.set) {
            (Some(key), None) => Ok((&verification_key(key)?).into()),
            (None, Some(set)) => keys_of_set(set),
            _ => Err(Fault::option("keys", "pass one key or a key set")),
        }
    }

    fn paseto_keys(&self) -> Result<PasetoKeys, Fault> {
        match (self.key, self.set) {
            (Some(key), None) => Ok(paseto_key(key)?.into()),
            (None, Some(set)) => paseto_keys_of_set(set),
            _ => Err(Fault::option("keys", "pass one key or a key set")),
        }
    }

    fn decrypter(&self, options: &VerifierOptions) -> Result<Decrypter, Fault> {
        let set = self.decryption;
        let set = set.ok_or_else(|| Fault::option("decryption", "a decryption key is required"))?;
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
        match (self.key, self.set) {
            (Some(key), _) => key.is_paseto(),
            (_, Some(set)) => matches!(set, KeySet::Paseto(_)),
            _ => false,
        }
    }
}

/// Creates the policy from the settings for claims. [`check`] has rejected a missing or contradictory requirement.
fn policy(options: &VerifierOptions) -> Result<Policy, Fault> {
    let texts = |texts: &Option<Texts>| texts.clone().map(Texts::into_vec);
    let mut policy = if options.access_tokens {
        Policy::access_token("", "")
    } else {
        Policy::new("", "")
    };
    policy = match (texts(&options.issuer), options.any_issuer) {
        (Some(issuers), false) => policy.issuers_with_shared_keys(issuers),
        (None, true) => policy.any_issuer(),
        _ => return Err(Fault::Internal),
    };
    policy = match (texts(&options.audience), options.any_audience) {
        (Some(audiences), false) => policy.audiences(audiences),
        (None, true) => policy.any_audience(),
        _ => return Err(Fault::Internal),
    };
    if options.without_expiry {
        policy = policy.without_expiry();
    }
    if let Some(types) = texts(&options.typ) {
        policy = policy.types(types);
    }
    for name in &options.required {
        policy = match Claim::from_name(name) {
            Some(claim) => policy.require(claim),
            None => policy.require_custom(name.clone()),
        };
    }
    if let Some(seconds) = options.leeway {
        policy = policy.leeway(seconds.into());
    }
    if let Some(seconds) = options.max_age {
        policy = policy.max_age(seconds.into());
    }
    Ok(policy)
}

/// Returns the error for a PASETO key with a format of RFC 7519, or another key with a PASETO.
#[cold]
fn wrong_format(format: Format) -> Fault {
    let why = match format {
        Format::Jwt => "a PASETO key cannot verify a JWT",
        Format::Jws => "a PASETO key cannot verify a JWS",
        Format::Jwe => "a PASETO key cannot decrypt a JWE",
        Format::Paseto | Format::PasetoBytes => "a PASETO requires a PASETO key",
    };
    Fault::argument(&codes::INVALID_OPTION, why)
}

/// Checks the keys and the settings together.
fn check(source: &VerifierKeys<'_>, options: &VerifierOptions) -> Result<(), Fault> {
    let format = options.format;
    if source.remote.is_some() && format != Format::Jwt {
        return Err(Fault::argument(
            &codes::INVALID_OPTION,
            "a remote key set verifies JWTs only",
        ));
    }
    if source.is_paseto() != format.is_paseto() {
        return Err(wrong_format(format));
    }
    let mut given = options.given();
    if source.decryption.is_some() {
        given.push(&settings::DECRYPTION);
    }
    settings::check(settings::VERIFIER, &given, format)?;
    let issuers = options.issuer.as_ref().map_or(0, Texts::len);
    if issuers > 1 && !options.shared_keys {
        return Err(Fault::option(
            "shared_keys",
            "required for several issuers, because a key of one can sign for another: set it, or use \
             MultiIssuerVerifier",
        ));
    }
    if issuers < 2 && options.shared_keys {
        return Err(Fault::option("shared_keys", "requires several issuers"));
    }
    if source.remote.is_some() {
        if source.key.is_some() || source.set.is_some() {
            return Err(Fault::option("keys", "not used with a remote key set"));
        }
        settings::check_remote(&given)?;
    }
    Ok(())
}

fn build(
    source: &VerifierKeys<'_>,
    clock: Arc<dyn Clock>,
    options: &VerifierOptions,
) -> Result<Kind, Fault> {
    check(source, options)?;
    let limits = options.limits.limits();
    match options.format {
        Format::Jws => {
            let verifier = JwsVerifier::new(source.keys()?).limits(limits);
            Ok(Kind::Jws(verifier, options.serialization))
        }
        Format::Jwe => {
            if source.key.is_some() || source.set.is_some() {
                return Err(Fault::option(
                    "keys",
                    "not used with a JWE: pass the keys as `decryption`",
                ));
            }
            Ok(Kind::Jwe(source.decrypter(options)?, options.serialization))
        }
        Format::PasetoBytes => {
            let key = source.key;
            let key = key.ok_or_else(|| Fault::option("keys", "pass one key"))?;
            Ok(Kind::PasetoBytes(PasetoBytes {
                key: match key {
                    Key::V3Secret(_) | Key::V4Secret(_) => key.public()?,
                    key => key.clone(),
                },
                footer: options.footer.clone(),
                implicit_assertion: options.implicit_assertion.clone().unwrap_or_default(),
                limits,
            }))
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
    source: &VerifierKeys<'_>,
    options: &VerifierOptions,
    clock: Arc<dyn Clock>,
) -> Result<Kind, Fault> {
    let (limits, policy) = (options.limits.limits(), policy(options)?);
    if let Some(remote) = source.remote {
        let verifier = remote.verifier(policy).limits(limits).clock(clock);
        return Ok(Kind::Remote(Box::new(verifier), Arc::clone(remote)));
    }
    if let (Some(Key::Content(key)), None) = (source.key, source.decryption) {
        let encs = options.enc.clone().map(Texts::into_vec);
        if encs.is_some_and(|encs| !encs.iter().any(|enc| enc == key.enc().name())) {
            return Err(enc_mismatch(key.enc()));
        }
        let verifier = EncryptedVerifier::new(&**key, policy)
            .limits(limits)
            .clock(clock);
        return cached(verifier, options);
    }
    let verifier = JwtVerifier::new(source.keys()?, policy)
        .limits(limits)
        .clock(clock);
    match source.decryption {
        None if options.enc.is_some() => Err(Fault::option("enc", "requires a decryption key")),
        None if options.cache.is_none() => Ok(Kind::Jwt(Box::new(verifier))),
        None => cached(verifier, options),
        Some(_) => {
            let nested = NestedVerifier::new(source.decrypter(options)?, verifier);
            let decrypter = Box::new(source.decrypter(options)?);
            Ok(Kind::Nested(boxed(nested, options)?, decrypter))
        }
    }
}

fn cached(verifier: impl Verify + 'static, options: &VerifierOptions) -> Result<Kind, Fault> {
    boxed(verifier, options).map(Kind::Claims)
}

fn boxed(
    verifier: impl Verify + 'static,
    options: &VerifierOptions,
) -> Result<Box<dyn Verify>, Fault> {
    Ok(match options.cache {
        None => Box::new(verifier),
        Some(entries) => Box::new(Cached::new(verifier, entries)?),
    })
}
