//! JSON and base64 alone. NO SECURITY: whoever has one of these can write another.

use crate::{Travelling, now_s};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jeton_driver_harness::{
    Contract, Look, Order, Policy, Refusal, Rejection, Signer, Verifier, Work, work,
};
use std::marker::PhantomData;

/// The header that says so, as the lab writes it.
const HEADER: &str = r#"{"alg":"none","typ":"JWT"}"#;

pub(crate) fn prepare<C: Travelling>(
    order: &Order,
    pool: Vec<C>,
) -> Result<Box<dyn Work>, Refusal> {
    if order.contract == Contract::Sign {
        let header = URL_SAFE_NO_PAD.encode(HEADER) + ".";
        return Ok(work::sign(Writer { header, pool }));
    }
    let reader = Reader {
        policy: order.policy.clone(),
        claims: PhantomData::<fn() -> C>,
    };
    work::verify(reader, order.tokens.clone())
}

struct Writer<C> {
    header: String,
    pool: Vec<C>,
}

impl<C: Travelling> Signer for Writer<C> {
    type Scratch = Vec<u8>;
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, json: &mut Vec<u8>, index: usize) -> Result<String, String> {
        json.clear();
        serde_json::to_writer(&mut *json, &self.pool[index]).map_err(|error| error.to_string())?;
        let mut token = String::with_capacity(self.header.len() + json.len().div_ceil(3) * 4 + 1);
        token.push_str(&self.header);
        URL_SAFE_NO_PAD.encode_string(&*json, &mut token);
        token.push('.');
        Ok(token)
    }
}

struct Reader<C> {
    policy: Policy,
    claims: PhantomData<fn() -> C>,
}

impl<C: Travelling> Verifier for Reader<C> {
    type Scratch = Vec<u8>;

    fn verify<L: Look>(
        &self,
        json: &mut Vec<u8>,
        token: &str,
        look: L,
    ) -> Result<L::Seen, Rejection> {
        let (_, rest) = token.split_once('.').ok_or("not a token")?;
        let payload = rest
            .strip_suffix('.')
            .ok_or("not a token without security")?;
        json.clear();
        URL_SAFE_NO_PAD
            .decode_vec(payload, json)
            .map_err(|error| error.to_string())?;
        let claims: C = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        self.policy.check(&claims, now_s())?;
        Ok(look.look(&claims))
    }
}
