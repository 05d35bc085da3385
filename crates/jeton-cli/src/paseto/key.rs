//! Loads the key of a PASETO: a PASERK of the kind that the command needs. Its version selects the version of the
//! tokens. The superseded versions require --allow.

use jeton::danger::{paseto_v1::V1, paseto_v2::V2};
use jeton::error::KeyProblem;
use jeton::paserk::Form;
use jeton::paseto::{LocalKey, Message, PasetoKeys, PublicKey, SecretKey, TokenContext, Version};
use jeton::paseto::{v3::V3, v4::V4};
use jeton::{Claims, JsonClaims, Limits};

use crate::allow::{Allowed, InsecureOption};
use crate::exit::Outcome;
use crate::keyfile::{KeyFile, LoadError};

/// A key that issues tokens, of any version and purpose.
pub(crate) trait IssuingKey {
    fn claims(
        &self,
        claims: &Claims<'_, JsonClaims<'_>>,
        to: TokenContext<'_>,
    ) -> jeton::Result<String>;
    fn bytes(&self, payload: &[u8], to: TokenContext<'_>) -> jeton::Result<String>;
}

impl<V: Version> IssuingKey for SecretKey<V> {
    fn claims(
        &self,
        claims: &Claims<'_, JsonClaims<'_>>,
        to: TokenContext<'_>,
    ) -> jeton::Result<String> {
        self.issue_with(claims, to)
    }

    fn bytes(&self, payload: &[u8], to: TokenContext<'_>) -> jeton::Result<String> {
        self.sign(payload, to)
    }
}

impl<V: Version> IssuingKey for LocalKey<V> {
    fn claims(
        &self,
        claims: &Claims<'_, JsonClaims<'_>>,
        to: TokenContext<'_>,
    ) -> jeton::Result<String> {
        self.issue_with(claims, to)
    }

    fn bytes(&self, payload: &[u8], to: TokenContext<'_>) -> jeton::Result<String> {
        self.encrypt(payload, to)
    }
}

/// A key that verifies or decrypts tokens, of any version and purpose.
pub(crate) trait AcceptingKey {
    fn keys(&self) -> PasetoKeys;
    fn open(&self, token: &str, implicit: &[u8], limits: Limits) -> jeton::Result<Message>;
}

impl<V: Version> AcceptingKey for PublicKey<V> {
    fn keys(&self) -> PasetoKeys {
        self.into()
    }

    fn open(&self, token: &str, implicit: &[u8], limits: Limits) -> jeton::Result<Message> {
        self.verify_with_limits(token, implicit, &limits)
    }
}

impl<V: Version> AcceptingKey for LocalKey<V> {
    fn keys(&self) -> PasetoKeys {
        self.into()
    }

    fn open(&self, token: &str, implicit: &[u8], limits: Limits) -> jeton::Result<Message> {
        self.decrypt_with_limits(token, implicit, &limits)
    }
}

/// The features that --allow enables here.
pub(super) const SUPPORTED: [InsecureOption; 2] =
    [InsecureOption::PasetoV1, InsecureOption::PasetoV2];

/// Loads the key to sign with.
pub(crate) fn signing(file: &KeyFile, allowed: &Allowed) -> Outcome<Box<dyn IssuingKey>> {
    Ok(match version(file, allowed)? {
        1 => Box::new(load(file, SecretKey::<V1>::from_paserk)?),
        2 => Box::new(load(file, SecretKey::<V2>::from_paserk)?),
        3 => Box::new(load(file, SecretKey::<V3>::from_paserk)?),
        _ => Box::new(load(file, SecretKey::<V4>::from_paserk)?),
    })
}

/// Loads the key to encrypt with.
pub(super) fn encrypting(file: &KeyFile, allowed: &Allowed) -> Outcome<Box<dyn IssuingKey>> {
    Ok(match version(file, allowed)? {
        1 => Box::new(load(file, LocalKey::<V1>::from_paserk)?),
        2 => Box::new(load(file, LocalKey::<V2>::from_paserk)?),
        3 => Box::new(load(file, LocalKey::<V3>::from_paserk)?),
        _ => Box::new(load(file, LocalKey::<V4>::from_paserk)?),
    })
}

/// Loads the key to verify with.
pub(crate) fn verifying(file: &KeyFile, allowed: &Allowed) -> Outcome<Box<dyn AcceptingKey>> {
    Ok(match version(file, allowed)? {
        1 => Box::new(load(file, PublicKey::<V1>::from_paserk)?),
        2 => Box::new(load(file, PublicKey::<V2>::from_paserk)?),
        3 => Box::new(load(file, PublicKey::<V3>::from_paserk)?),
        _ => Box::new(load(file, PublicKey::<V4>::from_paserk)?),
    })
}

/// Loads the key to decrypt with.
pub(crate) fn decrypting(file: &KeyFile, allowed: &Allowed) -> Outcome<Box<dyn AcceptingKey>> {
    Ok(match version(file, allowed)? {
        1 => Box::new(load(file, LocalKey::<V1>::from_paserk)?),
        2 => Box::new(load(file, LocalKey::<V2>::from_paserk)?),
        3 => Box::new(load(file, LocalKey::<V3>::from_paserk)?),
        _ => Box::new(load(file, LocalKey::<V4>::from_paserk)?),
    })
}

/// Returns the version of the key, if it is current or enabled by --allow.
fn version(file: &KeyFile, allowed: &Allowed) -> Outcome<u8> {
    match file.paserk()?.as_bytes() {
        [b'k', b'1', ..] => {
            allowed.require(InsecureOption::PasetoV1, "PASETO version 1")?;
            Ok(1)
        }
        [b'k', b'2', ..] => {
            allowed.require(InsecureOption::PasetoV2, "PASETO version 2")?;
            Ok(2)
        }
        [b'k', b'3', ..] => Ok(3),
        _ => Ok(4),
    }
}

/// Reads the key. For a key of another kind, the hint names the command for it.
fn load<K>(file: &KeyFile, read: impl Fn(&str) -> jeton::Result<K>) -> Outcome<K> {
    read(file.paserk()?).map_err(|error| {
        let hint = hint(&error);
        let failure = file.failure(LoadError::from(error));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    })
}

fn hint(error: &jeton::Error) -> Option<String> {
    let jeton::Error::Key(error) = error else {
        return None;
    };
    let KeyProblem::WrongKind { wanted, given } = error.problem() else {
        return None;
    };
    Some(match (given.form(), wanted.form()) {
        (Form::Secret, Form::Public) => {
            "to get the public key, run `jeton key public FILE`".to_owned()
        }
        (Form::Public, Form::Secret) => "this command needs the secret key".to_owned(),
        (Form::Local, _) => {
            format!("a {given} key is for `jeton paseto encrypt` and `jeton paseto decrypt`")
        }
        (Form::Secret, Form::Local) => format!("a {given} key is for `jeton paseto sign`"),
        (Form::Public, Form::Local) => format!("a {given} key is for `jeton paseto verify`"),
        _ => return None,
    })
}
