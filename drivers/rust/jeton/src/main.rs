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
    Contract, Driver, KeyHandling, Offer, Order, Refusal, Work, locked_version, serve,
};
use serde_json::Value;

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
            key_handling: &[KeyHandling::Prepared],
        },
        Offer {
            format: "v4.local",
            algs: &[],
            contracts: &[Contract::Sign, Contract::Verify],
            key_handling: &[KeyHandling::Prepared],
        },
        Offer {
            format: "v4.public",
            algs: &[],
            contracts: &[Contract::Sign, Contract::Verify],
            key_handling: &[KeyHandling::Prepared],
        },
    ];

    fn version() -> String {
        locked_version(include_str!("../Cargo.lock"), "jeton")
    }

    fn prepare(order: Order) -> Result<Box<dyn Work>, Refusal> {
        match (order.contract, order.format.as_str()) {
            (Contract::Sign, "v4.local") => mint::prepare(local_key(&order)?, order.pool),
            (Contract::Sign, "v4.public") => mint::prepare(secret_key(&order)?, order.pool),
            (Contract::Sign, _) => match alg(&order)? {
                Alg::Mac(_) => mint::prepare(mac_key(&order)?, order.pool),
                Alg::Sig(_) => mint::prepare(signing_key(&order)?, order.pool),
                other => Err(no_such(other)),
            },
            (Contract::Verify, "v4.local") => {
                let verifier = v4::Verifier::new(local_key(&order)?, policy(&order));
                check::prepare(verifier, order.pool, order.tokens)
            }
            (Contract::Verify, "v4.public") => {
                let verifier = v4::Verifier::new(public_key(&order)?, policy(&order));
                check::prepare(verifier, order.pool, order.tokens)
            }
            (Contract::Verify, _) => {
                let verifier = jwt::Verifier::new(keys(&order)?, policy(&order));
                check::prepare(verifier, order.pool, order.tokens)
            }
            (Contract::VerifySignature, _) => {
                check::prepare_signature_only(jws::Verifier::new(keys(&order)?), order.tokens)
            }
        }
    }
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

/// What verifies a JWT: the one key, with the one algorithm that the order names.
fn keys(order: &Order) -> Result<key::Keys, Refusal> {
    match alg(order)? {
        Alg::Mac(_) => Ok(mac_key(order)?.into()),
        Alg::Sig(alg) => {
            let jwk = jwk(order.keys.public.as_ref())?;
            let key = VerifyingKey::from_jwk_as(&jwk, alg).map_err(Refusal::failed)?;
            Ok(key.into())
        }
        other => Err(no_such(other)),
    }
}

fn mac_key(order: &Order) -> Result<MacKey, Refusal> {
    let Alg::Mac(alg) = alg(order)? else {
        return Err(Refusal::invalid("not the algorithm of a MAC"));
    };
    MacKey::from_jwk_as(&jwk(order.keys.private.as_ref())?, alg).map_err(Refusal::failed)
}

fn signing_key(order: &Order) -> Result<SigningKey, Refusal> {
    let Alg::Sig(alg) = alg(order)? else {
        return Err(Refusal::invalid("not the algorithm of a signature"));
    };
    SigningKey::from_jwk_as(&jwk(order.keys.private.as_ref())?, alg).map_err(Refusal::failed)
}

fn local_key(order: &Order) -> Result<v4::LocalKey, Refusal> {
    let paserk = order
        .keys
        .paserk
        .as_ref()
        .and_then(|keys| keys.local.as_deref());
    v4::LocalKey::from_paserk(given(paserk)?).map_err(Refusal::failed)
}

fn secret_key(order: &Order) -> Result<v4::SecretKey, Refusal> {
    let paserk = order
        .keys
        .paserk
        .as_ref()
        .and_then(|keys| keys.secret.as_deref());
    v4::SecretKey::from_paserk(given(paserk)?).map_err(Refusal::failed)
}

fn public_key(order: &Order) -> Result<v4::PublicKey, Refusal> {
    let paserk = order
        .keys
        .paserk
        .as_ref()
        .and_then(|keys| keys.public.as_deref());
    v4::PublicKey::from_paserk(given(paserk)?).map_err(Refusal::failed)
}

fn jwk(key: Option<&Value>) -> Result<String, Refusal> {
    Ok(given(key)?.to_string())
}

fn given<T>(key: Option<T>) -> Result<T, Refusal> {
    key.ok_or_else(|| Refusal::invalid("the key that this needs is not there"))
}
