//! The crates of RustCrypto, and ed25519-dalek.

use ed25519_dalek::pkcs8::DecodePrivateKey as _;
use rsa::pkcs1::{DecodeRsaPrivateKey as _, DecodeRsaPublicKey as _};
use rsa::pkcs8::der::pem::decode_vec;
use rsa::pkcs8::spki::DecodePublicKey as _;
use rsa::pkcs8::spki::SubjectPublicKeyInfoRef;
use rsa::pkcs8::{ObjectIdentifier, PrivateKeyInfoRef};
use rsa::traits::PublicKeyParts as _;
use rsa::{PrivateKey, PublicKey};

use super::{Answer, Format, ec, octets, rsa as rsa_text};

/// A form of a key, as PEM labels name it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Spki,
    Pkcs8,
    Pkcs1Public,
    Pkcs1Private,
    Sec1,
}

const X25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.110");

pub fn read(format: Format, input: &[u8]) -> Answer {
    let rejected = |why: &str| Answer::Rejected(why.to_owned());
    match format {
        Format::Pem => {
            let Ok((label, der)) = decode_vec(input) else {
                return rejected("PEM");
            };
            let form = match label {
                "PUBLIC KEY" => Form::Spki,
                "PRIVATE KEY" => Form::Pkcs8,
                "RSA PUBLIC KEY" => Form::Pkcs1Public,
                "RSA PRIVATE KEY" => Form::Pkcs1Private,
                "EC PRIVATE KEY" => Form::Sec1,
                _ => return rejected("label"),
            };
            of_form(form, &der)
        }
        _ => {
            let forms = [
                Form::Spki,
                Form::Pkcs8,
                Form::Pkcs1Public,
                Form::Pkcs1Private,
                Form::Sec1,
            ];
            let all: Vec<Answer> = forms.into_iter().map(|form| of_form(form, input)).collect();
            let best = all.iter().find(|one| one.accepts());
            best.unwrap_or(&all[0]).clone()
        }
    }
}

fn of_form(form: Form, der: &[u8]) -> Answer {
    let key = match form {
        Form::Spki => PublicKey::from_public_key_der(der)
            .ok()
            .as_ref()
            .map(of_rsa),
        Form::Pkcs8 => PrivateKey::from_pkcs8_der(der)
            .ok()
            .map(|key| of_rsa(&key.to_public_key())),
        Form::Pkcs1Public => PublicKey::from_pkcs1_der(der).ok().as_ref().map(of_rsa),
        Form::Pkcs1Private => PrivateKey::from_pkcs1_der(der)
            .ok()
            .map(|key| of_rsa(&key.to_public_key())),
        Form::Sec1 => None,
    };
    let key = key
        .or_else(|| of_ec(form, der))
        .or_else(|| of_ed25519(form, der));
    // X25519 has no crate here: only the form is read.
    let is_x25519 = || {
        let private = PrivateKeyInfoRef::try_from(der).is_ok_and(|key| key.algorithm.oid == X25519);
        let public = SubjectPublicKeyInfoRef::try_from(der);
        private || public.is_ok_and(|key| key.algorithm.oid == X25519)
    };
    match key {
        Some(key) => Answer::Key(key),
        None if is_x25519() => Answer::Unknown,
        None => Answer::Rejected("DER".into()),
    }
}

fn of_rsa(key: &PublicKey) -> String {
    let hex = |bytes: &[u8]| super::hex(bytes);
    rsa_text(&hex(&key.n_bytes()), &hex(&key.e_bytes()))
}

fn of_ec(form: Form, der: &[u8]) -> Option<String> {
    macro_rules! on {
        ($curve:ident, $name:literal) => {{
            use $curve::elliptic_curve::sec1::ToSec1Point as _;
            use $curve::pkcs8::{DecodePrivateKey as _, DecodePublicKey as _};
            let public = match form {
                Form::Spki => $curve::PublicKey::from_public_key_der(der).ok(),
                Form::Pkcs8 => $curve::SecretKey::from_pkcs8_der(der)
                    .ok()
                    .map(|key| key.public_key()),
                Form::Sec1 => $curve::SecretKey::from_sec1_der(der)
                    .ok()
                    .map(|key| key.public_key()),
                _ => None,
            };
            public.map(|key| ec($name, &key.to_sec1_point(false).as_bytes()[1..]))
        }};
    }
    on!(p256, "P-256")
        .or_else(|| on!(p384, "P-384"))
        .or_else(|| on!(p521, "P-521"))
        .or_else(|| on!(k256, "secp256k1"))
}

fn of_ed25519(form: Form, der: &[u8]) -> Option<String> {
    let key = match form {
        Form::Spki => {
            use ed25519_dalek::pkcs8::DecodePublicKey as _;
            ed25519_dalek::VerifyingKey::from_public_key_der(der).ok()?
        }
        Form::Pkcs8 => ed25519_dalek::SigningKey::from_pkcs8_der(der)
            .ok()?
            .verifying_key(),
        _ => return None,
    };
    Some(octets("Ed25519", key.as_bytes()))
}
