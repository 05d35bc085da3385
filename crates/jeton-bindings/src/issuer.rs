//! Issuers.

use std::sync::Arc;

use jeton::error::codes;
use jeton::error::{Claim, InvalidUse, KeyProblem};
use jeton::jwe::Encrypter;
use jeton::jwt::{EncryptedIssuer, IssuerKey, JwtIssuer};
use jeton::key::{ContentEnc, ContentKey, EncryptionKeyRef, MacKey, SigningKey, SigningKeyRef};
use jeton::paseto::{BoundIssuer, PasetoRemoteKey, TokenContext};
use jeton::remote::RemoteKey;
use jeton::{Claims, Clock, Issue, JsonClaims};

use crate::fault::{Fault, enc_mismatch};
use crate::format::{Format, Serialization};
use crate::key::Key;
use crate::key_set::wrong_use;
use crate::settings::{self, IssuerOptions, Options, Seconds, Texts, content_enc};

/// Issues tokens of one format with its key and its settings.
pub struct Issuer {
    pub(crate) signer: Signer,
    pub(crate) options: IssuerOptions,
    pub(crate) clock: Arc<dyn Clock>,
    /// The maximum length of a token with the claims `{}`, bytes.
    bound: usize,
}

/// Creates the token.
pub(crate) enum Signer {
    Jwt(JwtIssuer),
    Nested(JwtIssuer, Key, ContentEnc),
    Encrypted(Arc<ContentKey>),
    Paseto(Key),
    PasetoBytes(Key),
    Jws(SigningPart),
    Jwe(Key, ContentEnc),
    /// The private key is remote: [`Issuer::prepare`].
    Remote(RemoteKey),
    PasetoRemote(PasetoRemoteKey),
}

/// A key for a signature or a MAC.
pub(crate) enum SigningPart {
    Mac(Arc<MacKey>),
    Private(Arc<SigningKey>),
}

impl SigningPart {
    fn of(key: &Key) -> Result<SigningPart, Fault> {
        match key {
            Key::Mac(key) => Ok(SigningPart::Mac(Arc::clone(key))),
            Key::Signing(key) => Ok(SigningPart::Private(Arc::clone(key))),
            Key::Verifying(_) => Err(KeyProblem::PublicGiven.into()),
            key => Err(wrong_use(key, "a key that signs")),
        }
    }

    pub(crate) fn by_ref(&self) -> SigningKeyRef<'_> {
        match self {
            SigningPart::Mac(key) => (&**key).into(),
            SigningPart::Private(key) => (&**key).into(),
        }
    }
}

/// Returns the key that encrypts a JWE.
pub(crate) fn encrypting(key: &Key) -> Result<EncryptionKeyRef<'_>, Fault> {
    match key {
        Key::Encryption(key) => Ok(key.into()),
        Key::Wrapping(key) => Ok((&**key).into()),
        Key::Content(key) => Ok((&**key).into()),
        Key::Password(key) => Ok((&**key).into()),
        key => Err(wrong_use(key, "a key that encrypts")),
    }
}

/// Returns the encryption key: the public key of a private key, or the key itself.
fn encryption_key(key: &Key) -> Result<Key, Fault> {
    match key {
        Key::Decryption(_) => key.public(),
        Key::Encryption(_) | Key::Wrapping(_) | Key::Content(_) | Key::Password(_) => {
            Ok(key.clone())
        }
        key => Err(wrong_use(key, "a key that encrypts")),
    }
}

fn enc_for(key: &Key, options: &IssuerOptions) -> Result<ContentEnc, Fault> {
    match (&options.enc, key) {
        (Some(enc), _) => content_enc(enc),
        (None, Key::Content(key)) => Ok(key.enc()),
        (None, _) => Ok(ContentEnc::A256Gcm),
    }
}

impl Issuer {
    /// Creates an issuer.
    ///
    /// With `encryption`, JWTs are signed and then encrypted to that key. A content key (`dir`) as `key` encrypts JWTs.
    /// With a public key as `key`, use [`Issuer::prepare`].
    ///
    /// The settings are [`ISSUER`](crate::settings::ISSUER).
    ///
    /// # Errors
    ///
    /// A setting is unknown, contradicts another or does not apply to the format, or the key has another use.
    pub fn new(
        key: Option<&Key>,
        encryption: Option<&Key>,
        clock: Arc<dyn Clock>,
        settings: &str,
    ) -> Result<Issuer, Fault> {
        let options: IssuerOptions = settings::read(settings)?;
        let is_paseto = key.is_some_and(Key::is_paseto);
        if is_paseto != options.format.is_paseto() {
            return Err(wrong_format(options.format));
        }
        let mut given = options.given();
        if encryption.is_some() {
            given.push(&settings::ENCRYPTION);
        }
        settings::check(settings::ISSUER, &given, options.format)?;
        settings::check_headers(&options.headers)?;
        if options.lifetime.is_some_and(Seconds::is_zero) {
            return Err(Fault::option("lifetime", "must be 1 second or more, not 0"));
        }
        if let (Some(lifetime), Some(ago)) = (options.lifetime, options.issued_ago)
            && lifetime <= ago
        {
            let why = format!(
                "must be longer than `issued_ago`, {} seconds, not {}: `exp` counts from `iat`",
                ago.count(),
                lifetime.count()
            );
            return Err(Fault::option("lifetime", why));
        }
        let signer = Signer::of(key, encryption, &options)?;
        signer.check_unused(&options)?;
        let mut issuer = Issuer {
            signer,
            options,
            clock,
            bound: 0,
        };
        issuer.bound = issuer.bound_of_nothing()?;
        Ok(issuer)
    }

    /// Adds the claims of the settings to the claims of one token.
    pub(crate) fn claims<'a>(&'a self, text: &'a str) -> Result<Claims<'a, JsonClaims<'a>>, Fault> {
        let options = &self.options;
        let mut claims = Claims::from_json(text)?;
        let set = [
            (Claim::Issuer, options.issuer.is_some()),
            (Claim::Audience, options.audience.is_some()),
            (
                Claim::Expiry,
                options.lifetime.is_some() || options.without_expiry,
            ),
            (Claim::IssuedAt, options.issued_ago.is_some()),
        ];
        for (claim, is_set) in set {
            if is_set && claims.custom().contains(claim) {
                return Err(InvalidUse::SetForAll(claim).into());
            }
        }
        if let Some(issuer) = &options.issuer {
            claims = claims.issuer(issuer.as_str());
        }
        claims = match &options.audience {
            Some(Texts::One(audience)) => claims.audience(audience.as_str()),
            Some(Texts::Several(all)) => claims.audiences(all.iter().map(String::as_str)),
            None => claims,
        };
        if let Some(seconds) = options.lifetime {
            claims = claims.expires_in(seconds.into());
        }
        if options.without_expiry {
            claims = claims.without_expiry();
        }
        if let Some(seconds) = options.issued_ago {
            claims = claims.issued_ago(seconds.into());
        }
        Ok(claims)
    }

    /// Returns the footer and the implicit assertion of a PASETO.
    pub(crate) fn context(&self) -> TokenContext<'_> {
        let footer = self.options.footer.as_deref().unwrap_or_default();
        let assertion = self
            .options
            .implicit_assertion
            .as_deref()
            .unwrap_or_default();
        TokenContext::new()
            .footer(footer)
            .implicit_assertion(assertion)
    }

    /// Issues a token with these claims, a JSON object, and appends it to `token`.
    ///
    /// # Errors
    ///
    /// The claims are not strict JSON, have no expiry or repeat a setting, or the issuer is for bytes.
    pub fn issue_onto(&self, text: &str, token: &mut String) -> Result<(), Fault> {
        let clock = &*self.clock;
        if let Signer::Jwt(issuer) = &self.signer {
            let claims = Claims::from_json(text)?;
            return Ok(Issue::issue_onto_with_clock(issuer, &claims, clock, token)?);
        }
        if let Signer::Nested(issuer, key, enc) = &self.signer {
            let signed = issuer.issue_with_clock(&Claims::from_json(text)?, clock)?;
            token.push_str(&around_jwt(key, *enc)?.encrypt(signed.as_bytes())?);
            return Ok(());
        }
        let claims = self.claims(text)?;
        let context = self.context();
        match &self.signer {
            Signer::Encrypted(key) => {
                let issuer = EncryptedIssuer::new(&**key, key.enc());
                let headers = self.options.headers.iter();
                let issuer = headers.fold(issuer, |to, (name, value)| to.header(name, value));
                issuer.issue_onto_with_clock(&claims, clock, token)?;
            }
            Signer::Paseto(key) => match key {
                Key::V3Local(key) => BoundIssuer::new(&**key, context)
                    .issue_onto_with_clock(&claims, clock, token)?,
                Key::V3Secret(key) => BoundIssuer::new(&**key, context)
                    .issue_onto_with_clock(&claims, clock, token)?,
                Key::V4Local(key) => BoundIssuer::new(&**key, context)
                    .issue_onto_with_clock(&claims, clock, token)?,
                Key::V4Secret(key) => BoundIssuer::new(&**key, context)
                    .issue_onto_with_clock(&claims, clock, token)?,
                key => return Err(wrong_use(key, "a PASETO key that issues")),
            },
            Signer::Remote(_) | Signer::PasetoRemote(_) => {
                return Err(KeyProblem::PublicGiven.into());
            }
            Signer::Jws(_) | Signer::Jwe(..) | Signer::PasetoBytes(_) => return Err(of_bytes()),
            Signer::Jwt(_) | Signer::Nested(..) => return Err(Fault::Internal),
        }
        Ok(())
    }

    /// Returns an upper bound for the length of a token with claims of this length. It is 0 if the issuer is for bytes
    /// or only prepares tokens.
    pub fn length_bound(&self, claims: usize) -> usize {
        let claims = claims.min(isize::MAX as usize / 8);
        match &self.signer {
            // The claims are encoded twice.
            Signer::Nested(..) => self.bound + base64_bound(base64_bound(claims)),
            Signer::Jws(_)
            | Signer::Jwe(..)
            | Signer::PasetoBytes(_)
            | Signer::Remote(_)
            | Signer::PasetoRemote(_) => 0,
            _ => self.bound + base64_bound(claims),
        }
    }

    /// Computes the maximum length of a token with the claims `{}`.
    fn bound_of_nothing(&self) -> Result<usize, Fault> {
        // All times have the same length, and the settings were checked.
        let context = self.context();
        Ok(match &self.signer {
            Signer::Jwt(issuer) => issuer.issued_length_bound(&Claims::from_json("{}")?),
            Signer::Nested(issuer, key, enc) => {
                let inner = issuer.issued_length_bound(&Claims::from_json("{}")?);
                encrypted_bound(&around_jwt(key, *enc)?, inner)?
            }
            Signer::Encrypted(key) => {
                let payload = self.settings_bound();
                let encrypter = Encrypter::new(&**key, key.enc()).typ("JWT");
                let headers = self.options.headers.iter();
                let encrypter = headers.fold(encrypter, |to, (name, value)| to.header(name, value));
                encrypted_bound(&encrypter, payload)?
            }
            Signer::Paseto(key) => {
                let claims = self.claims("{}")?;
                match key {
                    Key::V3Local(key) => key.issued_length_bound(&claims, context),
                    Key::V3Secret(key) => key.issued_length_bound(&claims, context),
                    Key::V4Local(key) => key.issued_length_bound(&claims, context),
                    Key::V4Secret(key) => key.issued_length_bound(&claims, context),
                    key => return Err(wrong_use(key, "a PASETO key that issues")),
                }
            }
            // The library allocates their results.
            Signer::Jws(_)
            | Signer::Jwe(..)
            | Signer::PasetoBytes(_)
            | Signer::Remote(_)
            | Signer::PasetoRemote(_) => 0,
        })
    }

    /// Returns an upper bound for the registered claims of the settings.
    fn settings_bound(&self) -> usize {
        // JSON needs at most six bytes for a byte. A member also needs a name, quotes and a comma.
        let text = |length: usize| length * 6 + 16;
        let issuer = self.options.issuer.as_deref().map_or(0, str::len);
        let audiences = match &self.options.audience {
            None => 0,
            Some(Texts::One(one)) => text(one.len()),
            Some(Texts::Several(all)) => all.iter().map(|one| text(one.len())).sum(),
        };
        text(issuer) + audiences + 4 * 64
    }
}

/// Encrypts a signed JWT (RFC 7519, section 11.2).
fn around_jwt(key: &Key, enc: ContentEnc) -> Result<Encrypter<'_>, Fault> {
    Ok(Encrypter::new(encrypting(key)?, enc).content_type("JWT"))
}

/// Returns the maximum length of a JWE with a plaintext of this length. Encrypts once, as the rest has a fixed length.
fn encrypted_bound(encrypter: &Encrypter<'_>, plaintext: usize) -> Result<usize, Fault> {
    // A block cipher adds at most a block.
    Ok(encrypter.encrypt(&[])?.len() + base64_bound(plaintext + 16))
}

/// Returns an upper bound for the base64url length of this many bytes, at any offset.
fn base64_bound(bytes: usize) -> usize {
    (bytes / 3 + 2) * 4
}

impl Signer {
    fn of(
        key: Option<&Key>,
        encryption: Option<&Key>,
        options: &IssuerOptions,
    ) -> Result<Signer, Fault> {
        let key_or_null = || key.ok_or_else(no_key);
        let remote = |key| {
            let headers = options.headers.iter();
            let key = RemoteKey::new(key);
            Signer::Remote(headers.fold(key, |to, (name, value)| to.header(name, value)))
        };
        Ok(match options.format {
            Format::PasetoBytes => match key_or_null()? {
                Key::V3Public(_) | Key::V4Public(_) => {
                    return Err(KeyProblem::PublicGiven.into());
                }
                key => Signer::PasetoBytes(key.clone()),
            },
            Format::Paseto => match key_or_null()? {
                Key::V3Public(key) => Signer::PasetoRemote(PasetoRemoteKey::new(key)),
                Key::V4Public(key) => Signer::PasetoRemote(PasetoRemoteKey::new(key)),
                key => Signer::Paseto(key.clone()),
            },
            Format::Jws => match key_or_null()? {
                Key::Verifying(key) => remote(key),
                key => Signer::Jws(SigningPart::of(key)?),
            },
            Format::Jwe => {
                if key.is_some() {
                    return Err(Fault::option(
                        "key",
                        "not used with a JWE: pass the key as `encryption`",
                    ));
                }
                let key = encryption_key(encryption.ok_or_else(no_key)?)?;
                let enc = enc_for(&key, options)?;
                Signer::Jwe(key, enc)
            }
            Format::Jwt => match (key_or_null()?, encryption) {
                (key, Some(encryption)) => {
                    let encryption = encryption_key(encryption)?;
                    let enc = enc_for(&encryption, options)?;
                    Signer::Nested(jwt_issuer(key, options)?, encryption, enc)
                }
                (Key::Content(key), None) => Signer::Encrypted(Arc::clone(key)),
                (Key::Verifying(key), None) => remote(key),
                (key, None) => Signer::Jwt(jwt_issuer(key, options)?),
            },
        })
    }
}

impl Signer {
    /// Rejects settings that do not apply to this key.
    fn check_unused(&self, options: &IssuerOptions) -> Result<(), Fault> {
        let encrypts = matches!(
            self,
            Signer::Nested(..) | Signer::Encrypted(_) | Signer::Jwe(..)
        );
        let is_signed = !matches!(self, Signer::Encrypted(_));
        // Two-step signing creates the compact form only, with its content.
        let is_whole = matches!(self, Signer::Jws(_) | Signer::Jwe(..));
        let unused = [
            ("enc", options.enc.is_some() && !encrypts),
            ("access_tokens", options.access_tokens && !is_signed),
            ("typ", options.typ.is_some() && !is_signed),
            ("cty", options.cty.is_some() && !is_whole),
            ("detached", options.detached && !is_whole),
            ("unencoded", options.unencoded && !is_whole),
            (
                "serialization",
                options.serialization != Serialization::Compact && !is_whole,
            ),
        ];
        settings::check_unset(unused, "not used with this key")?;
        match (self, &options.enc, &options.typ) {
            (Signer::Encrypted(key), Some(enc), _) if content_enc(enc)? != key.enc() => {
                Err(enc_mismatch(key.enc()))
            }
            // Other keys check `typ` themselves.
            (Signer::Remote(_), _, Some(typ)) if options.access_tokens => {
                if typ.eq_ignore_ascii_case("at+jwt") {
                    Ok(())
                } else {
                    Err(InvalidUse::AccessTokenType.into())
                }
            }
            _ => Ok(()),
        }
    }
}

fn jwt_issuer(key: &Key, options: &IssuerOptions) -> Result<JwtIssuer, Fault> {
    let key: IssuerKey = match key {
        Key::Mac(key) => Arc::clone(key).into(),
        Key::Signing(key) => Arc::clone(key).into(),
        Key::Verifying(_) => return Err(KeyProblem::PublicGiven.into()),
        key => return Err(wrong_use(key, "a key that signs")),
    };
    let mut builder = JwtIssuer::builder(key);
    if options.access_tokens {
        builder = builder.access_tokens();
    }
    if let Some(issuer) = &options.issuer {
        builder = builder.issuer(issuer.clone());
    }
    builder = match &options.audience {
        Some(Texts::One(audience)) => builder.audience(audience.clone()),
        Some(Texts::Several(audiences)) => builder.audiences(audiences.clone()),
        None => builder,
    };
    if let Some(seconds) = options.lifetime {
        builder = builder.lifetime(seconds.into());
    }
    if options.without_expiry {
        builder = builder.without_expiry();
    }
    if let Some(seconds) = options.issued_ago {
        builder = builder.issued_ago(seconds.into());
    }
    if let Some(typ) = &options.typ {
        builder = builder.typ(typ.clone());
    }
    for (name, value) in options.headers.iter() {
        builder = builder.header(name, value);
    }
    Ok(builder.build()?)
}

/// Returns the error for a PASETO key with a format of RFC 7519, or another key with a PASETO.
#[cold]
fn wrong_format(format: Format) -> Fault {
    let why = match format {
        Format::Jwt => "a PASETO key cannot sign a JWT",
        Format::Jws => "a PASETO key cannot sign a JWS",
        Format::Jwe => "a PASETO key cannot encrypt a JWE",
        Format::Paseto | Format::PasetoBytes => "a PASETO requires a PASETO key",
    };
    Fault::argument(&codes::INVALID_OPTION, why)
}

#[cold]
pub(crate) fn of_bytes() -> Fault {
    Fault::option("format", "an issuer of bytes cannot issue claims")
}

#[cold]
fn no_key() -> Fault {
    Fault::argument(&codes::ARGUMENT_NULL, "a key is required")
}
