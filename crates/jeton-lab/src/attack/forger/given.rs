//! A key that was not made here: an operator's own, for whom an endpoint of theirs is attacked.

use jeton::key::{MacKey, SigningKey};
use serde_json::{Map, Value, json};
use zeroize::Zeroizing;

use super::jws::{RawKey, member};
use super::{Kind, Stage};
use crate::suite::Format;
use crate::wire::Keys;

/// How long an operator's tokens are good for, seconds: longer than any run.
const LIFE_S: i64 = 3600;

/// What an operator tells of the tokens that their endpoint accepts.
#[derive(Clone, Default)]
pub struct Operator {
    /// The JWK that signs, private or symmetric, with its `alg`.
    pub jwk: Zeroizing<String>,
    /// What the tokens say beside their times; none: the lab's own claims.
    pub claims: Option<Map<String, Value>>,
    /// Their `typ`; none: `JWT`.
    pub typ: Option<String>,
}

impl Operator {
    /// Whether the lab can make tokens with this.
    ///
    /// # Errors
    /// A sentence without the key, where it cannot.
    pub fn check(&self) -> Result<(), String> {
        Stage::given(self, 0).map(drop)
    }
}

impl Stage {
    /// The operator's key, and those of a stranger with the same algorithm and the same claims.
    ///
    /// # Errors
    /// A sentence without the key, where the lab cannot sign with it or the claims are none.
    pub(in crate::attack) fn given(operator: &Operator, now_s: i64) -> Result<Self, String> {
        let jwk: Value = serde_json::from_str(&operator.jwk)
            .map_err(|_| "the key is no JSON; a JWK is wanted, private or symmetric".to_owned())?;
        let alg = jwk["alg"]
            .as_str()
            .ok_or("the JWK has no `alg`: say which")?;
        let (keys, pem, key) = signing(&operator.jwk, &jwk)?;
        if key.sign(alg, b"").is_none() {
            return Err(format!("the lab cannot forge tokens of {alg}"));
        }
        let mut stage = Self::new(Format::Jwt, alg, "", now_s)?;
        (stage.keys, stage.pem, stage.kind) = (keys, pem, Kind::Signing(key));
        let mut header = Map::new();
        header.insert(
            "typ".into(),
            json!(operator.typ.as_deref().unwrap_or("JWT")),
        );
        if let Some(kid) = jwk.get("kid").filter(|kid| kid.is_string()) {
            header.insert("kid".into(), kid.clone());
        }
        let mut claims = match &operator.claims {
            Some(claims) => Value::Object(claims.clone()),
            None => stage.claims(),
        };
        claims["exp"] = json!(now_s + LIFE_S);
        if operator.claims.is_none() || claims.get("iat").is_some() {
            claims["iat"] = json!(now_s);
        }
        if let Some(stranger) = stage.stranger.as_mut() {
            (stranger.claims, stranger.header) = (claims.clone(), header.clone());
        }
        (stage.claims, stage.header) = (claims, header);
        Ok(stage)
    }
}

fn signing(text: &str, jwk: &Value) -> Result<(Keys, Option<String>, RawKey), String> {
    let refused = |e: jeton::Error| format!("the key is refused: {e}");
    if jwk["kty"] == "oct" {
        MacKey::from_jwk(text).map_err(refused)?;
        let keys = Keys {
            private: Some(jwk.clone()),
            ..Keys::default()
        };
        return Ok((keys, None, RawKey::Secret(member(jwk, "k"))));
    }
    if jwk.get("d").is_none() && jwk.get("priv").is_none() {
        return Err("the JWK is public: tokens that the endpoint accepts must be signed".into());
    }
    let key = SigningKey::from_jwk(text).map_err(refused)?;
    let public = key.verifying_key();
    let keys = Keys {
        private: Some(jwk.clone()),
        public: serde_json::from_str(&public.to_jwk()).ok(),
        ..Keys::default()
    };
    let pem = public.to_pem().ok();
    let der = key.to_der().map_err(refused)?;
    Ok((keys, pem, RawKey::Pair(der.to_vec())))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use jeton::key::SigAlg;

    use super::*;

    #[test]
    fn a_token_of_a_given_key_has_its_key_id_and_the_given_claims() {
        let key = SigningKey::generate(SigAlg::ES256).unwrap();
        let key = key.with_key_id("one").unwrap();
        let operator = Operator {
            jwk: key.to_jwk().unwrap(),
            claims: Some(Map::from_iter([("sub".to_owned(), json!("me"))])),
            typ: Some("at+jwt".into()),
        };
        let stage = Stage::given(&operator, 1_800_000_000).unwrap();
        let header: Value = serde_json::from_str(&stage.header(&[])).unwrap();
        assert_eq!(
            header,
            json!({"alg": "ES256", "typ": "at+jwt", "kid": "one"})
        );
        assert_eq!(stage.claims(), json!({"sub": "me", "exp": 1_800_003_600}));
        assert_eq!(stage.stranger().claims(), stage.claims());
        assert_ne!(stage.stranger().keys(), stage.keys());
        assert_eq!(stage.keys().private, None);
    }

    #[test]
    fn what_cannot_sign_is_refused_without_its_text() {
        let public = SigningKey::generate(SigAlg::ES256).unwrap().verifying_key();
        for (jwk, told) in [
            ("secret-text".to_owned(), "no JSON"),
            (public.to_jwk(), "public"),
            (r#"{"kty":"oct","k":"c2VjcmV0LXRleHQ"}"#.to_owned(), "`alg`"),
            (
                r#"{"kty":"oct","alg":"HS256","k":"c2VjcmV0LXRleHQ"}"#.to_owned(),
                "refused",
            ),
        ] {
            let operator = Operator {
                jwk: jwk.into(),
                ..Operator::default()
            };
            let why = Stage::given(&operator, 0).unwrap_err();
            assert!(why.contains(told) && !why.contains("c2Vj"), "{why}");
            assert!(!why.contains("secret-text"), "{why}");
        }
    }
}
