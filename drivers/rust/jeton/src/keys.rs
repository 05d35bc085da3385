//! Generating and loading keys.

use crate::{alg, jwe, unsupported_alg};
use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;

use jeton::key::{Alg, MacAlg, MacKey, SigAlg, SigningKey, VerifyingKey};
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{LocalKey, PublicKey, SecretKey, Version};
use jeton_driver_harness::{DriverError, KeyForm, KeyText, PrepareRequest, Work, work};

/// Generates a key in each operation.
pub(crate) fn generate(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    match request.format.as_str() {
        "v1.local" => generate_local::<V1>(),
        "v1.public" => generate_secret::<V1>(),
        "v2.local" => generate_local::<V2>(),
        "v2.public" => generate_secret::<V2>(),
        "v3.local" => generate_local::<V3>(),
        "v3.public" => generate_secret::<V3>(),
        "v4.local" => generate_local::<V4>(),
        "v4.public" => generate_secret::<V4>(),
        "jwe" => jwe::generate(request),
        _ => match alg(request)? {
            Alg::Mac(alg) => work::keys(move || MacKey::generate(alg).map_err(DriverError::failed)),
            Alg::Sig(alg) => {
                work::keys(move || SigningKey::generate(alg).map_err(DriverError::failed))
            }
            other => Err(unsupported_alg(other)),
        },
    }
}

/// Loads the request's key text in each operation, both halves of a pair.
pub(crate) fn load(request: &PrepareRequest) -> Result<Box<dyn Work>, DriverError> {
    let text = request.key_text()?.clone();
    match request.format.as_str() {
        "v1.local" => load_local::<V1>(&text),
        "v1.public" => load_secret::<V1>(&text),
        "v2.local" => load_local::<V2>(&text),
        "v2.public" => load_secret::<V2>(&text),
        "v3.local" => load_local::<V3>(&text),
        "v3.public" => load_secret::<V3>(&text),
        "v4.local" => load_local::<V4>(&text),
        "v4.public" => load_secret::<V4>(&text),
        "jwe" => jwe::load(request, text),
        _ => match alg(request)? {
            Alg::Mac(alg) => load_mac(&text, alg),
            Alg::Sig(alg) => load_pair(&text, alg),
            other => Err(unsupported_alg(other)),
        },
    }
}

fn generate_local<V: Version>() -> Result<Box<dyn Work>, DriverError> {
    work::keys(|| LocalKey::<V>::generate().map_err(DriverError::failed))
}

fn generate_secret<V: Version>() -> Result<Box<dyn Work>, DriverError> {
    work::keys(|| SecretKey::<V>::generate().map_err(DriverError::failed))
}

fn load_local<V: Version>(text: &KeyText) -> Result<Box<dyn Work>, DriverError> {
    let local = text.private()?;
    work::keys(move || LocalKey::<V>::from_paserk(&local).map_err(DriverError::failed))
}

fn load_secret<V: Version>(text: &KeyText) -> Result<Box<dyn Work>, DriverError> {
    let (secret, public) = (text.private()?, text.public()?);
    work::keys(move || {
        let secret = SecretKey::<V>::from_paserk(&secret).map_err(DriverError::failed)?;
        let public = PublicKey::<V>::from_paserk(&public).map_err(DriverError::failed)?;
        Ok((secret, public))
    })
}

fn load_mac(text: &KeyText, alg: MacAlg) -> Result<Box<dyn Work>, DriverError> {
    let jwk = text.private()?;
    work::keys(move || MacKey::from_jwk_as(&jwk, alg).map_err(DriverError::failed))
}

fn load_pair(text: &KeyText, alg: SigAlg) -> Result<Box<dyn Work>, DriverError> {
    let (private, public) = (text.private()?, text.public()?);
    match text.form {
        KeyForm::Pem => work::keys(move || {
            let private = SigningKey::from_pem_as(&private, alg).map_err(DriverError::failed)?;
            let public = VerifyingKey::from_pem_as(&public, alg).map_err(DriverError::failed)?;
            Ok((private, public))
        }),
        _ => work::keys(move || {
            let private = SigningKey::from_jwk_as(&private, alg).map_err(DriverError::failed)?;
            let public = VerifyingKey::from_jwk_as(&public, alg).map_err(DriverError::failed)?;
            Ok((private, public))
        }),
    }
}
