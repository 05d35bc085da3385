//! Bytes that are signed or encrypted, and are no claims.

use jeton::jwe::Encrypter;
use jeton::jws::{GeneralJws, JwsSigner};
use jeton::paseto::TokenContext;

use crate::argument::{Out, bytes};
use crate::buffer::JetonBuffer;
use crate::code::JetonCode;
use crate::format::Serialization;
use crate::guard::guard;
use crate::handle;
use crate::issuer::{Issuer, JetonIssuer, Signer, encrypting};
use crate::key::Key;
use crate::reason::{Fault, JetonReason};
use crate::verifier::{JetonVerifier, Verifier, another_use, token_text};

/// Signs or encrypts bytes with an issuer of the format `jws`, `jwe` or `paseto`. The token is in a buffer of the library.
///
/// With the option `detached`, the token does not contain the bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_issue_bytes(
    issuer: *const JetonIssuer,
    data: *const u8,
    length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, bytes and a place for a buffer.
        let (out, issuer, data) =
            unsafe { (Out::new(out)?, handle::get(issuer)?, bytes(data, length)?) };
        out.put_bytes(issue(&issuer, data)?);
        Ok(())
    })
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
            Ok(match options.serialization {
                Serialization::Compact => encrypter.encrypt(data)?,
                Serialization::Flattened => encrypter.encrypt_flattened(data)?,
                Serialization::General => encrypter.encrypt_general(data)?,
            })
        }
        Signer::Paseto(key) => paseto(key, data, issuer.context()),
        Signer::Remote(_) | Signer::PasetoRemote(_) => {
            Err(jeton::error::KeyProblem::PublicGiven.into())
        }
        Signer::Jwt(_) | Signer::Nested(..) | Signer::Encrypted(_) => Err(Fault::option(
            "format",
            "an issuer of claims: use `jeton_issue`",
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
        _ => return Err(another_use()),
    })
}

/// Verifies or decrypts a token of a verifier of the format `jws` or `jwe`. The bytes are in a buffer of the library.
///
/// `content` is what a detached JWS signs; null if the token contains it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn jeton_verify_bytes(
    verifier: *const JetonVerifier,
    token: *const u8,
    token_length: usize,
    content: *const u8,
    content_length: usize,
    out: *mut JetonBuffer,
    reason: *mut JetonReason,
) -> JetonCode {
    guard(reason, || {
        // SAFETY: the caller passes a handle, bytes and a place for a buffer.
        let (out, verifier, token, detached) = unsafe {
            (
                Out::new(out)?,
                handle::get(verifier)?,
                token_text(token, token_length)?,
                bytes(content, content_length)?,
            )
        };
        let detached = (!content.is_null()).then_some(detached);
        out.put_bytes(verify(&verifier, token, detached)?);
        Ok(())
    })
}

fn verify(verifier: &Verifier, token: &str, content: Option<&[u8]>) -> Result<Vec<u8>, Fault> {
    match (verifier, content) {
        (Verifier::Jws(verifier, Serialization::Compact), None) => {
            Ok(verifier.verify(token)?.into_payload())
        }
        (Verifier::Jws(verifier, Serialization::Compact), Some(content)) => {
            Ok(verifier.verify_detached(token, content)?.into_payload())
        }
        (Verifier::Jws(verifier, _), None) => Ok(verifier.verify_json(token)?.into_payload()),
        (Verifier::Jws(verifier, _), Some(content)) => Ok(verifier
            .verify_json_detached(token, content)?
            .into_payload()),
        (Verifier::Jwe(decrypter, Serialization::Compact), None) => {
            Ok(decrypter.decrypt(token)?.into_plaintext())
        }
        (Verifier::Jwe(decrypter, _), None) => Ok(decrypter.decrypt_json(token)?.into_plaintext()),
        (Verifier::Jwe(..), Some(_)) => {
            Err(Fault::option("content", "a JWE has no detached content"))
        }
        (Verifier::Jwt(_) | Verifier::Claims(_) | Verifier::Remote(..), _) => Err(Fault::option(
            "format",
            "a verifier of claims: use `jeton_verify`",
        )),
    }
}
