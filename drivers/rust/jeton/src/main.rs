//! The lab's driver for jeton itself: JWT, JWE and PASETO.
//!
//! What is timed is what the documentation gives a careful user: keys and claims have jeton's own
//! types, a verifier has its policy, and `verify_in` works in a scratch that lives as long as its
//! thread.

mod check;
mod jwe;
mod keys;
mod mint;
mod trip;

use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;
use jeton::jwt::{self, MacKey, SigningKey, VerifyingKey};
use jeton::key::Alg;
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{self, LocalKey, PublicKey, SecretKey, Version};
use jeton::{Policy, jws, key};
use jeton_driver_harness::{
    Contract, Driver, Held, KeyForm, KeyHandling, Offer, Order, Refusal, Work, key::Paserk,
    locked_version, serve,
};

fn main() -> std::io::Result<()> {
    serve::<Jeton>()
}

struct Jeton;

const HANDLING: &[KeyHandling] = &[KeyHandling::Prepared, KeyHandling::ParsedPerCall];

const PUBLIC: Offer = Offer {
    contracts: &[
        Contract::Sign,
        Contract::Verify,
        Contract::RoundTrip,
        Contract::GenerateKey,
        Contract::LoadKey,
    ],
    key_handling: HANDLING,
    key_text: &[KeyForm::Paserk],
    ..Offer::NOTHING
};

const LOCAL: Offer = Offer {
    contracts: &[
        Contract::Sign,
        Contract::Verify,
        Contract::Encrypt,
        Contract::Decrypt,
        Contract::RoundTrip,
        Contract::GenerateKey,
        Contract::LoadKey,
    ],
    ..PUBLIC
};

impl Driver for Jeton {
    const LIBRARY: &'static str = "jeton";
    const BY_DRIVER: &'static [&'static str] = &["jwe:claims"];
    const OFFERS: &'static [Offer] = &[
        Offer {
            format: "jwt",
            algs: &[
                "HS256",
                "HS384",
                "HS512",
                "RS256",
                "RS384",
                "RS512",
                "PS256",
                "PS384",
                "PS512",
                "ES256",
                "ES384",
                "ES512",
                "ES256K",
                "EdDSA",
                "Ed25519",
                "ML-DSA-44",
                "ML-DSA-65",
                "ML-DSA-87",
            ],
            contracts: &[
                Contract::Sign,
                Contract::Verify,
                Contract::VerifySignature,
                Contract::RoundTrip,
                Contract::GenerateKey,
                Contract::LoadKey,
            ],
            key_handling: HANDLING,
            key_text: &[KeyForm::Jwk, KeyForm::Pem],
            ..Offer::NOTHING
        },
        Offer {
            format: "jwe",
            algs: &[
                "RSA1_5",
                "RSA-OAEP",
                "RSA-OAEP-256",
                "RSA-OAEP-384",
                "RSA-OAEP-512",
                "dir",
                "A128KW",
                "A192KW",
                "A256KW",
                "A128GCMKW",
                "A192GCMKW",
                "A256GCMKW",
                "ECDH-ES",
                "ECDH-ES+A128KW",
                "ECDH-ES+A192KW",
                "ECDH-ES+A256KW",
            ],
            encs: &[
                "A128CBC-HS256",
                "A192CBC-HS384",
                "A256CBC-HS512",
                "A128GCM",
                "A192GCM",
                "A256GCM",
            ],
            contracts: &[
                Contract::Encrypt,
                Contract::Decrypt,
                Contract::RoundTrip,
                Contract::GenerateKey,
                Contract::LoadKey,
            ],
            key_handling: HANDLING,
            key_text: &[KeyForm::Jwk, KeyForm::Pem],
        },
        Offer {
            format: "jwe",
            algs: &[
                "PBES2-HS256+A128KW",
                "PBES2-HS384+A192KW",
                "PBES2-HS512+A256KW",
            ],
            encs: &[
                "A128CBC-HS256",
                "A192CBC-HS384",
                "A256CBC-HS512",
                "A128GCM",
                "A192GCM",
                "A256GCM",
            ],
            contracts: &[
                Contract::Encrypt,
                Contract::Decrypt,
                Contract::RoundTrip,
                Contract::LoadKey,
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

    fn prepare(order: Order) -> Result<Box<dyn Work>, Refusal> {
        match (order.contract, order.format.as_str()) {
            (Contract::GenerateKey, _) => keys::generate(&order),
            (Contract::LoadKey, _) => keys::load(&order),
            (Contract::VerifySignature, _) => {
                let keys = jwt_keys(&order)?;
                let load = move || Ok(jws::Verifier::new(keys()?));
                let verifier = Held::new(order.key_handling, load)?;
                check::prepare_signature_only(verifier, order.tokens)
            }
            (_, "jwe") => jwe::prepare(order),
            (_, "v1.local") => prepare_local::<V1>(order),
            (_, "v1.public") => prepare_public::<V1>(order),
            (_, "v2.local") => prepare_local::<V2>(order),
            (_, "v2.public") => prepare_public::<V2>(order),
            (_, "v3.local") => prepare_local::<V3>(order),
            (_, "v3.public") => prepare_public::<V3>(order),
            (_, "v4.local") => prepare_local::<V4>(order),
            (_, "v4.public") => prepare_public::<V4>(order),
            _ => prepare_jwt(order),
        }
    }
}

fn prepare_jwt(order: Order) -> Result<Box<dyn Work>, Refusal> {
    let (text, policy) = (order.keys.private(), policy(&order));
    let private = move || text.clone();
    let alg = alg(&order)?;
    let keys = jwt_keys(&order);
    let verifier = move || {
        let keys = keys.as_ref().map_err(Clone::clone)?;
        Ok(jwt::Verifier::new(keys()?, policy.clone()))
    };
    match alg {
        Alg::Mac(alg) => {
            let issuer = move || MacKey::from_jwk_as(&private()?, alg).map_err(Refusal::failed);
            trip::prepare(order, issuer, verifier)
        }
        Alg::Sig(alg) => {
            let issuer = move || SigningKey::from_jwk_as(&private()?, alg).map_err(Refusal::failed);
            trip::prepare(order, issuer, verifier)
        }
        other => Err(no_such(other)),
    }
}

fn prepare_local<V: Version>(order: Order) -> Result<Box<dyn Work>, Refusal> {
    let (text, policy) = (paserk(&order, |keys| &keys.local)?, policy(&order));
    let key = move || LocalKey::<V>::from_paserk(&text).map_err(Refusal::failed);
    let own = key.clone();
    let verifier = move || Ok(paseto::Verifier::new(own()?, policy.clone()));
    trip::prepare(order, key, verifier)
}

fn prepare_public<V: Version>(order: Order) -> Result<Box<dyn Work>, Refusal> {
    let policy = policy(&order);
    let (secret, public) = (
        paserk(&order, |keys| &keys.secret),
        paserk(&order, |keys| &keys.public),
    );
    let issuer = move || SecretKey::<V>::from_paserk(&secret.clone()?).map_err(Refusal::failed);
    let verifier = move || {
        let key = PublicKey::<V>::from_paserk(&public.clone()?).map_err(Refusal::failed)?;
        Ok(paseto::Verifier::new(key, policy.clone()))
    };
    trip::prepare(order, issuer, verifier)
}

/// How to load what verifies a JWT: the one key, with the one algorithm that the order names.
fn jwt_keys(
    order: &Order,
) -> Result<impl Fn() -> Result<key::Keys, Refusal> + Send + Sync + 'static, Refusal> {
    let alg = alg(order)?;
    let text = match alg {
        Alg::Mac(_) => order.keys.private()?,
        _ => order.keys.public()?,
    };
    Ok(move || match alg {
        Alg::Mac(alg) => {
            let key = MacKey::from_jwk_as(&text, alg).map_err(Refusal::failed)?;
            Ok(key.into())
        }
        Alg::Sig(alg) => {
            let key = VerifyingKey::from_jwk_as(&text, alg).map_err(Refusal::failed)?;
            Ok(key.into())
        }
        other => Err(no_such(other)),
    })
}

/// The policy's every demand is on unless there is nothing that could meet it.
fn policy(order: &Order) -> Policy {
    let demanded = order.policy.clone();
    let mut policy = Policy::new(
        demanded.issuer.clone().unwrap_or_default(),
        demanded.audience.clone().unwrap_or_default(),
    );
    if demanded.issuer.is_none() {
        policy = policy.any_issuer();
    }
    if demanded.audience.is_none() {
        policy = policy.any_audience();
    }
    if !order.pool.has_exp() {
        policy = policy.without_expiry();
    }
    policy
}

fn alg(order: &Order) -> Result<Alg, Refusal> {
    order.alg()?.parse().map_err(Refusal::unsupported)
}

fn no_such(alg: Alg) -> Refusal {
    Refusal::unsupported(format!("{alg} is not known here"))
}

fn paserk(order: &Order, kind: fn(&Paserk) -> &Option<String>) -> Result<String, Refusal> {
    let text = order
        .keys
        .paserk
        .as_ref()
        .and_then(|keys| kind(keys).clone());
    text.ok_or_else(|| Refusal::invalid("the PASERK that this needs is not there"))
}
