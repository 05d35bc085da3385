//! The official PASETO vectors, versions 1 to 4. Each is a test with its own name.
//!
//! Exact encryption requires a given nonce, which the public API does not accept; `paseto::local` tests it.

use std::marker::PhantomData;

use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;
use jeton::error::{InvalidUse, Part, Rejection, TokenKind};
use jeton::paserk::{Form, PaserkVersion};
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{
    LocalKey, Message, PasetoKeys, PasetoVerifier, PublicKey, SecretKey, TokenContext, Version,
};
use jeton::{Error, FixedClock, Policy, Timestamp, Verified};
use libtest_mimic::Failed;
use serde::Deserialize;

use crate::paseto_keys::{self, same};
use crate::support::{Trial, trial};

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

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    add::<V1>(
        &mut trials,
        include_str!("../../../../vectors/paseto/v1.json"),
        14,
    );
    add::<V2>(
        &mut trials,
        include_str!("../../../../vectors/paseto/v2.json"),
        15,
    );
    add::<V3>(
        &mut trials,
        include_str!("../../../../vectors/paseto/v3.json"),
        17,
    );
    add::<V4>(
        &mut trials,
        include_str!("../../../../vectors/paseto/v4.json"),
        17,
    );
    trials
}

fn add<V: Version>(trials: &mut Vec<Trial>, text: &str, count: usize) {
    let file: File = serde_json::from_str(text).unwrap();
    assert_eq!(file.tests.len(), count, "the file has changed");
    trials.extend(
        file.tests
            .into_iter()
            .map(|vector| trial(vector.name.clone(), move || run::<V>(&vector))),
    );
}

fn run<V: Version>(vector: &Vector) -> Result<(), Failed> {
    let assertion = Case::<V>::of(vector).assertion();
    match (vector.expect_fail, &vector.key, &vector.secret_key) {
        (false, Some(key), None) => decrypts::<V>(vector, key),
        (false, None, Some(secret)) => signs_and_verifies::<V>(vector, secret),
        (true, Some(key), None) => {
            let key = LocalKey::<V>::from_paserk(&text::<V>(Form::Local, key)?)?;
            rejected(vector, key.decrypt(&vector.token, assertion))
        }
        (true, None, Some(_)) => {
            let key = public_key::<V>(vector)?;
            rejected(vector, key.verify(&vector.token, assertion))
        }
        _ => Err("unknown expectation: neither a local key nor a key pair".into()),
    }
}

/// A vector for its version.
struct Case<'v, V>(&'v Vector, PhantomData<V>);

impl<'v, V: Version> Case<'v, V> {
    fn of(vector: &'v Vector) -> Self {
        Case(vector, PhantomData)
    }

    fn has_assertions(&self) -> bool {
        matches!(V::VERSION, PaserkVersion::V3 | PaserkVersion::V4)
    }

    /// The assertion of the vector, if the version supports one.
    fn assertion(&self) -> &'v [u8] {
        if self.has_assertions() {
            self.0.implicit_assertion.as_bytes()
        } else {
            b""
        }
    }

    fn context(&self) -> TokenContext<'v> {
        TokenContext::new()
            .footer(&self.0.footer)
            .implicit_assertion(self.assertion())
    }

    /// The result for another assertion, in versions with and without assertions.
    fn answer_to_another(&self, forged: Rejection) -> Option<Error> {
        Some(if self.has_assertions() {
            forged.into()
        } else {
            InvalidUse::ImplicitAssertion.into()
        })
    }
}

fn decrypts<V: Version>(vector: &Vector, key: &str) -> Result<(), Failed> {
    let case = Case::<V>::of(vector);
    let key = LocalKey::<V>::from_paserk(&text::<V>(Form::Local, key)?)?;
    opens_to_the_payload(vector, &key.decrypt(&vector.token, case.assertion())?)?;
    let again = key.encrypt(payload(vector).as_bytes(), case.context())?;
    opens_to_the_payload(vector, &key.decrypt(&again, case.assertion())?)?;
    same(
        key.decrypt(&vector.token, b"another").err(),
        case.answer_to_another(Rejection::Decryption),
    )?;
    claims_are_verified::<V>(vector, key)
}

fn signs_and_verifies<V: Version>(vector: &Vector, secret: &str) -> Result<(), Failed> {
    let case = Case::<V>::of(vector);
    let secret_key = SecretKey::<V>::from_paserk(&text::<V>(Form::Secret, secret)?)?;
    let key = public_key::<V>(vector)?;
    same(&secret_key.public_key(), &key)?;
    if let Some(seed) = &vector.secret_key_seed {
        same(&secret[..64], seed.as_str())?;
    }
    let token = secret_key.sign(payload(vector).as_bytes(), case.context())?;
    opens_to_the_payload(vector, &key.verify(&token, case.assertion())?)?;
    // Ed25519 is deterministic, so the token equals the vector. RSA-PSS and ECDSA are not.
    let exact = matches!(V::VERSION, PaserkVersion::V2 | PaserkVersion::V4);
    same(token == vector.token, exact)?;
    opens_to_the_payload(vector, &key.verify(&vector.token, case.assertion())?)?;
    same(
        key.verify(&vector.token, b"another").err(),
        case.answer_to_another(Rejection::Signature),
    )?;
    claims_are_verified::<V>(vector, key)
}

/// Verifies the claims at the second before `exp`, and requires the footer of the vector.
fn claims_are_verified<V: Version>(
    vector: &Vector,
    keys: impl Into<PasetoKeys>,
) -> Result<(), Failed> {
    #[derive(Deserialize)]
    struct Data {
        data: String,
    }
    let end = if payload(vector).contains("2019-01-01T00:00:00+00:00") {
        1_546_300_800
    } else {
        1_640_995_200
    };
    let at = |seconds| FixedClock(Timestamp::from_unix_seconds(seconds).unwrap());
    let policy = Policy::new("", "").any_issuer().any_audience();
    let verifier = PasetoVerifier::new(keys, policy)
        .footer(&vector.footer)
        .implicit_assertion(Case::<V>::of(vector).assertion())
        .clock(at(end - 1));
    let verified: Verified<Data> = verifier.verify(&vector.token)?;
    same(verified.json(), payload(vector))?;
    same(verified.claims().data.starts_with("this is a "), true)?;
    let footer = Some(vector.footer.as_bytes()).filter(|footer| !footer.is_empty());
    same(verified.footer(), footer)?;
    let late = verifier.clock(at(end));
    same(
        late.verify::<Data>(&vector.token).err(),
        Some(Rejection::Expired.into()),
    )
}

fn rejected(vector: &Vector, opened: jeton::Result<Message>) -> Result<(), Failed> {
    let (_, number) = vector.name.split_once("-F-").ok_or("a name without -F-")?;
    let expected = match number {
        // Another purpose or version.
        "1" | "2" | "3" => {
            same(vector.payload.as_deref(), None)?;
            let answer = opened.err().and_then(|error| error.rejection().cloned());
            let is_expected = matches!(
                answer,
                Some(Rejection::WrongFormat { found, .. }) if found == TokenKind::of(&vector.token)
            );
            return same(is_expected, true);
        }
        // Not canonical base64url: trailing bits, padding.
        "4" | "5" => Rejection::Malformed(Part::Payload),
        _ => return Err("no known reason for rejection".into()),
    };
    same(vector.payload.as_deref(), None)?;
    same(opened.err(), Some(Error::Rejected(expected)))
}

fn opens_to_the_payload(vector: &Vector, opened: &Message) -> Result<(), Failed> {
    same(opened.message(), payload(vector).as_bytes())?;
    same(opened.footer(), vector.footer.as_bytes())
}

fn payload(vector: &Vector) -> &str {
    vector.payload.as_deref().unwrap()
}

fn public_key<V: Version>(vector: &Vector) -> Result<PublicKey<V>, Failed> {
    let written = vector.public_key.as_deref().ok_or("no public key")?;
    Ok(PublicKey::from_paserk(&text::<V>(Form::Public, written)?)?)
}

fn text<V: Version>(form: Form, written: &str) -> Result<String, Failed> {
    paseto_keys::paserk(V::VERSION, form, written)
}
