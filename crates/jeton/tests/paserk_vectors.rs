//! The official PASERK vectors of version 4, each a test of its own name: keys in the clear, and
//! ids. `vectors/paseto/ERRATA.md` tells about those that are no keys.
#![allow(clippy::unwrap_used, clippy::panic)]

use jeton::Error;
use jeton::error::KeyProblem;
use jeton::paserk::{Id, Kind, Paserk};
use jeton::paseto::v4::{LocalKey, PublicKey, SecretKey};
use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;

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
    #[serde(rename = "comment")]
    _comment: Option<String>,
    #[serde(rename = "public-key")]
    _public_key: Option<String>,
    #[serde(rename = "secret-key-seed", alias = "seed")]
    _seed: Option<String>,
}

type Test = fn(&Vector, Kind) -> Result<(), Failed>;

fn main() {
    let files: [(&str, Kind, Test, usize); 6] = [
        (
            include_str!("../../../vectors/paseto/PASERK/k4.local.json"),
            Kind::K4_LOCAL,
            key,
            5,
        ),
        (
            include_str!("../../../vectors/paseto/PASERK/k4.secret.json"),
            Kind::K4_SECRET,
            key,
            5,
        ),
        (
            include_str!("../../../vectors/paseto/PASERK/k4.public.json"),
            Kind::K4_PUBLIC,
            key,
            4,
        ),
        (
            include_str!("../../../vectors/paseto/PASERK/k4.lid.json"),
            Kind::K4_LOCAL,
            id,
            4,
        ),
        (
            include_str!("../../../vectors/paseto/PASERK/k4.sid.json"),
            Kind::K4_SECRET,
            id,
            4,
        ),
        (
            include_str!("../../../vectors/paseto/PASERK/k4.pid.json"),
            Kind::K4_PUBLIC,
            id,
            5,
        ),
    ];
    let mut trials = Vec::new();
    for (text, kind, test, count) in files {
        let file: File = serde_json::from_str(text).unwrap();
        assert_eq!(file.tests.len(), count, "the file for {kind} has changed");
        for vector in file.tests {
            trials.push(Trial::test(vector.name.clone(), move || {
                test(&vector, kind)
            }));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn key(vector: &Vector, kind: Kind) -> Result<(), Failed> {
    match (vector.expect_fail, &vector.key, &vector.paserk) {
        (false, Some(key), Some(text)) => {
            same(
                Paserk::from_bytes(kind, &bytes(key))?.to_text().as_str(),
                text,
            )?;
            let paserk = Paserk::parse(text)?;
            same(paserk.kind(), kind)?;
            same(paserk.to_text().as_str(), text)?;
            match through_the_key(kind, text) {
                Ok((again, _)) if !is_no_key(&vector.name) => same(&again, text),
                Err(error) if is_no_key(&vector.name) => same(problem(error), KeyProblem::Invalid),
                Ok(_) => Err("taken as a key, though it is none".into()),
                Err(error) => Err(error.into()),
            }
        }
        (true, None, Some(text)) => must_fail(through_the_key(kind, text)),
        (true, Some(key), None) => same(
            problem_of(Paserk::from_bytes(kind, &bytes(key)))?,
            KeyProblem::WrongLength,
        ),
        _ => Err("nobody knows what is expected".into()),
    }
}

fn id(vector: &Vector, kind: Kind) -> Result<(), Failed> {
    match (vector.expect_fail, &vector.key, &vector.paserk) {
        (false, Some(key), Some(text)) => {
            let paserk = Paserk::from_bytes(kind, &bytes(key))?;
            same(&paserk.id().to_string(), text)?;
            same(text.parse::<Id>()?, paserk.id())?;
            if is_no_key(&vector.name) {
                let error = through_the_key(kind, &paserk.to_text())
                    .map(drop)
                    .unwrap_err();
                return same(problem(error), KeyProblem::Invalid);
            }
            same(through_the_key(kind, &paserk.to_text())?.1, paserk.id())
        }
        (true, Some(key), None) => same(
            problem_of(Paserk::from_bytes(kind, &bytes(key)))?,
            KeyProblem::WrongLength,
        ),
        _ => Err("nobody knows what is expected".into()),
    }
}

/// Not points of the curve, or of small order: text and id are right, and no signature can be.
fn is_no_key(name: &str) -> bool {
    let numbers = ["-1", "-2", "-3"];
    ["k4.public", "k4.pid"].into_iter().any(|file| {
        name.strip_prefix(file)
            .is_some_and(|number| numbers.contains(&number))
    })
}

/// The text and the id, from the key type that would use them.
fn through_the_key(kind: Kind, text: &str) -> jeton::Result<(String, Id)> {
    match kind {
        Kind::K4_LOCAL => {
            let key = LocalKey::from_paserk(text)?;
            Ok((key.to_paserk().to_string(), key.id()))
        }
        Kind::K4_SECRET => {
            let key = SecretKey::from_paserk(text)?;
            Ok((key.to_paserk()?.to_string(), key.id()?))
        }
        Kind::K4_PUBLIC => {
            let key = PublicKey::from_paserk(text)?;
            Ok((key.to_paserk(), key.id()))
        }
        other => panic!("no key type for {other}"),
    }
}

fn must_fail<T>(result: jeton::Result<T>) -> Result<(), Failed> {
    match problem_of(result)? {
        KeyProblem::WrongLength | KeyProblem::WrongKind { .. } => Ok(()),
        other => Err(format!("refused for another reason: {other}").into()),
    }
}

fn problem_of<T>(result: jeton::Result<T>) -> Result<KeyProblem, Failed> {
    match result {
        Ok(_) => Err("taken, and should be refused".into()),
        Err(error) => Ok(problem(error)),
    }
}

fn problem(error: Error) -> KeyProblem {
    match error {
        Error::Key(error) => error.problem(),
        other => panic!("not about a key: {other}"),
    }
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
