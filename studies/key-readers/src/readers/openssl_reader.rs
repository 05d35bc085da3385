//! The OpenSSL of the system.

use openssl::bn::{BigNum, BigNumContext};
use openssl::ec::EcKeyRef;
use openssl::error::ErrorStack;
use openssl::pkey::{Id, PKey, Public};
use openssl::rsa::Rsa;

use super::{Answer, Format, ec, octets, rsa};

pub fn read(format: Format, input: &[u8]) -> Answer {
    let key = match format {
        Format::Pem => of_pem(input),
        _ => of_der(input),
    };
    match key.and_then(|key| described(&key)) {
        Ok(key) => key,
        Err(error) => {
            let first = error.errors().first().and_then(|error| error.reason());
            Answer::Rejected(first.unwrap_or("rejected").to_owned())
        }
    }
}

/// Without a callback, OpenSSL would ask the terminal for a password.
fn of_pem(text: &[u8]) -> Result<PKey<Public>, ErrorStack> {
    let has = |word: &[u8]| text.windows(word.len()).any(|part| part == word);
    if has(b"Proc-Type") || has(b"ENCRYPTED") {
        let key = PKey::private_key_from_pem_callback(text, |_| Ok(0))?;
        return public(&key.public_key_to_der()?);
    }
    PKey::public_key_from_pem(text)
        .or_else(|_| Rsa::public_key_from_pem_pkcs1(text).and_then(PKey::from_rsa))
        .or_else(|_| {
            PKey::private_key_from_pem_callback(text, |_| Ok(0))
                .and_then(|key| public(&key.public_key_to_der()?))
        })
}

fn of_der(der: &[u8]) -> Result<PKey<Public>, ErrorStack> {
    PKey::public_key_from_der(der)
        .or_else(|_| {
            PKey::private_key_from_der(der).and_then(|key| public(&key.public_key_to_der()?))
        })
        .or_else(|_| Rsa::public_key_from_der_pkcs1(der).and_then(PKey::from_rsa))
}

fn public(der: &[u8]) -> Result<PKey<Public>, ErrorStack> {
    PKey::public_key_from_der(der)
}

fn described(key: &PKey<Public>) -> Result<Answer, ErrorStack> {
    Ok(match key.id() {
        Id::RSA | Id::RSA_PSS => {
            let key = key.rsa()?;
            Answer::Key(rsa(&key.n().to_hex_str()?, &key.e().to_hex_str()?))
        }
        Id::EC => of_ec(&*key.ec_key()?)?,
        Id::ED25519 => Answer::Key(octets("Ed25519", &key.raw_public_key()?)),
        Id::X25519 => Answer::Key(octets("X25519", &key.raw_public_key()?)),
        _ => Answer::Unknown,
    })
}

fn of_ec(key: &EcKeyRef<Public>) -> Result<Answer, ErrorStack> {
    let name = key
        .group()
        .curve_name()
        .and_then(|name| name.short_name().ok());
    let curve = match name {
        Some("prime256v1") => "P-256",
        Some("secp384r1") => "P-384",
        Some("secp521r1") => "P-521",
        Some("secp256k1") => "secp256k1",
        _ => return Ok(Answer::Unknown),
    };
    let (mut x, mut y) = (BigNum::new()?, BigNum::new()?);
    let mut context = BigNumContext::new()?;
    (key.public_key()).affine_coordinates(key.group(), &mut x, &mut y, &mut context)?;
    let length = (key.group().degree() as i32 + 7) / 8;
    let both = [x.to_vec_padded(length)?, y.to_vec_padded(length)?].concat();
    Ok(Answer::Key(ec(curve, &both)))
}
