//! Whether keys are such that tokens verify with them.

use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

use serde::Deserialize;

use super::Criteria;
use super::fetch::{KeySetUrl, Fetched, Date, text_of};
use super::findings::Section;
use crate::exit::Outcome;
use crate::json::Members;
use crate::keyfile::{AnyKey, Form, Half, KeyFile};
use crate::{output, paseto};

/// Keys, and what is seen of where they come from.
pub(super) struct Keys {
    pub(super) section: Section,
    /// They could be read.
    pub(super) found: Option<KeyFile>,
    /// What time it is where they come from.
    pub(super) date: Option<Date>,
    pub(super) is_from_address: bool,
}

/// What a JWK says of itself that is not the key.
#[derive(Default)]
pub(super) struct JwkMembers {
    pub(super) kid: Option<String>,
    pub(super) alg: Option<String>,
    kty: Option<String>,
    crv: Option<String>,
    intended: Option<String>,
}

impl JwkMembers {
    pub(super) fn by(key: &KeyFile) -> JwkMembers {
        let Form::Jwk(text) = key.form() else {
            return JwkMembers::default();
        };
        let Some(Members(members)) = Members::loose(text) else {
            return JwkMembers::default();
        };
        // A member that is no text says nothing.
        let text = |name: &str| {
            let (_, value) = members.iter().find(|(member, _)| member == name)?;
            serde_json::from_str(value.get()).ok()
        };
        JwkMembers {
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
    match place.to_str().filter(|text| KeySetUrl::is(text)) {
        Some(text) => Ok(of_address(&KeySetUrl::read(text)?)),
        None => {
            let file = KeyFile::read(place)?;
            Ok(Keys {
                section: Section::named("keys", file.name()),
                found: Some(file),
                date: None,
                is_from_address: false,
            })
        }
    }
}

fn of_address(address: &KeySetUrl) -> Keys {
    let mut section = Section::named("keys", &address.name());
    output::note(format_args!("asking {}", address.name()));
    let answer = match address.fetch() {
        Ok(answer) => answer,
        Err(why) => {
            section.wrong(
                why,
                "verifiers that fetch it know no key, and refuse every token",
            );
            return Keys {
                section,
                found: None,
                date: None,
                is_from_address: true,
            };
        }
    };
    let date = answer.date.clone();
    let found = answered(&mut section, answer);
    if let Some(file) = &found {
        secrets(&mut section, file);
    }
    Keys {
        section,
        found,
        date,
        is_from_address: true,
    }
}

/// How the set is served.
fn answered(section: &mut Section, answer: Fetched) -> Option<KeyFile> {
    let (status, bytes) = (answer.status, answer.body.len());
    let took = answer.took.as_millis();
    if status != 200 {
        let what = match text_of(&answer.headers, "location") {
            Some(_) if (300..400).contains(&status) => {
                format!("it answers {status} and sends elsewhere; not every verifier goes there")
            }
            _ => format!("it answers {status}"),
        };
        section.wrong(
            what,
            "a key set is answered with 200, at the address that verifiers have",
        );
        return None;
    }
    section.good(format!("answered in {took} ms, {bytes} bytes"));
    let kind = text_of(&answer.headers, "content-type").unwrap_or("none");
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if !["application/jwk-set+json", "application/json"].contains(&kind.as_str()) {
        section.undetermined(
            format!("its Content-Type is {kind}; some verifiers take JSON only"),
            "application/jwk-set+json (RFC 7517, section 8.5.2)",
        );
    }
    match text_of(&answer.headers, "cache-control") {
        Some(how) => section.good(format!("may be kept as Cache-Control says: {how}")),
        None => section.undetermined(
            "it does not say how long it may be kept; each verifier decides",
            "Cache-Control: max-age=300, and a new key is published that much before it signs",
        ),
    }
    let age = text_of(&answer.headers, "age").and_then(|age| age.trim().parse().ok());
    if let Some(age @ 1_u64..) = age {
        section.undetermined(
            format!("a cache answered with a copy that is {age} s old, though it was asked not to"),
            "a new key is found when the copy expires: have the cache heed Cache-Control: no-cache of requests",
        );
    }
    if let Some(keys_at) = metadata(&answer.body) {
        section.wrong(
            "these are a provider's metadata and no keys",
            &format!("its keys are at jwks_uri: {keys_at}"),
        );
        return None;
    }
    let file = KeyFile::of("the answer", answer.body);
    if file.is_none() {
        section.wrong(
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
fn secrets(section: &mut Section, file: &KeyFile) {
    let set_keys = file.set_keys().ok().flatten();
    let keys = set_keys.as_deref().unwrap_or(slice::from_ref(file));
    for (index, key) in keys.iter().enumerate().filter(|(_, key)| is_secret(key)) {
        section.wrong(
            format!(
                "key {}: {}: it is secret, and anybody can read it here",
                index + 1,
                JwkMembers::of(key).name()
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
            JwkMembers::of(key).intended.as_deref() == Some("enc")
        }
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Key by key.
pub(super) fn each(
    file: &KeyFile,
    criteria: &Criteria<'_>,
    is_from_address: bool,
    lists_skipped: bool,
) -> Section {
    let mut section = Section::new("keys");
    if let Form::Paserk(text) = file.form() {
        paserk(&mut section, file, text, criteria);
        return section;
    }
    let set_keys = match file.set_keys() {
        Ok(set_keys) => set_keys,
        Err(failure) => {
            let why = reason(file, failure.message());
            section.wrong(format!("the set cannot be read: {why}"), "");
            return section;
        }
    };
    let keys = set_keys.as_deref().unwrap_or(slice::from_ref(file));
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut skipped = 0;
    for (index, key) in keys.iter().enumerate() {
        let said = JwkMembers::of(key);
        let name = format!("key {}: {}", index + 1, said.name());
        if let Some(why) = set_keys.as_ref().and_then(|_| why_skipped(key)) {
            match lists_skipped {
                true => section.good(format!("{name}: skipped: {why}")),
                false => skipped += 1,
            }
            continue;
        }
        // What an address gives away is said already.
        if !(is_from_address && is_secret(key)) {
            one(&mut section, key, &name, set_keys.is_some(), criteria);
        }
        match &said.kid {
            Some(kid) => *names.entry(kid.clone()).or_default() += 1,
            None if keys.len() > 1 => section.wrong(
                format!("key {} has no kid among {} keys", index + 1, keys.len()),
                "give every key of a set a kid, and tokens the kid of their key",
            ),
            None => {}
        }
    }
    for (kid, times) in names.iter().filter(|(_, times)| **times > 1) {
        section.wrong(
            format!("{times} keys are called {}", shortened(kid)),
            "a kid is one key's alone, or verifiers take the wrong one",
        );
    }
    match skipped {
        0 => {}
        1 => section.good("1 more key is for another use or of another kind; -v lists it"),
        count => section.good(format!(
            "{count} more keys are for another use or of another kind; -v lists them"
        )),
    }
    section
}

/// Why a set's key is none that verifiers miss (RFC 7517, section 5: what is not supported is ignored).
fn why_skipped(key: &KeyFile) -> Option<String> {
    if is_for_another_use(key) {
        return Some("it is to encrypt to, not to verify with".to_owned());
    }
    let refused = key.load_any_algorithm().err()?;
    let is_unsupported = refused.is_unsupported();
    is_unsupported.then(|| reason(key, key.failure(refused).message()).to_owned())
}

fn one(section: &mut Section, key: &KeyFile, name: &str, is_in_set: bool, criteria: &Criteria<'_>) {
    let loads = |alg| match is_in_set {
        true => key.set_key_to_verify(alg, criteria.allowed).is_ok(),
        false => key.to_verify(alg, criteria.allowed).is_ok(),
    };
    match key.any_algorithm() {
        // Under a door that the caller opened, it verifies.
        Err(_) if loads(criteria.alg) => section.good(name.to_owned()),
        Err(failure) => section.wrong(
            format!("{name}: not usable: {}", reason(key, failure.message())),
            "verifiers leave it out, or refuse the whole set",
        ),
        Ok(_) if is_for_another_use(key) => {
            section.good(format!("{name}: to encrypt to, not to verify with"));
        }
        Ok(_) if is_secret(key) => section.good(format!("{name}: it is secret, keep it so")),
        Ok(_) if key.needs_algorithm(criteria.allowed) => match criteria.alg {
            Some(alg) if loads(Some(alg)) => {
                section.good(format!("{name}: taken for {alg} (--alg)"));
            }
            _ => section.undetermined(
                format!("{name}: it does not say its algorithm, and could be for several"),
                "write alg into it; until then verifiers have to be told: --alg",
            ),
        },
        Ok(_) => section.good(name.to_owned()),
    }
}

/// The key of a PASETO. Its text says what it is for.
fn paserk(section: &mut Section, file: &KeyFile, text: &str, criteria: &Criteria<'_>) {
    let kind: Vec<&str> = text.splitn(3, '.').take(2).collect();
    let (name, allowed) = (kind.join("."), criteria.allowed);
    let loaded = match kind.last() {
        Some(&"secret") => paseto::signing(file, allowed).map(|_| true),
        Some(&"local") => paseto::decrypting(file, allowed).map(|_| true),
        _ => paseto::verifying(file, allowed).map(|_| false),
    };
    match loaded {
        Ok(true) => section.good(format!("a PASERK, {name}: it is secret, keep it so")),
        Ok(false) => section.good(format!("a PASERK, {name}")),
        Err(failure) => section.wrong(
            format!("a PASERK, not usable: {}", reason(file, failure.message())),
            failure.hint_text().unwrap_or_default(),
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
    if let Some((_, reason)) = message.split_once("key refused: ") {
        return reason;
    }
    let named = message.strip_prefix(key.name());
    let reason = named.and_then(|rest| rest.strip_prefix(": "));
    reason.unwrap_or(message)
}
