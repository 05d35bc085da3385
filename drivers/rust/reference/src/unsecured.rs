//! JSON and base64 alone. NO SECURITY: anyone can write such a token.

use crate::{ClaimsSet, now_s};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jeton_driver_harness::{
    ClaimsVisitor, DriverError, Operation, Policy, PrepareRequest, Rejection, Signer, Verifier,
    Work, work,
};
use std::marker::PhantomData;

/// The header of an unsecured token, as the lab writes it.
const HEADER: &str = r#"{"alg":"none","typ":"JWT"}"#;

pub(crate) fn prepare<C: ClaimsSet>(
    request: &PrepareRequest,
    pool: Vec<C>,
) -> Result<Box<dyn Work>, DriverError> {
    if request.operation == Operation::Sign {
        let header = URL_SAFE_NO_PAD.encode(HEADER) + ".";
        return Ok(work::sign(Writer { header, pool }));
    }
    let reader = Reader {
        policy: request.policy.clone(),
        claims: PhantomData::<fn() -> C>,
    };
    work::verify(reader, request.tokens.clone())
}

struct Writer<C> {
    header: String,
    pool: Vec<C>,
}

impl<C: ClaimsSet> Signer for Writer<C> {
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

impl<C: ClaimsSet> Verifier for Reader<C> {
    type Scratch = Vec<u8>;

    fn verify<L: ClaimsVisitor>(
        &self,
        json: &mut Vec<u8>,
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        let (_, rest) = token.split_once('.').ok_or("not a token")?;
        let payload = rest.strip_suffix('.').ok_or("not an unsecured token")?;
        json.clear();
        URL_SAFE_NO_PAD
            .decode_vec(payload, json)
            .map_err(|error| error.to_string())?;
        let claims: C = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        self.policy.check(&claims, now_s())?;
        Ok(visit.visit(&claims))
    }
}
