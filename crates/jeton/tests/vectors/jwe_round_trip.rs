//! Every key management with every content encryption in every serialization: only the right key decrypts, and
//! changes are rejected.

use std::sync::Arc;

use jeton::danger::{self, Password, Pbes2Alg, RSA1_5};
use jeton::error::Rejection;
use jeton::jwe::{Decrypted, Decrypter, Encrypter};
use jeton::key::{
    ContentEnc, ContentKey, DecryptionKey, DecryptionKeys, EncryptionKey, EncryptionKeyRef,
    KeyManagementAlg, KeyWrapAlg, WrappingKey,
};
use libtest_mimic::Failed;

use crate::support::{Trial, check, trial};

const PLAINTEXTS: [&[u8]; 4] = [b"", b"x", b"sixteen bytes!!!", &[0xa5; 1000]];

enum Key {
    Private(DecryptionKey, EncryptionKey),
    Wrapping(WrappingKey),
    Content(ContentKey),
    Password(Password),
}

impl Key {
    fn private(key: DecryptionKey) -> Key {
        let public = key.encryption_key();
        Key::Private(key, public)
    }

    fn to_encrypt(&self) -> EncryptionKeyRef<'_> {
        match self {
            Key::Private(_, key) => key.into(),
            Key::Wrapping(key) => key.into(),
            Key::Content(key) => key.into(),
            Key::Password(key) => key.into(),
        }
    }

    fn to_decrypt(&self) -> DecryptionKeys {
        match self {
            Key::Private(key, _) => key.into(),
            Key::Wrapping(key) => key.into(),
            Key::Content(key) => key.into(),
            Key::Password(key) => key.into(),
        }
    }

    fn is_direct(&self) -> bool {
        matches!(self, Key::Content(_))
            || matches!(self, Key::Private(key, _) if key.alg() == KeyManagementAlg::EcdhEs)
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (name, make) in makers() {
        // Two keys of a type: one that decrypts, and one that must not.
        let pair = Arc::new([make(), make()]);
        for &enc in ContentEnc::ALL {
            trials.extend(round_trips(&name, enc, &pair));
        }
    }
    for &enc in ContentEnc::ALL {
        let make = || Key::Content(ContentKey::generate(enc).unwrap());
        trials.extend(round_trips("dir", enc, &Arc::new([make(), make()])));
    }
    trials
}

type Maker = Box<dyn Fn() -> Key>;

fn makers() -> Vec<(String, Maker)> {
    let mut makers: Vec<(String, Maker)> = Vec::new();
    for alg in KeyManagementAlg::ALL.iter().copied().chain([RSA1_5]) {
        if !alg.name().starts_with("ECDH") {
            let make = move || Key::private(DecryptionKey::generate(alg).unwrap());
            makers.push((alg.name().into(), Box::new(make)));
            continue;
        }
        type Generate = fn(KeyManagementAlg) -> jeton::Result<DecryptionKey>;
        let curves: [(&str, Generate); 4] = [
            ("P-256", DecryptionKey::generate),
            ("P-384", DecryptionKey::generate_p384),
            ("P-521", DecryptionKey::generate_p521),
            ("X25519", DecryptionKey::generate_x25519),
        ];
        for (curve, generate) in curves {
            let make = move || Key::private(generate(alg).unwrap());
            makers.push((format!("{alg}_{curve}"), Box::new(make)));
        }
    }
    for &alg in KeyWrapAlg::ALL {
        let make = move || Key::Wrapping(WrappingKey::generate(alg).unwrap());
        makers.push((alg.name().into(), Box::new(make)));
    }
    for &alg in Pbes2Alg::ALL {
        let count = std::cell::Cell::new(0_u8);
        let make = move || {
            count.set(count.get() + 1);
            let password = Password::new(alg, &[count.get(); 20]).unwrap();
            Key::Password(password.rounds(1000).unwrap())
        };
        makers.push((alg.name().into(), Box::new(make)));
    }
    makers
}

fn round_trips(name: &str, enc: ContentEnc, pair: &Arc<[Key; 2]>) -> Vec<Trial> {
    type Form = (
        &'static str,
        fn(&Encrypter<'_>, &[u8]) -> jeton::Result<String>,
        fn(&Decrypter, &str) -> jeton::Result<Decrypted>,
    );
    let forms: [Form; 3] = [
        (
            "compact",
            |encrypter, plaintext| encrypter.encrypt(plaintext),
            Decrypter::decrypt,
        ),
        (
            "flattened",
            |encrypter, plaintext| encrypter.encrypt_flattened(plaintext),
            Decrypter::decrypt_json,
        ),
        (
            "general",
            |encrypter, plaintext| encrypter.encrypt_general(plaintext),
            Decrypter::decrypt_json,
        ),
    ];
    forms
        .into_iter()
        .map(|(form, encrypt, decrypt)| {
            let pair = Arc::clone(pair);
            trial(format!("{name}_{enc}_{form}"), move || {
                let [key, other_key] = &*pair;
                let decrypter = Decrypter::new(key.to_decrypt());
                let strange = Decrypter::new(other_key.to_decrypt());
                for plaintext in PLAINTEXTS {
                    let mut encrypter = Encrypter::new(key.to_encrypt(), enc)
                        .typ("test+jwe")
                        .content_type("text/plain");
                    if form != "compact" {
                        encrypter = encrypter.aad(b"aad").unprotected("note", "\"é\n");
                    }
                    let token = encrypt(&encrypter, plaintext)?;
                    check(
                        token != encrypt(&encrypter, plaintext)?,
                        "the same token twice",
                    )?;
                    let decrypted = decrypt(&decrypter, &token)?;
                    check(decrypted.plaintext() == plaintext, "another plaintext")?;
                    check(decrypted.typ() == Some("test+jwe"), "another typ")?;
                    check(
                        decrypted.content_type() == Some("text/plain"),
                        "another cty",
                    )?;
                    check(decrypted.enc() == enc, "another enc")?;
                    check(
                        decrypted.aad().is_some() == (form != "compact"),
                        "another aad",
                    )?;
                    let rejection = decrypt(&strange, &token).unwrap_err().rejection().cloned();
                    check(
                        rejection == Some(Rejection::Decryption),
                        "a other_key learned more",
                    )?;
                }
                compressed(key, enc, encrypt, decrypt)?;
                several(key, other_key, enc, form)
            })
        })
        .collect()
}

fn compressed(
    key: &Key,
    enc: ContentEnc,
    encrypt: fn(&Encrypter<'_>, &[u8]) -> jeton::Result<String>,
    decrypt: fn(&Decrypter, &str) -> jeton::Result<Decrypted>,
) -> Result<(), Failed> {
    let text = b"again and again and again and again and again".repeat(3);
    let token = encrypt(
        &danger::compress(Encrypter::new(key.to_encrypt(), enc)),
        &text,
    )?;
    let rejection = decrypt(&Decrypter::new(key.to_decrypt()), &token).unwrap_err();
    check(
        rejection.rejection() == Some(&Rejection::Compressed),
        "zip without danger",
    )?;
    let decrypter = danger::allow_zip(Decrypter::new(key.to_decrypt()));
    check(
        decrypt(&decrypter, &token)?.plaintext() == text,
        "another text",
    )
}

/// Both keys are recipients, if neither is direct; each decrypts its part.
fn several(key: &Key, other: &Key, enc: ContentEnc, form: &str) -> Result<(), Failed> {
    let encrypter = Encrypter::new(key.to_encrypt(), enc).recipient(other.to_encrypt());
    check(encrypter.encrypt(b"x").is_err(), "a compact token for two")?;
    check(
        encrypter.encrypt_flattened(b"x").is_err(),
        "a flattened token for two",
    )?;
    if key.is_direct() {
        return check(
            encrypter.encrypt_general(b"x").is_err(),
            "a direct key for two",
        );
    }
    if form != "general" {
        return Ok(());
    }
    let text = encrypter.encrypt_general(b"x")?;
    for (index, key) in [key, other].into_iter().enumerate() {
        let decrypted = Decrypter::new(key.to_decrypt()).decrypt_json(&text)?;
        check(decrypted.recipient_index() == index, "another recipient")?;
    }
    Ok(())
}
