//! Public keys as PKCS#11 has them, and the mechanisms of algorithms.

use base64ct::{Base64UrlUnpadded, Encoding as _};
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, AttributeType};
use jeton::key::{SigAlg, VerifyingKey};
use jeton::remote::SigningInput;

use crate::error::Error;

/// An elliptic curve: its name, the length of a coordinate, and the DER of `CKA_EC_PARAMS`.
struct Curve {
    name: &'static str,
    bytes: usize,
    parameters: &'static [&'static [u8]],
}

const P256: Curve = Curve {
    name: "P-256",
    bytes: 32,
    parameters: &[&[0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]],
};
const P384: Curve = Curve {
    name: "P-384",
    bytes: 48,
    parameters: &[&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x22]],
};
const P521: Curve = Curve {
    name: "P-521",
    bytes: 66,
    parameters: &[&[0x06, 0x05, 0x2b, 0x81, 0x04, 0x00, 0x23]],
};
/// As an object identifier, or by its name as a printable string: modules differ.
const ED25519: Curve = Curve {
    name: "Ed25519",
    bytes: 32,
    parameters: &[&[0x06, 0x03, 0x2b, 0x65, 0x70], b"\x13\x0cedwards25519"],
};

/// The kind of key that an algorithm requires.
enum Kind {
    Rsa,
    Ec(&'static Curve),
    Ed25519,
}

impl Kind {
    fn of(alg: SigAlg) -> Result<Kind, Error> {
        Ok(match alg {
            SigAlg::ES256 => Kind::Ec(&P256),
            SigAlg::ES384 => Kind::Ec(&P384),
            SigAlg::ES512 => Kind::Ec(&P521),
            SigAlg::EdDSA => Kind::Ed25519,
            SigAlg::RS256
            | SigAlg::RS384
            | SigAlg::RS512
            | SigAlg::PS256
            | SigAlg::PS384
            | SigAlg::PS512 => Kind::Rsa,
            other => {
                let name = other.name();
                return Err(Error::other(format!("{name} is not supported in an HSM")));
            }
        })
    }

    fn name(&self) -> String {
        match self {
            Kind::Rsa => "an RSA key".to_owned(),
            Kind::Ec(curve) => format!("an EC key on {}", curve.name),
            Kind::Ed25519 => "an Ed25519 key".to_owned(),
        }
    }
}

/// The attributes from which [`public_key`] makes a key.
pub(crate) const ATTRIBUTES: [AttributeType; 4] = [
    AttributeType::Modulus,
    AttributeType::PublicExponent,
    AttributeType::EcParams,
    AttributeType::EcPoint,
];

/// Returns the public key for an algorithm.
pub(crate) fn public_key(
    label: &str,
    alg: SigAlg,
    attributes: &[Attribute],
) -> Result<VerifyingKey, Error> {
    let (mut modulus, mut exponent, mut parameters, mut point) = (None, None, None, None);
    for attribute in attributes {
        match attribute {
            Attribute::Modulus(bytes) => modulus = Some(bytes),
            Attribute::PublicExponent(bytes) => exponent = Some(bytes),
            Attribute::EcParams(bytes) => parameters = Some(bytes),
            Attribute::EcPoint(bytes) => point = Some(bytes),
            _ => {}
        }
    }
    let kind = Kind::of(alg)?;
    let encode = |bytes: &[u8]| Base64UrlUnpadded::encode_string(bytes);
    let has = |curve: &Curve| {
        parameters.is_some_and(|parameters| curve.parameters.contains(&parameters.as_slice()))
    };
    let jwk = match (&kind, modulus, exponent, point) {
        (Kind::Rsa, Some(n), Some(e), _) => Some(format!(
            r#"{{"kty":"RSA","n":"{}","e":"{}"}}"#,
            encode(n),
            encode(e)
        )),
        (Kind::Ec(curve), _, _, Some(point)) if has(curve) => {
            coordinates(point, curve.bytes).map(|(x, y)| {
                let (name, x, y) = (curve.name, encode(x), encode(y));
                format!(r#"{{"kty":"EC","crv":"{name}","x":"{x}","y":"{y}"}}"#)
            })
        }
        (Kind::Ed25519, _, _, Some(point)) if has(&ED25519) => {
            let x = encode(octets(point, ED25519.bytes));
            Some(format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}"}}"#))
        }
        _ => None,
    };
    let jwk = jwk.ok_or_else(|| {
        let found = match (modulus, parameters) {
            (Some(_), _) => "an RSA key".to_owned(),
            (_, Some(parameters)) => {
                let curves = [&P256, &P384, &P521, &ED25519];
                let mut curves = curves.into_iter();
                let curve = curves.find(|curve| curve.parameters.contains(&parameters.as_slice()));
                let name = curve.map_or("another curve", |curve| curve.name);
                format!("a key on {name}")
            }
            _ => "of another type".to_owned(),
        };
        Error::other(format!(
            "the key {label:?} is {found}, and {} requires {}: name another key in `label`, or change `alg`",
            alg.name(),
            kind.name()
        ))
    })?;
    VerifyingKey::from_jwk_as(&jwk, alg).map_err(|error| {
        Error::other(format!(
            "the key {label:?} cannot be used: {error}: create a larger or valid one"
        ))
    })
}

/// The coordinates of an uncompressed point.
fn coordinates(point: &[u8], bytes: usize) -> Option<(&[u8], &[u8])> {
    match octets(point, 1 + 2 * bytes) {
        [0x04, coordinates @ ..] if coordinates.len() == 2 * bytes => {
            Some(coordinates.split_at(bytes))
        }
        _ => None,
    }
}

/// The content of a DER OCTET STRING with that length. Some modules leave the string out.
fn octets(der: &[u8], bytes: usize) -> &[u8] {
    let header = der.len().saturating_sub(bytes);
    match der {
        [0x04, ..] if (2..=3).contains(&header) => &der[header..],
        _ => der,
    }
}

/// The mechanism of an algorithm, with its name.
pub(crate) fn mechanism_type(alg: SigAlg) -> Result<(MechanismType, &'static str), Error> {
    Ok(match alg {
        SigAlg::RS256 => (MechanismType::SHA256_RSA_PKCS, "CKM_SHA256_RSA_PKCS"),
        SigAlg::RS384 => (MechanismType::SHA384_RSA_PKCS, "CKM_SHA384_RSA_PKCS"),
        SigAlg::RS512 => (MechanismType::SHA512_RSA_PKCS, "CKM_SHA512_RSA_PKCS"),
        SigAlg::PS256 => (
            MechanismType::SHA256_RSA_PKCS_PSS,
            "CKM_SHA256_RSA_PKCS_PSS",
        ),
        SigAlg::PS384 => (
            MechanismType::SHA384_RSA_PKCS_PSS,
            "CKM_SHA384_RSA_PKCS_PSS",
        ),
        SigAlg::PS512 => (
            MechanismType::SHA512_RSA_PKCS_PSS,
            "CKM_SHA512_RSA_PKCS_PSS",
        ),
        SigAlg::ES256 | SigAlg::ES384 | SigAlg::ES512 => (MechanismType::ECDSA, "CKM_ECDSA"),
        SigAlg::EdDSA => (MechanismType::EDDSA, "CKM_EDDSA"),
        other => {
            let name = other.name();
            return Err(Error::other(format!("{name} is not supported in an HSM")));
        }
    })
}

/// The mechanism for an input, and the bytes that it signs. A module hashes for RSA, and not for ECDSA.
pub(crate) fn mechanism(input: &SigningInput<'_>) -> Result<(Mechanism<'static>, Vec<u8>), Error> {
    let message = || input.message().to_vec();
    let pss = |hash_alg, mgf| {
        let salt = input.salt_bytes().unwrap_or_default() as u64;
        PkcsPssParams {
            hash_alg,
            mgf,
            s_len: salt.into(),
        }
    };
    Ok(match input.alg() {
        SigAlg::RS256 => (Mechanism::Sha256RsaPkcs, message()),
        SigAlg::RS384 => (Mechanism::Sha384RsaPkcs, message()),
        SigAlg::RS512 => (Mechanism::Sha512RsaPkcs, message()),
        SigAlg::PS256 => {
            let pss = pss(MechanismType::SHA256, PkcsMgfType::MGF1_SHA256);
            (Mechanism::Sha256RsaPkcsPss(pss), message())
        }
        SigAlg::PS384 => {
            let pss = pss(MechanismType::SHA384, PkcsMgfType::MGF1_SHA384);
            (Mechanism::Sha384RsaPkcsPss(pss), message())
        }
        SigAlg::PS512 => {
            let pss = pss(MechanismType::SHA512, PkcsMgfType::MGF1_SHA512);
            (Mechanism::Sha512RsaPkcsPss(pss), message())
        }
        SigAlg::EdDSA => {
            let pure = EddsaParams::new(EddsaSignatureScheme::Ed25519);
            (Mechanism::Eddsa(pure), message())
        }
        _ => {
            let digest = input
                .digest()
                .ok_or_else(|| Error::other("not supported"))?;
            (Mechanism::Ecdsa, digest)
        }
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn ec(parameters: &[u8], point: Vec<u8>) -> [Attribute; 2] {
        [
            Attribute::EcParams(parameters.to_vec()),
            Attribute::EcPoint(point),
        ]
    }

    /// The point of RFC 7515, appendix A.3.
    fn point() -> Vec<u8> {
        let decode = |text| Base64UrlUnpadded::decode_vec(text).unwrap();
        let x = decode("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU");
        let y = decode("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0");
        [vec![0x04], x, y].concat()
    }

    #[test]
    fn point_is_read_with_and_without_its_octet_string() {
        let wrapped = [vec![0x04, 0x41], point()].concat();
        for point in [point(), wrapped] {
            let key = public_key("k", SigAlg::ES256, &ec(P256.parameters[0], point)).unwrap();
            assert!(
                key.to_jwk()
                    .contains("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
            );
        }
    }

    #[test]
    fn key_of_another_type_or_size_says_what_it_is() {
        let on_p384 = ec(P384.parameters[0], point());
        let rsa = [
            Attribute::Modulus([vec![0xc1], vec![0x55; 127]].concat()),
            Attribute::PublicExponent(vec![1, 0, 1]),
        ];
        for (alg, attributes, expected) in [
            (
                SigAlg::ES256,
                &on_p384,
                "is a key on P-384, and ES256 requires an EC key on P-256",
            ),
            (
                SigAlg::RS256,
                &on_p384,
                "is a key on P-384, and RS256 requires an RSA key",
            ),
            (
                SigAlg::ES256,
                &rsa,
                "is an RSA key, and ES256 requires an EC key on P-256",
            ),
            (SigAlg::RS256, &rsa, "1024 bits"),
        ] {
            let error = public_key("k", alg, attributes).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
