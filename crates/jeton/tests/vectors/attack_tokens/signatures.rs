//! Recipes that modify the signature.

use super::support::{Key, encode, parts};
use super::{assert_rejected, every};
use jeton::key::{SigAlg, SigningKey};

pub(crate) fn null_signature() {
    for key in every() {
        let [header, payload, _] = parts(&key.sign(b"{}")).map(str::to_owned);
        assert_rejected(key, &format!("{header}.{payload}."));
        assert_rejected(key, &format!("{header}.{payload}"));
        assert_rejected(key, &format!("{header}.{payload}.AA"));
    }
}

/// The orders of the curves (SEC 2), at the length of a coordinate.
const ORDERS: [(SigAlg, &str); 4] = [
    (
        SigAlg::ES256,
        "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551",
    ),
    (
        SigAlg::ES384,
        "ffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973",
    ),
    (
        SigAlg::ES512,
        "01fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409",
    ),
    (
        SigAlg::ES256K,
        "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
    ),
];

pub(crate) fn psychic_zero() {
    for (alg, order) in ORDERS {
        let order: Vec<u8> = (0..order.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&order[at..at + 2], 16).unwrap())
            .collect();
        let key = Key::Pair(SigningKey::generate(alg).unwrap());
        let token = key.sign(b"{}");
        let [header, payload, signature] = parts(&token);
        let good = super::support::decode(signature);
        let half = order.len();
        assert_eq!(good.len(), 2 * half);
        let one = [vec![0; half - 1], vec![1]].concat();
        let mut above = order.clone();
        above[half - 1] += 1;
        for bad in [vec![0; half], order, above, vec![0xff; half]] {
            for forged in [
                [bad.clone(), bad.clone()].concat(),
                [bad.as_slice(), &good[half..]].concat(),
                [&good[..half], bad.as_slice()].concat(),
                [bad.as_slice(), &one].concat(),
                [one.as_slice(), &bad].concat(),
            ] {
                assert_rejected(&key, &format!("{header}.{payload}.{}", encode(&forged)));
            }
        }
    }
}

pub(crate) fn ecdsa_der() {
    use aws_lc_rs::{rand::SystemRandom, signature as aws};
    for (alg, signing) in [
        (SigAlg::ES256, &aws::ECDSA_P256_SHA256_ASN1_SIGNING),
        (SigAlg::ES384, &aws::ECDSA_P384_SHA384_ASN1_SIGNING),
        (SigAlg::ES512, &aws::ECDSA_P521_SHA512_ASN1_SIGNING),
        (SigAlg::ES256K, &aws::ECDSA_P256K1_SHA256_ASN1_SIGNING),
    ] {
        let key = SigningKey::generate(alg).unwrap();
        let pair = aws::EcdsaKeyPair::from_pkcs8(signing, &key.to_der().unwrap()).unwrap();
        let key = Key::Pair(key);
        let token = key.sign(b"{}");
        let input = token.rsplit_once('.').unwrap().0;
        let der = pair.sign(&SystemRandom::new(), input.as_bytes()).unwrap();
        assert_rejected(&key, &format!("{input}.{}", encode(der.as_ref())));
    }
}
