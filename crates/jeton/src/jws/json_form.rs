//! The JSON serialization, general and flattened (RFC 7515, section 7.2).

use std::cell::OnceCell;

use super::compact::{signed_by, signing_input};
use super::header::{PayloadForm, Reading};
use super::{Header, VerifiedPayload};
use crate::base64;
use crate::error::{Measure, Part, Rejection};
use crate::json::{self, Kind, ScanError, Value};
use crate::key::{KeyId, Keys};
use crate::limits;
use crate::token_limits::Limits;

/// One signature with its headers, still encoded.
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

struct Rejected(Rejection);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(Rejection::of_json(Part::Token, error))
    }
}

/// Returns the payload if one signature is valid. `content` replaces an absent payload.
pub(super) fn verify(
    text: &str,
    content: Option<&[u8]>,
    keys: &Keys,
    reading: Reading<'_>,
) -> Result<VerifiedPayload, Rejection> {
    let limits = reading.limits;
    if text.len() > limits.token_bytes {
        return Err(Rejection::too_large(
            Part::Token,
            text.len(),
            limits.token_bytes,
        ));
    }
    if let Some(content) = content
        && content.len() > limits.token_bytes
    {
        return Err(Rejection::too_large(
            Part::Payload,
            content.len(),
            limits.token_bytes,
        ));
    }
    let document = Document::parse(text, limits)?;
    let payload = document.payload(content)?;
    let signatures = document.signatures(limits)?;
    let read: Vec<_> = signatures
        .iter()
        .map(|signed| signed.read(reading))
        .collect();
    // A payload cannot be both encoded and unencoded (RFC 7797, section 3). A signature that cannot be
    // parsed has no say in this.
    let mut forms = read.iter().flatten().map(|signature| signature.form);
    let first = forms.next();
    if forms.any(|form| Some(form) != first) {
        return Err(Rejection::Malformed(Part::Header));
    }
    let mut last_error = MALFORMED;
    let mut tries = Tries(Some(limits::SIGNATURES_TRIED));
    for (index, signature) in read.iter().enumerate() {
        let verified = match signature {
            Ok(signature) => signature.verify(&payload, keys, reading, &mut tries),
            Err(rejection) => Err(rejection.clone()),
        };
        match verified {
            Err(_) if tries.over() => {
                return Err(Rejection::more_than(
                    Part::Token,
                    Measure::SignatureChecks,
                    limits::SIGNATURES_TRIED,
                ));
            }
            Err(rejection) => last_error = rejection,
            Ok(found) => {
                return Ok(VerifiedPayload {
                    signature_index: index,
                    ..found
                });
            }
        }
    }
    Err(last_error)
}

/// The number of signatures of a document that may still be checked; `None` after it was exceeded.
struct Tries(Option<usize>);

impl Tries {
    /// Runs one more check, if the limit allows it.
    fn one_more(&mut self, check: impl FnOnce() -> bool) -> bool {
        self.0 = self.0.and_then(|left| left.checked_sub(1));
        self.0.is_some() && check()
    }

    fn over(&self) -> bool {
        self.0.is_none()
    }
}

/// The payload.
enum Payload<'c> {
    /// The text of the member.
    Member(String),
    /// Detached content.
    Detached(&'c [u8]),
}

impl Payload<'_> {
    /// Builds the signing input for this header and payload form.
    fn signed(&self, header: &str, form: PayloadForm) -> Vec<u8> {
        match self {
            Payload::Detached(content) => signing_input(header, form, content),
            // The text of the member is what was signed, encoded or not.
            Payload::Member(text) => signing_input(header, PayloadForm::Plain, text.as_bytes()),
        }
    }

    fn bytes(&self, form: PayloadForm) -> Result<Vec<u8>, Rejection> {
        match (self, form) {
            (Payload::Detached(content), _) => Ok(content.to_vec()),
            (Payload::Member(text), PayloadForm::Plain) => Ok(text.as_bytes().to_vec()),
            (Payload::Member(text), PayloadForm::Encoded) => {
                base64::decode(text.as_bytes()).map_err(|_| Rejection::Malformed(Part::Payload))
            }
        }
    }
}

impl<'t> Document<'t> {
    fn parse(text: &'t str, limits: &Limits) -> Result<Document<'t>, Rejection> {
        let mut document = Document::default();
        json::read_object(text, limits.document(), |name, value| {
            match &*name.to_cow() {
                "payload" => document.payload = Some(value),
                "signatures" => document.signatures = Some(value),
                other => document.flattened.take(other, value),
            }
            Ok::<_, Rejected>(())
        })
        .map_err(|Rejected(rejection)| rejection)?;
        Ok(document)
    }

    fn payload<'c>(&self, content: Option<&'c [u8]>) -> Result<Payload<'c>, Rejection> {
        match (self.payload, content) {
            (Some(payload), None) => Ok(Payload::Member(string(payload)?)),
            (None, Some(content)) => Ok(Payload::Detached(content)),
            _ => Err(Rejection::Malformed(Part::Payload)),
        }
    }

    /// Returns the signatures of the general or flattened form. A document that mixes both is rejected.
    fn signatures(self, limits: &Limits) -> Result<Vec<Signed<'t>>, Rejection> {
        let Some(array) = self.signatures else {
            return Ok(vec![self.flattened]);
        };
        let flattened = &self.flattened;
        let mixed = flattened.protected.is_some()
            || flattened.unprotected.is_some()
            || flattened.signature.is_some();
        if mixed {
            return Err(MALFORMED);
        }
        let mut all = Vec::new();
        for element in array.elements().ok_or(MALFORMED)? {
            if all.len() == limits::SIGNATURES {
                return Err(Rejection::more_than(
                    Part::Token,
                    Measure::Signatures,
                    limits::SIGNATURES,
                ));
            }
            let mut signed = Signed::default();
            json::read_object(element.raw(), limits.depth(), |name, value| {
                signed.take(&name.to_cow(), value);
                Ok::<_, Rejected>(())
            })
            .map_err(|Rejected(rejection)| rejection)?;
            all.push(signed);
        }
        Ok(all)
    }
}

impl<'t> Signed<'t> {
    /// Ignores other members (RFC 7515, section 7.2.1).
    fn take(&mut self, name: &str, value: Value<'t>) {
        match name {
            "protected" => self.protected = Some(value),
            "header" => self.unprotected = Some(value),
            "signature" => self.signature = Some(value),
            _ => {}
        }
    }

    fn read(&self, reading: Reading<'_>) -> Result<Signature<'t>, Rejection> {
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
        let header = Header::decode(&protected, reading.limits)?;
        Ok(Signature {
            form: header.fields_with(unprotected, reading)?.payload_form,
            header,
            protected,
            unprotected,
            signature,
        })
    }
}

/// One signature whose members have the right types.
struct Signature<'t> {
    protected: String,
    header: Header,
    form: PayloadForm,
    unprotected: Option<&'t str>,
    signature: String,
}

impl Signature<'_> {
    fn verify(
        &self,
        payload: &Payload<'_>,
        keys: &Keys,
        reading: Reading<'_>,
        tries: &mut Tries,
    ) -> Result<VerifiedPayload, Rejection> {
        let fields = self.header.fields_with(self.unprotected, reading)?;
        let alg = fields.alg()?;
        // Built for the first matching key, if there is one.
        let message = OnceCell::new();
        let key = keys.find(
            alg,
            fields.kid.as_deref(),
            reading.limits.keys_tried,
            |key| {
                tries.one_more(|| {
                    let message =
                        message.get_or_init(|| payload.signed(&self.protected, self.form));
                    signed_by(key, message, &self.signature)
                })
            },
        )?;
        Ok(VerifiedPayload {
            payload: payload.bytes(self.form)?,
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
