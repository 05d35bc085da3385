//! Keys made and loaded.

use crate::{alg, jwe, no_such};
use jeton::jwt::{MacKey, SigningKey, VerifyingKey};
use jeton::key::{Alg, MacAlg, SigAlg};
use jeton::paseto::v4;
use jeton_driver_harness::{KeyForm, KeyText, Order, Refusal, Work, work};

/// A fresh key in each operation.
pub(crate) fn generate(order: &Order) -> Result<Box<dyn Work>, Refusal> {
    match order.format.as_str() {
        "v4.local" => work::keys(|| v4::LocalKey::generate().map_err(Refusal::failed)),
        "v4.public" => work::keys(|| v4::SecretKey::generate().map_err(Refusal::failed)),
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
        "v4.local" => {
            let local = text.private()?;
            work::keys(move || v4::LocalKey::from_paserk(&local).map_err(Refusal::failed))
        }
        "v4.public" => {
            let (secret, public) = (text.private()?, text.public()?);
            work::keys(move || {
                let secret = v4::SecretKey::from_paserk(&secret).map_err(Refusal::failed)?;
                let public = v4::PublicKey::from_paserk(&public).map_err(Refusal::failed)?;
                Ok((secret, public))
            })
        }
        "jwe" => jwe::load(order, text),
        _ => match alg(order)? {
            Alg::Mac(alg) => load_mac(&text, alg),
            Alg::Sig(alg) => load_pair(&text, alg),
            other => Err(no_such(other)),
        },
    }
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
