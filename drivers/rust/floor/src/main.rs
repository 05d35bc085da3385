//! The lab's bare-primitive driver: what AWS-LC's operation costs on the bytes of a token.
//!
//! Everything that builds the token happens outside the timed loop. The signing inputs are
//! prepared. The signatures to verify are already in the encoding that AWS-LC takes without a
//! conversion. The timed loop checks no header and no claim. `token` still returns a complete token
//! and `verify` takes one, so that the lab can check that this is the right primitive.

mod primitive;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jeton_driver_harness::{
    Claims, Driver, DriverError, KeyHandling, Map, Offer, Operation, Pool, PrepareRequest,
    Rejection, Work, locked_version, serve, work,
};
use primitive::{Checking, Signing};
use serde_json::Value;
use std::hint::black_box;

fn main() -> std::io::Result<()> {
    serve::<Floor>()
}

struct Floor;

impl Driver for Floor {
    const LIBRARY: &'static str = "aws-lc-rs";
    const OFFERS: &'static [Offer] = &[Offer {
        format: "bare",
        algs: &[
            "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
            "ES256", "ES384", "ES512", "EdDSA",
        ],
        operations: &[Operation::Sign, Operation::Verify],
        key_handling: &[KeyHandling::Prepared],
        ..Offer::NOTHING
    }];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "aws-lc-rs")
    }

    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
        let alg = request.alg()?;
        if request.operation == Operation::Sign {
            return Ok(Box::new(TokenSigner {
                key: Signing::new(alg, &request.keys)?,
                inputs: signing_inputs(alg, &request.pool)?,
            }));
        }
        let key = Checking::new(alg, &request.keys)?;
        let tokens: Result<Vec<_>, _> = request
            .tokens
            .iter()
            .map(|token| Split::new(&key, token))
            .collect();
        let tokens = tokens.map_err(DriverError::Invalid)?;
        if tokens.is_empty() {
            return Err(DriverError::invalid("verify needs at least one token"));
        }
        Ok(Box::new(Checker { key, tokens }))
    }
}

struct TokenSigner {
    key: Signing,
    /// The bytes to sign, one entry for each value of the pool.
    inputs: Vec<String>,
}

impl Work for TokenSigner {
    fn token(&self, index: usize) -> Result<String, DriverError> {
        let input = self.inputs.get(index);
        let input = input.ok_or_else(|| DriverError::invalid("no claims at this index"))?;
        let made = self
            .key
            .sign(&mut Vec::new(), input.as_bytes(), <[u8]>::to_vec);
        let signature = made.and_then(|made| self.key.jose(&made));
        let signature = signature.map_err(DriverError::Failed)?;
        Ok(format!("{input}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn start(&self) -> Box<dyn FnMut(u64) -> Result<u64, String> + '_> {
        let signature_bytes = self.key.signature_bytes();
        // The dot and the base64url alphabet without padding.
        let tail = 1 + (signature_bytes * 4).div_ceil(3) as u64;
        let mut buffer = Vec::new();
        Box::new(move |iterations| {
            work::over_pool(iterations, self.inputs.len(), |index| {
                let input = self.inputs[index].as_bytes();
                let last = self.key.sign(&mut buffer, input, |signature| {
                    black_box(signature).last().copied().unwrap_or(0)
                })?;
                Ok(input.len() as u64 + tail + u64::from(last_char(signature_bytes, last)))
            })
        })
    }
}

struct Checker {
    key: Checking,
    tokens: Vec<Split>,
}

impl Work for Checker {
    fn verify(&self, token: &str) -> Result<Result<Value, Rejection>, DriverError> {
        Ok(Split::new(&self.key, token).and_then(|split| {
            self.key.verify(split.input.as_bytes(), &split.signature)?;
            Ok(split.claims.into())
        }))
    }

    fn start(&self) -> Box<dyn FnMut(u64) -> Result<u64, String> + '_> {
        Box::new(move |iterations| {
            work::over_pool(iterations, self.tokens.len(), |index| {
                let token = &self.tokens[index];
                self.key.verify(token.input.as_bytes(), &token.signature)?;
                Ok(token.checksum)
            })
        })
    }
}

/// A token split into the parts that the primitive needs.
struct Split {
    input: String,
    signature: Vec<u8>,
    claims: Map,
    checksum: u64,
}

impl Split {
    fn new(key: &Checking, token: &str) -> Result<Self, Rejection> {
        let (input, signature) = token.rsplit_once('.').ok_or("not a token")?;
        let (_, payload) = input.split_once('.').ok_or("not a token")?;
        let decode = |text| {
            URL_SAFE_NO_PAD
                .decode(text)
                .map_err(|error| error.to_string())
        };
        let claims: Map =
            serde_json::from_slice(&decode(payload)?).map_err(|error| error.to_string())?;
        Ok(Self {
            input: input.to_owned(),
            signature: key.native(decode(signature)?)?,
            checksum: work::claims_checksum(&claims),
            claims,
        })
    }
}

fn signing_inputs(alg: &str, pool: &Pool) -> Result<Vec<String>, DriverError> {
    let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{alg}","typ":"JWT"}}"#));
    let input = |claims: Result<Vec<u8>, serde_json::Error>| {
        let claims = URL_SAFE_NO_PAD.encode(claims.map_err(DriverError::failed)?);
        Ok(format!("{header}.{claims}"))
    };
    match pool {
        Pool::Standard(pool) => pool.iter().map(json).map(input).collect(),
        Pool::StandardPaseto(pool) => pool.iter().map(json).map(input).collect(),
        Pool::Map(pool) => pool.iter().map(json).map(input).collect(),
    }
}

fn json(claims: &impl Claims) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(claims)
}

/// Returns the last base64url character of a signature, from its last byte. The bits that remain
/// after whole groups of six are padded with zeros.
#[inline]
fn last_char(signature_bytes: usize, last: u8) -> u8 {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let sextet = match signature_bytes % 3 {
        0 => last & 0x3f,
        1 => (last & 0x03) << 4,
        _ => (last & 0x0f) << 2,
    };
    ALPHABET[usize::from(sextet)]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn last_char_matches_base64_encoding() {
        for signature_bytes in [32, 48, 64, 96, 132, 256, 384] {
            for last in 0..=255 {
                let mut signature = vec![0x5a; signature_bytes];
                *signature.last_mut().unwrap() = last;
                let text = URL_SAFE_NO_PAD.encode(&signature);
                let expected = text.bytes().last().unwrap();
                assert_eq!(
                    last_char(signature_bytes, last),
                    expected,
                    "{signature_bytes}, {last}"
                );
                assert_eq!((signature_bytes * 4).div_ceil(3), text.len());
            }
        }
    }
}
