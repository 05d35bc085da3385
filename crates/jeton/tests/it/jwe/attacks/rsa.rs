//! Bleichenbacher's padding oracle, and invalid use of RSA keys.

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OaepPublicEncryptingKey, Pkcs1PublicEncryptingKey, PublicEncryptingKey,
};
use jeton::danger::RSA1_5;
use jeton::error::Rejection;
use jeton::jwe::{Decrypter, Encrypter};
use jeton::key::{
    ContentEnc, DecryptionKey, DecryptionKeys, EncryptionKey, KeyManagementAlg, KeyWrapAlg,
    WrappingKey,
};

use super::support::{encode, header, parts, rejection, seal, with_header};

/// A token with any bytes as its content key, encrypted with PKCS#1 v1.5.
fn token(key: &DecryptionKey, content_key: &[u8]) -> String {
    let der = key.encryption_key().to_der().unwrap();
    let public = PublicEncryptingKey::from_der(&der).unwrap();
    let public = Pkcs1PublicEncryptingKey::new(public).unwrap();
    let mut encrypted_key = vec![0; public.ciphertext_size()];
    public.encrypt(content_key, &mut encrypted_key).unwrap();
    let protected = encode(br#"{"alg":"RSA1_5","enc":"A256GCM"}"#);
    let (iv, ciphertext, tag) = seal(&[3; 32], &protected, b"x");
    format!(
        "{protected}.{}.{iv}.{ciphertext}.{tag}",
        encode(&encrypted_key)
    )
}

#[test]
fn rsa1_5_padding_errors_are_indistinguishable() {
    let key = DecryptionKey::generate(RSA1_5).unwrap();
    let decrypter = Decrypter::new(&key);
    assert!(decrypter.decrypt(&token(&key, &[3; 32])).is_ok());
    // Valid padding with a wrong key, and with keys of every wrong length.
    for length in [0, 1, 16, 24, 31, 33, 48, 64, 200] {
        let error = rejection(decrypter.decrypt(&token(&key, &vec![3; length])));
        assert_eq!(error, Rejection::Decryption, "{length}");
    }
    assert_eq!(
        rejection(decrypter.decrypt(&token(&key, &[4; 32]))),
        Rejection::Decryption
    );
    // Invalid padding; numbers over the modulus; other lengths; empty.
    let good = token(&key, &[3; 32]);
    for encrypted_key in [
        vec![0; 256],
        vec![1; 256],
        vec![0xff; 256],
        vec![1; 255],
        vec![1; 257],
        Vec::new(),
    ] {
        let mut changed = parts(&good);
        changed[1] = encode(&encrypted_key);
        assert_eq!(
            rejection(decrypter.decrypt(&changed.join("."))),
            Rejection::Decryption
        );
    }
    // The right content key and a wrong tag.
    let mut changed = parts(&good);
    changed[4] = encode(&[0; 16]);
    assert_eq!(
        rejection(decrypter.decrypt(&changed.join("."))),
        Rejection::Decryption
    );
}

#[test]
fn rsa1_5_without_danger_is_rejected() {
    assert!("RSA1_5".parse::<KeyManagementAlg>().is_err());
    let open = DecryptionKey::generate(RSA1_5).unwrap();
    let jwk = open.to_jwk().unwrap();
    assert!(DecryptionKey::from_jwk(&jwk).is_err());
    assert!(DecryptionKey::from_jwk_as(&jwk, KeyManagementAlg::RsaOaep).is_err());
    assert!(EncryptionKey::from_jwk(&open.encryption_key().to_jwk()).is_err());
    assert!(DecryptionKey::from_jwk_as(&jwk, RSA1_5).is_ok());
    // The same private key, loaded for OAEP, does not decrypt RSA1_5.
    let pem = open.to_pem().unwrap();
    let closed = DecryptionKey::from_pem_as(&pem, KeyManagementAlg::RsaOaep).unwrap();
    let error = rejection(Decrypter::new(&closed).decrypt(&token(&open, &[3; 32])));
    assert_eq!(error, Rejection::AlgorithmMismatch);
    let mut renamed = header(&token(&open, &[3; 32]));
    renamed["alg"] = "RSA-OAEP".into();
    let renamed = with_header(&token(&open, &[3; 32]), &renamed);
    assert_eq!(
        rejection(Decrypter::new(&closed).decrypt(&renamed)),
        Rejection::Decryption
    );
}

#[test]
fn decrypt_oaep_with_another_hash_is_rejected() {
    let algs = [
        KeyManagementAlg::RsaOaep,
        KeyManagementAlg::RsaOaep256,
        KeyManagementAlg::RsaOaep384,
        KeyManagementAlg::RsaOaep512,
    ];
    let pem = DecryptionKey::generate(algs[0]).unwrap().to_pem().unwrap();
    for made in algs {
        let key = DecryptionKey::from_pem_as(&pem, made).unwrap();
        let token = Encrypter::new(&key.encryption_key(), ContentEnc::A256Gcm)
            .encrypt(b"x")
            .unwrap();
        for read in algs {
            let decrypter = Decrypter::new(DecryptionKey::from_pem_as(&pem, read).unwrap());
            let mut renamed = header(&token);
            renamed["alg"] = read.name().into();
            if made == read {
                assert!(decrypter.decrypt(&token).is_ok());
                continue;
            }
            assert_eq!(
                rejection(decrypter.decrypt(&token)),
                Rejection::AlgorithmMismatch
            );
            let renamed = with_header(&token, &renamed);
            assert_eq!(
                rejection(decrypter.decrypt(&renamed)),
                Rejection::Decryption
            );
        }
    }
}

#[test]
fn decrypt_oaep_content_key_of_wrong_length_is_rejected() {
    let key = DecryptionKey::generate(KeyManagementAlg::RsaOaep).unwrap();
    let der = key.encryption_key().to_der().unwrap();
    let public = PublicEncryptingKey::from_der(&der).unwrap();
    let public = OaepPublicEncryptingKey::new(public).unwrap();
    for length in [0, 16, 31, 33, 64, 128] {
        let mut encrypted_key = vec![0; public.ciphertext_size()];
        let content_key = vec![3; length];
        let encrypted_key = public
            .encrypt(&OAEP_SHA1_MGF1SHA1, &content_key, &mut encrypted_key, None)
            .unwrap();
        let protected = encode(br#"{"alg":"RSA-OAEP","enc":"A256GCM"}"#);
        let (iv, ciphertext, tag) = seal(&[3; 32], &protected, b"x");
        let token = format!(
            "{protected}.{}.{iv}.{ciphertext}.{tag}",
            encode(encrypted_key)
        );
        assert_eq!(
            rejection(Decrypter::new(&key).decrypt(&token)),
            Rejection::Decryption
        );
    }
}

/// An oracle for one padding would also reveal content encrypted with the other.
#[test]
fn rsa_key_for_rsa1_5_and_oaep_is_rejected() {
    let old = DecryptionKey::generate(RSA1_5).unwrap();
    let pem = old.to_pem().unwrap();
    let other = DecryptionKey::generate(RSA1_5).unwrap();
    let plain = WrappingKey::generate(KeyWrapAlg::A256Kw).unwrap();
    for &alg in KeyManagementAlg::ALL {
        let Ok(new) = DecryptionKey::from_pem_as(&pem, alg) else {
            continue;
        };
        let new = new.with_key_id("another").unwrap();
        let token = Encrypter::new(&new.encryption_key(), ContentEnc::A256Gcm)
            .encrypt(b"x")
            .unwrap();
        for keys in [
            DecryptionKeys::from(&old).and(&new),
            DecryptionKeys::from(&new).and(&plain).and(&old),
        ] {
            let decrypter = Decrypter::new(keys);
            let invalid_use = Some(jeton::Error::InvalidUse(
                jeton::error::InvalidUse::SharedRsaKey,
            ));
            assert_eq!(decrypter.decrypt(&token).err(), invalid_use);
            assert_eq!(decrypter.decrypt_json(&token).err(), invalid_use);
            assert_eq!(decrypter.decrypt("no token at all").err(), invalid_use);
        }
        // One key alone, the same twice, or two different RSA keys are allowed.
        for keys in [
            DecryptionKeys::from(&new),
            DecryptionKeys::from(&new).and(&new),
            DecryptionKeys::from(&other).and(&new),
        ] {
            assert!(Decrypter::new(keys).decrypt(&token).is_ok());
        }
    }
    let twice = Decrypter::new(DecryptionKeys::from(&old).and(&old));
    assert!(twice.decrypt(&token(&old, &[3; 32])).is_ok());
}
