//! Imports keys from text and bytes.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use base64ct::{Base64, Base64Unpadded, Base64Url, Base64UrlUnpadded, Encoding};
use jeton::danger::{self, Password, Pbes2Alg};
use jeton::error::{KeyProblem, codes};
use jeton::key::{AnyKey, ContentKey, KeyFormat, KeyHalf, MacKey, WrappingKey};
use jeton::paserk::{Kind as PaserkKind, Paserk};
use jeton::paseto::{v3, v4};
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::fault::Fault;
use crate::key::{Key, alg_name, described};
use crate::settings::{self, AnyAlg, ImportOptions, KeyText, Secret, content_enc};

/// The settings of [`Key::import_with`]: those of [`IMPORTED_KEY`](crate::settings::IMPORTED_KEY), for a program that has
/// them as values.
#[derive(Clone, Copy, Default)]
pub struct KeySettings<'a> {
    /// The format of the data.
    pub format: KeyText,
    /// The algorithm.
    pub alg: Option<&'a str>,
    /// The content encryption of a key for `dir`.
    pub enc: Option<&'a str>,
    /// The key id.
    pub kid: Option<&'a str>,
    /// The rounds of PBKDF2.
    pub rounds: Option<u32>,
    /// The password of an encrypted key.
    pub password: Option<&'a str>,
}

impl fmt::Debug for KeySettings<'_> {
    /// Writes the format only: the password is secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeySettings")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl Key {
    /// Imports a key.
    ///
    /// The settings are [`IMPORTED_KEY`](crate::settings::IMPORTED_KEY). `alg` is required if the key does not imply it,
    /// and `enc` is required for `dir`.
    ///
    /// # Errors
    ///
    /// The data is not such a key, the key is weak or inconsistent, or a setting does not apply.
    pub fn import(data: &[u8], settings: &str) -> Result<Key, Fault> {
        let ImportOptions {
            format,
            alg,
            enc,
            kid,
            rounds,
            password,
        } = settings::read(settings)?;
        let settings = KeySettings {
            format,
            alg: alg.as_deref(),
            enc: enc.as_deref(),
            kid: kid.as_deref(),
            rounds,
            password: password.as_ref().map(Secret::as_str),
        };
        Key::import_with(data, &settings)
    }

    /// Imports a key with settings that are not JSON text. It is [`import`](Key::import) otherwise.
    ///
    /// # Errors
    ///
    /// As for [`import`](Key::import).
    pub fn import_with(data: &[u8], settings: &KeySettings<'_>) -> Result<Key, Fault> {
        let key = import(data, settings)?.with_id(settings.kid)?;
        key.sign_first()?;
        Ok(key)
    }
}

fn import(data: &[u8], options: &KeySettings<'_>) -> Result<Key, Fault> {
    if options.format == KeyText::InsecurePassword {
        return password(data, options);
    }
    if options.rounds.is_some() {
        return Err(Fault::option("rounds", "applies to passwords only"));
    }
    let alg = options.alg.map(AnyAlg::parse).transpose()?;
    match options.format {
        KeyText::Secret => secret(data, alg, options),
        KeyText::SecretBase64 => secret(&decoded(data)?, alg, options),
        KeyText::InsecureSecret => match alg {
            Some(AnyAlg::Mac(alg)) => Ok(Key::Mac(Arc::new(danger::weak_mac_key(alg, data)?))),
            Some(_) => Err(wrong_alg(options, "a MAC algorithm, such as HS256")),
            None => Err(KeyProblem::AlgorithmNeeded.into()),
        },
        KeyText::InsecureRsa => weak_rsa(data, alg, options),
        KeyText::InsecurePassword => Err(Fault::Internal),
        KeyText::Certificate => any(&AnyKey::from_certificate(data)?, alg, options),
        KeyText::Any => {
            let key = match options.password {
                Some(password) => AnyKey::from_bytes_with_password(data, password.as_bytes())?,
                None => AnyKey::from_bytes(data)?,
            };
            any(&key, alg, options)
        }
    }
}

/// Imports a password for PBES2. The library limits the rounds.
fn password(data: &[u8], options: &KeySettings<'_>) -> Result<Key, Fault> {
    let alg = options.alg.ok_or(KeyProblem::AlgorithmNeeded)?;
    let alg = Pbes2Alg::from_str(alg)
        .map_err(|_| Fault::option("alg", "a password requires a PBES2 algorithm"))?;
    let mut password = Password::new(alg, data)?;
    if let Some(rounds) = options.rounds {
        password = password.rounds(rounds)?;
    }
    Ok(Key::Password(Arc::new(password)))
}

/// Imports a public RSA key of a legacy system, as JWK, PEM or DER.
fn weak_rsa(data: &[u8], alg: Option<AnyAlg>, options: &KeySettings<'_>) -> Result<Key, Fault> {
    let alg = match alg {
        Some(AnyAlg::Sig(alg)) => alg,
        Some(_) => {
            return Err(wrong_alg(
                options,
                "an algorithm for RSA signatures, such as RS256",
            ));
        }
        None => return Err(KeyProblem::AlgorithmNeeded.into()),
    };
    let key = match std::str::from_utf8(data) {
        Ok(jwk) if jwk.trim_ascii_start().starts_with('{') => {
            danger::weak_rsa_key_from_jwk(jwk, alg)?
        }
        Ok(pem) if pem.contains("-----BEGIN") => danger::weak_rsa_key_from_pem(pem, alg)?,
        _ => danger::weak_rsa_key_from_der(data, alg)?,
    };
    Ok(Key::Verifying(key))
}

/// Decodes base64 or base64url, with or without padding. Surrounding whitespace is ignored.
fn decoded(text: &[u8]) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let malformed = || Fault::from(KeyProblem::NotBase64);
    let text = std::str::from_utf8(text)
        .map_err(|_| malformed())?
        .trim_ascii();
    let bytes = match (text.contains(['-', '_']), text.ends_with('=')) {
        (true, true) => Base64Url::decode_vec(text),
        (true, false) => Base64UrlUnpadded::decode_vec(text),
        (false, true) => Base64::decode_vec(text),
        (false, false) => Base64Unpadded::decode_vec(text),
    };
    bytes.map(Zeroizing::new).map_err(|_| malformed())
}

fn secret(bytes: &[u8], alg: Option<AnyAlg>, options: &KeySettings<'_>) -> Result<Key, Fault> {
    Ok(match alg {
        None => return Err(KeyProblem::AlgorithmNeeded.into()),
        Some(AnyAlg::Mac(alg)) => Key::Mac(Arc::new(MacKey::new(alg, bytes)?)),
        Some(AnyAlg::Wrap(alg)) => Key::Wrapping(Arc::new(WrappingKey::new(alg, bytes)?)),
        Some(AnyAlg::Direct) => {
            let enc = content_enc(enc_of(options)?)?;
            Key::Content(Arc::new(ContentKey::new(enc, bytes)?))
        }
        Some(AnyAlg::Paseto("v3.local")) => local(bytes, PaserkKind::K3_LOCAL)?,
        Some(AnyAlg::Paseto("v4.local")) => local(bytes, PaserkKind::K4_LOCAL)?,
        Some(_) => {
            let expected =
                "an algorithm for a secret; import the other keys from a JWK, PEM, DER or a PASERK";
            return Err(wrong_alg(options, expected));
        }
    })
}

/// Returns the error for an algorithm that does not fit the format of the settings.
#[cold]
fn wrong_alg(options: &KeySettings<'_>, expected: &str) -> Fault {
    // The name was parsed, so it is the name of an algorithm.
    let found = options.alg.unwrap_or_default();
    Fault::key(
        &codes::KEY_TYPE_MISMATCH,
        format_args!("found {found}, expected {expected}"),
    )
}

fn local(bytes: &[u8], kind: PaserkKind) -> Result<Key, Fault> {
    let text = Paserk::from_bytes(kind, bytes)?.to_text();
    paserk(&text, None)
}

fn enc_of<'a>(options: &KeySettings<'a>) -> Result<&'a str, Fault> {
    options
        .enc
        .ok_or_else(|| Fault::option("enc", "required with `dir`"))
}

/// The members of a JWK that name its algorithm. The library checks the whole key.
#[derive(Deserialize)]
struct JwkUse {
    alg: Option<String>,
    enc: Option<String>,
}

fn any(key: &AnyKey, alg: Option<AnyAlg>, options: &KeySettings<'_>) -> Result<Key, Fault> {
    match key.format() {
        KeyFormat::Paserk => {
            let key = paserk(key.text().unwrap_or_default(), options.password)?;
            return match alg {
                None => Ok(key),
                Some(AnyAlg::Paseto(name)) if name == alg_name(&key) => Ok(key),
                Some(_) => {
                    let (found, expected) = (described(&key), options.alg);
                    let why = format_args!(
                        "found {found}, expected a key for {}",
                        expected.unwrap_or_default()
                    );
                    Err(Fault::key(&codes::KEY_ALGORITHM_MISMATCH, why))
                }
            };
        }
        // `KeySet::import` reads it.
        KeyFormat::JwkSet => {
            return Err(Fault::key(
                &codes::INVALID_OPTION,
                "this is a JWK Set: import it as a key set",
            ));
        }
        _ => {}
    }
    let stated = match (alg, key.text()) {
        (Some(alg), _) => Some(alg),
        (None, Some(jwk)) => jwk_alg(jwk),
        (None, None) => None,
    };
    Ok(match (stated, key.half()) {
        (None, KeyHalf::Symmetric) => Key::Mac(Arc::new(key.mac(None)?)),
        (None, KeyHalf::Private) => Key::Signing(Arc::new(key.signing(None)?)),
        (None, KeyHalf::Public) => Key::Verifying(key.verifying(None)?),
        (None, _) => return Err(Fault::Internal),
        (Some(AnyAlg::Mac(alg)), _) => Key::Mac(Arc::new(key.mac(alg)?)),
        (Some(AnyAlg::Sig(alg)), KeyHalf::Public) => Key::Verifying(key.verifying(alg)?),
        (Some(AnyAlg::Sig(alg)), _) => Key::Signing(Arc::new(key.signing(alg)?)),
        (Some(AnyAlg::Management(alg)), KeyHalf::Public) => Key::Encryption(key.encryption(alg)?),
        (Some(AnyAlg::Management(alg)), _) => Key::Decryption(Arc::new(key.decryption(alg)?)),
        (Some(AnyAlg::Wrap(alg)), _) => {
            Key::Wrapping(Arc::new(WrappingKey::from_jwk_as(jwk_text(key)?, alg)?))
        }
        (Some(AnyAlg::Direct), _) => {
            let jwk = jwk_text(key)?;
            Key::Content(Arc::new(match options.enc {
                Some(enc) => ContentKey::from_jwk_as(jwk, content_enc(enc)?)?,
                None => ContentKey::from_jwk(jwk)?,
            }))
        }
        (Some(AnyAlg::Paseto(_)), _) => {
            return Err(wrong_encoding(
                key,
                "a PASERK, or a secret for v3.local or v4.local",
            ));
        }
    })
}

fn jwk_text(key: &AnyKey) -> Result<&str, Fault> {
    let error = || wrong_encoding(key, "a JWK or a secret");
    key.text().ok_or_else(error)
}

/// Returns the error for an encoding that keys for the requested algorithm do not have.
#[cold]
fn wrong_encoding(key: &AnyKey, expected: &str) -> Fault {
    let found = match key.format() {
        KeyFormat::Pem => "PEM",
        KeyFormat::Der => "DER",
        KeyFormat::Base64 => "the base64 of DER",
        _ => "a JWK",
    };
    Fault::key(
        &codes::KEY_TYPE_MISMATCH,
        format_args!("found {found}, expected {expected}"),
    )
}

/// Returns the algorithm of a JWK. `alg` may name a content encryption, or the JWK may also have `enc`. The library
/// reports a malformed JWK and an unknown algorithm.
fn jwk_alg(jwk: &str) -> Option<AnyAlg> {
    let JwkUse { alg, enc } = serde_json::from_str(jwk).ok()?;
    if enc.is_some() {
        return Some(AnyAlg::Direct);
    }
    let alg = alg?;
    match content_enc(&alg) {
        Ok(_) => Some(AnyAlg::Direct),
        Err(_) => AnyAlg::parse(&alg).ok(),
    }
}

fn paserk(text: &str, password: Option<&str>) -> Result<Key, Fault> {
    let password = password.map(str::as_bytes);
    let kind = match text
        .find('.')
        .and_then(|at| text[at + 1..].find('.').map(|end| at + 1 + end))
    {
        Some(end) => &text[..end],
        None => return Err(KeyProblem::Malformed.into()),
    };
    Ok(match (kind, password) {
        ("k3.local", None) => Key::V3Local(Arc::new(v3::LocalKey::from_paserk(text)?)),
        ("k3.secret", None) => Key::V3Secret(Arc::new(v3::SecretKey::from_paserk(text)?)),
        ("k3.public", _) => Key::V3Public(v3::PublicKey::from_paserk(text)?),
        ("k4.local", None) => Key::V4Local(Arc::new(v4::LocalKey::from_paserk(text)?)),
        ("k4.secret", None) => Key::V4Secret(Arc::new(v4::SecretKey::from_paserk(text)?)),
        ("k4.public", _) => Key::V4Public(v4::PublicKey::from_paserk(text)?),
        ("k3.local-pw", Some(password)) => Key::V3Local(Arc::new(
            v3::LocalKey::from_password_paserk(text, password)?,
        )),
        ("k3.secret-pw", Some(password)) => Key::V3Secret(Arc::new(
            v3::SecretKey::from_password_paserk(text, password)?,
        )),
        ("k4.local-pw", Some(password)) => Key::V4Local(Arc::new(
            v4::LocalKey::from_password_paserk(text, password)?,
        )),
        ("k4.secret-pw", Some(password)) => Key::V4Secret(Arc::new(
            v4::SecretKey::from_password_paserk(text, password)?,
        )),
        ("k3.local" | "k3.secret" | "k4.local" | "k4.secret", Some(_)) => {
            return Err(Fault::option("password", "the PASERK is not encrypted"));
        }
        _ => {
            let expected = "local, secret or public (also local-pw and secret-pw with a password), version 3 or 4";
            return Err(Fault::key(
                &codes::KEY_UNSUPPORTED,
                format_args!("this kind of PASERK is not supported: expected {expected}"),
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(data: &[u8], settings: &str) -> Option<&'static str> {
        let imported = Key::import(data, settings);
        imported.err().map(|fault| fault.code().name())
    }

    #[test]
    fn short_secret_needs_the_insecure_format() {
        let plain = r#"{"format": "secret", "alg": "HS256"}"#;
        assert_eq!(code(b"short", plain), Some("KEY_TOO_WEAK"));
        let insecure = r#"{"format": "insecure-secret", "alg": "HS256"}"#;
        assert_eq!(code(b"short", insecure), None);
        assert_eq!(code(b"", insecure), Some("KEY_TOO_WEAK"));
        let other = r#"{"format": "insecure-secret", "alg": "ES256"}"#;
        assert_eq!(code(b"short", other), Some("KEY_TYPE_MISMATCH"));
    }

    #[test]
    fn password_needs_the_insecure_format_and_has_limits() {
        let plain = r#"{"format": "secret", "alg": "PBES2-HS256+A128KW"}"#;
        assert_eq!(code(b"a password", plain), Some("INVALID_OPTION"));
        let import = |rest: &str| {
            let settings = format!(r#"{{"format": "insecure-password"{rest}}}"#);
            code(b"a password", &settings)
        };
        let alg = r#", "alg": "PBES2-HS256+A128KW""#;
        assert_eq!(import(alg), None);
        assert_eq!(import(""), Some("KEY_ALGORITHM_NEEDED"));
        assert_eq!(import(r#", "alg": "HS256""#), Some("INVALID_OPTION"));
        let few = format!(r#"{alg}, "rounds": 1"#);
        assert_eq!(import(&few), Some("INVALID_PBES2_ROUNDS"));
        let unused = r#"{"format": "secret", "alg": "HS256", "rounds": 1000}"#;
        assert_eq!(code(&[7; 32], unused), Some("INVALID_OPTION"));
    }
}
