use std::fmt;

use zeroize::Zeroizing;

use super::pem::{self, Pem};
#[cfg(feature = "jwe")]
use super::pkix_encryption;
use super::{Pkcs8Limits, certificate, encrypted, pkix};
use crate::crypto::rsa::Strength;
use crate::error::{Error, FoundInput, KeyError, KeyProblem, Result};
use crate::key::der_form::DerForm;
use crate::key::jwk::{IgnoredMember, Members};
use crate::key::mismatch::wrong_jwk_type;
use crate::key::other_input::{found_object, found_text};
use crate::key::set::{self, KeySet};
use crate::key::{Alg, Keys, SigAlg, SigningKey, VerifyingKey, key_text};
#[cfg(feature = "jwe")]
use crate::key::{DecryptionKey, EncryptionKey, KeyManagementAlg};
#[cfg(feature = "hmac")]
use crate::key::{MacAlg, MacKey};
use crate::limits;

/// A key in any encoding, not bound to an algorithm yet.
///
/// It is for files of users, whose encoding is not known: JWK, JWK Set, PEM, DER, PASERK. The encoding is detected
/// by the content, never by a name. Anything else is an error that says what was found and what to do
/// ([`FoundInput`]).
///
/// Then one method per use makes a key with a fixed algorithm. An algorithm is only required if the key does not
/// imply it (RSA, symmetric keys).
///
/// ```
/// use jeton::key::{AnyKey, SigAlg, SigningKey};
///
/// let file = SigningKey::generate(SigAlg::RS256)?.to_pem()?;
/// let key = AnyKey::from_bytes(file.as_bytes())?.signing(SigAlg::RS256)?;
/// assert_eq!(key.alg(), SigAlg::RS256);
/// let public = AnyKey::from_bytes(file.as_bytes())?.public()?.verifying(SigAlg::RS256)?;
/// assert_eq!(public.thumbprint(), key.verifying_key().thumbprint());
/// # Ok::<(), jeton::Error>(())
/// ```
pub struct AnyKey {
    form: Form,
    format: KeyFormat,
}

enum Form {
    Jwk(Zeroizing<String>, KeyHalf),
    Set(Zeroizing<String>),
    Der(DerForm, Zeroizing<Vec<u8>>),
    Paserk(Zeroizing<String>),
}

/// The encoding of a key that was detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyFormat {
    /// A JWK (RFC 7517).
    Jwk,
    /// A JWK Set (RFC 7517, section 5).
    JwkSet,
    /// PEM (RFC 7468).
    Pem,
    /// DER: PKCS#8, PKCS#1, SEC1 or SPKI.
    Der,
    /// The base64 of DER, which is PEM without its lines. Keycloak shows public keys in this form. It needs an
    /// algorithm.
    Base64,
    /// A PASERK.
    Paserk,
}

/// Which half of a key it is.
///
/// ```
/// use jeton::key::{AnyKey, KeyFormat, KeyHalf, MacAlg, MacKey, SigAlg, SigningKey};
///
/// let jwk = MacKey::generate(MacAlg::HS256)?.to_jwk();
/// let key = AnyKey::from_bytes(jwk.as_bytes())?;
/// assert_eq!((key.format(), key.half()), (KeyFormat::Jwk, KeyHalf::Symmetric));
/// let der = SigningKey::generate(SigAlg::ES256)?.to_der()?;
/// let key = AnyKey::from_bytes(&der)?;
/// assert_eq!((key.format(), key.half()), (KeyFormat::Der, KeyHalf::Private));
/// assert_eq!(key.public()?.half(), KeyHalf::Public);
/// # Ok::<(), jeton::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyHalf {
    /// A symmetric key, which is secret.
    Symmetric,
    /// A private key, which is secret.
    Private,
    /// A public key, or a key set.
    Public,
}

impl AnyKey {
    /// Reads a key, or a JWK Set, of at most [`limits::KEY_SET_BYTES`] bytes.
    ///
    /// An encrypted PKCS#8 key needs [`from_bytes_with_password`](Self::from_bytes_with_password); without it the
    /// error is [`FoundInput::EncryptedPkcs8`].
    pub fn from_bytes(bytes: &[u8]) -> Result<AnyKey> {
        Ok(Self::read(bytes, None)?)
    }

    /// Reads a key that may be encrypted: PKCS#8 with PBES2 (RFC 8018, section 6.2), with PBKDF2 or scrypt (RFC
    /// 7914, section 7), in PEM or DER. A key that is not encrypted is read too.
    ///
    /// The default [`Pkcs8Limits`] limit the cost.
    pub fn from_bytes_with_password(bytes: &[u8], password: &[u8]) -> Result<AnyKey> {
        Self::from_bytes_with_password_within(bytes, password, &Pkcs8Limits::new())
    }

    /// Reads a key that may be encrypted, as [`from_bytes_with_password`](Self::from_bytes_with_password) does, within
    /// these limits for the cost.
    pub fn from_bytes_with_password_within(
        bytes: &[u8],
        password: &[u8],
        limits: &Pkcs8Limits,
    ) -> Result<AnyKey> {
        Ok(Self::read(bytes, Some((password, limits)))?)
    }

    /// Reads the public key of a certificate (X.509) in PEM or DER. In PEM it is the first certificate.
    ///
    /// Nothing checks the certificate: neither its signature nor its time, name or use. Trust its key only if you
    /// trust the file.
    ///
    /// # Errors
    /// [`KeyProblem::Missing`] if PEM has no certificate, and [`KeyProblem::Malformed`] if it cannot be read.
    ///
    /// ```
    /// use jeton::key::AnyKey;
    ///
    /// assert!(AnyKey::from_certificate(b"not a certificate").is_err());
    /// ```
    pub fn from_certificate(bytes: &[u8]) -> Result<AnyKey> {
        let spki = certificate::public_key(bytes)?;
        Ok(AnyKey {
            form: Form::Der(DerForm::Spki, Zeroizing::new(spki)),
            format: KeyFormat::Der,
        })
    }

    /// Returns the detected encoding.
    pub fn format(&self) -> KeyFormat {
        self.format
    }

    /// Returns which half of a key it is, judged by its form alone: the key may still be invalid.
    pub fn half(&self) -> KeyHalf {
        match &self.form {
            Form::Jwk(_, half) => *half,
            Form::Set(_) => KeyHalf::Public,
            Form::Der(DerForm::Spki | DerForm::Pkcs1Public, _) => KeyHalf::Public,
            Form::Der(..) => KeyHalf::Private,
            Form::Paserk(text) => match text.get(3..) {
                Some(kind) if kind.starts_with("public.") => KeyHalf::Public,
                Some(kind) if kind.starts_with("secret.") => KeyHalf::Private,
                _ => KeyHalf::Symmetric,
            },
        }
    }

    /// Makes the key that signs. `alg` may be `None` if the key implies the algorithm.
    pub fn signing(&self, alg: impl Into<Option<SigAlg>>) -> Result<SigningKey> {
        let alg = alg.into();
        Ok(match &self.form {
            Form::Jwk(text, _) => SigningKey::from_members(&Members::parse(text)?, alg)?,
            Form::Der(form, der) => {
                self.needs(alg)?;
                pkix::read_private(*form, der, alg)?
            }
            _ => return Err(self.not_one_key().into()),
        })
    }

    /// Makes the key that verifies. `alg` may be `None` if the key implies the algorithm. A private key is an error:
    /// see [`public`](Self::public).
    pub fn verifying(&self, alg: impl Into<Option<SigAlg>>) -> Result<VerifyingKey> {
        let alg = alg.into();
        Ok(match &self.form {
            Form::Jwk(text, _) => VerifyingKey::from_members(&Members::parse(text)?, alg)?,
            Form::Der(form, der) => {
                self.needs(alg)?;
                pkix::read_public(*form, der, alg, Strength::Current)?
            }
            _ => return Err(self.not_one_key().into()),
        })
    }

    /// Makes the key that signs and verifies with a MAC. `alg` may be `None` if the JWK has it.
    #[cfg(feature = "hmac")]
    pub fn mac(&self, alg: impl Into<Option<MacAlg>>) -> Result<MacKey> {
        match &self.form {
            Form::Jwk(text, _) => Ok(MacKey::from_members(&Members::parse(text)?, alg.into())?),
            Form::Der(..) => Err(KeyError::new(KeyProblem::KeyAsSecret).into()),
            _ => Err(self.not_one_key().into()),
        }
    }

    /// Makes the key that decrypts. `alg` may be `None` if a JWK implies the algorithm.
    #[cfg(feature = "jwe")]
    pub fn decryption(&self, alg: impl Into<Option<KeyManagementAlg>>) -> Result<DecryptionKey> {
        let alg = alg.into();
        Ok(match &self.form {
            Form::Jwk(text, _) => DecryptionKey::from_members(&Members::parse(text)?, alg)?,
            Form::Der(form, der) => {
                let alg = alg.ok_or(KeyError::at("alg", KeyProblem::AlgorithmNeeded))?;
                pkix_encryption::read_private(*form, der, alg)?
            }
            _ => return Err(self.not_one_key().into()),
        })
    }

    /// Makes the key that encrypts. `alg` may be `None` if a JWK implies the algorithm.
    #[cfg(feature = "jwe")]
    pub fn encryption(&self, alg: impl Into<Option<KeyManagementAlg>>) -> Result<EncryptionKey> {
        let alg = alg.into();
        Ok(match &self.form {
            Form::Jwk(text, _) => EncryptionKey::from_members(&Members::parse(text)?, alg)?,
            Form::Der(form, der) => {
                let alg = alg.ok_or(KeyError::at("alg", KeyProblem::AlgorithmNeeded))?;
                pkix_encryption::read_public(*form, der, alg)?
            }
            _ => return Err(self.not_one_key().into()),
        })
    }

    /// Makes the keys of a verifier: one key, or the usable keys of a set. `alg` is the algorithm of the keys that do
    /// not name one.
    ///
    /// # Errors
    ///
    /// [`KeyProblem::NoUsableKey`] for a set without a usable key: [`KeySet::skipped`] says why each is skipped. Else
    /// the error of the key.
    ///
    /// ```
    /// use jeton::key::{AnyKey, SigAlg, SigningKey};
    /// use jeton::{Policy, jwt::JwtVerifier};
    ///
    /// let file = SigningKey::generate(SigAlg::ES256)?.verifying_key().to_pem()?;
    /// let keys = AnyKey::from_bytes(file.as_bytes())?.keys(None)?;
    /// let verifier = JwtVerifier::new(keys, Policy::new("https://id.example", "api"));
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn keys(&self, alg: impl Into<Option<Alg>>) -> Result<Keys> {
        let alg = alg.into();
        if let Form::Set(text) = &self.form {
            let set = match alg {
                None => KeySet::from_json(text)?,
                Some(alg) => KeySet::from_json_with_default(text, alg)?,
            };
            return if set.is_empty() {
                Err(KeyError::at("keys", KeyProblem::NoUsableKey).into())
            } else {
                Ok(set.into())
            };
        }
        match (self.half(), alg) {
            #[cfg(feature = "hmac")]
            (KeyHalf::Symmetric, None) => Ok(self.mac(None)?.into()),
            #[cfg(feature = "hmac")]
            (KeyHalf::Symmetric, Some(Alg::Mac(alg))) => Ok(self.mac(alg)?.into()),
            #[cfg(not(feature = "hmac"))]
            (KeyHalf::Symmetric, None | Some(Alg::Mac(_))) => {
                Err(KeyError::at("kty", KeyProblem::Unsupported).into())
            }
            (_, None) => Ok(self.verifying(None)?.into()),
            (_, Some(Alg::Sig(alg))) => Ok(self.verifying(alg)?.into()),
            (_, Some(Alg::Mac(_))) => Err(not_a_secret(self.half()).into()),
        }
    }

    /// Returns the public key of a private key, or the same public key. The halves of a private key must match.
    ///
    /// An RSA JWK with `n`, `e` and `d` only has a public key, although it cannot sign.
    pub fn public(&self) -> Result<AnyKey> {
        let form = match &self.form {
            Form::Jwk(text, _) => {
                let members = Members::parse(text)?;
                if is_symmetric(&members) {
                    return Err(wrong_jwk_type(&members, "a public or private key").into());
                }
                if !is_private(&members) {
                    Form::Jwk(text.clone(), KeyHalf::Public)
                } else {
                    check_halves(&members)?;
                    let text = Zeroizing::new(members.public_text());
                    Form::Jwk(text, KeyHalf::Public)
                }
            }
            Form::Der(form @ (DerForm::Spki | DerForm::Pkcs1Public), der) => {
                Form::Der(*form, der.clone())
            }
            Form::Der(form, der) => Form::Der(DerForm::Spki, Zeroizing::new(spki(*form, der)?)),
            Form::Set(_) | Form::Paserk(_) => return Err(self.not_one_key().into()),
        };
        Ok(AnyKey {
            form,
            format: self.format,
        })
    }

    /// Returns the keys of a set, valid or not; a single key is the only element.
    pub fn each(&self) -> Result<Vec<AnyKey>> {
        let texts = match &self.form {
            Form::Set(text) => set::elements(text)?,
            Form::Jwk(text, _) => vec![text.as_str()],
            Form::Der(form, der) => {
                return Ok(vec![AnyKey {
                    form: Form::Der(*form, der.clone()),
                    format: self.format,
                }]);
            }
            Form::Paserk(text) => {
                return Ok(vec![AnyKey {
                    form: Form::Paserk(text.clone()),
                    format: self.format,
                }]);
            }
        };
        let jwk = |text: &str| AnyKey {
            form: Form::Jwk(
                Zeroizing::new(text.to_owned()),
                Members::parse(text).map_or(KeyHalf::Public, |members| half_of(&members)),
            ),
            format: KeyFormat::Jwk,
        };
        Ok(texts.into_iter().map(jwk).collect())
    }

    /// Returns the members of a JWK that are there but count as absent: `use`, `key_ops`, `x5c`, `x5u`, `x5t` or
    /// `x5t#S256` is null, or one of the certificate members is malformed. The key is usable without them. For the
    /// keys of a set, call this on [`each`](Self::each) of them.
    ///
    /// ```
    /// use jeton::key::{AnyKey, SigAlg, SigningKey};
    ///
    /// let jwk = SigningKey::generate(SigAlg::ES256)?.verifying_key().to_jwk();
    /// let jwk = jwk.replacen('{', r#"{"use":null,"x5c":"MIIB","#, 1);
    /// let key = AnyKey::from_bytes(jwk.as_bytes())?;
    /// assert!(key.verifying(None).is_ok());
    /// let notes: Vec<_> = key.ignored_members().iter().map(ToString::to_string).collect();
    /// assert_eq!(notes, ["`use` is null: ignored", "`x5c` is malformed: ignored"]);
    /// # Ok::<(), jeton::Error>(())
    /// ```
    pub fn ignored_members(&self) -> Vec<IgnoredMember> {
        match &self.form {
            Form::Jwk(text, _) => Members::parse(text)
                .map(|members| members.ignored())
                .unwrap_or_default(),
            Form::Set(_) | Form::Der(..) | Form::Paserk(_) => Vec::new(),
        }
    }

    /// Returns the text of a JWK, a JWK Set or a PASERK, without what was around it. It may be a secret.
    pub fn text(&self) -> Option<&str> {
        match &self.form {
            Form::Jwk(text, _) | Form::Set(text) | Form::Paserk(text) => Some(text),
            Form::Der(..) => None,
        }
    }

    /// Returns the DER of a key that was read as PEM, DER or base64, decrypted. It may be a secret.
    pub fn der(&self) -> Option<&[u8]> {
        match &self.form {
            Form::Der(_, der) => Some(der),
            Form::Jwk(..) | Form::Set(_) | Form::Paserk(_) => None,
        }
    }

    fn read(bytes: &[u8], password: Option<(&[u8], &Pkcs8Limits)>) -> Result<AnyKey, KeyError> {
        if bytes.len() > limits::KEY_SET_BYTES {
            let (bytes, limit) = (bytes.len(), limits::KEY_SET_BYTES);
            return Err(KeyError::too_large("input", bytes, limit));
        }
        if bytes.trim_ascii().is_empty() {
            return Err(KeyError::input(FoundInput::Empty));
        }
        if let [0xfe, 0xed, 0xfe, 0xed, ..] | [0xce, 0xce, 0xce, 0xce, ..] = bytes {
            return Err(KeyError::input(FoundInput::JavaKeyStore));
        }
        if let Some(form) = DerForm::of(bytes) {
            pkix::bounded(bytes)?;
            let der = Zeroizing::new(bytes.to_vec());
            return Self::of_der(form, der, KeyFormat::Der, password);
        }
        if key_text::is_wide(bytes) {
            return Err(KeyError::input(FoundInput::Utf16));
        }
        let malformed =
            || KeyError::new(KeyProblem::Malformed).with_expected("a JWK, PEM, DER or a PASERK");
        let text = std::str::from_utf8(bytes).map_err(|_| malformed())?;
        let text = text.trim_start_matches('\u{feff}').trim();
        let list = text.starts_with('[').then(|| found_text(text));
        if let Some(Some(found)) = list {
            return Err(KeyError::input(found));
        }
        let owned = || Zeroizing::new(text.to_owned());
        let (form, format) = match text.as_bytes() {
            [b'{', ..] => match json_form(text)? {
                Some(half) => (Form::Jwk(owned(), half), KeyFormat::Jwk),
                None => (Form::Set(owned()), KeyFormat::JwkSet),
            },
            _ if pem::is(text) => {
                let Pem { form, der } = Pem::read(text)?;
                return Self::of_der(form, der, KeyFormat::Pem, password);
            }
            [b'k', b'1'..=b'4', b'.', ..] => (Form::Paserk(owned()), KeyFormat::Paserk),
            text if key_text::has_open_ssh_key(text) || text.starts_with(b"---- BEGIN SSH2") => {
                return Err(KeyError::input(FoundInput::OpenSshPublicKey));
            }
            _ => {
                let other = || match found_text(text) {
                    Some(found) => KeyError::input(found),
                    None => malformed(),
                };
                let inner = key_text::base64(text.as_bytes()).ok_or_else(other)?;
                return match DerForm::of(&inner) {
                    Some(form) => Self::of_der(form, inner, KeyFormat::Base64, password),
                    None if key_text::is_key_text(&inner) => {
                        Err(KeyError::input(FoundInput::EncodedTwice))
                    }
                    None => Err(other()),
                };
            }
        };
        Ok(AnyKey { form, format })
    }

    fn of_der(
        form: DerForm,
        der: Zeroizing<Vec<u8>>,
        format: KeyFormat,
        password: Option<(&[u8], &Pkcs8Limits)>,
    ) -> Result<AnyKey, KeyError> {
        let form = match (form, password) {
            (DerForm::EncryptedPkcs8, Some((password, limits))) => {
                Form::Der(DerForm::Pkcs8, encrypted::decrypt(&der, password, limits)?)
            }
            (DerForm::EncryptedPkcs8 | DerForm::Certificate | DerForm::Pkcs12, _) => {
                return Err(pkix::no_key(form));
            }
            _ => Form::Der(form, der),
        };
        Ok(AnyKey { form, format })
    }

    /// Base64 alone could also be a secret, so it needs an algorithm.
    fn needs(&self, alg: Option<SigAlg>) -> Result<(), KeyError> {
        match (self.format, alg) {
            (KeyFormat::Base64, None) => Err(KeyError::at("alg", KeyProblem::AlgorithmNeeded)),
            _ => Ok(()),
        }
    }

    fn not_one_key(&self) -> KeyError {
        KeyError::input(match &self.form {
            Form::Set(text) => FoundInput::JwkSet {
                keys: set::elements(text).map_or(0, |keys| keys.len() as u32),
            },
            _ => FoundInput::Paserk,
        })
    }
}

fn half_of(members: &Members<'_>) -> KeyHalf {
    if is_symmetric(members) {
        KeyHalf::Symmetric
    } else if is_private(members) {
        KeyHalf::Private
    } else {
        KeyHalf::Public
    }
}

fn is_symmetric(members: &Members<'_>) -> bool {
    matches!(members.optional("kty"), Ok(Some(kty)) if kty == "oct")
}

fn is_private(members: &Members<'_>) -> bool {
    members.no_private_member().is_err()
}

/// Checks that the private key belongs to the public key, for the use that the JWK has. Without primes, an RSA key
/// cannot be checked.
fn check_halves(members: &Members<'_>) -> Result<(), KeyError> {
    let signing = match SigningKey::from_members(members, None) {
        Err(error) if needs_algorithm(&error) => {
            SigningKey::from_members(members, Some(SigAlg::RS256))
        }
        read => read,
    };
    match signing.map_err(|error| (is_unchecked(&error), error)) {
        Ok(_) | Err((true, _)) => Ok(()),
        #[cfg(feature = "jwe")]
        Err(_) if is_for_decryption(members) => Ok(()),
        Err((false, error)) => Err(error),
    }
}

#[cfg(feature = "jwe")]
fn is_for_decryption(members: &Members<'_>) -> bool {
    let read = match DecryptionKey::from_members(members, None) {
        Err(error) if needs_algorithm(&error) => {
            DecryptionKey::from_members(members, Some(KeyManagementAlg::RsaOaep256))
        }
        read => read,
    };
    read.map_or_else(|error| is_unchecked(&error), |_| true)
}

fn needs_algorithm(error: &KeyError) -> bool {
    *error.problem() == KeyProblem::AlgorithmNeeded
}

fn is_unchecked(error: &KeyError) -> bool {
    *error.problem() == KeyProblem::PrimesMissing
}

/// Returns the SubjectPublicKeyInfo of a private key.
fn spki(form: DerForm, der: &[u8]) -> Result<Vec<u8>> {
    let signing = match pkix::read_private(form, der, None) {
        Err(error) if needs_algorithm(&error) => pkix::read_private(form, der, Some(SigAlg::RS256)),
        read => read,
    };
    match signing {
        Ok(key) => key.verifying_key().to_der(),
        #[cfg(not(feature = "jwe"))]
        Err(error) => Err(Error::Key(error)),
        // A curve that is only for key agreement.
        #[cfg(feature = "jwe")]
        Err(error) => match pkix_encryption::read_private(form, der, KeyManagementAlg::EcdhEs) {
            Ok(key) => key.encryption_key().to_der(),
            Err(_) => Err(Error::Key(error)),
        },
    }
}

/// Returns the half of a JWK, or `None` for a JWK Set.
fn json_form(text: &str) -> Result<Option<KeyHalf>, KeyError> {
    if let Ok(members) = Members::parse(text)
        && members.has("kty")
    {
        return Ok(Some(half_of(&members)));
    }
    match found_object(text).map_err(set::scan_error)? {
        // Its reader reports what is wrong with it.
        FoundInput::Jwk => Ok(Some(KeyHalf::Public)),
        FoundInput::JwkSet { .. } => Ok(None),
        found => Err(KeyError::input(found)),
    }
}

/// A key pair, or a half of it, was given for a MAC.
fn not_a_secret(half: KeyHalf) -> KeyError {
    KeyError::new(KeyProblem::WrongKeyType)
        .with_found(Some(match half {
            KeyHalf::Public => "a public key",
            KeyHalf::Private => "a private key",
            KeyHalf::Symmetric => "a secret",
        }))
        .with_expected("a secret for HMAC")
}

impl fmt::Debug for AnyKey {
    /// Writes the format and the half, never the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyKey")
            .field("format", &self.format)
            .field("half", &self.half())
            .finish_non_exhaustive()
    }
}
