//! The official PASERK vectors, versions 1 to 4 and every type. Each is a test with the name of its file and its
//! own name. `vectors/paseto/ERRATA.json` lists the vectors that are not keys or not supported.

use std::sync::LazyLock;

use jeton::Error;
use jeton::danger::paseto_v1::V1;
use jeton::danger::paseto_v2::V2;
use jeton::error::KeyProblem;
use jeton::paserk::{Form, Id, Kind, Paserk, PaserkWrappingKey, PasswordCost};
use jeton::paseto::v3::V3;
use jeton::paseto::v4::V4;
use jeton::paseto::{LocalKey, PublicKey, SecretKey, Version};
use libtest_mimic::Failed;
use serde::Deserialize;

use crate::paseto_keys::{self, hex, key_bytes, same};
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
    paserk: Option<String>,
    comment: Option<String>,
    #[serde(rename = "public-key")]
    _public_key: Option<String>,
    #[serde(rename = "secret-key-seed", alias = "seed")]
    _seed: Option<String>,
    unwrapped: Option<String>,
    wrapping_key: Option<String>,
    password: Option<String>,
    options: Option<Options>,
    unsealed: Option<String>,
    sealing_secret_key: Option<String>,
    sealing_public_key: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    iterations: Option<u32>,
    memlimit: Option<u64>,
    opslimit: Option<u32>,
}

#[derive(Deserialize)]
struct Errata {
    not_a_key: Listed,
    not_supported: Listed,
    not_canonical: Listed,
}

#[derive(Deserialize)]
struct Listed {
    vectors: Vec<String>,
}

static ERRATA: LazyLock<Errata> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../../../vectors/paseto/ERRATA.json")).unwrap()
});

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    macro_rules! add {
        ($version:ty, $file:literal, $form:expr, $test:path, $count:literal) => {{
            let text = include_str!(concat!(
                "../../../../vectors/paseto/PASERK/",
                $file,
                ".json"
            ));
            let file: File = serde_json::from_str(text).unwrap();
            assert_eq!(file.tests.len(), $count, "{} has changed", $file);
            for vector in file.tests {
                let name = format!("{}/{}", $file, vector.name);
                trials.push(trial(name.clone(), move || {
                    let kind = Kind::of(<$version>::VERSION, $form);
                    $test(&Case::<$version> {
                        name: &name,
                        vector: &vector,
                        kind,
                        version: std::marker::PhantomData,
                    })
                }));
            }
        }};
    }
    add!(V1, "k1.local", Form::Local, key, 5);
    add!(V1, "k1.secret", Form::Secret, key, 3);
    add!(V1, "k1.public", Form::Public, key, 3);
    add!(V1, "k1.lid", Form::Local, id, 4);
    add!(V1, "k1.sid", Form::Secret, id, 3);
    add!(V1, "k1.pid", Form::Public, id, 3);
    add!(V1, "k1.local-wrap.pie", Form::Local, wrapped, 4);
    add!(V1, "k1.secret-wrap.pie", Form::Secret, wrapped, 4);
    add!(V1, "k1.local-pw", Form::Local, password, 6);
    add!(V1, "k1.secret-pw", Form::Secret, password, 6);
    add!(V1, "k1.seal", Form::Local, not_sealed, 5);
    add!(V2, "k2.local", Form::Local, key, 5);
    add!(V2, "k2.secret", Form::Secret, key, 5);
    add!(V2, "k2.public", Form::Public, key, 4);
    add!(V2, "k2.lid", Form::Local, id, 4);
    add!(V2, "k2.sid", Form::Secret, id, 4);
    add!(V2, "k2.pid", Form::Public, id, 5);
    add!(V2, "k2.local-wrap.pie", Form::Local, wrapped, 4);
    add!(V2, "k2.secret-wrap.pie", Form::Secret, wrapped, 4);
    add!(V2, "k2.local-pw", Form::Local, password, 6);
    add!(V2, "k2.secret-pw", Form::Secret, password, 6);
    add!(V2, "k2.seal", Form::Local, sealed, 4);
    add!(V3, "k3.local", Form::Local, key, 5);
    add!(V3, "k3.secret", Form::Secret, key, 5);
    add!(V3, "k3.public", Form::Public, key, 3);
    add!(V3, "k3.lid", Form::Local, id, 4);
    add!(V3, "k3.sid", Form::Secret, id, 4);
    add!(V3, "k3.pid", Form::Public, id, 4);
    add!(V3, "k3.local-wrap.pie", Form::Local, wrapped, 4);
    add!(V3, "k3.secret-wrap.pie", Form::Secret, wrapped, 4);
    add!(V3, "k3.local-pw", Form::Local, password, 6);
    add!(V3, "k3.secret-pw", Form::Secret, password, 6);
    add!(V3, "k3.seal", Form::Local, sealed, 4);
    add!(V4, "k4.local", Form::Local, key, 5);
    add!(V4, "k4.secret", Form::Secret, key, 5);
    add!(V4, "k4.public", Form::Public, key, 4);
    add!(V4, "k4.lid", Form::Local, id, 4);
    add!(V4, "k4.sid", Form::Secret, id, 4);
    add!(V4, "k4.pid", Form::Public, id, 5);
    add!(V4, "k4.local-wrap.pie", Form::Local, wrapped, 4);
    add!(V4, "k4.secret-wrap.pie", Form::Secret, wrapped, 4);
    add!(V4, "k4.local-pw", Form::Local, password, 6);
    add!(V4, "k4.secret-pw", Form::Secret, password, 6);
    add!(V4, "k4.seal", Form::Local, sealed, 4);
    let errata = [
        &ERRATA.not_a_key,
        &ERRATA.not_supported,
        &ERRATA.not_canonical,
    ];
    for listed in errata.iter().flat_map(|listed| &listed.vectors) {
        assert!(
            trials.iter().any(|trial| trial.name() == listed),
            "ERRATA.json names {listed}, which is not there"
        );
    }
    trials
}

struct Case<'v, V> {
    /// File and name.
    name: &'v str,
    vector: &'v Vector,
    /// The key in it.
    kind: Kind,
    version: std::marker::PhantomData<V>,
}

fn key<V: Version>(case: &Case<'_, V>) -> Result<(), Failed> {
    let (vector, kind) = (case.vector, case.kind);
    match (vector.expect_fail, &vector.key, &vector.paserk) {
        (false, Some(key), Some(text)) => {
            let bytes = key_bytes(key).ok_or("neither hexadecimal nor PEM")?;
            same(Paserk::from_bytes(kind, &bytes)?.to_text().as_str(), text)?;
            let paserk = Paserk::parse(text)?;
            same(paserk.kind(), kind)?;
            same(paserk.to_text().as_str(), text)?;
            match through_the_key::<V>(kind.form(), text) {
                Ok((again, _)) if !case.is_no_key() => same(&again, text),
                Err(error) if case.is_no_key() => same(problem(error), KeyProblem::Invalid),
                Ok(_) => Err("accepted as a key, but it is not one".into()),
                Err(error) => Err(error.into()),
            }
        }
        (true, None, Some(text)) => {
            let problem = rejected(through_the_key::<V>(kind.form(), text))?;
            match vector.comment.as_deref() {
                Some(comment) if comment.contains("wrong version") => is_wrong_kind(problem),
                Some(comment) if comment.contains("too short") => {
                    same(problem, KeyProblem::WrongLength)
                }
                Some(comment) if comment.contains("Invalid encoding") => {
                    same(problem, KeyProblem::NotBase64Url)
                }
                _ => Err("no known reason for rejection".into()),
            }
        }
        (true, Some(key), None) => has_no_text(kind, key),
        _ => Err("unknown expectation".into()),
    }
}

fn id<V: Version>(case: &Case<'_, V>) -> Result<(), Failed> {
    let (vector, kind) = (case.vector, case.kind);
    match (vector.expect_fail, &vector.key, &vector.paserk) {
        (false, Some(key), Some(text)) => {
            let bytes = key_bytes(key).ok_or("neither hexadecimal nor PEM")?;
            let paserk = Paserk::from_bytes(kind, &bytes)?;
            same(&paserk.id().to_string(), text)?;
            same(text.parse::<Id>()?, paserk.id())?;
            let through = through_the_key::<V>(kind.form(), &paserk.to_text());
            if case.is_no_key() {
                return same(rejected(through)?, KeyProblem::Invalid);
            }
            same(through?.1, paserk.id())
        }
        (true, Some(key), None) => has_no_text(kind, key),
        // A key where an id is expected, or the id of another version.
        (true, Some(_), Some(text)) => {
            let wrong = text.parse::<Id>();
            match wrong {
                Ok(id) if id.kind().version() == kind.version() => Err("an id after all".into()),
                _ => Ok(()),
            }
        }
        _ => Err("unknown expectation".into()),
    }
}

fn wrapped<V: Version>(case: &Case<'_, V>) -> Result<(), Failed> {
    let vector = case.vector;
    let wrapping = hex(vector.wrapping_key.as_deref().ok_or("no wrapping key")?);
    let wrapping = Paserk::from_bytes(Kind::of(V::VERSION, Form::Local), &wrapping)?;
    let wrapping = PaserkWrappingKey::<V>::from_paserk(&wrapping.to_text())?;
    let text = vector.paserk.as_deref().ok_or("no text")?;
    let unwrap = |text: &str| match case.kind.form() {
        Form::Local => {
            Ok::<_, Error>(LocalKey::<V>::from_wrapped_paserk(text, &wrapping)?.to_paserk())
        }
        _ => SecretKey::<V>::from_wrapped_paserk(text, &wrapping)?.to_paserk(),
    };
    if vector.expect_fail {
        return encrypted_is_rejected(case, unwrap(text));
    }
    let expected = case.text(vector.unwrapped.as_deref())?;
    same(unwrap(text)?.as_str(), &expected)?;
    let again = match case.kind.form() {
        Form::Local => LocalKey::<V>::from_paserk(&expected)?.to_wrapped_paserk(&wrapping)?,
        _ => SecretKey::<V>::from_paserk(&expected)?.to_wrapped_paserk(&wrapping)?,
    };
    same(again == text, false)?;
    same(again.len(), text.len())?;
    same(unwrap(&again)?.as_str(), &expected)
}

fn password<V: Version>(case: &Case<'_, V>) -> Result<(), Failed> {
    let vector = case.vector;
    // The password is used as text, even if it looks like hexadecimal.
    let password = vector.password.as_deref().ok_or("no password")?.as_bytes();
    let text = vector.paserk.as_deref().ok_or("no text")?;
    let read = |text: &str| match case.kind.form() {
        Form::Local => {
            Ok::<_, Error>(LocalKey::<V>::from_password_paserk(text, password)?.to_paserk())
        }
        _ => SecretKey::<V>::from_password_paserk(text, password)?.to_paserk(),
    };
    if vector.expect_fail {
        return encrypted_is_rejected(case, read(text));
    }
    let expected = case.text(vector.unwrapped.as_deref())?;
    same(read(text)?.as_str(), &expected)?;
    let cost = match vector.options.as_ref().ok_or("no cost")? {
        Options {
            iterations: Some(iterations),
            ..
        } => PasswordCost::pbkdf2(*iterations)?,
        Options {
            memlimit: Some(memory),
            opslimit: Some(passes),
            ..
        } => PasswordCost::argon2id(*memory, *passes, 1)?,
        _ => return Err("half a cost".into()),
    };
    let again = match case.kind.form() {
        Form::Local => {
            LocalKey::<V>::from_paserk(&expected)?.to_password_paserk_with(password, cost)?
        }
        _ => SecretKey::<V>::from_paserk(&expected)?.to_password_paserk_with(password, cost)?,
    };
    same(again == text, false)?;
    same(again.len(), text.len())?;
    same(read(&again)?.as_str(), &expected)
}

fn sealed<V: Version>(case: &Case<'_, V>) -> Result<(), Failed> {
    let vector = case.vector;
    let text = vector.paserk.as_deref().ok_or("no text")?;
    let secret = vector
        .sealing_secret_key
        .as_deref()
        .ok_or("no secret key")?;
    let written = paseto_keys::paserk(V::VERSION, Form::Secret, secret);
    // A vector for another version may contain a key of that version.
    let recipient = match written {
        Ok(text) => SecretKey::<V>::from_paserk(&text)?,
        Err(_) if vector.expect_fail => SecretKey::generate()?,
        Err(error) => return Err(error),
    };
    let unsealed = LocalKey::<V>::from_sealed_paserk(text, &recipient);
    if vector.expect_fail {
        return encrypted_is_rejected(case, unsealed);
    }
    let expected = case.text(vector.unsealed.as_deref())?;
    same(unsealed?.to_paserk().as_str(), &expected)?;
    let public = vector
        .sealing_public_key
        .as_deref()
        .ok_or("no public key")?;
    // A compressed point is not written as PEM; the pair contains it.
    if !public.starts_with("-----") {
        let public = paseto_keys::paserk(V::VERSION, Form::Public, public)?;
        same(PublicKey::from_paserk(&public)?, recipient.public_key())?;
    }
    let key = LocalKey::<V>::from_paserk(&expected)?;
    let again = key.to_sealed_paserk(&recipient.public_key())?;
    same(again == text, false)?;
    same(again.len(), text.len())?;
    let again = LocalKey::<V>::from_sealed_paserk(&again, &recipient)?;
    same(again.to_paserk().as_str(), &expected)
}

/// `k1.seal` is reported as not supported, and its RSA key does not sign.
fn not_sealed(case: &Case<'_, V1>) -> Result<(), Failed> {
    let listed = &ERRATA.not_supported.vectors;
    same(listed.iter().any(|name| name == case.name), true)?;
    static SIGNER: LazyLock<SecretKey<V1>> = LazyLock::new(|| SecretKey::generate().unwrap());
    let text = case.vector.paserk.as_deref().ok_or("no text")?;
    let error = LocalKey::<V1>::from_sealed_paserk(text, &SIGNER).unwrap_err();
    same(&*error.to_string(), "key rejected: k1.seal: not supported")?;
    let secret = case.vector.sealing_secret_key.as_deref().unwrap();
    let loaded = key_bytes(secret)
        .ok_or("neither hexadecimal nor PEM")
        .map(|bytes| Paserk::from_bytes(Kind::of(V1::VERSION, Form::Secret), &bytes))?;
    // One of the five has a signing key, of 2,048 bits.
    same(loaded.is_ok(), case.name == "k1.seal/k1.seal-fail-1")
}

impl<V: Version> Case<'_, V> {
    fn is_no_key(&self) -> bool {
        ERRATA
            .not_a_key
            .vectors
            .iter()
            .any(|name| name == self.name)
    }

    /// The PASERK of the resulting key.
    fn text(&self, written: Option<&str>) -> Result<String, Failed> {
        let written = written.ok_or("no key")?;
        paseto_keys::paserk(V::VERSION, self.kind.form(), written)
    }
}

/// The text and the id, from the key type for this form.
fn through_the_key<V: Version>(form: Form, text: &str) -> jeton::Result<(String, Id)> {
    match form {
        Form::Local => {
            let key = LocalKey::<V>::from_paserk(text)?;
            Ok((key.to_paserk().to_string(), key.id()))
        }
        Form::Secret => {
            let key = SecretKey::<V>::from_paserk(text)?;
            Ok((key.to_paserk()?.to_string(), key.id()?))
        }
        Form::Public => {
            let key = PublicKey::<V>::from_paserk(text)?;
            Ok((key.to_paserk(), key.id()))
        }
        other => panic!("no key type for {other:?}"),
    }
}

/// The bytes of invalid keys: too short, too long, or not bytes.
fn has_no_text(kind: Kind, written: &str) -> Result<(), Failed> {
    let Some(bytes) = key_bytes(written) else {
        return Ok(());
    };
    same(
        rejected(Paserk::from_bytes(kind, &bytes))?,
        KeyProblem::WrongLength,
    )
}

fn encrypted_is_rejected<V, T>(case: &Case<'_, V>, read: jeton::Result<T>) -> Result<(), Failed> {
    let problem = rejected(read)?;
    if ERRATA
        .not_canonical
        .vectors
        .iter()
        .any(|name| name == case.name)
    {
        return same(problem, KeyProblem::NotBase64Url);
    }
    let comment = case.vector.comment.as_deref().unwrap_or_default();
    if comment.contains("wrong version") {
        is_wrong_kind(problem)
    } else if comment.contains("authentication tag") || comment.contains("password") {
        same(problem, KeyProblem::Decryption)
    } else {
        Err("no known reason for rejection".into())
    }
}

fn is_wrong_kind(problem: KeyProblem) -> Result<(), Failed> {
    match problem {
        KeyProblem::WrongKind { .. } => Ok(()),
        other => Err(format!("rejected for another reason: {other}").into()),
    }
}

fn rejected<T>(result: jeton::Result<T>) -> Result<KeyProblem, Failed> {
    match result {
        Ok(_) => Err("accepted, but must be rejected".into()),
        Err(error) => Ok(problem(error)),
    }
}

fn problem(error: Error) -> KeyProblem {
    match error {
        Error::Key(error) => error.problem().clone(),
        other => panic!("not about a key: {other}"),
    }
}
