//! The types of values.

use std::fmt;
use std::time::Duration;

use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{self, Deserializer, IntoDeserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::table::{Kind, Value};
use crate::fault::Fault;
use crate::format::{Format, Serialization};

/// One text or a list of texts.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        match self {
            Texts::One(_) => 1,
            Texts::Several(texts) => texts.len(),
        }
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        match self {
            Texts::One(text) => vec![text],
            Texts::Several(texts) => texts,
        }
    }
}

/// The members of a JSON object, in their order. Values are as written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), &**value))
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Members, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = object.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        from.deserialize_map(Object)
    }
}

/// A duration in whole seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Deserialize)]
#[serde(transparent)]
pub(crate) struct Seconds(u64);

impl Seconds {
    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn count(self) -> u64 {
        self.0
    }
}

impl From<Seconds> for Duration {
    fn from(seconds: Seconds) -> Duration {
        Duration::from_secs(seconds.0)
    }
}

/// A password, wiped after use.
pub(crate) struct Secret(Zeroizing<String>);

impl Secret {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Secret, D::Error> {
        Ok(Secret(Zeroizing::new(String::deserialize(from)?)))
    }
}

/// The format of a key to import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KeyText {
    /// A JWK, PEM, DER or PASERK, detected from the content.
    #[default]
    Any,
    /// The bytes are the secret.
    Secret,
    /// The secret in base64 or base64url, with or without padding.
    SecretBase64,
    /// The bytes are a secret, which may be shorter than its hash. For systems that cannot change their secret.
    InsecureSecret,
    /// The bytes are a password, which encrypts JWEs (PBES2).
    InsecurePassword,
    /// A public RSA key below 2,048 bits. For systems that cannot change their key.
    InsecureRsa,
    /// An X.509 certificate with the public key. The certificate is not verified.
    Certificate,
}

impl KeyText {
    /// Returns the format with this name, for example `secret-base64`.
    ///
    /// # Errors
    ///
    /// The format is unknown.
    pub fn parse(name: &str) -> Result<KeyText, Fault> {
        let name: StrDeserializer<'_, de::value::Error> = name.into_deserializer();
        KeyText::deserialize(name).map_err(|_| Fault::option("format", Kind::Format.expected()))
    }
}

macro_rules! optional {
    ($($type:ty => $kind:ident;)*) => {$(
        impl Value for Option<$type> {
            const KIND: Kind = Kind::$kind;

            fn is_set(&self) -> bool {
                self.is_some()
            }
        }
    )*};
}

optional! {
    String => Text;
    Secret => Text;
    Texts => Texts;
    Seconds => Seconds;
    usize => Count;
    u32 => Count;
}

impl Value for bool {
    const KIND: Kind = Kind::Flag;

    fn is_set(&self) -> bool {
        *self
    }
}

impl Value for Vec<String> {
    const KIND: Kind = Kind::List;

    fn is_set(&self) -> bool {
        !self.is_empty()
    }
}

impl Value for Members {
    const KIND: Kind = Kind::Object;

    fn is_set(&self) -> bool {
        !self.0.is_empty()
    }
}

impl Value for Format {
    const KIND: Kind = Kind::Format;

    fn is_set(&self) -> bool {
        *self != Format::default()
    }
}

impl Value for KeyText {
    const KIND: Kind = Kind::Format;

    fn is_set(&self) -> bool {
        *self != KeyText::default()
    }
}

impl Value for Serialization {
    const KIND: Kind = Kind::Serialization;

    fn is_set(&self) -> bool {
        *self != Serialization::default()
    }
}
