use std::borrow::Cow;
use std::collections::BTreeSet;

use zeroize::{Zeroize, Zeroizing};

use crate::base64;
use crate::error::{KeyError, KeyProblem};
use crate::json::{self, ScanError, Value};
use crate::key::KeyId;
use crate::limits;

/// The members of one JWK, checked as JSON and not yet as a key.
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

/// The members that only private and symmetric keys have (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1; RFC
/// 8037, section 2; RFC 9964).
pub(crate) const PRIVATE: [&str; 9] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/// What a key is to be used for, as `key_ops` calls it (RFC 7517, section 4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    Sign,
    Verify,
}

impl Operation {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Operation::Sign => "sign",
            Operation::Verify => "verify",
        }
    }
}

struct Rejected(KeyError);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(KeyError::new(match error {
            ScanError::Syntax => KeyProblem::Malformed,
            ScanError::Depth | ScanError::TooMany => KeyProblem::TooLarge,
            ScanError::Duplicate => KeyProblem::Duplicate,
        }))
    }
}

/// Whether a JWK in a token's header has a member that a public key does not have. The text is an object
/// that has been checked with the rest of the header.
pub(crate) fn is_private(text: &str) -> bool {
    let mut is_private = false;
    let read = json::read_object(text, json::DEPTH_MAX, |name, _| {
        is_private |= PRIVATE.contains(&&*name.to_cow());
        Ok::<_, ScanError>(())
    });
    is_private || read.is_err()
}

impl<'a> Members<'a> {
    /// `x5c` and the like may nest a little; nothing in a JWK nests more.
    const DEPTH: u32 = 8;

    pub(crate) fn parse(text: &'a str) -> Result<Members<'a>, KeyError> {
        if text.len() > limits::KEY_BYTES {
            return Err(KeyError::new(KeyProblem::TooLarge));
        }
        let mut members = Vec::new();
        json::read_object(text, Self::DEPTH, |name, value| {
            members.push((name.to_cow(), value));
            Ok::<_, Rejected>(())
        })
        .map_err(|Rejected(error)| error)?;
        Ok(Members(members))
    }

    fn value(&self, name: &str) -> Option<Value<'a>> {
        let mut members = self.0.iter();
        members.find(|(n, _)| n == name).map(|(_, value)| *value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// The first of the members that a public key does not have, if there is one.
    pub(crate) fn private_member(&self) -> Option<&'static str> {
        PRIVATE.into_iter().find(|name| self.has(name))
    }

    /// A string, if the member is there.
    pub(crate) fn optional(&self, name: &'static str) -> Result<Option<Cow<'a, str>>, KeyError> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => match value.string() {
                Some(text) => Ok(Some(text.to_cow())),
                None => Err(KeyError::at(name, KeyProblem::WrongType)),
            },
        }
    }

    /// A string that must be there.
    pub(crate) fn required(&self, name: &'static str) -> Result<Cow<'a, str>, KeyError> {
        self.optional(name)?
            .ok_or(KeyError::at(name, KeyProblem::Missing))
    }

    /// Bytes that must be there, wiped when dropped.
    pub(crate) fn bytes(&self, name: &'static str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let mut text = self.required(name)?;
        let bytes = match PRIVATE.contains(&name) {
            true => base64::decode_secret(text.as_bytes()),
            false => base64::decode(text.as_bytes()).map(Zeroizing::new),
        };
        // A text that was written with escapes is a copy.
        if let Cow::Owned(text) = &mut text {
            text.zeroize();
        }
        bytes.map_err(|_| KeyError::at(name, KeyProblem::NotBase64Url))
    }

    /// Bytes of a fixed length (RFC 7518, sections 6.2.1 and 6.2.2: leading zeros stay).
    pub(crate) fn fixed(
        &self,
        name: &'static str,
        length: usize,
    ) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let bytes = self.bytes(name)?;
        if bytes.len() != length {
            return Err(KeyError::at(name, KeyProblem::WrongLength));
        }
        Ok(bytes)
    }

    /// A Base64urlUInt (RFC 7518, section 2): no leading zeros, and not zero.
    pub(crate) fn integer(&self, name: &'static str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let bytes = self.bytes(name)?;
        if matches!(bytes.first(), None | Some(0)) {
            return Err(KeyError::at(name, KeyProblem::Invalid));
        }
        Ok(bytes)
    }

    /// The strings of a list as they stand, each between its quotes and commas between them, if the member
    /// is there.
    pub(crate) fn strings(&self, name: &'static str) -> Result<Option<String>, KeyError> {
        let Some(list) = self.value(name) else {
            return Ok(None);
        };
        let wrong_type = KeyError::at(name, KeyProblem::WrongType);
        let texts = list.elements().ok_or(wrong_type)?.map(|element| {
            element.string().ok_or(wrong_type)?;
            Ok(format!("\"{}\"", element.raw()))
        });
        Ok(Some(texts.collect::<Result<Vec<_>, _>>()?.join(",")))
    }

    pub(crate) fn key_id(&self) -> Result<Option<KeyId>, KeyError> {
        self.optional("kid")?
            .map(|kid| KeyId::loaded(&kid))
            .transpose()
    }

    /// Whether `use` and `key_ops` permit that operation.
    pub(crate) fn permit(&self, operation: Operation) -> Result<(), KeyError> {
        self.permit_one_of("sig", &[operation.name()])
    }

    /// Whether `use` is absent or this one, and `key_ops` absent or with one of these.
    pub(crate) fn permit_one_of(
        &self,
        intended: &str,
        operations_wanted: &[&str],
    ) -> Result<(), KeyError> {
        if self.optional("use")?.is_some_and(|declared| declared != intended) {
            return Err(KeyError::at("use", KeyProblem::Contradiction));
        }
        let Some(operations) = self.value("key_ops") else {
            return Ok(());
        };
        let wrong_type = KeyError::at("key_ops", KeyProblem::WrongType);
        let mut declared = BTreeSet::new();
        for value in operations.elements().ok_or(wrong_type)? {
            let name = value.string().ok_or(wrong_type)?;
            if !declared.insert(name.to_cow()) {
                return Err(KeyError::at("key_ops", KeyProblem::Duplicate));
            }
        }
        if operations_wanted
            .iter()
            .any(|wanted| declared.contains(*wanted))
        {
            Ok(())
        } else {
            Err(KeyError::at("key_ops", KeyProblem::Contradiction))
        }
    }
}
