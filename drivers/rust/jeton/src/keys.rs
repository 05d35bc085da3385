//! Keys made and loaded.

use crate::{alg, jwe, no_such};
use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;
use jeton::jwt::{MacKey, SigningKey, VerifyingKey};
use jeton::key::{Alg, MacAlg, SigAlg};
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{LocalKey, PublicKey, SecretKey, Version};
use jeton_driver_harness::{KeyForm, KeyText, Order, Refusal, Work, work};

/// A fresh key in each operation.
pub(crate) fn generate(order: &Order) -> Result<Box<dyn Work>, Refusal> {
    match order.format.as_str() {
        "v1.local" => generate_local::<V1>(),
        "v1.public" => generate_secret::<V1>(),
        "v2.local" => generate_local::<V2>(),
        "v2.public" => generate_secret::<V2>(),
        "v3.local" => generate_local::<V3>(),
        "v3.public" => generate_secret::<V3>(),
        "v4.local" => generate_local::<V4>(),
        "v4.public" => generate_secret::<V4>(),
        "jwe" => jwe::generate(order),
        _ => match alg(order)? {
            Alg::Mac(alg) => work::keys(move || MacKey::generate(alg).map_err(Refusal::failed)),
            Alg::Sig(alg) => work::keys(move || SigningKey::generate(alg).map_err(Refusal::failed)),
            other => Err(no_such(other)),
        },
    }
}

/// The order's key text in each operation, both halves of a pair.
pub(crate) fn load(order: &Order) -> Result<Box<dyn Work>, Refusal> {
    let text = order.key_text()?.clone();
    match order.format.as_str() {
        "v1.local" => load_local::<V1>(&text),
        "v1.public" => load_secret::<V1>(&text),
        "v2.local" => load_local::<V2>(&text),
        "v2.public" => load_secret::<V2>(&text),
        "v3.local" => load_local::<V3>(&text),
        "v3.public" => load_secret::<V3>(&text),
        "v4.local" => load_local::<V4>(&text),
        "v4.public" => load_secret::<V4>(&text),
        "jwe" => jwe::load(order, text),
        _ => match alg(order)? {
            Alg::Mac(alg) => load_mac(&text, alg),
            Alg::Sig(alg) => load_pair(&text, alg),
            other => Err(no_such(other)),
        },
    }
}

fn generate_local<V: Version>() -> Result<Box<dyn Work>, Refusal> {
    work::keys(|| LocalKey::<V>::generate().map_err(Refusal::failed))
}

fn generate_secret<V: Version>() -> Result<Box<dyn Work>, Refusal> {
    work::keys(|| SecretKey::<V>::generate().map_err(Refusal::failed))
}

fn load_local<V: Version>(text: &KeyText) -> Result<Box<dyn Work>, Refusal> {
    let local = text.private()?;
    work::keys(move || LocalKey::<V>::from_paserk(&local).map_err(Refusal::failed))
}

fn load_secret<V: Version>(text: &KeyText) -> Result<Box<dyn Work>, Refusal> {
    let (secret, public) = (text.private()?, text.public()?);
    work::keys(move || {
        let secret = SecretKey::<V>::from_paserk(&secret).map_err(Refusal::failed)?;
        let public = PublicKey::<V>::from_paserk(&public).map_err(Refusal::failed)?;
        Ok((secret, public))
    })
}

fn load_mac(text: &KeyText, alg: MacAlg) -> Result<Box<dyn Work>, Refusal> {
    let jwk = text.private()?;
    work::keys(move || MacKey::from_jwk_as(&jwk, alg).map_err(Refusal::failed))
}

fn load_pair(text: &KeyText, alg: SigAlg) -> Result<Box<dyn Work>, Refusal> {
    let (private, public) = (text.private()?, text.public()?);
    match text.form {
        KeyForm::Pem => work::keys(move || {
            let private = SigningKey::from_pem_as(&private, alg).map_err(Refusal::failed)?;
            let public = VerifyingKey::from_pem_as(&public, alg).map_err(Refusal::failed)?;
            Ok((private, public))
        }),
        _ => work::keys(move || {
            let private = SigningKey::from_jwk_as(&private, alg).map_err(Refusal::failed)?;
            let public = VerifyingKey::from_jwk_as(&public, alg).map_err(Refusal::failed)?;
            Ok((private, public))
        }),
    }
}
