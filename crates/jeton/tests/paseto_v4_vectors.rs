//! The official vectors of PASETO version 4, each a test of its own name.
//!
//! Exact encryption needs a nonce of the vector's choosing, which the public face rightly does not
//! take; it is tested beside the code, in `paseto::v4::local`.
#![allow(clippy::unwrap_used, clippy::panic)]

use jeton::error::{Part, Rejection};
use jeton::paserk::{Kind, Paserk};
use jeton::paseto::v4::{LocalKey, PublicKey, SecretKey, Verifier};
use jeton::paseto::{Binding, Keys, Opened};
use jeton::{Error, FixedClock, Policy, Timestamp, Verified};
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;

const VECTORS: &str = include_str!("../../../vectors/paseto/v4.json");

#[derive(Deserialize)]
struct File {
    tests: Vec<Vector>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Vector {
    name: String,
    expect_fail: bool,
    key: Option<String>,
    #[serde(rename = "nonce")]
    _nonce: Option<String>,
    secret_key: Option<String>,
    secret_key_seed: Option<String>,
    #[serde(rename = "secret-key-pem")]
    _secret_key_pem: Option<String>,
    public_key: Option<String>,
    #[serde(rename = "public-key-pem")]
    _public_key_pem: Option<String>,
    token: String,
    payload: Option<String>,
    footer: String,
    implicit_assertion: String,
}

fn main() {
    let file: File = serde_json::from_str(VECTORS).unwrap();
    assert_eq!(file.tests.len(), 17, "the file has changed");
    let trials = file
        .tests
        .into_iter()
        .map(|vector| Trial::test(vector.name.clone(), move || run(&vector)));
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit();
}

fn run(vector: &Vector) -> Result<(), Failed> {
    match (vector.expect_fail, &vector.key, &vector.secret_key) {
        (false, Some(key), None) => decrypts(vector, key),
        (false, None, Some(secret)) => signs_and_verifies(vector, secret),
        (true, Some(key), None) => {
            let key = local_key(key);
            refused(
                vector,
                key.decrypt(&vector.token, vector.implicit_assertion.as_bytes()),
            )
        }
        (true, None, Some(_)) => {
            let key = public_key(vector);
            refused(
                vector,
                key.verify(&vector.token, vector.implicit_assertion.as_bytes()),
            )
        }
        _ => Err("neither a local key nor a pair: nobody knows what is expected".into()),
    }
}

fn decrypts(vector: &Vector, key: &str) -> Result<(), Failed> {
    let key = local_key(key);
    let implicit = vector.implicit_assertion.as_bytes();
    opens_to_the_payload(vector, &key.decrypt(&vector.token, implicit)?)?;
    let again = key.encrypt(vector.payload.as_ref().unwrap().as_bytes(), binding(vector))?;
    opens_to_the_payload(vector, &key.decrypt(&again, implicit)?)?;
    same(
        key.decrypt(&vector.token, b"another").err(),
        Some(Rejection::Decryption.into()),
    )?;
    claims_are_verified(vector, key)
}

fn signs_and_verifies(vector: &Vector, secret: &str) -> Result<(), Failed> {
    let secret_key = SecretKey::from_paserk(&text(Kind::K4_SECRET, secret))?;
    let key = public_key(vector);
    same(&secret_key.public_key(), &key)?;
    same(&secret[..64], vector.secret_key_seed.as_deref().unwrap())?;
    // Ed25519 has no randomness: the token is the vector's to the byte.
    let token = secret_key.sign(vector.payload.as_ref().unwrap().as_bytes(), binding(vector))?;
    same(&token, &vector.token)?;
    let implicit = vector.implicit_assertion.as_bytes();
    opens_to_the_payload(vector, &key.verify(&vector.token, implicit)?)?;
    same(
        key.verify(&vector.token, b"another").err(),
        Some(Rejection::Signature.into()),
    )?;
    claims_are_verified(vector, key)
}

/// The same token through the typed face: `exp` is 2022-01-01, and the vector's footer is demanded.
fn claims_are_verified(vector: &Vector, keys: impl Into<Keys>) -> Result<(), Failed> {
    #[derive(Deserialize)]
    struct Data {
        data: String,
    }
    const END: i64 = 1_640_995_200;
    let at = |seconds| FixedClock(Timestamp::from_unix_seconds(seconds).unwrap());
    let policy = Policy::new("", "").any_issuer().any_audience();
    let verifier = Verifier::new(keys, policy)
        .footer(&vector.footer)
        .implicit_assertion(&vector.implicit_assertion)
        .clock(at(END - 1));
    let verified: Verified<Data> = verifier.verify(&vector.token)?;
    same(verified.json(), vector.payload.as_deref().unwrap())?;
    same(verified.data.starts_with("this is a "), true)?;
    let footer = Some(vector.footer.as_bytes()).filter(|footer| !footer.is_empty());
    same(verified.footer(), footer)?;
    let late = verifier.clock(at(END));
    same(
        late.verify::<Data>(&vector.token).err(),
        Some(Rejection::Expired.into()),
    )
}

fn refused(vector: &Vector, opened: jeton::Result<Opened>) -> Result<(), Failed> {
    let expected = match vector.name.as_str() {
        // Another purpose, another version.
        "4-F-1" | "4-F-2" | "4-F-3" => Rejection::WrongFormat,
        // Not the one encoding: bits that trail, padding.
        "4-F-4" | "4-F-5" => Rejection::Malformed(Part::Payload),
        _ => return Err("nobody knows why this is to be refused".into()),
    };
    same(vector.payload.as_deref(), None)?;
    same(opened.err(), Some(Error::Rejected(expected)))
}

fn opens_to_the_payload(vector: &Vector, opened: &Opened) -> Result<(), Failed> {
    same(
        opened.message(),
        vector.payload.as_ref().unwrap().as_bytes(),
    )?;
    same(opened.footer(), vector.footer.as_bytes())
}

fn binding(vector: &Vector) -> Binding<'_> {
    Binding::new()
        .footer(&vector.footer)
        .implicit_assertion(&vector.implicit_assertion)
}

fn local_key(hex: &str) -> LocalKey {
    LocalKey::from_paserk(&text(Kind::K4_LOCAL, hex)).unwrap()
}

fn public_key(vector: &Vector) -> PublicKey {
    PublicKey::from_paserk(&text(Kind::K4_PUBLIC, vector.public_key.as_ref().unwrap())).unwrap()
}

fn text(kind: Kind, hex: &str) -> String {
    Paserk::from_bytes(kind, &bytes(hex))
        .unwrap()
        .to_text()
        .to_string()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

fn same<T: PartialEq + std::fmt::Debug>(one: T, other: T) -> Result<(), Failed> {
    if one == other {
        return Ok(());
    }
    Err(format!("{one:?} is not {other:?}").into())
}
