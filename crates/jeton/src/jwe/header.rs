//! The JOSE header of a JWE (RFC 7516, section 4), the union of up to three objects.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::base64;
use crate::error::{InvalidUse, Part, Rejection};
use crate::json::{self, Kind, ScanError, Value};
use crate::key::jwk;
use crate::token_limits::Limits;

const MALFORMED: Rejection = Rejection::Malformed(Part::Header);

/// The header members that a decrypter uses. It ignores `jwk`, `jku`, `x5c` and `x5u`: keys in a token are
/// never trusted, and nothing is fetched. A private key in `jwk` or `epk` is rejected, because it is no
/// longer secret, and other readers might trust it.
#[derive(Default, Clone)]
pub(super) struct Fields<'h> {
    names: HashSet<Cow<'h, str>>,
    alg: Option<Cow<'h, str>>,
    enc: Option<Cow<'h, str>>,
    enc_is_protected: bool,
    pub(super) kid: Option<Cow<'h, str>>,
    pub(super) typ: Option<Cow<'h, str>>,
    pub(super) cty: Option<Cow<'h, str>>,
    pub(super) is_compressed: bool,
    /// A JSON object, validated as JSON.
    pub(super) epk: Option<&'h str>,
    pub(super) apu: Option<Cow<'h, str>>,
    pub(super) apv: Option<Cow<'h, str>>,
    pub(super) iv: Option<Cow<'h, str>>,
    pub(super) tag: Option<Cow<'h, str>>,
    pub(super) p2s: Option<Cow<'h, str>>,
    /// A JSON number, validated as JSON.
    pub(super) p2c: Option<&'h str>,
}

struct Rejected(Rejection);

impl From<ScanError> for Rejected {
    fn from(error: ScanError) -> Self {
        Rejected(Rejection::of_json(Part::Header, error))
    }
}

/// Decodes a protected header.
pub(super) fn decode(encoded: &str, limits: &Limits) -> Result<Vec<u8>, Rejection> {
    limits.check_header(encoded)?;
    base64::decode(encoded.as_bytes()).map_err(|_| MALFORMED)
}

impl<'h> Fields<'h> {
    pub(super) fn alg(&self) -> Result<&str, Rejection> {
        self.alg.as_deref().ok_or(MALFORMED)
    }

    pub(super) fn enc(&self) -> Result<&str, Rejection> {
        self.enc.as_deref().ok_or(MALFORMED)
    }

    /// Whether `enc` is in the protected header.
    pub(super) fn enc_is_protected(&self) -> bool {
        self.enc_is_protected
    }

    /// Adds the protected header.
    pub(super) fn read_protected(
        &mut self,
        text: &'h [u8],
        limits: &Limits,
    ) -> Result<(), Rejection> {
        let text = json::text(text).map_err(|error| Rejected::from(error).0)?;
        self.read(text, true, limits)
    }

    /// Adds an unprotected header. It may help to find and unwrap the key. It must not describe the plaintext
    /// or say that it is compressed (RFC 7516, section 4.1.3).
    pub(super) fn read_unprotected(
        &mut self,
        text: &'h str,
        limits: &Limits,
    ) -> Result<(), Rejection> {
        if text.len() > limits.header_bytes {
            return Err(Rejection::too_large(
                Part::Header,
                text.len(),
                limits.header_bytes,
            ));
        }
        self.read(text, false, limits)
    }

    /// Rejects a name that occurs twice in all headers together (RFC 7516, section 4).
    fn read(
        &mut self,
        text: &'h str,
        is_protected: bool,
        limits: &Limits,
    ) -> Result<(), Rejection> {
        json::read_object(text, limits.depth(), |name, value| {
            self.member(name.to_cow(), value, is_protected)
                .map_err(Rejected)
        })
        .map_err(|Rejected(rejection)| rejection)?;
        if let Some(kid) = &self.kid {
            limits.check_key_id(Part::Header, kid)?;
        }
        Ok(())
    }

    fn member(
        &mut self,
        name: Cow<'h, str>,
        value: Value<'h>,
        is_protected: bool,
    ) -> Result<(), Rejection> {
        let string = || {
            value
                .string()
                .map(|text| Some(text.to_cow()))
                .ok_or(MALFORMED)
        };
        let of_kind = |kind| {
            if value.kind() == kind {
                Ok(Some(value.raw()))
            } else {
                Err(MALFORMED)
            }
        };
        let public_key = || match value.kind() {
            Kind::Object if jwk::is_private(value.raw()) => Err(Rejection::PrivateKeyInHeader),
            Kind::Object => Ok(value.raw()),
            _ => Err(MALFORMED),
        };
        match &*name {
            "alg" => self.alg = string()?,
            "enc" => {
                self.enc = string()?;
                self.enc_is_protected = is_protected;
            }
            "kid" => self.kid = string()?,
            "typ" => {
                let typ = string()?;
                self.typ = typ.filter(|_| is_protected);
            }
            "cty" => {
                let cty = string()?;
                self.cty = cty.filter(|_| is_protected);
            }
            "zip" => {
                if !is_protected || string()?.as_deref() != Some("DEF") {
                    return Err(MALFORMED);
                }
                self.is_compressed = true;
            }
            "jwk" => drop(public_key()?),
            "epk" => self.epk = Some(public_key()?),
            "apu" => self.apu = string()?,
            "apv" => self.apv = string()?,
            "iv" => self.iv = string()?,
            "tag" => self.tag = string()?,
            "p2s" => self.p2s = string()?,
            "p2c" => self.p2c = of_kind(Kind::Number)?,
            // No extension is supported.
            "crit" => return Err(Rejection::CriticalExtension),
            _ => {}
        }
        if !self.names.insert(name) {
            return Err(Rejection::DuplicateMember(Part::Header));
        }
        Ok(())
    }
}

/// A header that is being written: names, and values as JSON.
#[derive(Default)]
pub(super) struct Members(Vec<(&'static str, String)>);

impl Members {
    pub(super) fn text(&mut self, name: &'static str, value: &str) {
        self.0
            .push((name, serde_json::Value::from(value).to_string()));
    }

    pub(super) fn json(&mut self, name: &'static str, value: String) {
        self.0.push((name, value));
    }

    pub(super) fn bytes(&mut self, name: &'static str, value: &[u8]) {
        self.json(name, format!("\"{}\"", base64::encode(value)));
    }

    /// Adds a media type.
    pub(super) fn media_type(
        &mut self,
        name: &'static str,
        value: Option<&str>,
    ) -> Result<(), InvalidUse> {
        let Some(value) = value else { return Ok(()) };
        if value.is_empty() || value.len() > 128 || !value.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(InvalidUse::Type);
        }
        self.text(name, value);
        Ok(())
    }

    /// Whether all its names are in this list.
    pub(super) fn contains_only(&self, names: &[&str]) -> bool {
        self.0.iter().all(|(name, _)| names.contains(name))
    }

    pub(super) fn extend(&mut self, others: Members) {
        self.0.extend(others.0);
    }

    /// Returns the JSON object.
    pub(super) fn to_json(&self) -> String {
        let members: Vec<String> = (self.0.iter())
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    }
}
