//! The lab's driver for `jsonwebtoken`, with its AWS-LC backend.
//!
//! The library's keys are bytes that AWS-LC parses in every call; no documented way avoids that.
//! For a prepared key, the JWK is decoded once. The library takes private keys as DER, not as JWK,
//! so the harness converts them.
//!
//! With its defaults, the driver uses `Validation::new` and sets the audience. Without an audience
//! the library rejects every token that has one.

use jeton_driver_harness::{
    Claims, ClaimsVisitor, Driver, DriverError, Jwk, KeyForm, KeyHandling, KeySource, Offer,
    Operation, Pool, Practice, PrepareRequest, Rejection, Signer, Verifier, Work, locked_version,
    serve, work,
};
use jsonwebtoken::{
    Algorithm, AlgorithmFamily, DecodingKey, EncodingKey, Header, Validation, decode, encode,
};
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::str::FromStr;

fn main() -> std::io::Result<()> {
    serve::<JsonWebToken>()
}

struct JsonWebToken;

const JWT: Offer = Offer {
    format: "jwt",
    operations: &[Operation::Sign, Operation::Verify, Operation::RoundTrip],
    key_handling: &[KeyHandling::Prepared, KeyHandling::ParsedPerCall],
    ..Offer::NOTHING
};

impl Driver for JsonWebToken {
    const LIBRARY: &'static str = "jsonwebtoken";
    const OFFERS: &'static [Offer] = &[
        Offer {
            algs: &["HS256", "HS384", "HS512"],
            ..JWT
        },
        // Symmetric keys: bytes and base64. Pairs: also PEM, and JWKs of public keys only.
        Offer {
            algs: &[
                "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA",
            ],
            operations: &[
                Operation::Sign,
                Operation::Verify,
                Operation::RoundTrip,
                Operation::LoadKey,
            ],
            key_text: &[KeyForm::Pem],
            ..JWT
        },
    ];

    const PRACTICES: &'static [Practice] = &[Practice::Defaults, Practice::Documented];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "jsonwebtoken")
    }

    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
        if request.operation == Operation::LoadKey {
            return load(&request);
        }
        match &request.pool {
            Pool::Standard(pool) => prepare(&request, pool),
            Pool::StandardPaseto(pool) => prepare(&request, pool),
            Pool::Map(pool) => prepare(&request, pool),
        }
    }
}

fn prepare<C>(request: &PrepareRequest, pool: &[C]) -> Result<Box<dyn Work>, DriverError>
where
    C: Claims + DeserializeOwned + Clone + Send + Sync + 'static,
{
    let alg = Algorithm::from_str(request.alg()?).map_err(DriverError::unsupported)?;
    let token_signer = || {
        let text = request.keys.private()?;
        let load = move || encoding_key(alg.family(), &Jwk::parse(&text)?);
        Ok::<_, DriverError>(TokenSigner {
            header: Header::new(alg),
            key: KeySource::new(request.key_handling, load)?,
            pool: pool.to_vec(),
        })
    };
    let checker = || {
        let text = match alg.family() {
            AlgorithmFamily::Hmac => request.keys.private()?,
            _ => request.keys.public()?,
        };
        Ok::<_, DriverError>(Checker {
            key: KeySource::new(request.key_handling, move || decoding_key(&text))?,
            validation: validation(alg, request),
            claims: PhantomData::<fn() -> C>,
        })
    };
    match request.operation {
        Operation::Sign => Ok(work::sign(token_signer()?)),
        Operation::RoundTrip => Ok(work::round_trip(token_signer()?, checker()?)),
        _ => work::verify(checker()?, request.tokens.clone()),
    }
}

fn load(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    let alg = Algorithm::from_str(request.alg()?).map_err(DriverError::unsupported)?;
    let text = request.key_text()?;
    let (private, public) = (text.private()?, text.public()?);
    work::keys(move || {
        let (private, public) = (private.as_bytes(), public.as_bytes());
        let pair = match alg.family() {
            AlgorithmFamily::Rsa => EncodingKey::from_rsa_pem(private)
                .and_then(|key| Ok((key, DecodingKey::from_rsa_pem(public)?))),
            AlgorithmFamily::Ed => EncodingKey::from_ed_pem(private)
                .and_then(|key| Ok((key, DecodingKey::from_ed_pem(public)?))),
            _ => EncodingKey::from_ec_pem(private)
                .and_then(|key| Ok((key, DecodingKey::from_ec_pem(public)?))),
        };
        pair.map_err(DriverError::failed)
    })
}

struct TokenSigner<C> {
    header: Header,
    key: KeySource<EncodingKey>,
    pool: Vec<C>,
}

impl<C: Claims + Send + Sync> Signer for TokenSigner<C> {
    type Scratch = ();
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, _: &mut (), index: usize) -> Result<String, String> {
        self.key.with(|key| {
            encode(&self.header, &self.pool[index], key).map_err(|error| error.to_string())
        })
    }
}

struct Checker<C> {
    key: KeySource<DecodingKey>,
    validation: Validation,
    claims: PhantomData<fn() -> C>,
}

impl<C: Claims + DeserializeOwned> Verifier for Checker<C> {
    type Scratch = ();

    fn verify<L: ClaimsVisitor>(
        &self,
        _: &mut (),
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.key.with(|key| {
            let verified = decode::<C>(token, key, &self.validation);
            let verified = verified.map_err(|error| error.to_string())?;
            Ok(visit.visit(&verified.claims))
        })
    }
}

fn validation(alg: Algorithm, request: &PrepareRequest) -> Validation {
    let (policy, has_exp) = (&request.policy, request.pool.has_exp());
    let mut validation = Validation::new(alg);
    if request.practice == Practice::Defaults {
        if let Some(audience) = &policy.audience {
            validation.set_audience(&[audience]);
        }
        return validation;
    }
    validation.leeway = 0;
    validation.validate_nbf = true;
    // A claim that no token of the pool has cannot be required; a careful user requires the others.
    let mut required = Vec::new();
    if has_exp {
        required.push("exp");
    }
    if let Some(issuer) = &policy.issuer {
        validation.set_issuer(&[issuer]);
        required.push("iss");
    }
    if let Some(audience) = &policy.audience {
        validation.set_audience(&[audience]);
        required.push("aud");
    } else {
        validation.validate_aud = false;
    }
    validation.set_required_spec_claims(&required);
    validation
}

fn encoding_key(family: AlgorithmFamily, jwk: &Jwk) -> Result<EncodingKey, DriverError> {
    Ok(match family {
        AlgorithmFamily::Hmac => {
            EncodingKey::from_secret(&jwk.secret()?).map_err(DriverError::failed)?
        }
        AlgorithmFamily::Rsa => EncodingKey::from_rsa_der(&jwk.rsa_pkcs1()?),
        AlgorithmFamily::Ec => EncodingKey::from_ec_der(&jwk.ec_pkcs8()?),
        AlgorithmFamily::Ed => EncodingKey::from_ed_der(&jwk.ed25519_pkcs8()?),
    })
}

fn decoding_key(jwk: &str) -> Result<DecodingKey, DriverError> {
    let jwk: jsonwebtoken::jwk::Jwk = serde_json::from_str(jwk).map_err(DriverError::invalid)?;
    DecodingKey::from_jwk(&jwk).map_err(DriverError::failed)
}

#[cfg(test)]
mod tests {
    use super::JsonWebToken;
    use jeton_driver_harness::conformance::faults;

    #[test]
    fn driver_passes_conformance_checks() {
        assert_eq!(faults::<JsonWebToken>(), Vec::<String>::new());
    }
}
