//! Signs and encrypts bytes that are not claims, and verifies and decrypts them.

use jeton::jwe::Encrypter;
use jeton::jws::{GeneralJws, JwsSigner};
use jeton::paseto::TokenContext;

use crate::fault::Fault;
use crate::format::Serialization;
use crate::issuer::{Issuer, Signer, encrypting};
use crate::key::Key;
use crate::key_set::wrong_use;
use crate::prepared::only_prepares;
use crate::verifier::{Kind, Verifier};

impl Issuer {
    /// Signs or encrypts bytes. The format of the issuer is `jws`, `jwe`, `paseto-bytes` or `paseto`.
    ///
    /// With the setting `detached`, the token does not contain the bytes.
    ///
    /// # Errors
    ///
    /// The issuer is for claims, or a setting does not apply to these bytes.
    pub fn issue_bytes(&self, data: &[u8]) -> Result<String, Fault> {
        issue(self, data)
    }
}

impl Verifier {
    /// Verifies or decrypts a token and returns its bytes. The format of the verifier is `jws`, `jwe` or
    /// `paseto-bytes`.
    ///
    /// `content` is the detached content of a JWS.
    ///
    /// # Errors
    ///
    /// The token is rejected, or the verifier is for claims.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use jeton::SystemClock;
    /// use jeton_bindings::{Fault, Issuer, Key, Verifier, VerifierKeys};
    ///
    /// for alg in ["v3.local", "v3.public", "v4.local", "v4.public"] {
    ///     let key = Key::generate(alg, "")?;
    ///     let settings = r#"{"format": "paseto-bytes", "footer": "f", "implicit_assertion": "i"}"#;
    ///     let issuer = Issuer::new(Some(&key), None, Arc::new(SystemClock), settings)?;
    ///     let token = issuer.issue_bytes(b"\xff")?;
    ///     assert!(issuer.issue_onto("{}", &mut String::new()).is_err());
    ///
    ///     let keys = VerifierKeys { key: Some(&key), ..VerifierKeys::default() };
    ///     let verifier = Verifier::new(keys, Arc::new(SystemClock), settings)?;
    ///     assert_eq!(verifier.verify_bytes(&token, None)?, b"\xff");
    ///     for other in [r#"{"format": "paseto-bytes"}"#, r#"{"format": "paseto-bytes", "footer": "g"}"#] {
    ///         let verifier = Verifier::new(keys, Arc::new(SystemClock), other)?;
    ///         assert!(verifier.verify_bytes(&token, None).is_err());
    ///     }
    /// }
    /// # Ok::<(), Fault>(())
    /// ```
    pub fn verify_bytes(&self, token: &str, content: Option<&[u8]>) -> Result<Vec<u8>, Fault> {
        verify(self, token, content)
    }
}

fn issue(issuer: &Issuer, data: &[u8]) -> Result<String, Fault> {
    match &issuer.signer {
        Signer::Jws(key) => sign(issuer, JwsSigner::new(key.by_ref()), data),
        Signer::Jwe(key, enc) => {
            let options = &issuer.options;
            let mut encrypter = Encrypter::new(encrypting(key)?, *enc);
            if let Some(typ) = &options.typ {
                encrypter = encrypter.typ(typ.clone());
            }
            if let Some(cty) = &options.cty {
                encrypter = encrypter.content_type(cty.clone());
            }
            for (name, value) in options.headers.iter() {
                encrypter = encrypter.header(name, value);
            }
            Ok(match options.serialization {
                Serialization::Compact => encrypter.encrypt(data)?,
                Serialization::Flattened => encrypter.encrypt_flattened(data)?,
                Serialization::General => encrypter.encrypt_general(data)?,
            })
        }
        Signer::Paseto(key) | Signer::PasetoBytes(key) => paseto(key, data, issuer.context()),
        Signer::Remote(_) | Signer::PasetoRemote(_) => Err(only_prepares()),
        Signer::Jwt(_) | Signer::Nested(..) | Signer::Encrypted(_) => Err(Fault::option(
            "format",
            "an issuer of claims cannot issue bytes",
        )),
    }
}

fn sign<'k>(issuer: &'k Issuer, mut signer: JwsSigner<'k>, data: &[u8]) -> Result<String, Fault> {
    let options = &issuer.options;
    if let Some(typ) = &options.typ {
        signer = signer.typ(typ.clone());
    }
    if let Some(cty) = &options.cty {
        signer = signer.content_type(cty.clone());
    }
    for (name, value) in options.headers.iter() {
        signer = signer.header(name, value);
    }
    if options.unencoded {
        signer = signer.unencoded();
    }
    Ok(match (options.serialization, options.detached) {
        (Serialization::Compact, false) => signer.sign(data)?,
        (Serialization::Compact, true) => signer.sign_detached(data)?,
        (Serialization::Flattened, false) => signer.sign_flattened(data)?,
        (Serialization::Flattened, true) => signer.sign_flattened_detached(data)?,
        (Serialization::General, false) => GeneralJws::new().signer(signer).sign(data)?,
        (Serialization::General, true) => GeneralJws::new().signer(signer).sign_detached(data)?,
    })
}

fn paseto(key: &Key, data: &[u8], context: TokenContext<'_>) -> Result<String, Fault> {
    Ok(match key {
        Key::V3Local(key) => key.encrypt(data, context)?,
        Key::V3Secret(key) => key.sign(data, context)?,
        Key::V4Local(key) => key.encrypt(data, context)?,
        Key::V4Secret(key) => key.sign(data, context)?,
        key => return Err(wrong_use(key, "a PASETO key")),
    })
}

fn verify(verifier: &Verifier, token: &str, content: Option<&[u8]>) -> Result<Vec<u8>, Fault> {
    match (&verifier.kind, content) {
        (Kind::Jws(verifier, Serialization::Compact), None) => {
            Ok(verifier.verify(token)?.into_payload())
        }
        (Kind::Jws(verifier, Serialization::Compact), Some(content)) => {
            Ok(verifier.verify_detached(token, content)?.into_payload())
        }
        (Kind::Jws(verifier, _), None) => Ok(verifier.verify_json(token)?.into_payload()),
        (Kind::Jws(verifier, _), Some(content)) => Ok(verifier
            .verify_json_detached(token, content)?
            .into_payload()),
        (Kind::Jwe(decrypter, Serialization::Compact), None) => {
            Ok(decrypter.decrypt(token)?.into_plaintext())
        }
        (Kind::Jwe(decrypter, _), None) => Ok(decrypter.decrypt_json(token)?.into_plaintext()),
        (Kind::PasetoBytes(verifier), None) => verifier.verify(token),
        (Kind::Jwe(..) | Kind::PasetoBytes(_), Some(_)) => {
            Err(Fault::option("content", "applies to a JWS only"))
        }
        (Kind::Jwt(_) | Kind::Claims(_) | Kind::Nested(..) | Kind::Remote(..), _) => Err(
            Fault::option("format", "a verifier of claims cannot return bytes"),
        ),
    }
}
