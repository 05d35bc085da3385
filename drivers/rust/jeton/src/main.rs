//! The lab's driver for jeton itself: JWT, JWE and PASETO.
//!
//! The timed path is the one that the documentation gives a careful user. Keys and claims have
//! jeton's own types. A verifier has its policy. `verify_in` uses a scratch buffer that lives as
//! long as its thread.

mod check;
mod issue;
mod jwe;
mod keys;
mod operations;

use jeton::danger::Pbes2Alg;
use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;
use jeton::jwt::{JwtVerifier, MultiIssuerVerifier};
use jeton::key::{
    Alg, ContentEnc, KeyManagementAlg, KeyWrapAlg, MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey,
};
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{LocalKey, PasetoVerifier, PublicKey, SecretKey, Version};
use jeton::{Policy, jws::JwsVerifier, key};
use jeton_driver_harness::{
    Driver, DriverError, KeyForm, KeyHandling, KeySource, Keys, Offer, Operation,
    Policy as Required, Pool, PrepareRequest, Work, key::Paserk, locked_version, serve,
};

fn main() -> std::io::Result<()> {
    serve::<Jeton>()
}

struct Jeton;

const HANDLING: &[KeyHandling] = &[KeyHandling::Prepared, KeyHandling::ParsedPerCall];

const PUBLIC: Offer = Offer {
    operations: &[
        Operation::Sign,
        Operation::Verify,
        Operation::RoundTrip,
        Operation::GenerateKey,
        Operation::LoadKey,
    ],
    key_handling: HANDLING,
    key_text: &[KeyForm::Paserk],
    ..Offer::NOTHING
};

const LOCAL: Offer = Offer {
    operations: &[
        Operation::Sign,
        Operation::Verify,
        Operation::Encrypt,
        Operation::Decrypt,
        Operation::RoundTrip,
        Operation::GenerateKey,
        Operation::LoadKey,
    ],
    ..PUBLIC
};

/// Joins names and the names of all algorithms of these types, so that the driver offers each algorithm of the library.
macro_rules! names {
    ([$($first:literal),*] $(, $kind:ty)*) => {{
        const FIRST: &[&str] = &[$($first),*];
        const COUNT: usize = FIRST.len() $(+ <$kind>::ALL.len())*;
        const NAMES: &[&str; COUNT] = &{
            let mut names = [""; COUNT];
            let mut end = 0;
            while end < FIRST.len() {
                names[end] = FIRST[end];
                end += 1;
            }
            $(
                let start = end;
                while end < start + <$kind>::ALL.len() {
                    names[end] = <$kind>::ALL[end - start].name();
                    end += 1;
                }
            )*
            assert!(end == COUNT);
            names
        };
        NAMES
    }};
}

impl Driver for Jeton {
    const LIBRARY: &'static str = "jeton";
    const BY_DRIVER: &'static [&'static str] = &["jwe:claims"];
    const EXTRAS: &'static [&'static str] = &["cached", "issuers"];
    const OFFERS: &'static [Offer] = &[
        Offer {
            format: "jwt",
            algs: names!([], MacAlg, SigAlg),
            operations: &[
                Operation::Sign,
                Operation::Verify,
                Operation::VerifySignature,
                Operation::RoundTrip,
                Operation::GenerateKey,
                Operation::LoadKey,
            ],
            key_handling: HANDLING,
            key_text: &[KeyForm::Jwk, KeyForm::Pem],
            ..Offer::NOTHING
        },
        Offer {
            format: "jwe",
            algs: names!(["RSA1_5", "dir"], KeyWrapAlg, KeyManagementAlg),
            encs: names!([], ContentEnc),
            operations: &[
                Operation::Encrypt,
                Operation::Decrypt,
                Operation::RoundTrip,
                Operation::GenerateKey,
                Operation::LoadKey,
            ],
            key_handling: HANDLING,
            key_text: &[KeyForm::Jwk, KeyForm::Pem],
        },
        Offer {
            format: "jwe",
            algs: names!([], Pbes2Alg),
            encs: names!([], ContentEnc),
            operations: &[
                Operation::Encrypt,
                Operation::Decrypt,
                Operation::RoundTrip,
                Operation::LoadKey,
            ],
            key_handling: HANDLING,
            key_text: &[KeyForm::Jwk],
        },
        Offer {
            format: "v1.local",
            ..LOCAL
        },
        Offer {
            format: "v1.public",
            ..PUBLIC
        },
        Offer {
            format: "v2.local",
            ..LOCAL
        },
        Offer {
            format: "v2.public",
            ..PUBLIC
        },
        Offer {
            format: "v3.local",
            ..LOCAL
        },
        Offer {
            format: "v3.public",
            ..PUBLIC
        },
        Offer {
            format: "v4.local",
            ..LOCAL
        },
        Offer {
            format: "v4.public",
            ..PUBLIC
        },
    ];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "jeton")
    }

    fn prepare(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
        match (request.operation, request.format.as_str()) {
            (Operation::GenerateKey, _) => keys::generate(&request),
            (Operation::LoadKey, _) => keys::load(&request),
            (Operation::VerifySignature, _) => {
                let keys = jwt_keys(&request)?;
                let load = move || Ok(JwsVerifier::new(keys()?));
                let verifier = KeySource::new(request.key_handling, load)?;
                check::prepare_signature_only(verifier, request.tokens)
            }
            (_, "jwe") => jwe::prepare(request),
            (_, "v1.local") => prepare_local::<V1>(request),
            (_, "v1.public") => prepare_public::<V1>(request),
            (_, "v2.local") => prepare_local::<V2>(request),
            (_, "v2.public") => prepare_public::<V2>(request),
            (_, "v3.local") => prepare_local::<V3>(request),
            (_, "v3.public") => prepare_public::<V3>(request),
            (_, "v4.local") => prepare_local::<V4>(request),
            (_, "v4.public") => prepare_public::<V4>(request),
            _ => prepare_jwt(request),
        }
    }
}

fn prepare_jwt(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    if !request.issuers.is_empty() {
        return prepare_issuers(request);
    }
    let (text, policy) = (request.keys.private(), policy(&request));
    let private = move || text.clone();
    let alg = alg(&request)?;
    let keys = jwt_keys(&request);
    let verifier = move || {
        let keys = keys.as_ref().map_err(Clone::clone)?;
        Ok(JwtVerifier::new(keys()?, policy.clone()))
    };
    match alg {
        Alg::Mac(alg) => {
            let issuer = move || MacKey::from_jwk_as(&private()?, alg).map_err(DriverError::failed);
            operations::prepare(request, issuer, verifier)
        }
        Alg::Sig(alg) => {
            let issuer =
                move || SigningKey::from_jwk_as(&private()?, alg).map_err(DriverError::failed);
            operations::prepare(request, issuer, verifier)
        }
        other => Err(unsupported_alg(other)),
    }
}

fn prepare_issuers(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    let alg = alg(&request)?;
    let trusted = request.issuers.iter().map(|one| {
        let policy = policy_for(&one.policy, &request.pool);
        Ok((keys_for(alg, &one.keys)?, policy))
    });
    let trusted = trusted.collect::<Result<Vec<_>, DriverError>>()?;
    let verifier = move || {
        let mut all = trusted.iter();
        all.try_fold(MultiIssuerVerifier::new(), |verifier, (keys, policy)| {
            let added = verifier.issuer(keys()?, policy.clone());
            added.map_err(DriverError::failed)
        })
    };
    let source = KeySource::new(request.key_handling, verifier)?;
    check::prepare(source, request.pool, request.tokens)
}

fn prepare_local<V: Version>(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    let (text, policy) = (paserk(&request, |keys| &keys.local)?, policy(&request));
    let key = move || LocalKey::<V>::from_paserk(&text).map_err(DriverError::failed);
    let own = key.clone();
    let verifier = move || Ok(PasetoVerifier::new(own()?, policy.clone()));
    operations::prepare(request, key, verifier)
}

fn prepare_public<V: Version>(request: PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    let policy = policy(&request);
    let (secret, public) = (
        paserk(&request, |keys| &keys.secret),
        paserk(&request, |keys| &keys.public),
    );
    let issuer = move || SecretKey::<V>::from_paserk(&secret.clone()?).map_err(DriverError::failed);
    let verifier = move || {
        let key = PublicKey::<V>::from_paserk(&public.clone()?).map_err(DriverError::failed)?;
        Ok(PasetoVerifier::new(key, policy.clone()))
    };
    operations::prepare(request, issuer, verifier)
}

/// Returns a function that loads the verification key of a JWT, for the one algorithm of the
/// request.
fn jwt_keys(
    request: &PrepareRequest,
) -> Result<impl Fn() -> Result<key::Keys, DriverError> + Send + Sync + 'static, DriverError> {
    keys_for(alg(request)?, &request.keys)
}

fn keys_for(
    alg: Alg,
    keys: &Keys,
) -> Result<impl Fn() -> Result<key::Keys, DriverError> + Send + Sync + 'static, DriverError> {
    let text = match alg {
        Alg::Mac(_) => keys.private()?,
        _ => keys.public()?,
    };
    Ok(move || match alg {
        Alg::Mac(alg) => {
            let key = MacKey::from_jwk_as(&text, alg).map_err(DriverError::failed)?;
            Ok(key.into())
        }
        Alg::Sig(alg) => {
            let key = VerifyingKey::from_jwk_as(&text, alg).map_err(DriverError::failed)?;
            Ok(key.into())
        }
        other => Err(unsupported_alg(other)),
    })
}

/// Every check of the policy is on, unless no token could pass it.
fn policy(request: &PrepareRequest) -> Policy {
    policy_for(&request.policy, &request.pool)
}

fn policy_for(required: &Required, pool: &Pool) -> Policy {
    let mut policy = Policy::new(
        required.issuer.clone().unwrap_or_default(),
        required.audience.clone().unwrap_or_default(),
    );
    if required.issuer.is_none() {
        policy = policy.any_issuer();
    }
    if required.audience.is_none() {
        policy = policy.any_audience();
    }
    if !pool.has_exp() {
        policy = policy.without_expiry();
    }
    policy
}

fn alg(request: &PrepareRequest) -> Result<Alg, DriverError> {
    request.alg()?.parse().map_err(DriverError::unsupported)
}

fn unsupported_alg(alg: Alg) -> DriverError {
    DriverError::unsupported(format!("{alg} is not supported"))
}

fn paserk(
    request: &PrepareRequest,
    kind: fn(&Paserk) -> &Option<String>,
) -> Result<String, DriverError> {
    let text = request
        .keys
        .paserk
        .as_ref()
        .and_then(|keys| kind(keys).clone());
    text.ok_or_else(|| DriverError::invalid("the required PASERK is missing"))
}
