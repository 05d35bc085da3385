//! The keys that the changes start from: one of every algorithm in every form, and the files in vectors/inputs.

use std::fs;
use std::path::Path;

use base64_simd::URL_SAFE_NO_PAD;
use jeton::key::{DecryptionKey, KeyManagementAlg, SigAlg, SigningKey};
use josekit::jwk::Jwk;
use josekit::jws::{ES256, ES256K, ES384, ES512, EdDSA, JwsSigner, RS256};
use openssl::pkey::{Id, PKey, Private};
use serde_json::{Map, Value};

use crate::pem_changes;
use crate::readers::{Format, read_by_jeton};
use crate::signed::{MESSAGE, Signed};

/// An input that is read, or that changes start from.
pub struct Seed {
    pub name: String,
    pub bytes: Vec<u8>,
    /// A signature of the key, if the input is a public JWK.
    pub signed: Option<Signed>,
}

/// A key in DER with the PEM label of its form.
struct Der {
    name: String,
    label: &'static str,
    bytes: Vec<u8>,
}

/// All inputs of a format, always in the same order.
pub fn all(format: Format) -> Vec<Seed> {
    let files = files();
    let seed = |name: &str, bytes: Vec<u8>| Seed {
        name: name.to_owned(),
        bytes,
        signed: None,
    };
    let is_pem = |text: &str| text.contains("-----BEGIN");
    match format {
        Format::Jwk => {
            let mut all = jwks();
            let is_jwk =
                |text: &str| text.trim_start().starts_with('{') && text.contains("\"kty\"");
            let jwks = files.iter().filter(|(_, text)| is_jwk(text));
            all.extend(jwks.map(|(name, text)| seed(name, text.clone().into_bytes())));
            all
        }
        Format::Der => {
            let mut all: Vec<Seed> = (ders().into_iter())
                .map(|der| seed(&der.name, der.bytes))
                .collect();
            for (name, text) in files.iter().filter(|(_, text)| is_pem(text)) {
                let der = pem_changes::read(text).map(|(_, der)| der);
                all.extend(der.map(|der| seed(name, der)));
            }
            all
        }
        Format::Pem => {
            let mut all: Vec<Seed> = (ders().into_iter())
                .map(|der| {
                    seed(
                        &der.name,
                        pem_changes::write(der.label, &der.bytes).into_bytes(),
                    )
                })
                .collect();
            let pems = files.iter().filter(|(_, text)| is_pem(text));
            all.extend(pems.map(|(name, text)| seed(name, text.clone().into_bytes())));
            all
        }
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The private JWKs of the fuzz targets.
fn private_jwks() -> Vec<Map<String, Value>> {
    serde_json::from_str(include_str!("../../../fuzz/src/keys.json")).expect("a list of JWKs")
}

fn jwk_name(jwk: &Map<String, Value>) -> String {
    let word = |name: &str| jwk.get(name).and_then(Value::as_str);
    let which = word("crv").or(word("alg")).unwrap_or_default();
    format!("{} {which}", word("kty").unwrap_or_default())
        .trim_end()
        .to_owned()
}

fn jwks() -> Vec<Seed> {
    let mut all = Vec::new();
    let text = |jwk: &Map<String, Value>| Value::Object(jwk.clone()).to_string();
    for private in private_jwks() {
        let name = jwk_name(&private);
        let mut public = private.clone();
        public
            .retain(|name, _| !["d", "p", "q", "dp", "dq", "qi", "priv"].contains(&name.as_str()));
        let signed = || signature(&text(&private), &text(&public));
        let mut add = |kind: &str, jwk: &Map<String, Value>, signed: Option<Signed>| {
            let name = format!("{name}, {kind}");
            let bytes = text(jwk).into_bytes();
            all.push(Seed {
                name,
                bytes,
                signed,
            });
        };
        add("private", &private, None);
        add("public", &public, signed());
        for (use_, operations) in [("sig", ["verify"]), ("enc", ["encrypt"])] {
            let mut named = public.clone();
            named.insert("use".into(), use_.into());
            named.insert("kid".into(), "2026-11".into());
            add(&format!("public with use {use_}"), &named, signed());
            named.remove("use");
            named.insert("key_ops".into(), operations.to_vec().into());
            add(&format!("public with key_ops for {use_}"), &named, signed());
        }
        if name == "RSA" {
            let mut bare = private.clone();
            bare.retain(|name, _| ["kty", "n", "e", "d"].contains(&name.as_str()));
            add("private without primes", &bare, None);
        }
    }
    for der in ders().iter().filter(|der| der.label == "RSA PUBLIC KEY") {
        let key = openssl::rsa::Rsa::public_key_from_der_pkcs1(&der.bytes).expect("read before");
        let encode = |bytes: Vec<u8>| URL_SAFE_NO_PAD.encode_to_string(bytes);
        let (n, e) = (encode(key.n().to_vec()), encode(key.e().to_vec()));
        all.push(Seed {
            name: der.name.clone(),
            bytes: format!(r#"{{"kty":"RSA","n":"{n}","e":"{e}"}}"#).into_bytes(),
            signed: None,
        });
    }
    for (bytes, alg) in [(32, "HS256"), (64, "HS512"), (16, "HS256")] {
        let k = URL_SAFE_NO_PAD.encode_to_string(vec![0xa7; bytes]);
        all.push(Seed {
            name: format!("secret of {bytes} bytes"),
            bytes: format!(r#"{{"kty":"oct","k":"{k}","alg":"{alg}"}}"#).into_bytes(),
            signed: None,
        });
    }
    all
}

fn signature(private: &str, public: &str) -> Option<Signed> {
    let jwk = Jwk::from_bytes(private).ok()?;
    let (alg, signer): (_, Box<dyn JwsSigner>) = match jwk.parameter("crv").and_then(Value::as_str)
    {
        None => ("RS256", Box::new(RS256.signer_from_jwk(&jwk).ok()?)),
        Some("P-256") => ("ES256", Box::new(ES256.signer_from_jwk(&jwk).ok()?)),
        Some("P-384") => ("ES384", Box::new(ES384.signer_from_jwk(&jwk).ok()?)),
        Some("P-521") => ("ES512", Box::new(ES512.signer_from_jwk(&jwk).ok()?)),
        Some("secp256k1") => ("ES256K", Box::new(ES256K.signer_from_jwk(&jwk).ok()?)),
        Some(_) => ("EdDSA", Box::new(EdDSA.signer_from_jwk(&jwk).ok()?)),
    };
    Some(Signed {
        alg,
        key: read_by_jeton(Format::Jwk, public.as_bytes()).read.ok()?,
        signature: signer.sign(MESSAGE).ok()?,
    })
}

/// Every key in every form of DER.
fn ders() -> Vec<Der> {
    let mut all = Vec::new();
    for jwk in private_jwks() {
        let (name, text) = (jwk_name(&jwk), Value::Object(jwk).to_string());
        let mut add = |form: &str, label, bytes: Vec<u8>| {
            let name = format!("{name}, {form}");
            all.push(Der { name, label, bytes });
        };
        let signing =
            SigningKey::from_jwk(&text).or_else(|_| SigningKey::from_jwk_as(&text, SigAlg::RS256));
        if let Ok(key) = signing {
            add(
                "PKCS#8 of jeton",
                "PRIVATE KEY",
                key.to_der().expect("written").to_vec(),
            );
            let public = key.verifying_key().to_der().expect("written");
            add("SPKI of jeton", "PUBLIC KEY", public);
        } else {
            let key = DecryptionKey::from_jwk_as(&text, KeyManagementAlg::EcdhEs).expect("X25519");
            add(
                "PKCS#8 of jeton",
                "PRIVATE KEY",
                key.to_der().expect("written").to_vec(),
            );
            let public = key.encryption_key().to_der().expect("written");
            add("SPKI of jeton", "PUBLIC KEY", public);
        }
    }
    let privates: Vec<(String, Vec<u8>)> = (all.iter())
        .filter(|der| der.label == "PRIVATE KEY")
        .map(|der| (der.name.clone(), der.bytes.clone()))
        .collect();
    for (name, der) in privates.into_iter().chain(more_keys()) {
        let Ok(key) = PKey::private_key_from_der(&der) else {
            continue; // ML-DSA
        };
        let name = name.trim_end_matches(", PKCS#8 of jeton");
        all.extend(forms(name, &key));
    }
    all
}

/// The forms that OpenSSL writes.
fn forms(name: &str, key: &PKey<Private>) -> Vec<Der> {
    let mut all = Vec::new();
    let mut add = |form: &str, label, bytes: Vec<u8>| {
        let name = format!("{name}, {form}");
        all.push(Der { name, label, bytes });
    };
    add(
        "PKCS#8",
        "PRIVATE KEY",
        key.private_key_to_pkcs8().expect("written"),
    );
    add(
        "SPKI",
        "PUBLIC KEY",
        key.public_key_to_der().expect("written"),
    );
    match key.id() {
        Id::RSA => {
            let key = key.rsa().expect("RSA");
            add(
                "PKCS#1",
                "RSA PRIVATE KEY",
                key.private_key_to_der().expect("written"),
            );
            let public = key.public_key_to_der_pkcs1().expect("written");
            add("public PKCS#1", "RSA PUBLIC KEY", public);
        }
        Id::EC => {
            let key = key.ec_key().expect("EC");
            add(
                "SEC1",
                "EC PRIVATE KEY",
                key.private_key_to_der().expect("written"),
            );
        }
        _ => {}
    }
    all
}

/// The keys in `keys.pem`: sizes, curves and algorithms that jeton reads or rejects.
fn more_keys() -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    let mut name = "";
    let text = include_str!("../keys.pem");
    let mut left = text;
    for line in text.lines() {
        if line.starts_with("-----BEGIN") {
            let at = left.find("-----BEGIN").expect("the same line");
            let (_, der) = pem_changes::read(&left[at..]).expect("a block");
            all.push((name.to_owned(), der));
            left = &left[at + 10..];
        } else if line.contains(' ') || line.starts_with('X') || line.starts_with("ED") {
            name = line;
        }
    }
    all
}

/// The text files in vectors/inputs, by their path there.
fn files() -> Vec<(String, String)> {
    let inputs = root().join("vectors/inputs");
    let mut all = Vec::new();
    let folders = fs::read_dir(&inputs).expect("vectors/inputs");
    for folder in folders.map(|entry| entry.expect("an entry").path()) {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for file in entries.map(|entry| entry.expect("an entry").path()) {
            if let Ok(text) = fs::read_to_string(&file)
                && text.len() < 20_000
            {
                let name = file
                    .strip_prefix(&inputs)
                    .expect("inside")
                    .display()
                    .to_string();
                all.push((name, text));
            }
        }
    }
    all.sort();
    all
}
