//! Checks whether keys can verify tokens.

use std::collections::BTreeMap;
use std::path::Path;
use std::slice;

use jeton::key::{Alg, KeyFormat, KeyHalf};
use jeton::limits;

use super::Criteria;
use super::findings::Section;
use super::secrets;
use crate::exit::Outcome;
use crate::fetch::{Date, Fetched, Problem, RemoteKeyArgs, RemoteKeys, text_of};
use crate::input;
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
    fn unusable(section: Section) -> Keys {
        Keys {
            section,
            found: None,
            published: None,
            date: None,
            is_from_url: false,
        }
    }

    /// Keeps the keys with this `use`, which then count as keys for signatures.
    pub(super) fn keep_use(&mut self, key_use: &str) -> Outcome {
        for file in [&mut self.found, &mut self.published] {
            let kept = file.take().map(|file| file.with_use(key_use));
            *file = kept.transpose()?;
        }
        Ok(())
    }

    /// Returns the keys that can verify.
    pub(super) fn to_verify(&self) -> Option<&KeyFile> {
        if self.is_from_url {
            self.published.as_ref()
        } else {
            self.found.as_ref()
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
        match (kind.map(String::as_str).next(), &self.kid) {
            (Some(kind), Some(kid)) => format!("{kind}, kid {}", shortened(kid)),
            (Some(kind), None) => format!("{kind}, without kid"),
            (None, Some(kid)) => format!("kid {}", shortened(kid)),
            (None, None) => "without kid".to_owned(),
        }
    }
}

/// Reads a key file or fetches a key set. A file that is no key file may be the secret that signed the token.
pub(super) fn load(
    place: &Path,
    remote: &RemoteKeyArgs,
    alg: Option<Alg>,
    token: Option<&str>,
) -> Outcome<Keys> {
    if let Some(remote) = remote.at("--key", place)? {
        return Ok(from_url(&remote));
    }
    KeyFile::read_as(place, None)
        .map(of_file)
        .or_else(
            |failure| match token.and_then(|token| secret(place, token)) {
                Some(section) => Ok(Keys::unusable(section)),
                None => {
                    let is_asymmetric = matches!(alg, Some(Alg::Sig(_)));
                    Err(suggest_secret("--key", place, is_asymmetric, failure))
                }
            },
        )
}

/// Reports a file without a key as a secret. Standard input cannot be read again.
fn secret(place: &Path, token: &str) -> Option<Section> {
    if place == Path::new("-") {
        return None;
    }
    let bytes = input::key_bytes(place, limits::KEY_SET_BYTES).ok()?;
    secrets::check_file(place, &bytes, token)
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
        found: Some(file.clone()),
        ..Keys::unusable(Section::named("keys", file.name()))
    }
}

fn from_url(remote: &RemoteKeys) -> Keys {
    let mut keys = Keys {
        is_from_url: true,
        ..Keys::unusable(Section::named("keys", &remote.name()))
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
    match KeyFile::of_response("the response", response) {
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
        Form::Jwk(_) | Form::Paserk(_) | Form::Several(_) => format.to_owned(),
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
    if criteria.secret.is_none() {
        section.good(describe(file));
    }
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
        let name = match criteria.secret {
            Some(_) => file.name().to_owned(),
            None => format!("key {}: {}", index + 1, members.name()),
        };
        if let Some(why) = set_keys.as_ref().and_then(|_| why_skipped(key)) {
            if lists_skipped {
                section.good(format!("{name}: skipped: {why}"))
            } else {
                skipped += 1
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
        if !(is_from_url && key.is_secret()) {
            let is_in_set = set_keys.is_some();
            if lacks_algorithm(key, criteria) {
                without_alg.push((key, name))
            } else {
                one(&mut section, key, &name, is_in_set, criteria)
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
    let loaded = if is_in_set {
        key.set_key_to_verify(criteria.alg, criteria.allowed)
            .map(drop)
    } else {
        key.to_verify(criteria.alg, criteria.allowed).map(drop)
    };
    let needs_algorithm = key.needs_algorithm(criteria.allowed);
    match (key.any_algorithm(), criteria.alg) {
        // It verifies with a feature that the caller enabled.
        (Err(_), _) if loaded.is_ok() => section.good(name.to_owned()),
        (Ok(_), Some(alg)) if needs_algorithm && let Err(failure) = &loaded => {
            let why = reason(key, failure.message());
            let hint = failure.hint_text().unwrap_or_default();
            section.undetermined(format!("{name}: unusable with {alg} (--alg): {why}"), hint);
            section.explaining(why);
        }
        (Err(failure), _) => {
            let why = reason(key, failure.message());
            section.wrong_for(
                why,
                format!("{name}: unusable: {why}"),
                failure
                    .hint_text()
                    .unwrap_or("verifiers skip the key, or reject the whole set"),
            );
        }
        (Ok(_), _) if is_for_another_use(key) => {
            section.good(format!("{name}: for encryption, not for verification"));
        }
        (Ok(loaded), alg) => {
            let ability = match (&loaded, alg) {
                (AnyKey::Signing(_), None) if key.names_no_algorithm() => {
                    "signs; no alg, and the key fits several algorithms".to_owned()
                }
                _ => ability(&loaded, alg.filter(|_| needs_algorithm)),
            };
            let advice = if key.is_secret() && criteria.secret.is_none() {
                "; secret, do not publish it"
            } else {
                ""
            };
            section.good(format!("{name}: {ability}{advice}"));
        }
    }
}

/// Returns what a key can do. A key without an algorithm has that of --alg.
fn ability(key: &AnyKey, alg: Option<Alg>) -> String {
    let named = |own: &str| match alg {
        Some(alg) => format!("{alg} (--alg)"),
        None => own.to_owned(),
    };
    match key {
        AnyKey::Mac(key) => format!("signs and verifies {}", named(key.alg().name())),
        AnyKey::Signing(key) => format!("signs {}", named(key.alg().name())),
        AnyKey::Verifying(key) => format!("verifies {}", named(key.alg().name())),
        AnyKey::Wrapping(_) | AnyKey::Content(_) => "encrypts and decrypts".to_owned(),
        AnyKey::Decryption(_) => "decrypts".to_owned(),
        AnyKey::Encryption(_) => "encrypts, does not verify".to_owned(),
    }
}

/// Returns whether a key can only be used if the caller passes its algorithm, and the caller did not.
fn lacks_algorithm(key: &KeyFile, criteria: &Criteria<'_>) -> bool {
    let is_to_verify = criteria.secret.is_some() || !is_for_another_use(key);
    criteria.alg.is_none()
        && is_to_verify
        && key.any_algorithm().is_ok()
        && key.needs_algorithm(criteria.allowed)
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
    let failure = first.to_verify(criteria.alg, criteria.allowed).err();
    let hint = failure.as_ref().and_then(|failure| failure.hint_text());
    let advice = match (criteria.secret, hint) {
        (Some(_), Some(hint)) => hint,
        _ => "set alg in the key; until then, pass the algorithm with `--alg`",
    };
    section.undetermined(what, advice);
    if let Some(failure) = failure {
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
