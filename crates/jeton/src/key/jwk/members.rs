use std::borrow::Cow;
use std::collections::BTreeSet;

use zeroize::{Zeroize, Zeroizing};

use super::IgnoredMember;
use crate::base64;
use crate::error::{FoundInput, KeyError, KeyProblem};
use crate::json::{self, Kind, ScanError, Value};
use crate::key::id::KeyId;
use crate::key::not_json::not_json;
use crate::key::other_input::found_object;
use crate::limits;

/// The members of one JWK, validated as JSON but not as a key.
pub(crate) struct Members<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

/// The members that only private and symmetric keys have (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1; RFC
/// 8037, section 2; RFC 9964).
pub(crate) const PRIVATE: [&str; 9] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/// The use of a key, as in `key_ops` (RFC 7517, section 4.3).
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

/// The error for a key with this `use`. Only names that are known are repeated.
fn another_use(declared: Option<&str>) -> KeyError {
    let known = ["sig", "enc", "jwt-svid", "x509-svid"];
    let found = known.into_iter().find(|name| Some(*name) == declared);
    KeyError::at("use", KeyProblem::AnotherUse).with_found(found)
}

struct Rejected(KeyError);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(KeyError::new(match error {
            ScanError::Syntax => KeyProblem::Malformed,
            ScanError::Depth { .. } | ScanError::TooMany => KeyProblem::TooLarge,
            ScanError::Duplicate => KeyProblem::Duplicate,
        }))
    }
}

/// Whether a JWK in the header of a token has a private member. The text is an object that was validated
/// with the header.
pub(crate) fn is_private(text: &str) -> bool {
    let mut is_private = false;
    let read = json::read_object(text, json::DEPTH_MAX, |name, _| {
        is_private |= PRIVATE.contains(&&*name.to_cow());
        Ok::<_, ScanError>(())
    });
    is_private || read.is_err()
}

impl<'a> Members<'a> {
    /// `x5c` and similar members are nested; nothing in a JWK is nested deeper.
    const DEPTH: u32 = 8;

    pub(crate) fn parse(text: &'a str) -> Result<Members<'a>, KeyError> {
        if text.len() > limits::KEY_BYTES {
            return Err(KeyError::too_large("JWK", text.len(), limits::KEY_BYTES));
        }
        let mut members = Vec::new();
        json::read_object(text, Self::DEPTH, |name, value| {
            members.push((name.to_cow(), value));
            Ok::<_, Rejected>(())
        })
        .map_err(|Rejected(error)| match error.problem() {
            KeyProblem::Malformed => not_json(text),
            _ => error,
        })?;
        let members = Members(members);
        match members.value("keys").and_then(Value::elements) {
            Some(keys) if !members.has("kty") => Err(KeyError::input(FoundInput::JwkSet {
                keys: u32::try_from(keys.count()).unwrap_or(u32::MAX),
            })),
            _ if !members.has("kty") => match found_object(text) {
                Ok(FoundInput::OtherJson) | Err(_) => Ok(members),
                Ok(found) => Err(KeyError::input(found)),
            },
            _ => Ok(members),
        }
    }

    fn value(&self, name: &str) -> Option<Value<'a>> {
        let mut members = self.0.iter();
        members.find(|(n, _)| n == name).map(|(_, value)| *value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.value(name).is_some()
    }

    /// Returns the value of a member where null means that it is absent: `use`, `key_ops`, `x5c`.
    fn not_null(&self, name: &str) -> Option<Value<'a>> {
        self.value(name).filter(|value| value.kind() != Kind::Null)
    }

    /// Returns whether the member is there and not null.
    pub(crate) fn has_value(&self, name: &str) -> bool {
        self.not_null(name).is_some()
    }

    /// Checks that there is no private member.
    pub(crate) fn no_private_member(&self) -> Result<(), KeyError> {
        match PRIVATE.into_iter().find(|name| self.has(name)) {
            None => Ok(()),
            Some(name) if self.has_value(name) => Err(KeyError::at(name, KeyProblem::PrivateGiven)),
            Some(name) => Err(KeyError::at(name, KeyProblem::Null)),
        }
    }

    /// Checks that an RSA private key has its primes. Without them it cannot sign or decrypt (RFC 7518, section
    /// 6.3.2, permits to omit them).
    pub(crate) fn has_primes(&self) -> Result<(), KeyError> {
        if ["p", "q", "dp", "dq", "qi"]
            .iter()
            .any(|name| self.has(name))
        {
            Ok(())
        } else {
            Err(KeyError::new(KeyProblem::PrimesMissing))
        }
    }

    /// Writes the JWK again without its private members and without `key_ops`, which names the use of the private
    /// key.
    pub(crate) fn public_text(&self) -> String {
        let kept = self
            .0
            .iter()
            .filter(|(name, _)| !PRIVATE.contains(&&**name) && name != "key_ops");
        let mut text = String::from("{");
        for (index, (name, value)) in kept.enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(&serde_json::Value::from(&**name).to_string());
            text.push(':');
            match value.kind() {
                Kind::String => {
                    text.push('"');
                    text.push_str(value.raw());
                    text.push('"');
                }
                _ => text.push_str(value.raw()),
            }
        }
        text.push('}');
        text
    }

    /// Returns an optional string.
    pub(crate) fn optional(&self, name: &'static str) -> Result<Option<Cow<'a, str>>, KeyError> {
        match self.value(name) {
            None => Ok(None),
            Some(value) => match value.string() {
                Some(text) => Ok(Some(text.to_cow())),
                None if value.kind() == Kind::Null => Err(KeyError::at(name, KeyProblem::Null)),
                None => Err(KeyError::not_a_string(name, value.kind())),
            },
        }
    }

    /// Returns a required string.
    pub(crate) fn required(&self, name: &'static str) -> Result<Cow<'a, str>, KeyError> {
        self.optional(name)?
            .ok_or(KeyError::at(name, KeyProblem::Missing))
    }

    /// Returns required bytes, which are wiped when dropped.
    pub(crate) fn bytes(&self, name: &'static str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let mut text = self.required(name)?;
        let bytes = if PRIVATE.contains(&name) {
            base64::decode_secret(text.as_bytes())
        } else {
            base64::decode(text.as_bytes()).map(Zeroizing::new)
        };
        // A text with escapes is a copy.
        if let Cow::Owned(text) = &mut text {
            text.zeroize();
        }
        bytes.map_err(|_| KeyError::at(name, KeyProblem::NotBase64Url))
    }

    /// Returns bytes of a fixed length (RFC 7518, sections 6.2.1 and 6.2.2: leading zeros are kept).
    pub(crate) fn fixed(
        &self,
        name: &'static str,
        length: usize,
    ) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let bytes = self.bytes(name)?;
        if bytes.len() != length {
            return Err(KeyError::wrong_length(name, bytes.len(), length));
        }
        Ok(bytes)
    }

    /// Returns a coordinate of a point on this curve.
    pub(crate) fn coordinate(
        &self,
        name: &'static str,
        curve: &'static str,
        length: usize,
    ) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let bytes = self.bytes(name)?;
        if bytes.len() != length {
            return Err(KeyError::coordinate(name, curve, &bytes, length));
        }
        Ok(bytes)
    }

    /// Returns a Base64urlUInt (RFC 7518, section 2): no leading zeros, and not zero.
    pub(crate) fn integer(&self, name: &'static str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let bytes = self.bytes(name)?;
        if matches!(bytes.first(), None | Some(0)) {
            return Err(KeyError::at(name, KeyProblem::Invalid));
        }
        Ok(bytes)
    }

    /// Returns the strings of an optional list as written, with quotes and separated by commas. Another value is
    /// ignored.
    pub(crate) fn strings(&self, name: &'static str) -> Option<String> {
        let texts = self.value(name)?.elements()?.map(|element| {
            element.string()?;
            Some(format!("\"{}\"", element.raw()))
        });
        Some(texts.collect::<Option<Vec<_>>>()?.join(","))
    }

    /// Returns the members that count as absent: what is null where that is allowed, and certificate members of the
    /// wrong type or encoding.
    pub(crate) fn ignored(&self) -> Vec<IgnoredMember> {
        let is_thumbprint = |value: Value<'_>, bytes: usize| {
            let text = value.string().map(|text| text.to_cow());
            text.is_some_and(|text| {
                base64::decode(text.as_bytes()).is_ok_and(|digest| digest.len() == bytes)
            })
        };
        let is_base64 = |text: &str| base64_simd::STANDARD.check(text.as_bytes()).is_ok();
        let is_chain = |value: Value<'_>| {
            let certificates = value.elements().map(|elements| {
                elements.map(|element| {
                    element
                        .string()
                        .is_some_and(|text| is_base64(&text.to_cow()))
                })
            });
            let certificates: Option<Vec<bool>> = certificates.map(Iterator::collect);
            certificates.is_some_and(|all| !all.is_empty() && all.into_iter().all(|is| is))
        };
        let is_well_formed = |name: &str, value: Value<'_>| match name {
            "x5c" => is_chain(value),
            "x5u" => value.string().is_some(),
            "x5t" => is_thumbprint(value, 20),
            "x5t#S256" => is_thumbprint(value, 32),
            _ => true,
        };
        let names = ["use", "key_ops", "x5c", "x5u", "x5t", "x5t#S256"];
        let ignored = names.into_iter().filter_map(|name| {
            let value = self.value(name)?;
            let is_null = value.kind() == Kind::Null;
            (is_null || !is_well_formed(name, value)).then(|| IgnoredMember::new(name, is_null))
        });
        ignored.collect()
    }

    /// Requires this `use`, and removes the member: the key then counts as one for any use.
    pub(crate) fn take_use(&mut self, wanted: &str) -> Result<(), KeyError> {
        let declared = if self.has_value("use") {
            self.optional("use")?
        } else {
            None
        };
        if declared.as_deref() != Some(wanted) {
            return Err(another_use(declared.as_deref()));
        }
        self.0.retain(|(name, _)| name != "use");
        Ok(())
    }

    pub(crate) fn key_id(&self) -> Result<Option<KeyId>, KeyError> {
        self.optional("kid")?
            .map(|kid| KeyId::from_key(&kid))
            .transpose()
    }

    /// Checks that `use` and `key_ops` permit this operation.
    pub(crate) fn permit(&self, operation: Operation) -> Result<(), KeyError> {
        self.permit_one_of("sig", &[operation.name()])
    }

    /// Checks that `use` is absent or has this value, and that `key_ops` is absent or contains one of these.
    pub(crate) fn permit_one_of(
        &self,
        intended: &'static str,
        operations_wanted: &[&'static str],
    ) -> Result<(), KeyError> {
        if self.has_value("use")
            && let Some(declared) = self.optional("use")?
            && declared != intended
        {
            return Err(another_use(Some(&declared)).with_expected(intended));
        }
        let Some(operations) = self.not_null("key_ops") else {
            return Ok(());
        };
        let wrong_type = || KeyError::at("key_ops", KeyProblem::WrongType);
        let mut declared = BTreeSet::new();
        for value in operations.elements().ok_or_else(wrong_type)? {
            let name = value.string().ok_or_else(wrong_type)?;
            if !declared.insert(name.to_cow()) {
                return Err(KeyError::at("key_ops", KeyProblem::Duplicate));
            }
        }
        if operations_wanted
            .iter()
            .any(|wanted| declared.contains(*wanted))
        {
            return Ok(());
        }
        let error = KeyError::at("key_ops", KeyProblem::OperationNotPermitted);
        Err(match operations_wanted {
            [expected, ..] => error.with_expected(expected),
            [] => error,
        })
    }
}
