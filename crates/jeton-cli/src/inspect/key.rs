//! Reports the kind and the id of a key and whether it is secret, never the secret itself.

use std::str::FromStr;

use jeton::key::KeyFormat;
use jeton::paserk::{Id, Paserk};
use serde::Deserialize;

use super::report::Report;
use crate::exit::Outcome;
use crate::keyfile::{AnyKey, Form, Half, KEY_ERROR_PREFIX, KeyFile};

/// The members of a JWK that are not key material.
#[derive(Deserialize)]
struct JwkMembers {
    kty: Option<String>,
    crv: Option<String>,
    alg: Option<String>,
    kid: Option<String>,
    #[serde(rename = "use")]
    intended: Option<String>,
}

pub(super) fn is_paserk(text: &str) -> bool {
    kind_of(text).is_some()
}

pub(super) fn paserk(text: &str) -> Report {
    let kind = kind_of(text).unwrap_or_default();
    let report = Report::new("paserk", format!("PASERK {kind}")).text("kind", kind);
    // Only an id is known to contain no secret.
    if let Ok(id) = Id::from_str(text) {
        return report.text("id", id.to_string());
    }
    match Paserk::parse(text) {
        Ok(paserk) => {
            let secret = if paserk.kind().is_secret() {
                "yes"
            } else {
                "no"
            };
            let id = paserk.id().to_string();
            report.text("secret", secret).text("id", id)
        }
        Err(jeton::Error::Key(error)) => report.text("error", error.problem().to_string()),
        Err(error) => report.text("error", error.to_string()),
    }
}

pub(super) fn report(file: KeyFile) -> Outcome<Report> {
    match file.form() {
        Form::Set(_) => {
            let keys = file.each()?;
            let title = match keys.len() {
                1 => "JWK Set with 1 key".to_owned(),
                count => format!("JWK Set with {count} keys"),
            };
            let keys = keys.iter().map(single).collect();
            Ok(Report::new("jwk-set", title).with_children("key", "keys", keys))
        }
        _ => Ok(single(&file)),
    }
}

fn single(file: &KeyFile) -> Report {
    let (format, form) = match file.format() {
        KeyFormat::Der => ("der", "DER"),
        KeyFormat::Pem => ("pem", "PEM"),
        KeyFormat::Base64 => ("base64", "base64 of DER"),
        _ => ("jwk", "JWK"),
    };
    let key = file.any_algorithm();
    let (title, secret) = match key.as_ref().map(AnyKey::half) {
        Ok(Half::Symmetric) => ("symmetric key", Some("yes")),
        Ok(Half::Private) => ("private key", Some("yes")),
        Ok(Half::Public) => ("public key", Some("no")),
        Err(_) => ("unusable key", file.has_secret().then_some("yes")),
    };
    let mut report = Report::new(format, format!("{form}, {title}"));
    if let Some(secret) = secret {
        report = report.text("secret", secret);
    }
    if let Form::Jwk(text) = file.form()
        && let Ok(members) = serde_json::from_str::<JwkMembers>(text)
    {
        for (name, value) in [
            ("kty", members.kty),
            ("crv", members.crv),
            ("alg", members.alg),
            ("kid", members.kid),
            ("use", members.intended),
        ] {
            if let Some(value) = value {
                report = report.text(name, value);
            }
        }
    }
    match key {
        // Its thumbprint is a hash of the secret, so it is not shown.
        Ok(key) if key.half() == Half::Symmetric => report,
        Ok(key) => report.text("thumbprint", key.thumbprint()),
        Err(failure) => {
            let message = failure.message();
            let reason = message.split_once(KEY_ERROR_PREFIX);
            report.text("error", reason.map_or(message, |(_, reason)| reason))
        }
    }
}

/// Returns `k4.local` for `k4.local.…`.
fn kind_of(text: &str) -> Option<&str> {
    let version_end = text.find('.')?;
    let kind_end = version_end + 1 + text[version_end + 1..].find('.')?;
    let (version, form) = (&text[..version_end], &text[version_end + 1..kind_end]);
    let known = matches!(version, "k1" | "k2" | "k3" | "k4")
        && matches!(
            form,
            "local"
                | "secret"
                | "public"
                | "lid"
                | "sid"
                | "pid"
                | "local-wrap"
                | "secret-wrap"
                | "local-pw"
                | "secret-pw"
                | "seal"
        );
    known.then(|| &text[..kind_end])
}
