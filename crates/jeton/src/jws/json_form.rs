//! The JSON serialization, general and flattened (RFC 7515, section 7.2).

use super::compact::signed_by;
use super::{Header, VerifiedPayload};
use crate::base64;
use crate::error::{Part, Rejection};
use crate::json::{self, Fault, Kind, Value};
use crate::key::{KeyId, Keys};
use crate::limits::{self, Limits};

/// One signature with its headers, as they stand.
#[derive(Default)]
struct Signed<'t> {
    protected: Option<Value<'t>>,
    unprotected: Option<Value<'t>>,
    signature: Option<Value<'t>>,
}

/// The members of the outermost object.
#[derive(Default)]
struct Document<'t> {
    payload: Option<Value<'t>>,
    signatures: Option<Value<'t>>,
    flattened: Signed<'t>,
}

const MALFORMED: Rejection = Rejection::Malformed(Part::Token);

struct Refused(Rejection);

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Refused(match fault {
            Fault::Syntax => MALFORMED,
            Fault::Depth => Rejection::TooDeep(Part::Token),
            Fault::Duplicate => Rejection::DuplicateMember(Part::Token),
        })
    }
}

/// The payload, if one signature is valid. `content` stands in for a payload that is not there.
pub(super) fn verify(
    text: &str,
    content: Option<&[u8]>,
    keys: &Keys,
    limits: &Limits,
) -> Result<VerifiedPayload, Rejection> {
    if text.len() > limits.token_bytes {
        return Err(Rejection::TooLarge(Part::Token));
    }
    let document = Document::parse(text, limits)?;
    let payload = document.encoded_payload(content)?;
    let mut refusal = MALFORMED;
    for (index, signed) in document.signatures(limits)?.iter().enumerate() {
        match signed.verify(&payload, keys, limits) {
            Err(rejection) => refusal = rejection,
            Ok(found) => {
                return Ok(VerifiedPayload {
                    payload: base64::decode(payload.as_bytes())
                        .map_err(|_| Rejection::Malformed(Part::Payload))?,
                    signature_index: index,
                    ..found
                });
            }
        }
    }
    Err(refusal)
}

impl<'t> Document<'t> {
    fn parse(text: &'t str, limits: &Limits) -> Result<Document<'t>, Rejection> {
        let mut document = Document::default();
        json::read_object(text.as_bytes(), limits.depth(), |name, value| {
            match &*name.to_cow() {
                "payload" => document.payload = Some(value),
                "signatures" => document.signatures = Some(value),
                other => document.flattened.take(other, value),
            }
            Ok::<_, Refused>(())
        })
        .map_err(|Refused(rejection)| rejection)?;
        Ok(document)
    }

    /// The payload as it is signed: base64url.
    fn encoded_payload(&self, content: Option<&[u8]>) -> Result<String, Rejection> {
        match (self.payload, content) {
            (Some(payload), None) => Ok(string(payload)?),
            (None, Some(content)) => Ok(base64::encode(content)),
            _ => Err(Rejection::Malformed(Part::Payload)),
        }
    }

    /// The signatures of either form; a document that mixes both is neither.
    fn signatures(self, limits: &Limits) -> Result<Vec<Signed<'t>>, Rejection> {
        let Some(array) = self.signatures else {
            return Ok(vec![self.flattened]);
        };
        let flattened = &self.flattened;
        let mixed = flattened.protected.is_some()
            || flattened.unprotected.is_some()
            || flattened.signature.is_some();
        if mixed || array.kind() != Kind::Array {
            return Err(MALFORMED);
        }
        let mut all = Vec::new();
        for element in json::checked_elements(array.raw()) {
            if all.len() == limits::SIGNATURES {
                return Err(Rejection::TooLarge(Part::Signature));
            }
            let mut signed = Signed::default();
            json::read_object(element.raw().as_bytes(), limits.depth(), |name, value| {
                signed.take(&name.to_cow(), value);
                Ok::<_, Refused>(())
            })
            .map_err(|Refused(rejection)| rejection)?;
            all.push(signed);
        }
        Ok(all)
    }
}

impl<'t> Signed<'t> {
    /// Other members are ignored (RFC 7515, section 7.2.1).
    fn take(&mut self, name: &str, value: Value<'t>) {
        match name {
            "protected" => self.protected = Some(value),
            "header" => self.unprotected = Some(value),
            "signature" => self.signature = Some(value),
            _ => {}
        }
    }

    fn verify(
        &self,
        payload: &str,
        keys: &Keys,
        limits: &Limits,
    ) -> Result<VerifiedPayload, Rejection> {
        let protected = self.protected.map(string).transpose()?.unwrap_or_default();
        let signature = string(
            self.signature
                .ok_or(Rejection::Malformed(Part::Signature))?,
        )?;
        let unprotected = match self.unprotected {
            None => None,
            Some(value) if value.kind() == Kind::Object => Some(value.raw()),
            Some(_) => return Err(Rejection::Malformed(Part::Header)),
        };
        let header = Header::decode(&protected, limits)?;
        let fields = header.fields_with(unprotected, limits)?;
        let signing_input = [protected.as_str(), ".", payload].concat();
        let key = keys.find(fields.alg()?, fields.kid.as_deref(), |key| {
            signed_by(key, signing_input.as_bytes(), &signature)
        })?;
        Ok(VerifiedPayload {
            payload: Vec::new(),
            key_id: key.id().map(KeyId::shared),
            typ: fields.typ.map(|typ| typ.into_owned()),
            cty: fields.cty.map(|cty| cty.into_owned()),
            signature_index: 0,
        })
    }
}

fn string(value: Value<'_>) -> Result<String, Rejection> {
    let text = value.string().ok_or(MALFORMED)?;
    Ok(text.to_cow().into_owned())
}
