//! The lab's driver for jeton itself: JWT, PASETO v4.local and v4.public.
//!
//! What is timed is what the documentation gives a careful user: keys and claims have jeton's own
//! types, a verifier has its policy, and `verify_in` works in a scratch that lives as long as its
//! thread.

mod check;
mod mint;

use jeton::jwt::{self, MacKey, SigningKey, VerifyingKey};
use jeton::key::Alg;
use jeton::paseto::v4;
use jeton::{Policy, jws, key};
use jeton_driver_harness::{
    Contract, Driver, Held, KeyHandling, Offer, Order, Refusal, Work, key::Paserk, locked_version,
    serve,
};

fn main() -> std::io::Result<()> {
    serve::<Jeton>()
}

struct Jeton;

impl Driver for Jeton {
    const LIBRARY: &'static str = "jeton";
    const OFFERS: &'static [Offer] = &[
        Offer {
            format: "jwt",
            algs: &[
                "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512",
                "ES256", "ES384", "ES512", "EdDSA",
            ],
            contracts: &[Contract::Sign, Contract::Verify, Contract::VerifySignature],
            key_handling: &[KeyHandling::Prepared, KeyHandling::ParsedPerCall],
        },
        Offer {
            format: "v4.local",
            algs: &[],
            contracts: &[Contract::Sign, Contract::Verify],
            key_handling: &[KeyHandling::Prepared, KeyHandling::ParsedPerCall],
        },
        Offer {
            format: "v4.public",
            algs: &[],
            contracts: &[Contract::Sign, Contract::Verify],
            key_handling: &[KeyHandling::Prepared, KeyHandling::ParsedPerCall],
        },
    ];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "jeton")
    }

    fn prepare(order: Order) -> Result<Box<dyn Work>, Refusal> {
        match order.contract {
            Contract::Sign => prepare_to_sign(order),
            Contract::Verify => prepare_to_verify(order),
            Contract::VerifySignature => {
                let keys = jwt_keys(&order)?;
                let load = move || Ok(jws::Verifier::new(keys()?));
                let verifier = Held::new(order.key_handling, load)?;
                check::prepare_signature_only(verifier, order.tokens)
            }
        }
    }
}

fn prepare_to_sign(order: Order) -> Result<Box<dyn Work>, Refusal> {
    let handling = order.key_handling;
    match order.format.as_str() {
        "v4.local" => {
            let text = paserk(&order, |keys| &keys.local)?;
            let load = move || v4::LocalKey::from_paserk(&text).map_err(Refusal::failed);
            mint::prepare(Held::new(handling, load)?, order.pool)
        }
        "v4.public" => {
            let text = paserk(&order, |keys| &keys.secret)?;
            let load = move || v4::SecretKey::from_paserk(&text).map_err(Refusal::failed);
            mint::prepare(Held::new(handling, load)?, order.pool)
        }
        _ => {
            let text = order.keys.private()?;
            match alg(&order)? {
                Alg::Mac(alg) => {
                    let load = move || MacKey::from_jwk_as(&text, alg).map_err(Refusal::failed);
                    mint::prepare(Held::new(handling, load)?, order.pool)
                }
                Alg::Sig(alg) => {
                    let load = move || SigningKey::from_jwk_as(&text, alg).map_err(Refusal::failed);
                    mint::prepare(Held::new(handling, load)?, order.pool)
                }
                other => Err(no_such(other)),
            }
        }
    }
}

fn prepare_to_verify(order: Order) -> Result<Box<dyn Work>, Refusal> {
    let (handling, policy) = (order.key_handling, policy(&order));
    match order.format.as_str() {
        "v4.local" => {
            let text = paserk(&order, |keys| &keys.local)?;
            let load = move || {
                let key = v4::LocalKey::from_paserk(&text).map_err(Refusal::failed)?;
                Ok(v4::Verifier::new(key, policy.clone()))
            };
            check::prepare(Held::new(handling, load)?, order.pool, order.tokens)
        }
        "v4.public" => {
            let text = paserk(&order, |keys| &keys.public)?;
            let load = move || {
                let key = v4::PublicKey::from_paserk(&text).map_err(Refusal::failed)?;
                Ok(v4::Verifier::new(key, policy.clone()))
            };
            check::prepare(Held::new(handling, load)?, order.pool, order.tokens)
        }
        _ => {
            let keys = jwt_keys(&order)?;
            let load = move || Ok(jwt::Verifier::new(keys()?, policy.clone()));
            check::prepare(Held::new(handling, load)?, order.pool, order.tokens)
        }
    }
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
