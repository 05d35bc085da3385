//! The key of a PASETO: a PASERK of the kind that the verb needs. Its version says which tokens it
//! makes and takes; those that were superseded have a door.

use jeton::Claims;
use jeton::danger::{paseto_v1::V1, paseto_v2::V2};
use jeton::error::KeyProblem;
use jeton::paserk::Form;
use jeton::paseto::{Binding, Keys, LocalKey, Opened, PublicKey, SecretKey, Version};
use jeton::paseto::{v3::V3, v4::V4};

use crate::claims::CustomClaims;
use crate::allow::{InsecureOption, Allowed};
use crate::exit::{Failure, Outcome};
use crate::keyfile::{KeyFile, LoadError};

/// A key that makes tokens, of any version and purpose.
pub(crate) trait IssuingKey {
    fn claims(
        &self,
        claims: &Claims<'_, CustomClaims<'_>>,
        to: Binding<'_>,
    ) -> jeton::Result<String>;
    fn bytes(&self, payload: &[u8], to: Binding<'_>) -> jeton::Result<String>;
}

impl<V: Version> IssuingKey for SecretKey<V> {
    fn claims(
        &self,
        claims: &Claims<'_, CustomClaims<'_>>,
        to: Binding<'_>,
    ) -> jeton::Result<String> {
        self.issue_with(claims, to)
    }

    fn bytes(&self, payload: &[u8], to: Binding<'_>) -> jeton::Result<String> {
        self.sign(payload, to)
    }
}

impl<V: Version> IssuingKey for LocalKey<V> {
    fn claims(
        &self,
        claims: &Claims<'_, CustomClaims<'_>>,
        to: Binding<'_>,
    ) -> jeton::Result<String> {
        self.issue_with(claims, to)
    }

    fn bytes(&self, payload: &[u8], to: Binding<'_>) -> jeton::Result<String> {
        self.encrypt(payload, to)
    }
}

/// A key that takes tokens, of any version and purpose.
pub(crate) trait OpeningKey {
    fn keys(&self) -> Keys;
    fn open(&self, token: &str, implicit: &[u8]) -> jeton::Result<Opened>;
}

impl<V: Version> OpeningKey for PublicKey<V> {
    fn keys(&self) -> Keys {
        self.into()
    }

    fn open(&self, token: &str, implicit: &[u8]) -> jeton::Result<Opened> {
        self.verify(token, implicit)
    }
}

impl<V: Version> OpeningKey for LocalKey<V> {
    fn keys(&self) -> Keys {
        self.into()
    }

    fn open(&self, token: &str, implicit: &[u8]) -> jeton::Result<Opened> {
        self.decrypt(token, implicit)
    }
}

/// The allowed that lead to versions.
pub(super) const SUPPORTED: [InsecureOption; 2] = [InsecureOption::PasetoV1, InsecureOption::PasetoV2];

/// The key to sign with.
pub(crate) fn signing(file: &KeyFile, allowed: &Allowed) -> Outcome<Box<dyn IssuingKey>> {
    Ok(match version(file, allowed)? {
        1 => Box::new(load(file, SecretKey::<V1>::from_paserk)?),
        2 => Box::new(load(file, SecretKey::<V2>::from_paserk)?),
        3 => Box::new(load(file, SecretKey::<V3>::from_paserk)?),
        _ => Box::new(load(file, SecretKey::<V4>::from_paserk)?),
    })
}

/// The key to encrypt with.
pub(super) fn encrypting(file: &KeyFile, allowed: &Allowed) -> Outcome<Box<dyn IssuingKey>> {
    Ok(match version(file, allowed)? {
        1 => Box::new(load(file, LocalKey::<V1>::from_paserk)?),
        2 => Box::new(load(file, LocalKey::<V2>::from_paserk)?),
        3 => Box::new(load(file, LocalKey::<V3>::from_paserk)?),
        _ => Box::new(load(file, LocalKey::<V4>::from_paserk)?),
    })
}

/// The key to verify with.
pub(crate) fn verifying(file: &KeyFile, allowed: &Allowed) -> Outcome<Box<dyn OpeningKey>> {
    Ok(match version(file, allowed)? {
        1 => Box::new(load(file, PublicKey::<V1>::from_paserk)?),
        2 => Box::new(load(file, PublicKey::<V2>::from_paserk)?),
        3 => Box::new(load(file, PublicKey::<V3>::from_paserk)?),
        _ => Box::new(load(file, PublicKey::<V4>::from_paserk)?),
    })
}

/// The key to decrypt with.
pub(crate) fn decrypting(file: &KeyFile, allowed: &Allowed) -> Outcome<Box<dyn OpeningKey>> {
    Ok(match version(file, allowed)? {
        1 => Box::new(load(file, LocalKey::<V1>::from_paserk)?),
        2 => Box::new(load(file, LocalKey::<V2>::from_paserk)?),
        3 => Box::new(load(file, LocalKey::<V3>::from_paserk)?),
        _ => Box::new(load(file, LocalKey::<V4>::from_paserk)?),
    })
}

/// The version that the key's own text says, if its door is open.
fn version(file: &KeyFile, allowed: &Allowed) -> Outcome<u8> {
    match file.paserk()?.as_bytes() {
        [b'k', b'1', ..] => {
            allowed.require(InsecureOption::PasetoV1, "a key of PASETO version 1")?;
            Ok(1)
        }
        [b'k', b'2', ..] => {
            allowed.require(InsecureOption::PasetoV2, "a key of PASETO version 2")?;
            Ok(2)
        }
        [b'k', b'3', ..] => Ok(3),
        _ => Ok(4),
    }
}

/// Reads the key with the library's own reader, and says which verb would take another kind.
fn load<K>(file: &KeyFile, read: impl Fn(&str) -> jeton::Result<K>) -> Outcome<K> {
    read(file.paserk()?).map_err(|error| {
        let refusal = file.failure(LoadError::from(error));
        match advice(error) {
            Some(advice) => refusal.hint(advice),
            None => refusal,
        }
    })
}

fn advice(error: jeton::Error) -> Option<String> {
    let jeton::Error::Key(error) = error else {
        return None;
    };
    let KeyProblem::WrongKind { wanted, given } = error.problem() else {
        return None;
    };
    Some(match (given.form(), wanted.form()) {
        (Form::Secret, Form::Public) => "take its public half: jeton key public FILE".to_owned(),
        (Form::Public, Form::Secret) => "signing needs the secret key".to_owned(),
        (Form::Local, _) => {
            format!("a {given} encrypts and decrypts: jeton paseto encrypt, jeton paseto decrypt")
        }
        (Form::Secret, Form::Local) => format!("a {given} signs: jeton paseto sign"),
        (Form::Public, Form::Local) => format!("a {given} verifies: jeton paseto verify"),
        _ => return None,
    })
}

/// An error that is not about the token.
pub(super) fn wrong(error: jeton::Error) -> Failure {
    Failure::error(error.to_string())
}
