//! ECDH-ES with invalid points (CVE-2016-9121), and other invalid values of `epk`.

use jeton::error::Rejection;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{ContentEnc, DecryptionKey, EncryptionKey, KeyManagementAlg};
use serde_json::{Value, json};

use super::support::{decode, encode, header, rejection, with_header};

const ALGS: [KeyManagementAlg; 4] = [
    KeyManagementAlg::EcdhEs,
    KeyManagementAlg::EcdhEsA128Kw,
    KeyManagementAlg::EcdhEsA192Kw,
    KeyManagementAlg::EcdhEsA256Kw,
];

fn curves(alg: KeyManagementAlg) -> [DecryptionKey; 4] {
    [
        DecryptionKey::generate(alg).unwrap(),
        DecryptionKey::generate_p384(alg).unwrap(),
        DecryptionKey::generate_p521(alg).unwrap(),
        DecryptionKey::generate_x25519(alg).unwrap(),
    ]
}

fn token(key: &DecryptionKey) -> String {
    Encrypter::new(&key.encryption_key(), ContentEnc::A256Gcm)
        .encrypt(b"x")
        .unwrap()
}

/// Checks that a token with this `epk` is rejected with the uniform error.
fn rejected(key: &DecryptionKey, epk: Value) {
    let token = token(key);
    let mut changed = header(&token);
    changed["epk"] = epk.clone();
    let error = rejection(Decrypter::new(key).decrypt(&with_header(&token, &changed)));
    assert_eq!(error, Rejection::Decryption, "{epk}");
}

#[test]
fn epk_off_the_curve_is_rejected() {
    for alg in ALGS {
        for key in &curves(alg)[..3] {
            let good = header(&token(key))["epk"].clone();
            let length = decode(good["x"].as_str().unwrap()).len();
            for member in ["x", "y"] {
                for position in [0, length / 2, length - 1] {
                    let mut bytes = decode(good[member].as_str().unwrap());
                    bytes[position] ^= 1;
                    let mut epk = good.clone();
                    epk[member] = encode(&bytes).into();
                    rejected(key, epk);
                }
            }
            let zero = encode(&vec![0; length]);
            rejected(key, json!({"kty":"EC","crv":good["crv"],"x":zero,"y":zero}));
            let full = encode(&vec![0xff; length]);
            rejected(key, json!({"kty":"EC","crv":good["crv"],"x":full,"y":full}));
            // x and y exchanged.
            rejected(
                key,
                json!({"kty":"EC","crv":good["crv"],"x":good["y"],"y":good["x"]}),
            );
        }
    }
}

#[test]
fn epk_on_another_curve_is_rejected() {
    for alg in ALGS {
        let keys = curves(alg);
        for (index, key) in keys.iter().enumerate() {
            let name = header(&token(key))["epk"]["crv"].clone();
            for (other_index, other) in keys.iter().enumerate() {
                if index == other_index {
                    continue;
                }
                let mut epk = header(&token(other))["epk"].clone();
                rejected(key, epk.clone());
                epk["crv"] = name.clone();
                rejected(key, epk);
            }
        }
    }
}

#[test]
fn epk_of_small_order_is_rejected() {
    // RFC 7748, section 6.1: the shared secret would be all zeros for any key.
    let mut order_8 = decode("4Ot6fDtBuK4WVuP68Z_EatoJjeucMrH9hmIFFl9JuAA");
    let points = [vec![0; 32], [&[1][..], &[0; 31]].concat(), order_8.clone()];
    for alg in ALGS {
        let key = DecryptionKey::generate_x25519(alg).unwrap();
        for point in &points {
            rejected(&key, json!({"kty":"OKP","crv":"X25519","x":encode(point)}));
            let jwk = json!({"kty":"OKP","crv":"X25519","x":encode(point),"alg":alg.name()});
            assert!(EncryptionKey::from_jwk(&jwk.to_string()).is_err());
        }
        // The unused high bit does not change the point (RFC 7748, section 5).
        order_8[31] |= 0x80;
        rejected(
            &key,
            json!({"kty":"OKP","crv":"X25519","x":encode(&order_8)}),
        );
    }
}

#[test]
fn epk_that_is_not_a_public_key_is_rejected() {
    for alg in ALGS {
        for key in curves(alg) {
            let good = header(&token(&key))["epk"].clone();
            for member in good.as_object().unwrap().keys() {
                let mut without = good.clone();
                without.as_object_mut().unwrap().remove(member);
                rejected(&key, without);
                let mut wrong = good.clone();
                wrong[member] = json!(7);
                rejected(&key, wrong);
            }
            // Truncated, extended with a leading zero, and another encoding of the same bytes.
            let x = decode(good["x"].as_str().unwrap());
            for bytes in [&x[1..], &[&[0], x.as_slice()].concat(), &[]] {
                let mut epk = good.clone();
                epk["x"] = encode(bytes).into();
                rejected(&key, epk);
            }
            let mut padded = good.clone();
            padded["x"] = format!("{}=", good["x"].as_str().unwrap()).into();
            rejected(&key, padded);
            let mut other_type = good.clone();
            other_type["kty"] = "oct".into();
            rejected(&key, other_type);
            rejected(&key, json!({}));
        }
    }
}

#[test]
fn missing_epk_is_rejected() {
    for alg in ALGS {
        for key in curves(alg) {
            let token = token(&key);
            let mut without = header(&token);
            without.as_object_mut().unwrap().remove("epk");
            let error = rejection(Decrypter::new(&key).decrypt(&with_header(&token, &without)));
            assert_eq!(error, Rejection::Decryption);
        }
    }
}

#[test]
fn changed_party_info_is_rejected() {
    for alg in ALGS {
        let key = DecryptionKey::generate(alg).unwrap();
        let token = Encrypter::new(&key.encryption_key(), ContentEnc::A256Gcm)
            .producer_info(b"Alice")
            .recipient_info(b"Bob")
            .encrypt(b"x")
            .unwrap();
        assert!(Decrypter::new(&key).decrypt(&token).is_ok());
        for (member, value) in [
            ("apu", "Qm9i"),
            ("apv", "QWxpY2U"),
            ("apu", "***"),
            ("apv", ""),
        ] {
            let mut changed = header(&token);
            changed[member] = value.into();
            let error = rejection(Decrypter::new(&key).decrypt(&with_header(&token, &changed)));
            assert_eq!(error, Rejection::Decryption);
        }
        let long = vec![0; jeton::limits::PARTY_INFO_BYTES + 1];
        let public = key.encryption_key();
        let encrypter = Encrypter::new(&public, ContentEnc::A256Gcm).producer_info(&long);
        assert!(encrypter.encrypt(b"x").is_err());
    }
}

#[test]
fn plain_ecdh_es_with_encrypted_key_is_rejected() {
    for key in curves(KeyManagementAlg::EcdhEs) {
        let mut parts = super::support::parts(&token(&key));
        for encrypted_key in ["AA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            parts[1] = encrypted_key.into();
            let error = rejection(Decrypter::new(&key).decrypt(&parts.join(".")));
            assert_eq!(error, Rejection::Decryption);
        }
    }
}
