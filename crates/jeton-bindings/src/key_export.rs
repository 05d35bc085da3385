//! Exports keys as text and bytes.

use jeton::error::{KeyProblem, codes};
use jeton::paseto::{PublicKey, Version};

use crate::fault::Fault;
use crate::key::{Key, alg_name, kind};

impl Key {
    /// Exports the key, or the property that `what` names:
    ///
    /// - `jwk`, `pem`, `der`, `paserk`: the public key, also of a private key. A symmetric key is an error.
    /// - `thumbprint`, `thumbprint-uri`: RFC 7638 and RFC 9278.
    /// - `kid`: the key id, or an empty result; for PASETO the PASERK id. `alg`: the algorithm.
    /// - `kind`: `symmetric`, `private` or `public`. `alg-kind`: the algorithm, a space, and the kind.
    /// - `insecure-jwk`, `insecure-pem`, `insecure-der`, `insecure-paserk`: the key with its secret part.
    ///
    /// # Errors
    ///
    /// The name is unknown, or not available for this type of key.
    pub fn export(&self, what: &str) -> Result<Vec<u8>, Fault> {
        Ok(match what {
            "kid" => key_id(self)?.unwrap_or_default().into_bytes(),
            "alg" => alg_name(self).into(),
            "kind" => kind(self).into(),
            "alg-kind" => [alg_name(self), " ", kind(self)].concat().into(),
            "thumbprint" => thumbprint(self, false)?.into_bytes(),
            "thumbprint-uri" => thumbprint(self, true)?.into_bytes(),
            _ => match what.strip_prefix("insecure-") {
                Some(form) => secret(self, form)?,
                None => public(&self.public()?, what)?,
            },
        })
    }
}

fn public(key: &Key, form: &str) -> Result<Vec<u8>, Fault> {
    Ok(match (key, form) {
        (Key::Verifying(key), "jwk") => key.to_jwk_with_use().into_bytes(),
        (Key::Verifying(key), "pem") => key.to_pem()?.into_bytes(),
        (Key::Verifying(key), "der") => key.to_der()?,
        (Key::Encryption(key), "jwk") => key.to_jwk().into_bytes(),
        (Key::Encryption(key), "pem") => key.to_pem()?.into_bytes(),
        (Key::Encryption(key), "der") => key.to_der()?,
        (Key::V3Public(key), "paserk") => paserk(key),
        (Key::V4Public(key), "paserk") => paserk(key),
        _ => return Err(no_such_form(key, form)),
    })
}

fn paserk<V: Version>(key: &PublicKey<V>) -> Vec<u8> {
    key.to_paserk().into_bytes()
}

fn secret(key: &Key, form: &str) -> Result<Vec<u8>, Fault> {
    Ok(match (key, form) {
        (Key::Mac(key), "jwk") => key.to_jwk().as_bytes().to_vec(),
        (Key::Wrapping(key), "jwk") => key.to_jwk().as_bytes().to_vec(),
        (Key::Content(key), "jwk") => key.to_jwk().as_bytes().to_vec(),
        (Key::Signing(key), "jwk") => key.to_jwk()?.as_bytes().to_vec(),
        (Key::Signing(key), "pem") => key.to_pem()?.as_bytes().to_vec(),
        (Key::Signing(key), "der") => key.to_der()?.to_vec(),
        (Key::Decryption(key), "jwk") => key.to_jwk()?.as_bytes().to_vec(),
        (Key::Decryption(key), "pem") => key.to_pem()?.as_bytes().to_vec(),
        (Key::Decryption(key), "der") => key.to_der()?.to_vec(),
        (Key::V3Local(key), "paserk") => key.to_paserk().as_bytes().to_vec(),
        (Key::V4Local(key), "paserk") => key.to_paserk().as_bytes().to_vec(),
        (Key::V3Secret(key), "paserk") => key.to_paserk()?.as_bytes().to_vec(),
        (Key::V4Secret(key), "paserk") => key.to_paserk()?.as_bytes().to_vec(),
        (Key::Verifying(_) | Key::Encryption(_) | Key::V3Public(_) | Key::V4Public(_), _) => {
            return Err(KeyProblem::PublicGiven.into());
        }
        _ => return Err(no_such_form(key, form)),
    })
}

/// Returns the error for a form in which this type of key cannot be exported.
#[cold]
fn no_such_form(key: &Key, form: &str) -> Fault {
    let name = match form {
        "jwk" => "a JWK",
        "pem" => "PEM",
        "der" => "DER",
        "paserk" => "a PASERK",
        _ => return Fault::option("what", "not a form or a property of a key"),
    };
    let supported = match key {
        Key::Password(_) => {
            return Fault::argument(&codes::INVALID_OPTION, "a password cannot be exported");
        }
        Key::Mac(_) | Key::Wrapping(_) | Key::Content(_) => "a JWK",
        key if key.is_paseto() => "a PASERK",
        _ => "a JWK, PEM or DER",
    };
    let alg = alg_name(key);
    Fault::argument(
        &codes::INVALID_OPTION,
        format!("a key for {alg} cannot be exported as {name}: export it as {supported}"),
    )
}

/// Returns the id that a token names. The id of a PASETO key is computed from the key.
fn key_id(key: &Key) -> Result<Option<String>, Fault> {
    let own = |kid: Option<&str>| kid.map(str::to_owned);
    Ok(match key {
        Key::Mac(key) => own(key.key_id()),
        Key::Signing(key) => own(key.key_id()),
        Key::Verifying(key) => own(key.key_id()),
        Key::Wrapping(key) => own(key.key_id()),
        Key::Content(key) => own(key.key_id()),
        Key::Decryption(key) => own(key.key_id()),
        Key::Encryption(key) => own(key.key_id()),
        Key::Password(key) => own(key.key_id()),
        Key::V3Local(key) => Some(key.id().to_string()),
        Key::V4Local(key) => Some(key.id().to_string()),
        Key::V3Secret(key) => Some(key.public_key().id().to_string()),
        Key::V4Secret(key) => Some(key.public_key().id().to_string()),
        Key::V3Public(key) => Some(key.id().to_string()),
        Key::V4Public(key) => Some(key.id().to_string()),
    })
}

fn thumbprint(key: &Key, uri: bool) -> Result<String, Fault> {
    macro_rules! of {
        ($key:expr) => {
            if uri {
                $key.thumbprint_uri()
            } else {
                $key.thumbprint()
            }
        };
    }
    Ok(match key {
        Key::Mac(key) => of!(key),
        Key::Signing(key) => of!(key.verifying_key()),
        Key::Verifying(key) => of!(key),
        Key::Wrapping(key) => of!(key),
        Key::Content(key) => of!(key),
        Key::Decryption(key) => of!(key.encryption_key()),
        Key::Encryption(key) => of!(key),
        _ => {
            let alg = alg_name(key);
            return Err(Fault::argument(
                &codes::INVALID_OPTION,
                format!("a key for {alg} has no thumbprint: use its key id (`kid`)"),
            ));
        }
    })
}
