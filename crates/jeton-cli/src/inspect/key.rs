//! Keys: their kind, their id and whether they are secret, and never the secret.

use std::str::FromStr;

use jeton::paserk::{Id, Paserk};
use serde::Deserialize;

use super::report::Report;
use crate::exit::Outcome;
use crate::keyfile::{AnyKey, Form, Half, KeyFile};

/// What a JWK says of itself that is not the key.
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
    // Only then is the text known to be no secret, and fit to be shown.
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
        Err(jeton::Error::Key(error)) => report.text("refused", error.problem().to_string()),
        Err(error) => report.text("refused", error.to_string()),
    }
}

pub(super) fn report(file: KeyFile) -> Outcome<Report> {
    match file.form() {
        Form::Set(_) => {
            let keys = file.each()?;
            let title = match keys.len() {
                1 => "JWK Set of 1 key".to_owned(),
                count => format!("JWK Set of {count} keys"),
            };
            let keys = keys.iter().map(single).collect();
            Ok(Report::new("jwk-set", title).under("key", "keys", keys))
        }
        _ => Ok(single(&file)),
    }
}

fn single(file: &KeyFile) -> Report {
    let (format, form) = match file.form() {
        _ if file.is_der() => ("der", "DER"),
        Form::Pem(_) => ("pem", "PEM"),
        Form::Der(_) => ("der", "DER"),
        Form::Jwk(_) | Form::Set(_) | Form::Paserk(_) => ("jwk", "JWK"),
    };
    let key = file.any_algorithm();
    let (title, secret) = match key.as_ref().map(AnyKey::half) {
        Ok(Half::Symmetric) => ("a symmetric key", Some("yes")),
        Ok(Half::Private) => ("a private key", Some("yes")),
        Ok(Half::Public) => ("a public key", Some("no")),
        Err(_) => (
            "not a key that jeton takes",
            file.holds_a_secret().then_some("yes"),
        ),
    };
    let mut report = Report::new(format, format!("{form}, {title}"));
    if let Some(secret) = secret {
        report = report.text("secret", secret);
    }
    if let Form::Jwk(text) = file.form()
        && let Ok(said) = serde_json::from_str::<JwkMembers>(text)
    {
        for (name, value) in [
            ("kty", said.kty),
            ("crv", said.crv),
            ("alg", said.alg),
            ("kid", said.kid),
            ("use", said.intended),
        ] {
            if let Some(value) = value {
                report = report.text(name, value);
            }
        }
    }
    match key {
        // Its thumbprint is a hash of the secret, and belongs on no screen.
        Ok(key) if key.half() == Half::Symmetric => report,
        Ok(key) => report.text("thumbprint", key.thumbprint()),
        Err(failure) => {
            let message = failure.message();
            let reason = message.split_once("key refused: ");
            report.text("refused", reason.map_or(message, |(_, reason)| reason))
        }
    }
}

/// `k4.local` of `k4.local.…`.
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
