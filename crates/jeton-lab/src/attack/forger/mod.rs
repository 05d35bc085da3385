//! Fresh keys for one format and algorithm, and every wrong token that their owner, or somebody
//! without them, can make.

mod given;
pub(super) mod jwe;
pub(super) mod jws;

use jeton::key::{SigAlg, SigningKey};
use jeton::paseto::Binding;
use serde_json::{Map, Value, json};

pub use self::given::Operator;
use self::jwe::{Changes, RawRecipient};
use self::jws::{RawKey, b64, member};
use crate::runner::mint::{Mint, Owner};
use crate::runner::mint_paseto::{self, PasetoKey};
use crate::suite::{ClaimsSets, Dialect, Format, KeyForm, STANDARD};
use crate::wire::{Keys, Policy};

/// What the claims of every token say of who made it and for whom.
pub(super) const ISSUER: &str = "https://issuer.example";
pub(super) const AUDIENCE: &str = "api";

/// One format and algorithm, with fresh keys.
#[derive(Debug)]
pub(super) struct Stage {
    pub format: Format,
    /// Empty for PASETO.
    pub alg: String,
    /// Empty unless it is a JWE.
    pub enc: String,
    /// The time that the tokens are made at, seconds since 1970.
    pub now_s: i64,
    /// An address on this machine where the lab listens: who asks there has believed a token.
    pub beacon: String,
    claims: Value,
    /// What the honest header says beside the algorithms: `typ`, and `kid` if the key has one.
    header: Map<String, Value>,
    keys: Keys,
    pem: Option<String>,
    kind: Kind,
    stranger: Box<Option<Stage>>,
}

#[derive(Debug)]
enum Kind {
    Signing(RawKey),
    Sealing(RawRecipient),
    Paseto(Box<dyn PasetoKey>),
}

impl Stage {
    /// Fresh keys, and those of a stranger.
    ///
    /// # Errors
    /// A sentence, where the lab makes no such keys.
    pub(super) fn new(format: Format, alg: &str, enc: &str, now_s: i64) -> Result<Self, String> {
        let mut stage = Self::of(format, alg, enc, now_s, Owner::Lab)?;
        stage.stranger = Box::new(Some(Self::of(format, alg, enc, now_s, Owner::Stranger)?));
        Ok(stage)
    }

    fn of(format: Format, alg: &str, enc: &str, now_s: i64, owner: Owner) -> Result<Self, String> {
        let unknown = || "the lab has no standard claims".to_owned();
        let set = ClaimsSets::issued_at(now_s, None)
            .named(STANDARD)
            .ok_or_else(unknown)?;
        let claims = set.value(format, 0);
        let (keys, pem, kind) = if alg.starts_with("PBES2") {
            let jwk = json!({"kty": "oct", "alg": alg, "k": b64(jwe::random(24))});
            let keys = Keys {
                private: Some(jwk.clone()),
                ..Keys::default()
            };
            (keys, None, Kind::Sealing(RawRecipient { jwk }))
        } else if let Some(key) = mint_paseto::generate(format) {
            let key = key.map_err(|e| e.to_string())?;
            let paserk = Some(key.paserk().map_err(|e| e.to_string())?);
            let keys = Keys {
                paserk,
                ..Keys::default()
            };
            (keys, None, Kind::Paseto(key))
        } else {
            Self::of_jose(format, alg, enc, owner)?
        };
        Ok(Self {
            format,
            alg: alg.into(),
            enc: enc.into(),
            now_s,
            beacon: "http://127.0.0.1:9/".into(),
            claims,
            header: Map::from_iter([("typ".to_owned(), json!("JWT"))]),
            keys,
            pem,
            kind,
            stranger: Box::new(None),
        })
    }

    fn of_jose(
        format: Format,
        alg: &str,
        enc: &str,
        owner: Owner,
    ) -> Result<(Keys, Option<String>, Kind), String> {
        let some = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        let dialect = Dialect {
            format,
            alg: some(alg),
            enc: some(enc),
            claims: STANDARD.into(),
            key_bits: None,
        };
        let mint = Mint::new(&dialect, owner)?;
        let keys = mint.keys().clone();
        let text = mint.key_text(KeyForm::Pem);
        let pem = text.as_ref().and_then(|t| t.public.clone());
        let kind = match (format, &keys.private, text.and_then(|t| t.private)) {
            (Format::Jwe, Some(jwk), _) => Kind::Sealing(RawRecipient { jwk: jwk.clone() }),
            (_, Some(jwk), _) if jwk["kty"] == "oct" => {
                Kind::Signing(RawKey::Secret(member(jwk, "k")))
            }
            (_, _, Some(private)) => {
                let alg: SigAlg = alg.parse().map_err(|_| "no such algorithm".to_owned())?;
                let key = SigningKey::from_pem_as(&private, alg).map_err(|e| e.to_string())?;
                let der = key.to_der().map_err(|e| e.to_string())?;
                Kind::Signing(RawKey::Pair(der.to_vec()))
            }
            _ => return Err(format!("the lab has no keys for {alg}")),
        };
        Ok((keys, pem, kind))
    }

    /// The same format and algorithm under somebody else's keys.
    pub(super) fn stranger(&self) -> &Stage {
        self.stranger.as_ref().as_ref().unwrap_or(self)
    }

    /// The same format and algorithm under a fresh key; none where making one takes long.
    pub(super) fn another(&self) -> Option<Stage> {
        if self.alg.starts_with("RS") || self.alg.starts_with("PS") {
            return None;
        }
        Self::of(
            self.format,
            &self.alg,
            &self.enc,
            self.now_s,
            Owner::Stranger,
        )
        .ok()
    }

    /// What a driver is given to verify or decrypt with.
    pub(super) fn keys(&self) -> Keys {
        let mut keys = self.keys.clone();
        if keys.public.is_some() {
            match self.format {
                Format::Jwe => keys.public = None,
                _ => keys.private = None,
            }
        }
        if let Some(paserk) = &mut keys.paserk {
            paserk.secret = None;
        }
        keys
    }

    /// What a driver is given to make tokens with.
    pub(super) fn minting_keys(&self) -> Keys {
        let mut keys = self.keys.clone();
        if self.format == Format::Jwe && keys.public.is_some() {
            keys.private = None;
        }
        keys
    }

    /// The key that signs, if it is a JWS.
    pub(super) fn raw(&self) -> Option<&RawKey> {
        match &self.kind {
            Kind::Signing(key) => Some(key),
            _ => None,
        }
    }

    /// What is encrypted to, if it is a JWE.
    pub(super) fn recipient(&self) -> Option<&RawRecipient> {
        match &self.kind {
            Kind::Sealing(recipient) => Some(recipient),
            _ => None,
        }
    }

    /// The key, if it is PASETO.
    pub(super) fn paseto(&self) -> Option<&dyn PasetoKey> {
        match &self.kind {
            Kind::Paseto(key) => Some(key.as_ref()),
            _ => None,
        }
    }

    /// The public key as PEM, if it has one.
    pub(super) fn public_pem(&self) -> Option<&str> {
        self.pem.as_deref()
    }

    /// Claims that everybody must accept.
    pub(super) fn claims(&self) -> Value {
        self.claims.clone()
    }

    /// The same as JSON text, with this end.
    pub(super) fn claims_until(&self, seconds: i64) -> String {
        let mut claims = self.claims();
        claims["exp"] = self.time(seconds);
        claims.to_string()
    }

    /// What a verifier demands.
    pub(super) fn policy(&self) -> Policy {
        Policy {
            issuer: ISSUER.into(),
            audience: AUDIENCE.into(),
        }
    }

    /// A time as the format writes it.
    pub(super) fn time(&self, seconds: i64) -> Value {
        if self.format.is_paseto() {
            let moment = jiff::Timestamp::from_second(seconds).unwrap_or(jiff::Timestamp::MAX);
            return json!(moment.to_string());
        }
        json!(seconds)
    }

    /// The token of honest claims.
    pub(super) fn honest(&self) -> String {
        self.token(self.claims().to_string())
    }

    /// An authentic token of any payload.
    pub(super) fn token(&self, payload: impl AsRef<[u8]>) -> String {
        let payload = payload.as_ref();
        match &self.kind {
            Kind::Signing(_) => self.under(self.header(&[]), payload),
            Kind::Sealing(recipient) => recipient
                .token(&self.alg, &self.enc, &[], payload)
                .unwrap_or_default(),
            Kind::Paseto(key) => key.make(payload).unwrap_or_default(),
        }
    }

    /// The honest claims with some of them changed; `null` takes one away.
    pub(super) fn with_claims(&self, changes: &[(&str, Value)]) -> String {
        let mut claims = self.claims();
        for (name, value) in changes {
            match value {
                Value::Null => drop(claims.as_object_mut().map(|c| c.remove(*name))),
                value => claims[*name] = value.clone(),
            }
        }
        self.token(claims.to_string())
    }

    /// The honest claims' JSON with more text before its end.
    pub(super) fn claims_and(&self, more: &str) -> String {
        let mut text = self.claims().to_string();
        text.pop();
        format!("{text},{more}}}")
    }

    /// An authentic token under the honest header with changes, of honest claims. JOSE alone.
    pub(super) fn with_header(&self, changes: Changes<'_>) -> String {
        let payload = self.claims().to_string();
        match &self.kind {
            Kind::Sealing(recipient) => recipient
                .token(&self.alg, &self.enc, changes, payload.as_bytes())
                .unwrap_or_default(),
            _ => self.under(self.header(changes), payload.as_bytes()),
        }
    }

    /// An authentic token under exactly this text as its header. JOSE alone.
    pub(super) fn under(&self, header: impl AsRef<[u8]>, payload: &[u8]) -> String {
        self.under_texts(&b64(header.as_ref()), &b64(payload), payload)
    }

    /// An authentic token whose header and payload are these texts, which need not be base64url.
    /// A JWE has the payload inside.
    pub(super) fn under_texts(&self, header: &str, text: &str, payload: &[u8]) -> String {
        match &self.kind {
            Kind::Signing(key) => key.token(&self.alg, header, text).unwrap_or_default(),
            Kind::Sealing(recipient) => recipient
                .manage(&self.alg, &self.enc)
                .and_then(|managed| jwe::under_text(header, &managed, &self.enc, payload))
                .unwrap_or_default(),
            Kind::Paseto(_) => String::new(),
        }
    }

    /// The honest header with changes; `null` takes a member away.
    pub(super) fn header(&self, changes: Changes<'_>) -> String {
        let mut header = json!({"alg": self.alg});
        if !self.enc.is_empty() {
            header["enc"] = json!(self.enc);
        }
        for (name, value) in &self.header {
            header[name] = value.clone();
        }
        for (name, value) in changes {
            match value {
                Value::Null => drop(header.as_object_mut().map(|h| h.remove(*name))),
                value => header[*name] = value.clone(),
            }
        }
        header.to_string()
    }

    /// A PASETO of honest claims, bound to these.
    pub(super) fn bound(&self, footer: &str, implicit: &str) -> String {
        let claims = self.claims().to_string();
        self.paseto()
            .and_then(|key| {
                let binding = Binding::new().footer(footer).implicit_assertion(implicit);
                key.make_bound(claims.as_bytes(), binding).ok()
            })
            .unwrap_or_default()
    }

    /// Whether the algorithm signs on an elliptic curve of NIST.
    pub(super) fn is_ecdsa(&self) -> bool {
        self.format == Format::Jwt && self.alg.starts_with("ES")
    }

    /// Whether the algorithm is RSA of either padding.
    pub(super) fn is_rsa(&self) -> bool {
        self.format == Format::Jwt && matches!(&self.alg[..1], "R" | "P")
    }

    /// Whether the algorithm is HMAC.
    pub(super) fn is_mac(&self) -> bool {
        self.format == Format::Jwt && self.alg.starts_with("HS")
    }
}
