//! The lab's driver for `oxitoken`, with its AWS-LC backend.
//!
//! A user of the library writes the types of the header and the claims, and so decides what an
//! absent or unreadable claim means. Here a token without `nbf` is valid already. A token without
//! `exp` is expired, unless no token of the pool has one. A claim of another type is not met. The
//! library reads no key text: its keys are those of aws-lc-rs. The key is part of its pipeline, so a
//! key that is parsed in each call makes a new pipeline.
//!
//! With its defaults, the pipeline checks the signature and `exp`, as in the library's first example
//! without its issuer.

mod keys;

use jeton_driver_harness::{
    Claims, ClaimsVisitor, Driver, DriverError, Jwk, KeyHandling, KeySource, Map, Offer, Operation,
    Pool, Practice, PrepareRequest, Registered, Rejection, Signer, Standard, Verifier, Work,
    locked_version, serve, work,
};
use keys::{Private, verification_key};
use oxitoken::Algorithm;
use oxitoken::claims::{Aud, Exp, Iss, Nbf};
use oxitoken::crypto::aws_lc::AwsLcVerificationKey;
use oxitoken::header::Alg;
use oxitoken::validation::{StaticKeyProvider, ValidationPipeline};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

fn main() -> std::io::Result<()> {
    serve::<Oxitoken>()
}

struct Oxitoken;

impl Driver for Oxitoken {
    const LIBRARY: &'static str = "oxitoken";
    const OFFERS: &'static [Offer] = &[Offer {
        format: "jwt",
        algs: &[
            "HS256",
            "HS384",
            "HS512",
            "RS256",
            "PS256",
            "ES256",
            "ES384",
            "ES512",
            "EdDSA",
            "ML-DSA-44",
            "ML-DSA-65",
            "ML-DSA-87",
        ],
        operations: &[Operation::Sign, Operation::Verify, Operation::RoundTrip],
        key_handling: &[KeyHandling::Prepared, KeyHandling::ParsedPerCall],
        ..Offer::NOTHING
    }];

    const BY_DRIVER: &'static [&'static str] = &[
        "jwt:exp",
        "jwt:exp-text",
        "jwt:exp-wrong-type",
        "jwt:exp-overflow",
        "jwt:not-before-wrong-type",
        "jwt:audience-wrong-type",
    ];
    const PRACTICES: &'static [Practice] = &[Practice::Defaults, Practice::Documented];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "oxitoken")
    }

    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
        let requires_exp = request.practice == Practice::Documented && request.pool.has_exp();
        match &request.pool {
            Pool::Standard(pool) => prepare(&request, pool.iter().cloned().map(Typed)),
            Pool::Map(pool) if requires_exp => {
                prepare(&request, pool.iter().cloned().map(Untyped::<true>))
            }
            Pool::Map(pool) => prepare(&request, pool.iter().cloned().map(Untyped::<false>)),
            Pool::StandardPaseto(_) => Err(DriverError::invalid("PASETO claims are not supported")),
        }
    }
}

fn prepare<C: LibraryClaims>(
    request: &PrepareRequest,
    pool: impl Iterator<Item = C>,
) -> Result<Box<dyn Work>, DriverError> {
    // The library's type reads the names of JWA.
    let alg = Value::from(request.alg()?);
    let alg: Algorithm = serde_json::from_value(alg).map_err(DriverError::unsupported)?;
    let token_signer = || {
        let text = request.keys.private()?;
        let load = move || Private::load(alg, &Jwk::parse(&text)?);
        Ok::<_, DriverError>(TokenSigner {
            header: Header { alg, typ: "JWT" },
            key: KeySource::new(request.key_handling, load)?,
            pool: pool.collect(),
        })
    };
    let checker = || {
        let text = match alg {
            Algorithm::HS256 | Algorithm::HS384 | Algorithm::HS512 => request.keys.private()?,
            _ => request.keys.public()?,
        };
        let (policy, is_careful) = (
            request.policy.clone(),
            request.practice == Practice::Documented,
        );
        let load = move || {
            let key = verification_key(alg, &Jwk::parse(&text)?)?;
            let mut checks = Pipeline::<C>::builder(key.into()).with_expiration_validator();
            if is_careful {
                checks = checks.with_not_before_validator();
                if let Some(issuer) = &policy.issuer {
                    checks = checks.with_issuer_validator(issuer);
                }
                if let Some(audience) = &policy.audience {
                    checks = checks.with_audience_validator(audience);
                }
            }
            Ok(checks.build())
        };
        Ok::<_, DriverError>(Checker(KeySource::new(request.key_handling, load)?))
    };
    match request.operation {
        Operation::Sign => Ok(work::sign(token_signer()?)),
        Operation::RoundTrip => Ok(work::round_trip(token_signer()?, checker()?)),
        _ => work::verify(checker()?, request.tokens.clone()),
    }
}

type Pipeline<C> = ValidationPipeline<Header, C, StaticKeyProvider<AwsLcVerificationKey>>;

/// The header. `typ` is written, as by the other libraries, and not read.
#[derive(Serialize, Deserialize)]
struct Header {
    alg: Algorithm,
    #[serde(skip_deserializing)]
    typ: &'static str,
}

impl Alg for Header {
    fn alg(&self) -> Algorithm {
        self.alg
    }
}

struct TokenSigner<C> {
    header: Header,
    key: KeySource<Private>,
    pool: Vec<C>,
}

impl<C: LibraryClaims> Signer for TokenSigner<C> {
    type Scratch = ();
    type Token = String;

    fn pool(&self) -> usize {
        self.pool.len()
    }

    fn sign(&self, (): &mut (), index: usize) -> Result<String, String> {
        self.key
            .with(|key| key.encode(&self.header, &self.pool[index]))
    }
}

struct Checker<C>(KeySource<Pipeline<C>>);

impl<C: LibraryClaims> Verifier for Checker<C> {
    type Scratch = ();

    fn verify<L: ClaimsVisitor>(
        &self,
        (): &mut (),
        token: &str,
        visit: L,
    ) -> Result<L::Output, Rejection> {
        self.0.with(|pipeline| {
            let verified = pipeline.verify(token.as_bytes());
            let (_, claims) = verified.map_err(|error| error.to_string())?;
            Ok(visit.visit(claims.inner()))
        })
    }
}

/// Claims with the accessors that the library's validators use.
trait LibraryClaims:
    Iss + Aud + Exp + Nbf + Serialize + DeserializeOwned + Send + Sync + 'static
{
    type Inner: Claims;

    fn inner(&self) -> &Self::Inner;
}

#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Typed(Standard);

impl LibraryClaims for Typed {
    type Inner = Standard;

    fn inner(&self) -> &Standard {
        &self.0
    }
}

impl Iss for Typed {
    fn iss(&self) -> &str {
        &self.0.iss
    }
}

impl Aud for Typed {
    fn aud(&self) -> impl Iterator<Item = impl AsRef<str>> {
        self.0.aud.0.iter()
    }
}

impl Exp for Typed {
    fn exp(&self) -> i64 {
        self.0.exp
    }
}

impl Nbf for Typed {
    fn nbf(&self) -> i64 {
        self.0.nbf.unwrap_or(i64::MIN)
    }
}

/// Claims without a struct of their own; with `EXPIRES`, a token without `exp` is expired.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Untyped<const EXPIRES: bool>(Map);

impl<const EXPIRES: bool> LibraryClaims for Untyped<EXPIRES> {
    type Inner = Map;

    fn inner(&self) -> &Map {
        &self.0
    }
}

impl<const EXPIRES: bool> Iss for Untyped<EXPIRES> {
    fn iss(&self) -> &str {
        self.0.issuer().unwrap_or_default()
    }
}

impl<const EXPIRES: bool> Aud for Untyped<EXPIRES> {
    fn aud(&self) -> impl Iterator<Item = impl AsRef<str>> {
        let (one, list) = match self.0.get("aud") {
            Some(Value::Array(list)) if list.iter().all(Value::is_string) => (None, &list[..]),
            one => (one, &[][..]),
        };
        one.into_iter().chain(list).filter_map(Value::as_str)
    }
}

impl<const EXPIRES: bool> Exp for Untyped<EXPIRES> {
    fn exp(&self) -> i64 {
        let absent = if EXPIRES { i64::MIN } else { i64::MAX };
        self.0
            .get("exp")
            .map_or(absent, |exp| seconds(exp).unwrap_or(i64::MIN))
    }
}

impl<const EXPIRES: bool> Nbf for Untyped<EXPIRES> {
    fn nbf(&self) -> i64 {
        self.0
            .get("nbf")
            .map_or(i64::MIN, |nbf| seconds(nbf).unwrap_or(i64::MAX))
    }
}

/// Whole seconds, as the library counts them, if the value is a time in the range of exact doubles.
fn seconds(time: &Value) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let time = time.as_f64().filter(|time| time.abs() < EXACT)?;
    Some(time.floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::Oxitoken;
    use jeton_driver_harness::conformance::faults;

    #[test]
    fn driver_passes_conformance_checks() {
        assert_eq!(faults::<Oxitoken>(), Vec::<String>::new());
    }
}
