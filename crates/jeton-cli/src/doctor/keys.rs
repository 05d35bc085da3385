//! Checks whether keys can verify tokens.

use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

use super::Criteria;
use super::findings::Section;
use crate::exit::Outcome;
use crate::fetch::{Date, Fetched, Problem, RemoteKeyArgs, RemoteKeys, text_of};
use crate::json::Members;
use crate::keyfile::{AnyKey, Form, KEY_ERROR_PREFIX, KeyFile, Secret, suggest_secret};
use crate::paseto;

/// The keys, and the findings about their source.
pub(super) struct Keys {
    pub(super) section: Section,
    /// The key file, if it could be read.
    pub(super) found: Option<KeyFile>,
    /// The keys from a URL without secret keys, which verify nothing.
    pub(super) published: Option<KeyFile>,
    /// The time of the server.
    pub(super) date: Option<Date>,
    pub(super) is_from_url: bool,
}

impl Keys {
    /// Returns the keys that can verify.
    pub(super) fn to_verify(&self) -> Option<&KeyFile> {
        match self.is_from_url {
            true => self.published.as_ref(),
            false => self.found.as_ref(),
        }
    }
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
        let kind = kind.map(String::as_str).next().unwrap_or("a key");
        match &self.kid {
            Some(kid) => format!("{kind}, kid {}", shortened(kid)),
            None => format!("{kind}, without kid"),
        }
    }
}

/// Reads a key file or fetches a key set.
pub(super) fn load(place: &Path, remote: &RemoteKeyArgs) -> Outcome<Keys> {
    if let Some(remote) = remote.at("--keys", place)? {
        return Ok(from_url(&remote));
    }
    let file = KeyFile::read_as(place, None)
        .map_err(|failure| suggest_secret("--keys", place, failure))?;
    Ok(of_file(file))
}

/// Fetches the key set of the issuer, if the caller named one.
pub(super) fn of_issuer(remote: &RemoteKeyArgs) -> Outcome<Option<Keys>> {
    Ok(remote.of_issuer()?.map(|remote| from_url(&remote)))
}

/// Returns the key of a secret.
pub(super) fn of_secret(secret: &Secret) -> Outcome<Keys> {
    secret.key_file().map(of_file)
}

fn of_file(file: KeyFile) -> Keys {
    Keys {
        section: Section::named("keys", file.name()),
        found: Some(file),
        published: None,
        date: None,
        is_from_url: false,
    }
}

fn from_url(remote: &RemoteKeys) -> Keys {
    let mut keys = Keys {
        section: Section::named("keys", &remote.name()),
        found: None,
        published: None,
        date: None,
        is_from_url: true,
    };
    let response = match remote.fetch() {
        Ok(response) => response,
        Err(Problem { what, how }) => {
            let how = match &*how {
                "" => "verifiers cannot fetch the keys and reject every token",
                how => how,
            };
            keys.section.wrong(what, how);
            return keys;
        }
    };
    keys.found = check_response(&mut keys.section, &response);
    keys.date = response.date.clone();
    if let Some(file) = &keys.found {
        secrets(&mut keys.section, file);
        // The checks of each key report a set that cannot be read.
        let published = file.clone().without_secrets();
        keys.published = published.unwrap_or_else(|_| Some(file.clone()));
    }
    keys
}

/// Checks the response.
fn check_response(section: &mut Section, response: &Fetched) -> Option<KeyFile> {
    let (took, bytes) = (response.took.as_millis(), response.body.len());
    if let Err(Problem { what, how }) = response.check_status() {
        section.wrong(what, &how);
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
    match response.key_file("the response") {
        Ok(file) => Some(file),
        Err(Problem { what, how }) => {
            section.wrong(what, &how);
            None
        }
    }
}

/// Reports private keys in a published set. This is an error even if the token is accepted.
fn secrets(section: &mut Section, file: &KeyFile) {
    let set_keys = file.set_keys().ok().flatten();
    let keys = set_keys.as_deref().unwrap_or(slice::from_ref(file));
    for (index, key) in keys.iter().enumerate().filter(|(_, key)| key.is_secret()) {
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
    let set_keys = match file.set_keys() {
        Ok(set_keys) => set_keys,
        Err(failure) => {
            let why = reason(file, failure.message());
            section.wrong(format!("cannot read the set: {why}"), "");
            return section;
        }
    };
    let keys = set_keys.as_deref().unwrap_or(slice::from_ref(file));
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut skipped = 0;
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
        for ignored in key.ignored_members() {
            section.undetermined(
                format!("{name}: {}", ignored.text()),
                "the owner of the key should remove or correct it",
            );
        }
        // A published secret key has been reported already.
        if !(is_from_url && key.is_secret()) {
            one(&mut section, key, &name, set_keys.is_some(), criteria);
        }
        match &members.kid {
            Some(kid) => *names.entry(kid.clone()).or_default() += 1,
            None if keys.len() > 1 => section.wrong(
                format!("key {} of {} has no kid", index + 1, keys.len()),
                "set a kid in each key of a set, and in the header of each token",
            ),
            None => {}
        }
    }
    for (kid, times) in names.iter().filter(|(_, times)| **times > 1) {
        section.wrong(
            format!("{times} keys have the kid {}", shortened(kid)),
            "each key needs its own kid: a verifier may select the wrong key",
        );
    }
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
        Err(failure) => section.wrong(
            format!("{name}: unusable: {}", reason(key, failure.message())),
            "verifiers skip the key, or reject the whole set",
        ),
        Ok(_) if is_for_another_use(key) => {
            section.good(format!("{name}: for encryption, not for verification"));
        }
        Ok(_) if key.is_secret() => section.good(format!("{name}: secret, do not publish it")),
        Ok(_) if key.needs_algorithm(criteria.allowed) => match criteria.alg {
            Some(alg) if loads(Some(alg)) => {
                section.good(format!("{name}: used with {alg} (--alg)"));
            }
            _ => section.undetermined(
                format!("{name}: no alg, and the key fits several algorithms"),
                "set alg in the key; until then, pass the algorithm with `--alg`",
            ),
        },
        Ok(_) => section.good(name.to_owned()),
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
        Err(failure) => section.wrong(
            format!("PASERK, unusable: {}", reason(file, failure.message())),
            failure.hint_text().unwrap_or_default(),
        ),
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
