//! PASETO keys of every version, behind one face.

use std::fmt;

use jeton::danger::{paseto_v1, paseto_v2};
use jeton::paseto::{Binding, LocalKey, SecretKey, Version, v3, v4};
use jeton::{Error, Result};

use crate::suite::Format;
use crate::wire::Paserk;

/// A key that makes tokens, and opens what was made under it.
pub(crate) trait PasetoKey: fmt::Debug + Send + Sync {
    /// The token of these bytes, bound to nothing else.
    fn make(&self, message: &[u8]) -> Result<String> {
        self.make_bound(message, Binding::default())
    }
    /// The token of these bytes and of what they are bound to.
    fn make_bound(&self, message: &[u8], binding: Binding<'_>) -> Result<String>;
    /// The bytes of that token.
    fn open(&self, token: &str) -> Result<Vec<u8>>;
    /// The key as a driver is given it.
    fn paserk(&self) -> Result<Paserk>;
}

/// A fresh key; `None` if the format is not PASETO.
pub(crate) fn generate(format: Format) -> Option<Result<Box<dyn PasetoKey>>> {
    Some(match format {
        Format::V1Local => local::<paseto_v1::V1>(),
        Format::V1Public => secret::<paseto_v1::V1>(),
        Format::V2Local => local::<paseto_v2::V2>(),
        Format::V2Public => secret::<paseto_v2::V2>(),
        Format::V3Local => local::<v3::V3>(),
        Format::V3Public => secret::<v3::V3>(),
        Format::V4Local => local::<v4::V4>(),
        Format::V4Public => secret::<v4::V4>(),
        Format::Jwt | Format::Jwe | Format::Bare | Format::Unsecured | Format::Opaque => {
            return None;
        }
    })
}

fn local<V: Version + fmt::Debug>() -> Result<Box<dyn PasetoKey>> {
    Ok(Box::new(LocalKey::<V>::generate()?))
}

fn secret<V: Version + fmt::Debug>() -> Result<Box<dyn PasetoKey>> {
    Ok(Box::new(SecretKey::<V>::generate()?))
}

impl<V: Version + fmt::Debug> PasetoKey for LocalKey<V> {
    fn make_bound(&self, message: &[u8], binding: Binding<'_>) -> Result<String> {
        self.encrypt(message, binding)
    }

    fn open(&self, token: &str) -> Result<Vec<u8>> {
        Ok(self.decrypt(token, b"")?.into_message())
    }

    fn paserk(&self) -> Result<Paserk, Error> {
        Ok(Paserk {
            local: Some(self.to_paserk().to_string()),
            ..Paserk::default()
        })
    }
}

impl<V: Version + fmt::Debug> PasetoKey for SecretKey<V> {
    fn make_bound(&self, message: &[u8], binding: Binding<'_>) -> Result<String> {
        self.sign(message, binding)
    }

    fn open(&self, token: &str) -> Result<Vec<u8>> {
        Ok(self.public_key().verify(token, b"")?.into_message())
    }

    fn paserk(&self) -> Result<Paserk, Error> {
        Ok(Paserk {
            secret: Some(self.to_paserk()?.to_string()),
            public: Some(self.public_key().to_paserk()),
            ..Paserk::default()
        })
    }
}
