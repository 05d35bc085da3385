//! Whether keys are such that tokens verify with them.

use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

use serde::Deserialize;

use super::Call;
use super::fetch::{Address, Answer, Date, text_of};
use super::findings::Examined;
use crate::exit::Outcome;
use crate::json::Members;
use crate::keyfile::{AnyKey, Form, Half, KeyFile};
use crate::{output, paseto};

/// Keys, and what is seen of where they come from.
pub(super) struct Keys {
    pub(super) examined: Examined,
    /// They could be read.
    pub(super) found: Option<KeyFile>,
    /// What time it is where they come from.
    pub(super) date: Option<Date>,
    pub(super) is_from_address: bool,
}

/// What a JWK says of itself that is not the key.
#[derive(Default)]
pub(super) struct Said {
    pub(super) kid: Option<String>,
    pub(super) alg: Option<String>,
    kty: Option<String>,
    crv: Option<String>,
    intended: Option<String>,
}

impl Said {
    pub(super) fn by(key: &KeyFile) -> Said {
        let Form::Jwk(text) = key.form() else {
            return Said::default();
        };
        let Some(Members(members)) = Members::loose(text) else {
            return Said::default();
        };
        // A member that is no text says nothing.
        let text = |name: &str| {
            let (_, value) = members.iter().find(|(member, _)| member == name)?;
            serde_json::from_str(value.get()).ok()
        };
        Said {
            kid: text("kid"),
            alg: text("alg"),
            kty: text("kty"),
            crv: text("crv"),
            intended: text("use"),
        }
    }

    /// `ES256, kid 2026-11`.
    fn name(&self) -> String {
        let kind = [&self.alg, &self.crv, &self.kty].into_iter().flatten();
        let kind = kind.map(String::as_str).next().unwrap_or("a key");
        match &self.kid {
            Some(kid) => format!("{kind}, kid {}", shortened(kid)),
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
            Ok(Keys {
                examined: Examined::named("keys", file.name()),
                found: Some(file),
                date: None,
                is_from_address: false,
            })
        }
    }
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
                is_from_address: true,
            };
        }
    };
    let date = answer.date.clone();
    let found = answered(&mut examined, answer);
    if let Some(file) = &found {
        secrets(&mut examined, file);
    }
    Keys {
        examined,
        found,
        date,
        is_from_address: true,
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

/// Private keys that an address gives to anybody: an error whatever a verifier says.
fn secrets(examined: &mut Examined, file: &KeyFile) {
    let of_set = file.of_set().ok().flatten();
    let keys = of_set.as_deref().unwrap_or(slice::from_ref(file));
    for (index, key) in keys.iter().enumerate().filter(|(_, key)| is_secret(key)) {
        examined.wrong(
            format!(
                "key {}: {}: it is secret, and anybody can read it here",
                index + 1,
                Said::by(key).name()
            ),
            "whoever has read it can sign: take it away, make another, and publish public halves only",
        );
    }
}

fn is_secret(key: &KeyFile) -> bool {
    match key.any_algorithm() {
        Ok(loaded) => loaded.half() != Half::Public,
        Err(_) => key.holds_a_secret(),
    }
}

/// Whether a key of a set is for encryption, and so nothing that a verifier needs.
pub(super) fn is_for_another_use(key: &KeyFile) -> bool {
    match key.any_algorithm() {
        Ok(AnyKey::Mac(_) | AnyKey::Signing(_) | AnyKey::Verifying(_)) => {
            Said::by(key).intended.as_deref() == Some("enc")
        }
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Key by key.
pub(super) fn each(
    file: &KeyFile,
    call: &Call<'_>,
    is_from_address: bool,
    lists_skipped: bool,
) -> Examined {
    let mut examined = Examined::new("keys");
    if let Form::Paserk(text) = file.form() {
        paserk(&mut examined, file, text, call);
        return examined;
    }
    let of_set = match file.of_set() {
        Ok(of_set) => of_set,
        Err(failure) => {
            let why = reason(file, failure.message());
            examined.wrong(format!("the set cannot be read: {why}"), "");
            return examined;
        }
    };
    let keys = of_set.as_deref().unwrap_or(slice::from_ref(file));
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut skipped = 0;
    for (index, key) in keys.iter().enumerate() {
        let said = Said::by(key);
        let name = format!("key {}: {}", index + 1, said.name());
        if let Some(why) = of_set.as_ref().and_then(|_| why_skipped(key)) {
            match lists_skipped {
                true => examined.good(format!("{name}: skipped: {why}")),
                false => skipped += 1,
            }
            continue;
        }
        // What an address gives away is said already.
        if !(is_from_address && is_secret(key)) {
            one(&mut examined, key, &name, of_set.is_some(), call);
        }
        match &said.kid {
            Some(kid) => *names.entry(kid.clone()).or_default() += 1,
            None if keys.len() > 1 => examined.wrong(
                format!("key {} has no kid among {} keys", index + 1, keys.len()),
                "give every key of a set a kid, and tokens the kid of their key",
            ),
            None => {}
        }
    }
    for (kid, times) in names.iter().filter(|(_, times)| **times > 1) {
        examined.wrong(
            format!("{times} keys are called {}", shortened(kid)),
            "a kid is one key's alone, or verifiers take the wrong one",
        );
    }
    match skipped {
        0 => {}
        1 => examined.good("1 more key is for another use or of another kind; -v lists it"),
        count => examined.good(format!(
            "{count} more keys are for another use or of another kind; -v lists them"
        )),
    }
    examined
}

/// Why a set's key is none that verifiers miss (RFC 7517, section 5: what is not supported is ignored).
fn why_skipped(key: &KeyFile) -> Option<String> {
    if is_for_another_use(key) {
        return Some("it is to encrypt to, not to verify with".to_owned());
    }
    let refused = key.load_any_algorithm().err()?;
    let is_unsupported = refused.is_unsupported();
    is_unsupported.then(|| reason(key, key.refusal(refused).message()).to_owned())
}

fn one(examined: &mut Examined, key: &KeyFile, name: &str, is_of_set: bool, call: &Call<'_>) {
    let loads = |alg| match is_of_set {
        true => key.of_set_to_verify(alg, call.doors).is_ok(),
        false => key.to_verify(alg, call.doors).is_ok(),
    };
    match key.any_algorithm() {
        // Under a door that the caller opened, it verifies.
        Err(_) if loads(call.alg) => examined.good(name.to_owned()),
        Err(failure) => examined.wrong(
            format!("{name}: not usable: {}", reason(key, failure.message())),
            "verifiers leave it out, or refuse the whole set",
        ),
        Ok(_) if is_for_another_use(key) => {
            examined.good(format!("{name}: to encrypt to, not to verify with"));
        }
        Ok(_) if is_secret(key) => examined.good(format!("{name}: it is secret, keep it so")),
        Ok(_) if key.needs_algorithm(call.doors) => match call.alg {
            Some(alg) if loads(Some(alg)) => {
                examined.good(format!("{name}: taken for {alg} (--alg)"));
            }
            _ => examined.cannot_tell(
                format!("{name}: it does not say its algorithm, and could be for several"),
                "write alg into it; until then verifiers have to be told: --alg",
            ),
        },
        Ok(_) => examined.good(name.to_owned()),
    }
}

/// The key of a PASETO. Its text says what it is for.
fn paserk(examined: &mut Examined, file: &KeyFile, text: &str, call: &Call<'_>) {
    let kind: Vec<&str> = text.splitn(3, '.').take(2).collect();
    let (name, doors) = (kind.join("."), call.doors);
    let loaded = match kind.last() {
        Some(&"secret") => paseto::signing(file, doors).map(|_| true),
        Some(&"local") => paseto::decrypting(file, doors).map(|_| true),
        _ => paseto::verifying(file, doors).map(|_| false),
    };
    match loaded {
        Ok(true) => examined.good(format!("a PASERK, {name}: it is secret, keep it so")),
        Ok(false) => examined.good(format!("a PASERK, {name}")),
        Err(failure) => examined.wrong(
            format!("a PASERK, not usable: {}", reason(file, failure.message())),
            failure.advice().unwrap_or_default(),
        ),
    }
}

/// A name as it is shown: one that is long is not.
pub(super) fn shortened(name: &str) -> String {
    const SHOWN: usize = 60;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// What is wrong with a key, without where it stands.
pub(super) fn reason<'m>(key: &KeyFile, message: &'m str) -> &'m str {
    if let Some((_, reason)) = message.split_once("key rejected: ") {
        return reason;
    }
    let named = message.strip_prefix(key.name());
    let reason = named.and_then(|rest| rest.strip_prefix(": "));
    reason.unwrap_or(message)
}
