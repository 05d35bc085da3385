//! Whether keys are such that tokens verify with them.

use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

use jeton::error::Error;
use serde::Deserialize;

use super::fetch::{Address, Answer, Date, text_of};
use super::findings::Examined;
use crate::exit::Outcome;
use crate::keyfile::{AnyKey, Form, Half, KeyFile};
use crate::output;

/// Keys, and what is seen of them.
pub(super) struct Keys {
    pub(super) examined: Examined,
    /// They could be read.
    pub(super) found: Option<KeyFile>,
    /// What time it is where they come from.
    pub(super) date: Option<Date>,
}

/// What a JWK says of itself that is not the key.
#[derive(Default, Deserialize)]
pub(super) struct Said {
    pub(super) kid: Option<String>,
    pub(super) alg: Option<String>,
    kty: Option<String>,
    crv: Option<String>,
    #[serde(rename = "use")]
    intended: Option<String>,
}

impl Said {
    pub(super) fn by(key: &KeyFile) -> Said {
        match key.form() {
            Form::Jwk(text) => serde_json::from_str(text).unwrap_or_default(),
            _ => Said::default(),
        }
    }

    /// `ES256, kid 2026-11`.
    fn name(&self) -> String {
        let kind = [&self.alg, &self.crv, &self.kty].into_iter().flatten();
        let kind = kind.map(String::as_str).next().unwrap_or("a key");
        match &self.kid {
            Some(kid) => format!("{kind}, kid {kid}"),
            None => format!("{kind}, without kid"),
        }
    }
}

/// Reads a file of keys, or asks an address.
pub(super) fn look(place: &Path) -> Outcome<Keys> {
    match place.to_str().filter(|text| Address::is(text)) {
        Some(text) => Ok(of_address(&Address::read(text)?)),
        None => {
            let file = KeyFile::read(place)?;
            let mut examined = Examined::named("keys", file.name());
            each(&mut examined, &file, Published::Not);
            Ok(Keys {
                examined,
                found: Some(file),
                date: None,
            })
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Published {
    /// Whoever asks gets them.
    ToAnybody,
    Not,
}

fn of_address(address: &Address) -> Keys {
    let mut examined = Examined::named("keys", &address.name());
    output::note(format_args!("asking {}", address.name()));
    let answer = match address.ask() {
        Ok(answer) => answer,
        Err(why) => {
            examined.wrong(
                why,
                "verifiers that fetch it know no key, and refuse every token",
            );
            return Keys {
                examined,
                found: None,
                date: None,
            };
        }
    };
    let date = answer.date.clone();
    let found = answered(&mut examined, answer);
    if let Some(file) = &found {
        each(&mut examined, file, Published::ToAnybody);
    }
    Keys {
        examined,
        found,
        date,
    }
}

/// How the set is served.
fn answered(examined: &mut Examined, answer: Answer) -> Option<KeyFile> {
    let (status, bytes) = (answer.status, answer.body.len());
    let took = answer.took.as_millis();
    if status != 200 {
        let what = match text_of(&answer.headers, "location") {
            Some(_) if (300..400).contains(&status) => {
                format!("it answers {status} and sends elsewhere; not every verifier goes there")
            }
            _ => format!("it answers {status}"),
        };
        examined.wrong(
            what,
            "a key set is answered with 200, at the address that verifiers have",
        );
        return None;
    }
    examined.good(format!("answered in {took} ms, {bytes} bytes"));
    let kind = text_of(&answer.headers, "content-type").unwrap_or("none");
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if !["application/jwk-set+json", "application/json"].contains(&kind.as_str()) {
        examined.cannot_tell(
            format!("its Content-Type is {kind}; some verifiers take JSON only"),
            "application/jwk-set+json (RFC 7517, section 8.5.2)",
        );
    }
    match text_of(&answer.headers, "cache-control") {
        Some(how) => examined.good(format!("may be kept as Cache-Control says: {how}")),
        None => examined.cannot_tell(
            "it does not say how long it may be kept; each verifier decides",
            "Cache-Control: max-age=300, and a new key is published that much before it signs",
        ),
    }
    let age = text_of(&answer.headers, "age").and_then(|age| age.trim().parse().ok());
    if let Some(age @ 1_u64..) = age {
        examined.cannot_tell(
            format!("a cache answered with a copy that is {age} s old, though it was asked not to"),
            "a new key is found when the copy expires: have the cache heed Cache-Control: no-cache of requests",
        );
    }
    if let Some(keys_at) = metadata(&answer.body) {
        examined.wrong(
            "these are a provider's metadata and no keys",
            &format!("its keys are at jwks_uri: {keys_at}"),
        );
        return None;
    }
    let file = KeyFile::of("the answer", answer.body);
    if file.is_none() {
        examined.wrong(
            "the answer is no key set",
            "a JSON object with keys in it (RFC 7517, section 5)",
        );
    }
    file
}

/// Where a provider's metadata (RFC 8414) say that its keys are.
fn metadata(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Metadata {
        jwks_uri: String,
    }
    let metadata: Metadata = serde_json::from_slice(body).ok()?;
    Some(metadata.jwks_uri)
}

/// Key by key.
fn each(examined: &mut Examined, file: &KeyFile, published: Published) {
    let of_set = match file.of_set() {
        Ok(of_set) => of_set,
        Err(failure) => {
            let why = refused(failure.message());
            examined.wrong(format!("the set cannot be read: {why}"), "");
            return;
        }
    };
    let keys = of_set.as_deref().unwrap_or(slice::from_ref(file));
    let many = keys.len() > 1;
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (index, key) in keys.iter().enumerate() {
        let said = Said::by(key);
        let name = format!("key {}: {}", index + 1, said.name());
        one(examined, key, &said, &name, published);
        match &said.kid {
            Some(kid) => *names.entry(kid.clone()).or_default() += 1,
            None if many => examined.wrong(
                format!("key {} has no kid among {} keys", index + 1, keys.len()),
                "give every key of a set a kid, and tokens the kid of their key",
            ),
            None => {}
        }
    }
    for (kid, times) in names.iter().filter(|(_, times)| **times > 1) {
        examined.wrong(
            format!("{times} keys are called {kid}"),
            "a kid is one key's alone, or verifiers take the wrong one",
        );
    }
}

fn one(examined: &mut Examined, key: &KeyFile, said: &Said, name: &str, published: Published) {
    let loaded = key.any_algorithm();
    let is_secret = match &loaded {
        Ok(loaded) => loaded.half() != Half::Public,
        Err(_) => key.holds_a_secret(),
    };
    if is_secret && published == Published::ToAnybody {
        examined.wrong(
            format!("{name}: it is secret, and anybody can read it here"),
            "whoever has read it can sign: take it away, make another, and publish public halves only",
        );
        return;
    }
    match loaded {
        Err(failure) => examined.wrong(
            format!("{name}: not usable: {}", refused(failure.message())),
            "verifiers leave it out, or refuse the whole set",
        ),
        Ok(AnyKey::Encryption(_) | AnyKey::Decryption(_)) => {
            examined.good(format!("{name}: to encrypt to, not to verify with"));
        }
        Ok(_) if said.intended.as_deref() == Some("enc") => {
            examined.good(format!("{name}: to encrypt to, not to verify with"));
        }
        Ok(_) if is_secret => examined.good(format!("{name}: it is secret, keep it so")),
        Ok(_) if says_no_algorithm(key) => examined.cannot_tell(
            format!("{name}: it does not say its algorithm, and could be for several"),
            "write alg into it; until then verifiers have to be told: --alg",
        ),
        Ok(_) => examined.good(name.to_owned()),
    }
}

/// Whether a verifier has to be told the algorithm.
fn says_no_algorithm(key: &KeyFile) -> bool {
    use jeton::error::KeyProblem::AlgorithmNeeded;
    let Form::Jwk(text) = key.form() else {
        return false;
    };
    let loaded = jeton::key::VerifyingKey::from_jwk(text);
    matches!(loaded, Err(Error::Key(error)) if error.problem() == AlgorithmNeeded)
}

/// What is wrong with a key, without where it stands.
fn refused(message: &str) -> &str {
    let reason = message.split_once("key refused: ");
    reason.map_or(message, |(_, reason)| reason)
}
