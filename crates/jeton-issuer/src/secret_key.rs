//! Private keys of every kind.

use std::sync::Arc;

use jeton::Issue;
use jeton::jwt::JwtIssuer;
use jeton::key::{MacKey, SigningKey};

use jeton::paseto::{v3, v4};
use jeton::remote::RemoteSigner;
use zeroize::Zeroizing;

use crate::error::Result;
use crate::hex::hex;
use crate::key_kind::KeyKind;
use crate::remote_keys::{self, KeyReader, NamedKey, RemoteRecord};

pub(crate) enum SecretKey {
    Jws(Arc<SigningKey>),
    Mac(Arc<MacKey>),
    /// Signs JWTs outside the store. The label names the key there.
    Remote(Arc<RemoteSigner>, String),
    V3Local(v3::LocalKey),
    V3Public(v3::SecretKey),
    V4Local(v4::LocalKey),
    V4Public(v4::SecretKey),
}

impl SecretKey {
    pub(crate) fn generate(kind: KeyKind) -> Result<SecretKey> {
        Ok(match kind {
            KeyKind::Jws(alg) => SecretKey::Jws(named(SigningKey::generate(alg)?)?.into()),
            KeyKind::Mac(alg) => {
                // A random id: a thumbprint would reveal information about the secret.
                SecretKey::Mac(MacKey::generate(alg)?.with_key_id(&random_key_id())?.into())
            }
            KeyKind::V3Local => SecretKey::V3Local(v3::LocalKey::generate()?),
            KeyKind::V3Public => SecretKey::V3Public(v3::SecretKey::generate()?),
            KeyKind::V4Local => SecretKey::V4Local(v4::LocalKey::generate()?),
            KeyKind::V4Public => SecretKey::V4Public(v4::SecretKey::generate()?),
        })
    }

    /// Returns a key that is held outside the store.
    pub(crate) fn remote(reader: &KeyReader, named: NamedKey) -> Result<SecretKey> {
        let label = named.label.clone();
        let signer = remote_keys::signer(reader.remote.clone(), named)?;
        Ok(SecretKey::Remote(signer.into(), label))
    }

    /// Reads the text of a stored key.
    pub(crate) fn read(reader: &KeyReader, kind: KeyKind, text: &str) -> Result<SecretKey> {
        if let KeyKind::Jws(alg) = kind
            && let Some(named) = RemoteRecord::read(alg, text)?
        {
            return SecretKey::remote(reader, named);
        }
        SecretKey::import(kind, text)
    }

    /// Returns the label of a key that is held outside the store.
    pub(crate) fn label(&self) -> Option<&str> {
        match self {
            SecretKey::Remote(_, label) => Some(label),
            _ => None,
        }
    }

    /// Imports a private JWK, a PEM or a PASERK.
    pub(crate) fn import(kind: KeyKind, text: &str) -> Result<SecretKey> {
        let text = text.trim();
        Ok(match kind {
            KeyKind::Jws(alg) if text.starts_with('{') => {
                SecretKey::Jws(named(SigningKey::from_jwk_as(text, alg)?)?.into())
            }
            KeyKind::Jws(alg) => SecretKey::Jws(named(SigningKey::from_pem_as(text, alg)?)?.into()),
            KeyKind::Mac(alg) => {
                let key = MacKey::from_jwk_as(text, alg)?;
                let key = match key.key_id() {
                    Some(_) => key,
                    None => key.with_key_id(&random_key_id())?,
                };
                SecretKey::Mac(key.into())
            }
            KeyKind::V3Local => SecretKey::V3Local(v3::LocalKey::from_paserk(text)?),
            KeyKind::V3Public => SecretKey::V3Public(v3::SecretKey::from_paserk(text)?),
            KeyKind::V4Local => SecretKey::V4Local(v4::LocalKey::from_paserk(text)?),
            KeyKind::V4Public => SecretKey::V4Public(v4::SecretKey::from_paserk(text)?),
        })
    }

    pub(crate) fn to_text(&self) -> Result<Zeroizing<String>> {
        Ok(match self {
            SecretKey::Jws(key) => key.to_jwk()?,
            SecretKey::Mac(key) => key.to_jwk(),
            SecretKey::Remote(signer, label) => {
                Zeroizing::new(RemoteRecord::to_text(label, signer)?)
            }
            SecretKey::V3Local(key) => key.to_paserk(),
            SecretKey::V3Public(key) => key.to_paserk()?,
            SecretKey::V4Local(key) => key.to_paserk(),
            SecretKey::V4Public(key) => key.to_paserk()?,
        })
    }

    pub(crate) fn kid(&self) -> Result<String> {
        Ok(match self {
            SecretKey::Jws(key) => key.key_id().map(str::to_owned),
            SecretKey::Mac(key) => key.key_id().map(str::to_owned),
            SecretKey::Remote(signer, _) => signer.verifying_key().key_id().map(str::to_owned),
            SecretKey::V3Local(key) => Some(key.id().to_string()),
            SecretKey::V3Public(key) => Some(key.public_key().id().to_string()),
            SecretKey::V4Local(key) => Some(key.id().to_string()),
            SecretKey::V4Public(key) => Some(key.public_key().id().to_string()),
        }
        .expect("made and imported keys are given an id"))
    }

    /// Returns the public key as published: a JWK with `use`, or a PASERK. None for a shared secret.
    pub(crate) fn public_text(&self) -> Option<String> {
        match self {
            SecretKey::Jws(key) => Some(key.verifying_key().to_jwk_with_use()),
            SecretKey::Remote(signer, _) => Some(signer.verifying_key().to_jwk_with_use()),
            SecretKey::V3Public(key) => Some(key.public_key().to_paserk()),
            SecretKey::V4Public(key) => Some(key.public_key().to_paserk()),
            SecretKey::Mac(_) | SecretKey::V3Local(_) | SecretKey::V4Local(_) => None,
        }
    }

    /// Returns an issuer of JWTs with this `typ`. `None` for PASETO, which has no types.
    pub(crate) fn typed_issuer(&self, typ: &'static str) -> Result<Option<JwtIssuer>> {
        let builder = match self {
            SecretKey::Jws(key) => JwtIssuer::builder(key.clone()),
            SecretKey::Mac(key) => JwtIssuer::builder(key.clone()),
            SecretKey::Remote(signer, _) => JwtIssuer::builder(signer.clone()),
            SecretKey::V3Local(_)
            | SecretKey::V3Public(_)
            | SecretKey::V4Local(_)
            | SecretKey::V4Public(_) => return Ok(None),
        };
        Ok(Some(builder.typ(typ).build()?))
    }

    pub(crate) fn issuer(&self) -> &dyn Issue {
        match self {
            SecretKey::Jws(key) => &**key,
            SecretKey::Mac(key) => &**key,
            SecretKey::Remote(signer, _) => &**signer,
            SecretKey::V3Local(key) => key,
            SecretKey::V3Public(key) => key,
            SecretKey::V4Local(key) => key,
            SecretKey::V4Public(key) => key,
        }
    }
}

/// Returns a random id for a shared key, unique among the few keys of its issuer. It is short because the
/// header of every token contains it.
fn random_key_id() -> String {
    hex(&rand::random::<[u8; 8]>())
}

fn named(key: SigningKey) -> Result<SigningKey> {
    if key.key_id().is_some() {
        return Ok(key);
    }
    let name = key.verifying_key().thumbprint();
    Ok(key.with_key_id(&name)?)
}
