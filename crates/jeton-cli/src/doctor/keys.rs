//! Checks whether keys can verify tokens.

use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

use jeton::key::{Alg, KeyFormat, KeyHalf};
use jeton::limits;
use serde::Deserialize;

use super::Criteria;
use super::fetch::{Date, Fetched, KeySetUrl, text_of};
use super::findings::Section;
use super::secrets;
use crate::exit::Outcome;
use crate::json::Members;
use crate::keyfile::{AnyKey, Form, Half, KEY_ERROR_PREFIX, KeyFile};
use crate::{input, output, paseto};

/// The keys, and the findings about their source.
pub(super) struct Keys {
    pub(super) section: Section,
    /// The key file, if it could be read.
    pub(super) found: Option<KeyFile>,
    /// The time of the server.
    pub(super) date: Option<Date>,
    pub(super) is_from_url: bool,
}

/// The members of a JWK that are not key material.
#[derive(Default)]
pub(super) struct JwkMembers {
    pub(super) kid: Option<String>,
    pub(super) alg: Option<String>,
    kty: Option<String>,
    crv: Option<String>,
    intended: Option<String>,
}

impl JwkMembers {
    pub(super) fn of(key: &KeyFile) -> JwkMembers {
        let Form::Jwk(text) = key.form() else {
            return JwkMembers::default();
        };
        let Some(Members(members)) = Members::loose(text) else {
            return JwkMembers::default();
        };
        // A member that is not a string is ignored.
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

    /// Returns a name such as `ES256, kid 2026-11`.
    fn name(&self) -> String {
        let kind = [&self.alg, &self.crv, &self.kty].into_iter().flatten();
        match (kind.map(String::as_str).next(), &self.kid) {
            (Some(kind), Some(kid)) => format!("{kind}, kid {}", shortened(kid)),
            (Some(kind), None) => format!("{kind}, without kid"),
            (None, Some(kid)) => format!("kid {}", shortened(kid)),
            (None, None) => "without kid".to_owned(),
        }
    }
}

/// Reads a key file or fetches a key set. A file that is no key file may be the secret that signed the token.
pub(super) fn load(place: &Path, token: Option<&Outcome<String>>) -> Outcome<Keys> {
    match place.to_str().filter(|text| KeySetUrl::is(text)) {
        Some(text) => Ok(from_url(&KeySetUrl::read(text)?)),
        None => {
            let (section, found) = match (KeyFile::read_as(place, None), token) {
                (Ok(file), _) => (Section::named("keys", file.name()), Some(file)),
                (Err(failure), Some(Ok(token))) => match secret(place, token) {
                    Some(section) => (section, None),
                    None => return Err(failure),
                },
                (Err(failure), _) => return Err(failure),
            };
            Ok(Keys {
                section,
                found,
                date: None,
                is_from_url: false,
            })
        }
    }
}

/// Reports a file without a key as a secret. Standard input cannot be read again.
fn secret(place: &Path, token: &str) -> Option<Section> {
    if place == Path::new("-") {
        return None;
    }
    let bytes = input::key_bytes(place, limits::KEY_SET_BYTES).ok()?;
    secrets::check_file(&input::name_of(place), &bytes, token)
}

fn from_url(url: &KeySetUrl) -> Keys {
    let mut section = Section::named("keys", &url.name());
    output::note(format_args!("fetching {}", url.name()));
    let response = match url.fetch() {
        Ok(response) => response,
        Err(why) => {
            section.wrong(
                why,
                "verifiers cannot fetch the keys and reject every token",
            );
            return Keys {
                section,
                found: None,
                date: None,
                is_from_url: true,
            };
        }
    };
    let date = response.date.clone();
    let found = check_response(&mut section, response);
    if let Some(file) = &found {
        secrets(&mut section, file);
    }
    Keys {
        section,
        found,
        date,
        is_from_url: true,
    }
}

/// Checks the response.
fn check_response(section: &mut Section, response: Fetched) -> Option<KeyFile> {
    let (status, bytes) = (response.status, response.body.len());
    let took = response.took.as_millis();
    if status != 200 {
        let what = match text_of(&response.headers, "location") {
            Some(_) if (300..400).contains(&status) => {
                format!("status {status}: not every verifier follows redirects")
            }
            _ => format!("status {status}"),
        };
        section.wrong(
            what,
            "the URL that verifiers use must return the key set with status 200",
        );
        return None;
    }
    section.good(format!("response after {took} ms, {bytes} bytes"));
    let kind = text_of(&response.headers, "content-type").unwrap_or("none");
    let kind = kind
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    if !["application/jwk-set+json", "application/json"].contains(&kind.as_str()) {
        section.undetermined(
            format!("Content-Type is {kind}: some verifiers accept only JSON"),
            "use application/jwk-set+json (RFC 7517, section 8.5.2)",
        );
    }
    match text_of(&response.headers, "cache-control") {
        Some(how) => section.good(format!("Cache-Control: {how}")),
        None => section.undetermined(
            "no Cache-Control: each verifier chooses how long it caches the key set",
            "set Cache-Control: max-age=300, and publish a new key at least that long before it signs",
        ),
    }
    let age = text_of(&response.headers, "age").and_then(|age| age.trim().parse().ok());
    if let Some(age @ 1_u64..) = age {
        section.undetermined(
            format!("a cache returned a copy that is {age} s old, although the request has no-cache"),
            "verifiers see a new key only when the copy expires: configure the cache to obey no-cache",
        );
    }
    if let Some(keys_at) = metadata(&response.body) {
        section.wrong(
            "the response is provider metadata, not a key set",
            &format!("use the URL in jwks_uri: {keys_at}"),
        );
        return None;
    }
    let file = KeyFile::of("the response", &response.body).ok();
    if file.is_none() {
        section.wrong(
            "the response is not a key set",
            "a key set is a JSON object with the member keys (RFC 7517, section 5)",
        );
    }
    file
}

/// Returns `jwks_uri`, if the response is provider metadata (RFC 8414).
fn metadata(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Metadata {
        jwks_uri: String,
    }
    let metadata: Metadata = serde_json::from_slice(body).ok()?;
    Some(metadata.jwks_uri)
}

/// Reports private keys in a published set. This is an error even if the token is accepted.
fn secrets(section: &mut Section, file: &KeyFile) {
    let set_keys = file.set_keys().ok().flatten();
    let keys = set_keys.as_deref().unwrap_or(slice::from_ref(file));
    for (index, key) in keys.iter().enumerate().filter(|(_, key)| is_secret(key)) {
        section.wrong(
            format!(
                "key {}: {}: a secret key is published",
                index + 1,
                JwkMembers::of(key).name()
            ),
            "anyone can sign with it: remove it, create a new key, and publish public keys only",
        );
    }
}

fn is_secret(key: &KeyFile) -> bool {
    match key.any_algorithm() {
        Ok(loaded) => loaded.half() != Half::Public,
        Err(_) => key.has_secret(),
    }
}

/// Returns whether a key of a set is for encryption, so that verifiers ignore it.
pub(super) fn is_for_another_use(key: &KeyFile) -> bool {
    match key.any_algorithm() {
        Ok(AnyKey::Mac(_) | AnyKey::Signing(_) | AnyKey::Verifying(_)) => {
            JwkMembers::of(key).intended.as_deref() == Some("enc")
        }
        Ok(_) => true,
        Err(_) => false,
    }
}

/// Returns what a file is.
fn describe(file: &KeyFile) -> String {
    let format = match file.format() {
        KeyFormat::Jwk => "JWK",
        KeyFormat::JwkSet => "JWK Set",
        KeyFormat::Pem => "PEM",
        KeyFormat::Der => "DER",
        KeyFormat::Base64 => "base64 of DER",
        _ => "key",
    };
    match file.form() {
        Form::Set(_) => match file.set_keys().ok().flatten().map(|keys| keys.len()) {
            Some(1) => format!("{format}, 1 key"),
            Some(count) => format!("{format}, {count} keys"),
            None => format.to_owned(),
        },
        Form::Der(_, KeyHalf::Private) => format!("{format}, a private key"),
        Form::Der(..) => format!("{format}, a public key"),
        Form::Jwk(_) | Form::Paserk(_) => format.to_owned(),
    }
}

/// Checks each key.
pub(super) fn check_each(
    file: &KeyFile,
    criteria: &Criteria<'_>,
    is_from_url: bool,
    lists_skipped: bool,
) -> Section {
    let mut section = Section::new("keys");
    if let Form::Paserk(text) = file.form() {
        paserk(&mut section, file, text, criteria);
        return section;
    }
    section.good(describe(file));
    let set_keys = match file.set_keys() {
        Ok(set_keys) => set_keys,
        Err(failure) => {
            let why = reason(file, failure.message());
            section.wrong_for(why, format!("cannot read the set: {why}"), "");
            return section;
        }
    };
    let keys = set_keys.as_deref().unwrap_or(slice::from_ref(file));
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut skipped = 0;
    let (mut without_alg, mut without_kid) = (Vec::new(), Vec::new());
    for (index, key) in keys.iter().enumerate() {
        let members = JwkMembers::of(key);
        let name = format!("key {}: {}", index + 1, members.name());
        if let Some(why) = set_keys.as_ref().and_then(|_| why_skipped(key)) {
            match lists_skipped {
                true => section.good(format!("{name}: skipped: {why}")),
                false => skipped += 1,
            }
            continue;
        }
        for ignored in key.ignored_members(criteria.verbose) {
            section.undetermined(
                format!("{name}: {ignored}"),
                "the owner of the key should remove or correct it",
            );
        }
        // A published secret key has been reported already.
        if !(is_from_url && is_secret(key)) {
            let is_in_set = set_keys.is_some();
            match lacks_algorithm(key, is_in_set, criteria) {
                true => without_alg.push((key, name)),
                false => one(&mut section, key, &name, is_in_set, criteria),
            }
        }
        match &members.kid {
            Some(kid) => *names.entry(kid.clone()).or_default() += 1,
            // A kid of another type makes the key unusable.
            None if key.any_algorithm().is_ok() => without_kid.push(index + 1),
            None => {}
        }
    }
    if keys.len() > 1 && !without_kid.is_empty() {
        let all = keys.len();
        section.wrong(
            match without_kid[..] {
                [number] => format!("key {number} of {all} has no kid"),
                _ => format!("{} of {all} keys have no kid", without_kid.len()),
            },
            "set a kid in each key of a set, and in the header of each token",
        );
    }
    for (kid, times) in names.iter().filter(|(_, times)| **times > 1) {
        section.wrong(
            format!("{times} keys have the kid {}", shortened(kid)),
            "each key needs its own kid: a verifier may select the wrong key",
        );
    }
    report_without_alg(&mut section, &without_alg, criteria);
    match skipped {
        0 => {}
        1 => section.good("1 more key is for another use or of an unsupported kind; to list it, add `-v`"),
        count => section.good(format!(
            "{count} more keys are for another use or of an unsupported kind; to list them, add `-v`"
        )),
    }
    section
}

/// Returns why verifiers ignore a key of a set (RFC 7517, section 5).
fn why_skipped(key: &KeyFile) -> Option<String> {
    if is_for_another_use(key) {
        return Some("for encryption, not for verification".to_owned());
    }
    let error = key.load_any_algorithm().err()?;
    let is_unsupported = error.is_unsupported();
    is_unsupported.then(|| reason(key, key.failure(error).message()).to_owned())
}

fn one(section: &mut Section, key: &KeyFile, name: &str, is_in_set: bool, criteria: &Criteria<'_>) {
    let loads = |alg| match is_in_set {
        true => key.set_key_to_verify(alg, criteria.allowed).is_ok(),
        false => key.to_verify(alg, criteria.allowed).is_ok(),
    };
    match key.any_algorithm() {
        // It verifies with a feature that the caller enabled.
        Err(_) if loads(criteria.alg) => section.good(name.to_owned()),
        Err(failure) => {
            let why = reason(key, failure.message());
            section.wrong_for(
                why,
                format!("{name}: unusable: {why}"),
                failure
                    .hint_text()
                    .unwrap_or("verifiers skip the key, or reject the whole set"),
            );
        }
        Ok(_) if is_for_another_use(key) => {
            section.good(format!("{name}: for encryption, not for verification"));
        }
        Ok(loaded) if is_secret(key) => section.good(format!(
            "{name}: {}; secret, do not publish it",
            ability(&loaded)
        )),
        Ok(_) if key.needs_algorithm(criteria.allowed) => {
            let alg = criteria.alg.map_or("the algorithm of --alg", Alg::name);
            section.good(format!("{name}: verifies {alg} (--alg)"));
        }
        Ok(key) => section.good(format!("{name}: {}", ability(&key))),
    }
}

/// Returns what a key can do.
fn ability(key: &AnyKey) -> String {
    match key {
        AnyKey::Mac(key) => format!("signs and verifies {}", key.alg()),
        AnyKey::Signing(key) => format!("signs {}", key.alg()),
        AnyKey::Verifying(key) => format!("verifies {}", key.alg()),
        AnyKey::Wrapping(_) | AnyKey::Content(_) => "encrypts and decrypts".to_owned(),
        AnyKey::Decryption(_) => "decrypts".to_owned(),
        AnyKey::Encryption(_) => "encrypts, does not verify".to_owned(),
    }
}

/// Returns whether a key can only be used if the caller passes its algorithm, and the caller did not.
fn lacks_algorithm(key: &KeyFile, is_in_set: bool, criteria: &Criteria<'_>) -> bool {
    let loads = |alg| match is_in_set {
        true => key.set_key_to_verify(Some(alg), criteria.allowed).is_ok(),
        false => key.to_verify(Some(alg), criteria.allowed).is_ok(),
    };
    key.any_algorithm().is_ok()
        && !is_for_another_use(key)
        && key.needs_algorithm(criteria.allowed)
        && !criteria.alg.is_some_and(loads)
}

/// Reports the keys without an algorithm, which have one cause.
fn report_without_alg(section: &mut Section, keys: &[(&KeyFile, String)], criteria: &Criteria<'_>) {
    let Some((first, name)) = keys.first() else {
        return;
    };
    let what = match keys.len() {
        1 => format!("{name}: no alg, and the key fits several algorithms"),
        count => format!("{count} keys, from {name}: no alg, and the keys fit several algorithms"),
    };
    section.undetermined(
        what,
        "set alg in the key; until then, pass the algorithm with `--alg`",
    );
    if let Err(failure) = first.to_verify(criteria.alg, criteria.allowed) {
        section.explaining(reason(first, failure.message()));
    }
}

/// Checks the key of a PASETO, whose text contains its purpose.
fn paserk(section: &mut Section, file: &KeyFile, text: &str, criteria: &Criteria<'_>) {
    let kind: Vec<&str> = text.splitn(3, '.').take(2).collect();
    let (name, allowed) = (kind.join("."), criteria.allowed);
    let loaded = match kind.last() {
        Some(&"secret") => paseto::signing(file, allowed).map(|_| true),
        Some(&"local") => paseto::decrypting(file, allowed).map(|_| true),
        _ => paseto::verifying(file, allowed).map(|_| false),
    };
    match loaded {
        Ok(true) => section.good(format!("PASERK {name}: secret, do not publish it")),
        Ok(false) => section.good(format!("PASERK {name}")),
        Err(failure) => {
            let why = reason(file, failure.message());
            let hint = failure.hint_text().unwrap_or_default();
            section.wrong_for(why, format!("PASERK, unusable: {why}"), hint);
        }
    }
}

/// Shortens a long name.
pub(super) fn shortened(name: &str) -> String {
    const SHOWN: usize = 60;
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Returns the message about a key without the name of its file.
pub(super) fn reason<'m>(key: &KeyFile, message: &'m str) -> &'m str {
    if let Some((_, reason)) = message.split_once(KEY_ERROR_PREFIX) {
        return reason;
    }
    let named = message.strip_prefix(key.name());
    let reason = named.and_then(|rest| rest.strip_prefix(": "));
    reason.unwrap_or(message)
}
